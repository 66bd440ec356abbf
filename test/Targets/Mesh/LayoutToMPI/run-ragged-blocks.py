# REQUIRES: mpi, clang
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t
# Check uneven blocks in local layouts, on 3, 4 and 8 ranks: each rank ends with its block of numpy's result on whole
# tensors, regardless of garbage beside its indices. Some ranks have no index.
import pathlib
import sys

import numpy as np
from mesh_blocks import ROWS_OF_TABLE, Program, run_programs
from mesh_ranks import Distribution

rng = np.random.default_rng(11)
DTYPES = {"f32": "f4", "f16": "f2", "i8": "i1", "i32": "i4"}
PLUS = {"f32": "addf", "f16": "addf", "i8": "addi"}


def draw(shape, element="f32"):
    # Small integers, so that sums are exact in any order.
    return rng.integers(-4, 5, shape).astype(DTYPES[element])


def tiled(distribution, shape, element, layout):
    """Returns a type whose blocks have a local layout."""
    text = distribution.text().replace("]]>", f"]], local = {layout}>", 1)
    return f"tensor<{'x'.join([*map(str, shape), element])}, {text}>"


def blocked(dims, tiles):
    return f'#layout.blocked<"{dims}" to "{dims}{tiles}">'


def elementwise(axes, name):
    """Adds sums of two tensors, in tiles of the split dim and of another one, and between blocks of other layouts."""
    for element in ("f32", "f16", "i8"):
        for shape, splits, tile, other in [((10, 7), [[name], []], (0, 2), blocked("AB", "4b")),
                                           ((5, 9), [[], [name]], (1, 4), blocked("AB", "2a2b")),
                                           ((2, 1, 17), [[], [], [name]], (2, 3), '#layout.blocked<"ABC" to "CAB">'),
                                           ((1, 6), [[name], []], (1, 4), blocked("AB", "4a"))]:
            a, b = draw(shape, element), draw(shape, element)
            rows = Distribution(axes, splits)
            yield Program(f"""%c = layout.convert %a0 : {{0}} to {{q}}
  %d = layout.convert %a1 : {{1}} to {{q}}
  %s = arith.{PLUS[element]} %c, %d : {{q}}
  %t = layout.convert %s : {{q}} to {{r}}
  %r = arith.{PLUS[element]} %t, %a0 : {{r}}""", [(a, rows, tile), (b, rows)], rows, a + b + a if element != "i8" else
                          (a + b + a).astype("i1"), [tile, ("q", tiled(rows, shape, element, other))])


def products(axes, name):
    """Adds products with split rows, columns and reductions, in tiles of the split dim; a reduction only covers the
    indices of the rank."""
    for m, n, k in ((10, 6, 9), (5, 9, 4), (1, 2, 3), (7, 5, 0)):
        for element in ("f32", "f16"):
            left, right = draw((m, k), element), draw((k, n), element)
            zero = f"%z = arith.constant 2.0 : {element}"
            for a, b, c, tiles in [([[name], []], [[], []], [[name], []], ((0, 2), None, (0, 2))),
                                   ([[], []], [[], [name]], [[], [name]], (None, (1, 4), (1, 4)))]:
                if 0 in (m, n, k) and tiles[0] is None:
                    continue
                yield Program(zero + """
  %e = tensor.empty() : {r}
  %f = linalg.fill ins(%z : {e}) outs(%e : {r}) -> {r}
  %r = linalg.matmul ins(%a0, %a1 : {0}, {1}) outs(%f : {r}) -> {r}""",
                              [(left, Distribution(axes, a), tiles[0]), (right, Distribution(axes, b), tiles[1])],
                              Distribution(axes, c), left @ right + 2, [tiles[2], ("e", element)])
            parts = Distribution(axes, [[], []], [name])
            yield Program(zero + """
  %e = tensor.empty() : {c}
  %f = linalg.fill ins(%z : {e}) outs(%e : {c}) -> {c}
  %p = linalg.matmul ins(%a0, %a1 : {0}, {1}) outs(%f : {c}) -> {c}
  %r = layout.convert %p : {c} to {r}""",
                          [(left, Distribution(axes, [[], [name]]), (1, 2)),
                           (right, Distribution(axes, [[name], []]), (0, 2))],
                          Distribution(axes, [[name], []]), left @ right + 2,
                          [("c", parts, (m, n)), ("e", element)])


