# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t
# Check the messages between every two distributions of a tensor over 8 ranks, executed by numpy: each rank ends with
# its block of the target, and no plan could send less.
import itertools
import json
import pathlib
import sys

import numpy as np
from layout_mlir.tools import run_tool
from mesh_ranks import Distribution, all_over, check

folder = pathlib.Path(sys.argv[1])
rng = np.random.default_rng(7)
TYPES = {"f32": np.float32, "f16": np.float16, "i8": np.int8, "f64": np.float64}


def plan(pairs, shape, element, options=""):
    """Returns the plans of conversions between pairs of layouts."""
    types = {}
    for text in itertools.chain(*pairs):
        types.setdefault(text, f"#l{len(types)}")
    lines = [f"{alias} = {text}" for text, alias in types.items()]
    tensor = "x".join([*map(str, shape), element])
    names = {text: (f"%a{i}", f"tensor<{tensor}, {alias}>")
             for i, (text, alias) in enumerate(types.items())}
    arguments = ", ".join(f"{name}: {type}" for name, type in names.values())
    lines.append(f"func.func @f({arguments}) {{")
    lines += [f"  %c{i} = layout.convert {' : '.join(names[a])} to {names[b][1]}"
              for i, (a, b) in enumerate(pairs)]
    lines += ["  return", "}"]
    module, output = folder / "module.mlir", folder / "plans.json"
    module.write_text("\n".join(lines))
    run_tool("layout-opt", module, "-o", "/dev/null",
             f"--layout-print-messages=format=json output={output} {options}")
    plans = json.loads(output.read_text())
    assert len(plans) == len(pairs)
    return plans


def check_pairs(pairs, shape, element="f32", options=""):
    plans = plan([(a.text(), b.text()) for a, b in pairs], shape, element, options)
    for found, (a, b) in zip(plans, pairs, strict=True):
        check(found, a, b, shape, TYPES[element], rng)
    return plans


# Every 1-D, 2-D and 3-D sharding over 8 ranks is a sharding by three axes of extent two.
every = all_over(3, 3)
assert len(every) == 106
# Every ninth one is a source, and each a target.
count = len(check_pairs([(a, b) for a in every[::9] for b in every], (5, 9, 6)))
assert count == 12 * 106
print("pairs on 8 ranks:", count)

# The same mesh with one, two and three axes, other shapes and types.
meshes = [{"x": 8}, {"x": 2, "y": 4}, {"x": 4, "y": 2}, {"x": 2, "y": 2, "z": 2}, {"x": 2, "w": 1, "y": 4}]


def draw(axes, rank):
    splits = [[] for _ in range(rank)]
    for name in rng.permutation(list(axes)):
        if (d := rng.integers(rank + 1)) < rank:
            splits[d].append(str(name))
    return Distribution(axes, splits)


for shape, element in [((8, 8, 8), "f32"), ((1, 1, 1), "f64"), ((3, 0, 5), "f32"), ((16,), "i8"),
                       ((10, 4), "f16"), ((2, 3, 5, 7), "i8"), ((17, 1, 1, 33), "f32")]:
    pairs = [(draw(meshes[rng.integers(5)], len(shape)), draw(meshes[rng.integers(5)], len(shape)))
             for _ in range(60)]
    check_pairs(pairs, shape, element)

# Other numbers of ranks, including ranks without a block.
for axes in ({"x": 1}, {"x": 3}, {"x": 3, "y": 5}, {"x": 13}, {"x": 2, "y": 3, "z": 4}):
    check_pairs([(draw(axes, 2), draw(axes, 2)) for _ in range(12)], (7, 10), "f32")

# Cases that upstream's resharding does not support: a wrong all_to_all, a crash, and rows that the ranks do not divide.
xy, four = {"x": 2, "y": 2}, {"x": 4}
check_pairs([(Distribution(xy, [["x"], ["y"]]), Distribution(xy, [["y"], ["x"]])),
             (Distribution(xy, [["x", "y"], []]), Distribution(xy, [["y", "x"], []]))], (8, 8))
check_pairs([(Distribution(four, [["x"], []]), Distribution(four, [[], []])),
             (Distribution(four, [[], []]), Distribution(four, [["x"], []])),
             (Distribution(four, [["x"], []]), Distribution(four, [[], ["x"]]))], (10, 6))

# Halos, some wider than a block: they are received from the ranks that store them, and are removed without messages.
def with_halos(a, shape):
    most = [int(rng.choice([1, 2, size])) for size in shape]
    halos = [rng.integers(m + 1, size=2) if split else (0, 0) for m, split in zip(most, a.splits, strict=True)]
    return Distribution(a.axes, a.splits, a.partial, a.reduction, halos)


pairs = [(with_halos(a, (5, 9, 6)) if rng.integers(2) else a, with_halos(every[b], (5, 9, 6)))
         for a in every for b in rng.choice(len(every), 8, replace=False)]
