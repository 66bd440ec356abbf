# REQUIRES: mpi, clang
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t
# Check conversions between distributions of a tensor on 8 MPI ranks: each rank ends with its block, a numpy slice, and
# the bytes passed to MPI are the minimum over all plans.
import pathlib
import sys

import numpy as np
from layout_mlir.tools import run_tool
from mesh_programs import Case, run_cases
from mesh_ranks import Distribution, Shifted, all_over, bound

folder = pathlib.Path(sys.argv[1])
rng = np.random.default_rng(11)
MESHES = [{"x": 8}, {"x": 2, "y": 4}, {"x": 4, "y": 2}, {"x": 2, "y": 2, "z": 2}, {"x": 2, "w": 1, "y": 4}]


def draw(axes, rank, most=None):
    splits = [[] for _ in range(rank)]
    for name in list(rng.permutation(list(axes)))[:most]:
        if (d := rng.integers(rank + 1)) < rank:
            splits[d].append(str(name))
    return Distribution(axes, splits)


def least(case):
    source, target = case.ends
    itemsize = np.dtype({"f16": "f2", "f32": "f4", "f64": "f8", "i8": "i1", "i16": "i2"}[case.element]).itemsize
    return bound(source, target, list(range(source.devices)), case.shape) * itemsize


# Each of the 106 shardings of three dims over 8 ranks, once as the source and once as the target of a random one.
every = all_over(3, 3)
others = rng.permutation(len(every))
cases = [Case(a, every[other], (5, 9, 6), ("f32", "f16", "i8", "f64")[i % 4])
         for i, (a, other) in enumerate(zip(every, others, strict=True))]
# Meshes of other shapes; extents 0, 1 and non-divisible ones; one dim and four.
for shape, element in [((8, 8, 8), "f32"), ((1, 1, 1), "f64"), ((3, 0, 5), "f32"), ((16,), "i8"), ((10, 4), "f16"),
                       ((2, 3, 5, 7), "i8"), ((17, 1, 1, 33), "f32"), ((), "f32"), ((7, 130), "i16")]:
    cases += [Case(draw(MESHES[rng.integers(5)], len(shape)), draw(MESHES[rng.integers(5)], len(shape)), shape, element)
              for _ in range(6)]
# Blocks that are stored in tiles, which shards split.
for _ in range(10):
    tiles = [(int(rng.integers(3)), int(rng.choice([2, 4, 8]))) if rng.integers(4) else None for _ in range(2)]
    cases.append(Case(draw(MESHES[rng.integers(4)], 3, 2), draw(MESHES[rng.integers(4)], 3, 2), (5, 11, 6), "f32", tiles,
                      padding=2.5 if rng.integers(2) else None))
# Halos, some wider than a block, of blocks that are empty, tiled or of unequal size.
def with_halos(a, shape):
    most = [int(rng.choice([1, 2, size])) for size in shape]
    halos = [rng.integers(m + 1, size=2) if split else (0, 0) for m, split in zip(most, a.splits, strict=True)]
    return Distribution(a.axes, a.splits, a.partial, a.reduction, halos)


for i, (a, other) in enumerate(zip(every, others, strict=True)):
    if i % 3 == 0:
        cases.append(Case(with_halos(a, (5, 9, 6)), with_halos(every[other], (5, 9, 6)), (5, 9, 6)))
for shape, element in [((1, 1), "f64"), ((0, 5), "f32"), ((16,), "i8"), ((10, 4), "f16")]:
    for _ in range(5):
        a, b = (draw(MESHES[rng.integers(5)], len(shape)) for _ in range(2))
        cases.append(Case(with_halos(a, shape), b, shape, element))
        cases.append(Case(a, with_halos(b, shape), shape, element, padding=2 if element == "i8" else 2.5))
for _ in range(6):
    a, b = (with_halos(draw(MESHES[rng.integers(4)], 3, 2), (5, 11, 6)) for _ in range(2))
    cases.append(Case(a, b, (5, 11, 6), "f32", [(int(rng.integers(3)), int(rng.choice([2, 4]))) for _ in range(2)]))