def others(axes, name):
    rows = Distribution(axes, [[name], []])
    # Sums of bytes over a rank's columns, and of its rows.
    a = draw((10, 11), "i8")
    yield Program("""%z = arith.constant 0 : i32
  %e = tensor.empty() : {r}
  %f = linalg.fill ins(%z : i32) outs(%e : {r}) -> {r}
  %r = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
       iterator_types = ["parallel", "reduction"]}} ins(%a0 : {0}) outs(%f : {r}) {{
  ^bb0(%x: i8, %y: i32):
    %w = arith.extsi %x : i8 to i32
    %s = arith.addi %w, %y : i32
    linalg.yield %s : i32
  }} -> {r}""", [(a, rows, (0, 2))], Distribution(axes, [[name]]), a.sum(1).astype("i4"))
    # Ops that garbage must neither make trap nor read outside of a table: only the indices of the rank are computed.
    t = rng.integers(1, 9, (10, 6)).astype("i4")
    yield Program("""%d = arith.divsi %a0, %a0 : {0}
  %m = arith.remsi %d, %a0 : {0}
  %r = arith.addi %d, %m : {0}""", [(t, rows, (0, 2))], rows, (1 + 1 % t).astype("i4"), [(0, 2)])
    table, at = draw((9, 5)), rng.integers(0, 9, 10).astype("i4")
    yield Program(ROWS_OF_TABLE, [(table, Distribution(axes, [[], []])), (at, Distribution(axes, [[name]]))], rows, table[at], [(0, 4)])
    # Rows of softmax, in tiles of rows.
    a = draw((10, 5))
    e = np.exp(a - a.max(axis=1, keepdims=True))
    yield Program("""%e = tensor.empty() : {0}
  %r = linalg.softmax dimension(1) ins(%a0 : {0}) outs(%e : {0}) -> {0}""", [(a, rows, (0, 2))], rows,
                  e / e.sum(axis=1, keepdims=True), [(0, 2)])
    # Slices, padding and concatenation of other dims, a constant in tiles, and a loop-carried value.
    a, weights = draw((10, 8)), draw((10, 4))
    numbers = ", ".join(f"[{', '.join(map(str, row))}]" for row in weights)
    four, twelve = (tiled(rows, (10, n), "f32", blocked("AB", "2a")) for n in (4, 12))
    yield Program(f"""%s = tensor.extract_slice %a0[0, 2] [10, 4] [1, 1] : {{0}} to {four}
  %c = arith.constant dense<[{numbers}]> : {four}
  %k = arith.mulf %s, %c : {four}
  %i = tensor.insert_slice %k into %a0[0, 1] [10, 4] [1, 1] : {four} into {{0}}
  %n = tensor.concat dim(1) %i, %k : ({{0}}, {four}) -> {twelve}
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %q = scf.for %l = %zero to %two step %one iter_args(%x = %n) -> ({twelve}) {{{{
    %y = arith.addf %x, %n : {twelve}
    scf.yield %y : {twelve}
  }}}}
  %r = layout.convert %q : {twelve} to {{r}}""", [(a, rows, (0, 2))], rows,
                  3 * np.concatenate([a[:, :1], a[:, 2:6] * weights, a[:, 5:], a[:, 2:6] * weights], 1))
    # Output channels of a convolution, in tiles.
    image, kernel = draw((2, 4, 5, 6)), draw((10, 4, 3, 3))
    windows = np.lib.stride_tricks.sliding_window_view(image, (3, 3), axis=(2, 3))
    channels = Distribution(axes, [[], [name], [], []])
    yield Program("""%z = arith.constant 0.0 : f32
  %e = tensor.empty() : {r}
  %f = linalg.fill ins(%z : f32) outs(%e : {r}) -> {r}
  %r = linalg.conv_2d_nchw_fchw ins(%a0, %a1 : {0}, {1}) outs(%f : {r}) -> {r}""",
                  [(image, Distribution(axes, [[], [], [], []])), (kernel, Distribution(axes, [[name], [], [], []]), (0, 4))],
                  channels, np.einsum("nchwij,fcij->nfhw", windows, kernel), [(1, 4)])
    # Padding that a type states is kept next to the indices of a rank.
    padded = f"tensor<10x8xf32, #layout.padded<{rows.text()[:-1]}, local = {blocked('AB', '4a')}>, 7.0 : f32>>"
    yield Program("""%p = layout.convert %a0 : {0} to {p}
  %s = arith.addf %p, %p : {p}
  %r = layout.convert %s : {p} to {r}""", [(a, rows)], rows, 2 * a, [("p", padded)])


total = 0
for ranks in (3, 4, 8):
    programs = [each for kind in (elementwise, products, others) for each in kind({"x": ranks}, "x")]
    folder = pathlib.Path(sys.argv[1], str(ranks))
    folder.mkdir()
    run_programs(folder, programs)
    total += len(programs)
print(total, "programs on 3, 4 and 8 ranks")
