# REQUIRES: mpi, clang
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t
# Conversions between distributions of a tensor, run on 8 ranks by MPI: each ends with its block, as numpy cuts
# it, and the bytes that MPI is given to send are the fewest that any plan sends.
import pathlib
import sys

import numpy as np
from mesh_programs import Case, run_cases
from mesh_ranks import Distribution, all_over, bound

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


# Each of the 106 shardings of three dims over 8 ranks, once from and once to another one that is drawn.
every = all_over(3, 3)
others = rng.permutation(len(every))
cases = [Case(a, every[other], (5, 9, 6), ("f32", "f16", "i8", "f64")[i % 4])
         for i, (a, other) in enumerate(zip(every, others, strict=True))]
# Meshes of other shapes; extents 0 and 1, ragged ones, one dim and four.
for shape, element in [((8, 8, 8), "f32"), ((1, 1, 1), "f64"), ((3, 0, 5), "f32"), ((16,), "i8"), ((10, 4), "f16"),
                       ((2, 3, 5, 7), "i8"), ((17, 1, 1, 33), "f32"), ((), "f32"), ((7, 130), "i16")]:
    cases += [Case(draw(MESHES[rng.integers(5)], len(shape)), draw(MESHES[rng.integers(5)], len(shape)), shape, element)
              for _ in range(6)]
# Blocks that are stored in tiles, which shards cut.
for _ in range(10):
    tiles = [(int(rng.integers(3)), int(rng.choice([2, 4, 8]))) if rng.integers(4) else None for _ in range(2)]
    cases.append(Case(draw(MESHES[rng.integers(4)], 3, 2), draw(MESHES[rng.integers(4)], 3, 2), (5, 11, 6), "f32", tiles,
                      padding=2.5 if rng.integers(2) else None))
# Parts of sums, of largest and of smallest elements, for one rank, several and all.
for reduction, element in (("sum", "f32"), ("max", "f16"), ("min", "i8"), ("sum", "i16")):
    found = 0
    while found < 8:
        axes = MESHES[1 + rng.integers(3)]
        a, b = draw(axes, 2), draw(MESHES[rng.integers(4)], 2)
        free = [name for name in axes if not any(name in split for split in a.splits)]
        if free:
            partial = [name for name in free if rng.integers(2)] or free[:1]
            cases.append(Case(Distribution(axes, a.splits, partial, reduction), b, (5, 9), element))
            found += 1
sent = run_cases(folder / "eight", cases)
for case, bytes_sent in zip(cases, sent, strict=True):
    assert bytes_sent == least(case), f"{case.type(0)} to {case.type(1)}: {bytes_sent}, not {least(case)}"
assert sum(sent > 0) > 150
print(len(cases), "conversions on 8 ranks,", sent.sum(), "bytes")

# The same in messages of at most 32 bytes.
again = [case for case, bytes_sent in zip(cases, sent, strict=True) if bytes_sent > 300][:20]
cut = run_cases(folder / "cut", again, "max-extra-bytes=64")
assert list(cut) == [least(case) for case in again]

# Where upstream's resharding fails: an all_to_all that is wrong, a crash, rows that ranks do not divide.
xy, four = {"x": 2, "y": 2}, {"x": 4}
known = [Case(Distribution(xy, [["x"], ["y"]]), Distribution(xy, [["y"], ["x"]]), (8, 8)),
         Case(Distribution(xy, [["x", "y"], []]), Distribution(xy, [["y", "x"], []]), (8, 8)),
         Case(Distribution(four, [["x"], []]), Distribution(four, [[], []]), (10, 6)),
         Case(Distribution(four, [[], []]), Distribution(four, [["x"], []]), (10, 6)),
         Case(Distribution(four, [["x"], []]), Distribution(four, [[], ["x"]]), (10, 6))]
assert list(run_cases(folder / "known", known)) == [least(case) for case in known]