# Partial sums, maxima and minima, reduced to one rank, several and all.
for reduction, element in (("sum", "f32"), ("max", "f16"), ("min", "i8"), ("sum", "i16")):
    found = 0
    while found < 8:
        axes = MESHES[1 + rng.integers(3)]
        a, b = draw(axes, 2), draw(MESHES[rng.integers(4)], 2)
        free = [name for name in axes if not any(name in split for split in a.splits)]
        if free:
            partial = [name for name in free if rng.integers(2)] or free[:1]
            a = Distribution(axes, a.splits, partial, reduction)
            cases.append(Case(with_halos(a, (5, 9)) if found % 2 else a, with_halos(b, (5, 9)) if found % 4 > 1 else b,
                              (5, 9), element))
            found += 1
sent = run_cases(folder / "eight", cases)
for case, bytes_sent in zip(cases, sent, strict=True):
    assert bytes_sent == least(case), f"{case.type(0)} to {case.type(1)}: {bytes_sent}, not {least(case)}"
assert sum(sent > 0) > 150
print(len(cases), "conversions on 8 ranks,", sent.sum(), "bytes")

# The same conversions in messages of at most 32 bytes.
again = [case for case, bytes_sent in zip(cases, sent, strict=True) if bytes_sent > 300][:20]
cut = run_cases(folder / "cut", again, "max-extra-bytes=64")
assert list(cut) == [least(case) for case in again]

# Cases that upstream's resharding rejects, crashes on, computes wrongly, or does not lower to MPI.
square, four = {"a0": 2, "a1": 2}, {"a0": 4}
rows, columns, whole = (Distribution(four, splits) for splits in ([["a0"], []], [[], ["a0"]], [[], []]))
halo = Distribution(four, [["a0"], []], halos=[[1, 2], [0, 0]])
failures = {
    "swapped axes": [Case(Distribution(square, [["a0"], ["a1"]]), Distribution(square, [["a1"], ["a0"]]), (8, 8))],
    "exchanged axes": [Case(Distribution(square, [["a0", "a1"], []]), Distribution(square, [["a1", "a0"], []]), (8, 8))],
    "non-divisible rows": [Case(whole, rows, (10, 6)), Case(rows, columns, (10, 6))],
    "a removed halo": [Case(halo, rows, (8, 6)), Case(halo, rows, (10, 6)), Case(rows, halo, (8, 6))],
    "collectives": [Case(rows, whole, (8, 6)), Case(rows, columns, (8, 8)),
                    Case(Distribution(four, [["a0"]]), Shifted("a0", 4, 8), (8,))],
}


def annotate(distribution):
    splits = [[int(axis[1:]) for axis in split] for split in distribution.splits]
    halos = [size for split, pair in zip(splits, distribution.halos, strict=True) for size in pair if split]
    return f"@grid split_axes = {splits}" + (f" halo_sizes = {halos}" if any(halos) else "") + " : !shard.sharding"


known = []
for name, cases_of_it in failures.items():
    for case in cases_of_it:
        known.append(case)
        if isinstance(case.ends[1], Shifted):  # no annotation expresses a shift
            continue
        tensor = f"tensor<{'x'.join(map(str, case.shape))}x{case.element}>"
        module = folder / "annotated.mlir"
        module.write_text(f"""shard.grid @grid(shape = {'x'.join(map(str, case.ends[0].axes.values()))})
func.func @f(%a: {tensor}) -> {tensor} {{
  %from = shard.sharding {annotate(case.ends[0])}
  %to = shard.sharding {annotate(case.ends[1])}
  %0 = shard.shard %a to %from : {tensor}
  %1 = shard.shard %0 to %to annotate_for_users : {tensor}
  return %1 : {tensor}
}}
""")
        found = run_tool("layout-opt", module, "--layout-mesh-import-shardings", "--mlir-print-local-scope")
        assert f": {case.type(0)} to {case.type(1)}" in found, f"{name}: {found}"
sent = run_cases(folder / "known", known)
assert list(sent) == [least(case) for case in known]
removed = [bytes_sent for case, bytes_sent in zip(known, sent, strict=True) if case.ends[0] is halo]
assert removed == [0, 0]