check_pairs(pairs, (5, 9, 6))
for shape, element in [((8, 8), "f32"), ((1, 1), "f64"), ((0, 5), "f32"), ((16,), "i8"), ((10, 4), "f16"), ((2, 3, 5, 7), "i8"),
                       ((17, 33), "f32")]:
    pairs = [(with_halos(draw(meshes[rng.integers(5)], len(shape)), shape),
              with_halos(draw(meshes[rng.integers(5)], len(shape)), shape)) for _ in range(60)]
    check_pairs(pairs, shape, element)
    for found in check_pairs([(a, Distribution(a.axes, a.splits)) for a, _ in pairs], shape, element):
        assert not found["messages"]
# One row from rank 0 to 1, and two back.
rows = [[1, 2], [0, 0]]
[found] = check_pairs([(Distribution(four, [["x"], []]), Distribution(four, [["x"], []], halos=rows))], (12, 5))
assert found["bytes_sent"] == 3 * 3 * 5 * 4

# Partial sums, reduced to one rank, to several, and to all.
for reduction, element in (("sum", "f32"), ("max", "f16"), ("min", "i8")):
    pairs = []
    while len(pairs) < 60:
        axes = meshes[1 + rng.integers(3)]
        a, b = draw(axes, 2), draw(meshes[rng.integers(4)], 2)
        free = [name for name in axes if not any(name in split for split in a.splits)]
        if free:
            partial = [name for name in free if rng.integers(2)] or free[:1]
            pairs.append((Distribution(axes, a.splits, partial, reduction), b))
    check_pairs(pairs, (5, 9), element)
    check_pairs([(with_halos(a, (5, 9)), with_halos(b, (5, 9))) for a, b in pairs], (5, 9), element)

# The message memory of devices stays below a limit.
pairs = [(draw(meshes[1], 2), draw(meshes[3], 2)) for _ in range(30)]
pairs += [(a, with_halos(b, (24, 20))) for a, b in pairs]
free = check_pairs(pairs, (24, 20))
cut = check_pairs(pairs, (24, 20), options="max-extra-bytes=64")
assert max(found["peak_extra_bytes"] for found in free) > 64
assert all(found["peak_extra_bytes"] <= 64 for found in cut)

# The numbering of ranks is the best of all permutations.
permutations = np.array(list(itertools.permutations(range(8))))
saved = 0
pairs = [(draw(meshes[rng.integers(4)], 3), draw(meshes[rng.integers(4)], 3)) for _ in range(40)]
pairs += [(with_halos(a, (4, 6, 9)), with_halos(b, (4, 6, 9))) for a, b in pairs]
for found, plain, (a, b) in zip(check_pairs(pairs, (4, 6, 9), options="relabel"),
                                check_pairs(pairs, (4, 6, 9)), pairs, strict=True):
    missing = np.array([[(b.mask(t, (4, 6, 9)) & ~a.mask(r, (4, 6, 9))).sum() for r in range(8)]
                        for t in range(8)])
    least = missing[np.arange(8), permutations].sum(axis=1).min() * 4
    assert found["bytes_sent"] == least <= plain["bytes_sent"], (a.text(), b.text())
    saved += plain["bytes_sent"] - least
assert saved > 0

# Handwritten maps: rows shifted by one device, and rows distributed cyclically.
rows = Distribution({"x": 4}, [["x"]])
shifted = "#layout.map<(i) -> mesh(x = (i floordiv 2 + 1) mod 4, offset = i mod 2)>"
dealt = "#layout.map<(i) -> mesh(x = i mod 4, offset = i floordiv 4)>"
moves, deals = plan([(rows.text(), shifted), (rows.text(), dealt)], (8,), "f32")
assert [(m["from"], m["to"]) for m in moves["messages"]] == [(0, 1), (1, 2), (2, 3), (3, 0)]
assert moves["rounds"] == 1 and moves["bytes_sent"] == 32 and not moves["copies"]
assert [m["step"] for m in moves["messages"]] == [0, 1, 0, 1]
assert deals["bytes_sent"] == deals["bytes_bound"] == 4 * sum(i % 4 != i // 2 for i in range(8))
for message in deals["messages"] + deals["copies"]:
    for box in message["boxes"]:
        for i in range(box["sizes"][0]):
            index = box["offsets"][0] + i
            assert (message["from"], message["to"]) == (index // 2, index % 4)
            assert box["from_offsets"][0] + i == index % 2 and box["to_offsets"][0] + i == index // 4

# A ring with an odd number of ranks needs a third step.
odd = "#layout.map<(i) -> mesh(x = (i floordiv 2 + 1) mod 3, offset = i mod 2)>"
[ring] = plan([(Distribution({"x": 3}, [["x"]]).text(), odd)], (6,), "f32")
assert [(m["round"], m["step"], m["from"], m["to"]) for m in ring["messages"]] == [(0, 0, 0, 1), (0, 1, 1, 2), (0, 2, 2, 0)]
