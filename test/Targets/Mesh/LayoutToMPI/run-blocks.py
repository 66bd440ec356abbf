# REQUIRES: mpi, clang
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t
# Check ops on tensors over 8 ranks: each rank ends with its block of numpy's result on whole tensors. Blocks are uneven
# and empty, memory beside them has garbage, and the init of partial sums counts once.
import itertools
import pathlib
import sys

import numpy as np
from mesh_blocks import ROWS_OF_TABLE, Program, run_programs
from mesh_ranks import Distribution

folder = pathlib.Path(sys.argv[1])
rng = np.random.default_rng(5)
X, XY, YX, XYZ = {"x": 8}, {"x": 2, "y": 4}, {"x": 4, "y": 2}, {"x": 2, "y": 2, "z": 2}
programs = []


def add(text, arguments, result, expected, *aliases):
    """Adds a program of `text`, in which {0}, {1}, .. are the types of the arguments, {r} that of the result, and other
    types are named by `aliases`."""
    programs.append(Program(text, arguments, result, expected, aliases))


def draw(shape, element="f32"):
    if element.startswith("f"):
        # Small integers, so that sums are exact in any order.
        return rng.integers(-4, 5, shape).astype({"f32": "f4", "f16": "f2", "f64": "f8"}[element])
    return rng.integers(-4, 5, shape).astype({"i8": "i1", "i32": "i4"}[element])


# Products: rows, columns, both and the reduction are split; the init counts once.
for axes, a, b, c, parts, (m, n, k) in [
        (X, [["x"], []], [[], []], [["x"], []], [], (10, 6, 9)),
        (X, [[], []], [[], ["x"]], [[], ["x"]], [], (5, 9, 4)),
        (X, [[], ["x"]], [["x"], []], [[], []], ["x"], (5, 6, 13)),
        (XY, [["x"], ["y"]], [["y"], []], [["x"], []], ["y"], (7, 5, 9)),
        (YX, [["y"], []], [[], ["x"]], [["y"], ["x"]], [], (1, 10, 3)),
        (XYZ, [["z"], ["y", "x"]], [["y", "x"], []], [["z"], []], ["x", "y"], (3, 4, 1)),
        (XYZ, [["x"], ["z", "y"]], [["z", "y"], []], [["x"], []], ["y", "z"], (3, 4, 16)),
        (XY, [["x"], ["y"]], [["y"], []], [["x"], []], ["y"], (2, 0, 3))]:
    for element in ("f32", "f16"):
        left, right = draw((m, k), element), draw((k, n), element)
        held = Distribution(axes, c, parts)
        add("""%v = arith.constant 3.0 : {e}
  %e = tensor.empty() : {c}
  %f = linalg.fill ins(%v : {e}) outs(%e : {c}) -> {c}
  %p = linalg.matmul ins(%a0, %a1 : {0}, {1}) outs(%f : {c}) -> {c}
  %r = layout.convert %p : {c} to {r}""", [(left, Distribution(axes, a)), (right, Distribution(axes, b))],
            Distribution(axes, [[], [*axes]]), left @ right + 3, ("c", held, (m, n)), ("e", element))

# A bias that each rank stores, as the init of a split i8 sum.
left, right, bias = draw((4, 11), "i8"), draw((11, 6), "i8"), draw((6,), "i32")
add("""%e = tensor.empty() : {c}
  %b = linalg.broadcast ins(%a2 : {2}) outs(%e : {c}) dimensions = [0]
  %p = linalg.matmul ins(%a0, %a1 : {0}, {1}) outs(%b : {c}) -> {c}
  %r = layout.convert %p : {c} to {r}""",
    [(left, Distribution(X, [[], ["x"]])), (right, Distribution(X, [["x"], []])), (bias, Distribution(X, [[]]))],
    Distribution(X, [["x"], []]), left.astype("i4") @ right.astype("i4") + bias,
    ("c", Distribution(X, [[], []], ["x"]), (4, 6), "i32"))

# The maximum over ranks, a sum over a whole tensor, and the largest and smallest numbers, of which a rank may have
# none.
whole, numbers = draw((5, 13)), draw((5, 13))
numbers[rng.random((5, 13)) < 0.4] = np.nan
numbers[2], numbers[4, 3:] = np.nan, np.nan
for reduction, op, start, a, expected in [
        ("max", "maximumf", "0xFF800000", whole, whole.max(axis=1)),
        ("min", "minimumf", "1.0", whole, np.minimum(whole.min(axis=1), 1)),
        ("sum", "addf", "0.5", whole, whole.sum(axis=1) + 0.5),
        ("max", "maxnumf", "0xFF800000", numbers, np.fmax(np.fmax.reduce(numbers, axis=1), np.float32(-np.inf))),
        ("min", "minnumf", "1.0", numbers, np.fmin(np.fmin.reduce(numbers, axis=1), np.float32(1)))]:
    add(f"""%v = arith.constant {start} : f32
  %e = tensor.empty() : {{c}}
  %f = linalg.fill ins(%v : f32) outs(%e : {{c}}) -> {{c}}
  %p = linalg.reduce {{{{ arith.{op} }}}} ins(%a0 : {{0}}) outs(%f : {{c}}) dimensions = [1]
  %r = layout.convert %p : {{c}} to {{r}}""", [(a, Distribution(XY, [["x"], ["y"]]))],
        Distribution(XY, [["y", "x"]]), expected, ("c", Distribution(XY, [["x"]], ["y"], reduction), (5,)))

# Elementwise ops, with indices of the whole tensor in the body.
for axes, splits, shape in [(X, [["x"], []], (10, 3)), (XY, [["y"], ["x"]], (5, 7)), (X, [[], ["x"]], (2, 1)),
                            (XYZ, [["z", "x"], ["y"]], (9, 9)), (X, [["x"], []], (0, 4))]:
    a = draw(shape)
    i, j = np.indices(shape)
    add("""%e = tensor.empty() : {0}
  %s = arith.addf %a0, %a0 : {0}
  %r = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
       iterator_types = ["parallel", "parallel"]}} ins(%s : {0}) outs(%e : {0}) {{
  ^bb0(%x: f32, %y: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %c = arith.constant 100 : index
    %m = arith.muli %i, %c : index
    %n = arith.addi %m, %j : index
    %k = arith.index_cast %n : index to i32
    %f = arith.sitofp %k : i32 to f32
    %z = arith.addf %x, %f : f32
    linalg.yield %z : f32
  }} -> {0}""", [(a, Distribution(axes, splits))], Distribution(axes, splits), 2 * a + 100 * i + j)

# Rows of softmax; in one case a rank has no row.
for shape in ((10, 5), (3, 4)):
    a = draw(shape)
    e = np.exp(a - a.max(axis=1, keepdims=True))
    add("""%e = tensor.empty() : {0}
  %r = linalg.softmax dimension(1) ins(%a0 : {0}) outs(%e : {0}) -> {0}""",
        [(a, Distribution(X, [["x"], []]))], Distribution(X, [["x"], []]), e / e.sum(axis=1, keepdims=True))

# A convolution split by images and by output channels.
image, kernel = draw((3, 4, 6, 6)), draw((5, 4, 3, 3))
windows = np.lib.stride_tricks.sliding_window_view(image, (3, 3), axis=(2, 3))
add("""%z = arith.constant 0.0 : f32
  %e = tensor.empty() : {r}
  %f = linalg.fill ins(%z : f32) outs(%e : {r}) -> {r}
  %r = linalg.conv_2d_nchw_fchw ins(%a0, %a1 : {0}, {1}) outs(%f : {r}) -> {r}""",
    [(image, Distribution(XY, [["x"], [], [], []])), (kernel, Distribution(XY, [["y"], [], [], []]))],
    Distribution(XY, [["x"], ["y"], [], []]), np.einsum("nchwij,fcij->nfhw", windows, kernel))

# Split input channels, in tiles.
image, kernel = draw((1, 16, 5, 5)), draw((6, 16, 1, 1))
add("""%z = arith.constant 0.0 : f32
  %e = tensor.empty() : {c}
  %f = linalg.fill ins(%z : f32) outs(%e : {c}) -> {c}
  %p = linalg.conv_2d_nchw_fchw ins(%a0, %a1 : {0}, {1}) outs(%f : {c}) -> {c}
  %r = layout.convert %p : {c} to {r}""",
    [(image, Distribution(X, [[], ["x"], [], []]), (1, 2)), (kernel, Distribution(X, [[], ["x"], [], []]))],
    Distribution(X, [[], ["x"], [], []]), np.einsum("nchw,fc->nfhw", image, kernel[:, :, 0, 0]),
    ("c", Distribution(X, [[], [], [], []], ["x"]), (1, 6, 5, 5)))

# Tiled blocks, some of them partial and empty: elements are added in their positions.
for shape, tile in (((10, 4), (0, 2)), ((5, 16), (1, 4)), ((17, 3), (0, 4))):
    a, b = draw(shape), draw(shape)
    add("""%r = arith.mulf %a0, %a1 : {0}""",
        [(a, Distribution(YX, [["x"], ["y"]]), tile), (b, Distribution(YX, [["x"], ["y"]]), tile)],
        Distribution(YX, [["x"], ["y"]]), a * b, tile)

# Rows of a table that every rank stores, looked up by split indices.
table, rows = draw((9, 5)), rng.integers(0, 9, 11).astype("i4")
add(ROWS_OF_TABLE, [(table, Distribution(X, [[], []])), (rows, Distribution(X, [["x"]]))],
    Distribution(X, [["x"], []]), table[rows])

# Slices, padding and concatenation along unsplit dims.
a, b = draw((10, 7)), draw((10, 2))
rows = Distribution(X, [["x"], []])
add("""%s = tensor.extract_slice %a0[0, 2] [10, 3] [1, 2] : {0} to {s}
  %i = tensor.insert_slice %s into %a0[0, 1] [10, 3] [1, 1] : {s} into {0}
  %v = arith.constant 9.0 : f32
  %p = tensor.pad %a1 low[0, 1] high[0, 2] {{
  ^bb0(%i0: index, %i1: index):
    tensor.yield %v : f32
  }} : {1} to {p}
  %r = tensor.concat dim(1) %i, %p, %s : ({0}, {p}, {s}) -> {r}""",
    [(a, rows), (b, rows)], rows,
    np.concatenate([np.concatenate([a[:, :1], a[:, 2:7:2], a[:, 4:]], 1),
                    np.pad(b, ((0, 0), (1, 2)), constant_values=9), a[:, 2:7:2]], 1),
    ("s", rows, (10, 3)), ("p", rows, (10, 5)))
add("""%r = tensor.extract_slice %a0[0, 3, 0] [10, 1, 4] [1, 1, 1] : {0} to {r}""",
    [(c := draw((10, 5, 4)), Distribution(XY, [["y"], [], ["x"]]))], Distribution(XY, [["y"], ["x"]]), c[:, 3])

# Reshapes: heads of a row, and back; unit dims next to a split one.
a = draw((3, 40))
add("""%h = tensor.expand_shape %a0 [[0], [1, 2]] output_shape [3, 10, 4] : {0} into {h}
  %d = arith.addf %h, %h : {h}
  %r = tensor.collapse_shape %d [[0, 1], [2]] : {h} into {r}""",
    [(a, Distribution(X, [[], [] ]))], Distribution(X, [[], []]), 2 * a.reshape(30, 4),
    ("h", Distribution(X, [[], [], []]), (3, 10, 4)))
for heads in (8, 16):
    a = draw((3, heads * 4))
    add(f"""%h = tensor.expand_shape %a0 [[0], [1, 2, 3]] output_shape [3, 1, {heads}, 4] : {{0}} into {{h}}
  %d = arith.addf %h, %h : {{h}}
  %r = tensor.collapse_shape %d [[0, 1], [2, 3]] : {{h}} into {{r}}""",
        [(a, Distribution(X, [[], ["x"]]))], Distribution(X, [[], ["x"]]), 2 * a,
        ("h", Distribution(X, [[], [], ["x"], []]), (3, 1, heads, 4)))

# Constants: blocks of one, equal everywhere, and all copies of one.
weights = draw((9, 4))
numbers = ", ".join(f"[{', '.join(map(str, row))}]" for row in weights)
for axes, splits in ((X, [["x"], []]), (XY, [["x"], ["y"]]), (XYZ, [[], ["z"]]), (X, [[], []])):
    a = draw((9, 4))
    add(f"""%c = arith.constant dense<[{numbers}]> : {{0}}
  %t = arith.constant dense<2.0> : {{0}}
  %s = arith.mulf %a0, %t : {{0}}
  %r = arith.addf %s, %c : {{0}}""", [(a, Distribution(axes, splits))], Distribution(axes, splits), 2 * a + weights)
# In tiles.
a = draw((9, 4))
add(f"""%c = arith.constant dense<[{numbers}]> : {{0}}
  %r = arith.addf %a0, %c : {{0}}""", [(a, Distribution(YX, [["x"], []]), (0, 2))], Distribution(YX, [["x"], []]),
    a + weights, (0, 2))

# From a tensor outside of the mesh to one with a block per rank, and back.
a = draw((7, 3))
add("""%g = layout.convert %a0 : {0} to {w}
  %p = layout.convert %g : {w} to tensor<7x3xf32>
  %q = arith.addf %p, %p : tensor<7x3xf32>
  %r = layout.convert %q : tensor<7x3xf32> to {r}""", [(a, Distribution(X, [["x"], []]))],
    Distribution(XY, [["y"], ["x"]]), 2 * a, ("w", Distribution(X, [[], []]), (7, 3)))

# Loops and branches with blocks.
a = draw((10, 3))
add("""%zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  %r = scf.for %i = %zero to %three step %one iter_args(%x = %a0) -> ({0}) {{
    %is = arith.cmpi eq, %i, %one : index
    %y = scf.if %is -> ({0}) {{
      %d = arith.addf %x, %x : {0}
      scf.yield %d : {0}
    }} else {{
      %s = arith.addf %x, %a0 : {0}
      scf.yield %s : {0}
    }}
    scf.yield %y : {0}
  }}""", [(a, rows)], rows, 5 * a)

# A reduction of a whole tensor to a scalar.
a = draw((5, 13))
add("""%v = arith.constant 2.0 : f32
  %e = tensor.empty() : {c}
  %f = linalg.fill ins(%v : f32) outs(%e : {c}) -> {c}
  %p = linalg.reduce {{ arith.addf }} ins(%a0 : {0}) outs(%f : {c}) dimensions = [0, 1]
  %r = layout.convert %p : {c} to {r}""", [(a, Distribution(XY, [["x"], ["y"]]))], Distribution(XY, []), np.float32(a.sum() + 2).reshape(()), ("c", Distribution(XY, [], ["x", "y"]), ()))
# Two results whose parts are added and compared.
add("""%v = arith.constant 0.0 : f32
  %w = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : {c}
  %e2 = tensor.empty() : {m}
  %f = linalg.fill ins(%v : f32) outs(%e : {c}) -> {c}
  %g = linalg.fill ins(%w : f32) outs(%e2 : {m}) -> {m}
  %p:2 = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}} ins(%a0 : {0}) outs(%f, %g : {c}, {m}) {{
  ^bb0(%x: f32, %y: f32, %z: f32):
    %s = arith.addf %y, %x : f32
    %t = arith.maximumf %z, %x : f32
    linalg.yield %s, %t : f32, f32
  }} -> ({c}, {m})
  %q = layout.convert %p#0 : {c} to {r}
  %u = layout.convert %p#1 : {m} to {r}
  %r = arith.addf %q, %u : {r}""", [(a, Distribution(XY, [[], ["y"]]))], Distribution(XY, [["x"]]), a.sum(1) + a.max(1), ("c", Distribution(XY, [[]], ["y"]), (5,)), ("m", Distribution(XY, [[]], ["y"], "max"), (5,)))
# Constants as partial sums.
add("""%c = arith.constant dense<[1.0, 2.0, 3.0]> : {c}
  %d = layout.convert %c : {c} to {r}
  %r = arith.addf %d, %a0 : {r}""", [(b := draw((3,)), Distribution(X, [["x"]]))], Distribution(X, [["x"]]), b + np.array([1, 2, 3], "f4"), ("c", Distribution(X, [[]], ["x"]), (3,)))
add("""%c = arith.constant dense<5.0> : {c}
  %d = layout.convert %c : {c} to {r}
  %r = arith.addf %d, %a0 : {r}""", [(b, Distribution(X, [["x"]]))], Distribution(X, [["x"]]), b + 5, ("c", Distribution(X, [[]], ["x"]), (3,)))
# Sizes are those of the whole tensor; one result is unused.
add("""%i = arith.constant 0 : index
  %d = tensor.dim %a0, %i : {0}
  %k = arith.index_cast %d : index to i32
  %g = arith.sitofp %k : i32 to f32
  %e = tensor.empty() : {0}
  %f = linalg.fill ins(%g : f32) outs(%e : {0}) -> {0}
  %u = arith.mulf %a0, %a0 : {0}
  %r = arith.addf %f, %a0 : {0}""", [(c := draw((10, 2)), Distribution(X, [["x"], []]))], Distribution(X, [["x"], []]), c + 10)
add("""%r = tensor.cast %a0 : {0} to {0}""", [(c, Distribution(X, [["x"], []]))], Distribution(X, [["x"], []]), c)
# Batches of products.
l, r = draw((11, 3, 4)), draw((11, 4, 2))
add("""%v = arith.constant 0.0 : f32
  %e = tensor.empty() : {r}
  %f = linalg.fill ins(%v : f32) outs(%e : {r}) -> {r}
  %r = linalg.batch_matmul ins(%a0, %a1 : {0}, {1}) outs(%f : {r}) -> {r}""", [(l, Distribution(X, [["x"], [], []])), (r, Distribution(X, [["x"], [], []]))], Distribution(X, [["x"], [], []]), l @ r)
# Two meshes with equal blocks, after a conversion from one to the other.
add("""%c = layout.convert %a0 : {0} to {1}
  %r = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}} ins(%c : {1}) outs(%a1 : {1}) {{
  ^bb0(%x: f32, %y: f32):
    %z = arith.subf %y, %x : f32
    linalg.yield %z : f32
  }} -> {1}""", [(c, Distribution(X, [["x"], []])), (d := draw((10, 2)), Distribution({"x": 2, "y": 4}, [["x", "y"], []]))], Distribution(XY, [["x", "y"], []]), d - c)
# A split reduction of tiled blocks of unequal size.
l, r = draw((6, 19)), draw((19, 5))
add("""%v = arith.constant 1.0 : f32
  %e = tensor.empty() : {c}
  %f = linalg.fill ins(%v : f32) outs(%e : {c}) -> {c}
  %p = linalg.matmul ins(%a0, %a1 : {0}, {1}) outs(%f : {c}) -> {c}
  %r = layout.convert %p : {c} to {r}""", [(l, Distribution(X, [[], ["x"]]), (1, 2)), (r, Distribution(X, [["x"], []]), (0, 4))], Distribution(X, [[], []]), l @ r + 1, ("c", Distribution(X, [[], []], ["x"]), (6, 5)))
# Strides and dilations, with a sum over channels on several devices.
im, k = draw((2, 9, 11, 11)), draw((7, 9, 3, 3))
w = np.lib.stride_tricks.sliding_window_view(im, (5, 5), axis=(2, 3))[:, :, ::2, ::2, ::2, ::2]
add("""%v = arith.constant 0.0 : f32
  %e = tensor.empty() : {c}
  %f = linalg.fill ins(%v : f32) outs(%e : {c}) -> {c}
  %p = linalg.conv_2d_nchw_fchw {{dilations = dense<2> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>}} ins(%a0, %a1 : {0}, {1}) outs(%f : {c}) -> {c}
  %r = layout.convert %p : {c} to {r}""", [(im, Distribution(XY, [["x"], ["y"], [], []])), (k, Distribution(XY, [[], ["y"], [], []]))], Distribution(XY, [[], ["x", "y"], [], []]), np.einsum("nchwij,fcij->nfhw", w, k), ("c", Distribution(XY, [["x"], [], [], []], ["y"]), (2, 7, 4, 4)))
# Another loop, and a switch.
add("""%z = arith.constant 0 : index
  %o = arith.constant 1 : index
  %n = arith.constant 3 : index
  %q:2 = scf.while (%i = %z, %x = %a0) : (index, {0}) -> (index, {0}) {{
    %c = arith.cmpi slt, %i, %n : index
    scf.condition(%c) %i, %x : index, {0}
  }} do {{
  ^bb0(%i: index, %x: {0}):
    %j = arith.addi %i, %o : index
    %y = arith.addf %x, %a0 : {0}
    scf.yield %j, %y : index, {0}
  }}
  %r = scf.index_switch %n -> {0}
  case 3 {{
    %y = arith.addf %q#1, %a0 : {0}
    scf.yield %y : {0}
  }}
  default {{
    scf.yield %a0 : {0}
  }}""", [(c, Distribution(X, [["x"], []]))], Distribution(X, [["x"], []]), 5 * c)
# Integer divisions, which garbage beside a block must not make trap.
t = rng.integers(1, 9, (5, 12)).astype("i4")
add("""%e = tensor.empty() : {r}
  %t = linalg.transpose ins(%a0 : {0}) outs(%e : {r}) permutation = [1, 0]
  %r = arith.divsi %t, %t : {r}""", [(t, Distribution(X, [[], ["x"]]))], Distribution(X, [["x"], []]), np.ones((12, 5), "i4"))
# An element at an index.
add("""%i = arith.constant 2 : index
  %w = layout.convert %a0 : {0} to {w}
  %x = tensor.extract %w[%i] : {w}
  %e = tensor.empty() : {0}
  %r = linalg.fill ins(%x : f32) outs(%e : {0}) -> {0}""", [(b, Distribution(X, [["x"]]))], Distribution(X, [["x"]]), np.full(3, b[2]), ("w", Distribution(X, [[]]), (3,)))
# A tensor that an op without a layout rule creates on each rank.
add("""%i = arith.constant 2 : index
  %x = tensor.extract %a0[%i] : {0}
  %e = tensor.from_elements %x, %x, %x : {0}
  %r = arith.addf %e, %a0 : {0}""", [(b, Distribution(X, [[]]))], Distribution(X, [[]]), b + b[2])
# Padding that a type states.
add("""%p = layout.convert %a0 : {0} to {p}
  %s = arith.addf %p, %p : {p}
  %r = layout.convert %s : {p} to {r}""", [(c, Distribution(X, [["x"], []]))], Distribution(X, [["x"], []]), 2 * c, ("p", "tensor<10x2xf32, #layout.padded<#layout.mesh<[x = 8], [[x], []], local = #layout.blocked<\"AB\" to \"AB4b\">>, zero>>"))
add("""%p = layout.convert %a0 : {0} to {p}
  %s = arith.addf %p, %p : {p}
  %r = layout.convert %s : {p} to {r}""", [(c, Distribution(X, [["x"], []]))], Distribution(X, [["x"], []]), 2 * c, ("p", "tensor<10x2xf32, #layout.padded<#layout.mesh<[x = 8], [[x], []]>, 7.0 : f32>>"))

# Blocks that change their layout in the memory of each rank.
for element, (shape, splits, local) in itertools.product(("f32", "f16", "i32"), [
        ((3, 16, 2, 5), [[], ["x"], [], []], '"ABCD" to "ABCD4b"'),
        ((2, 24, 1, 3), [[], ["x", "y"], [], []], '"ABCD" to "ACDB"'),
        ((16, 3, 1, 1), [["y", "x"], [], [], []], '"ABCD" to "ABCD2b2a"'),
        ((2, 8, 0, 3), [["x"], ["y"], [], []], '"ABCD" to "ABCD4b"'),
        ((2, 10, 2, 3), [["x"], ["y"], [], []], '"ABCD" to "ABCD4b"')]):
    a = draw(shape, element)
    axes = XY if "y" in str(splits) else X
    mesh = Distribution(axes, splits)
    tiled = mesh.text().replace("]]>", f"]], local = #layout.blocked<{local}>>", 1)
    kind = f"tensor<{'x'.join(map(str, shape))}x{element}, {tiled}>"
    op = "arith.addi" if element == "i32" else "arith.addf"
    add(f"""%q = layout.convert %a0 : {{0}} to {{q}}
  %s = {op} %q, %q : {{q}}
  %r = layout.convert %s : {{q}} to {{r}}""", [(a, mesh)], mesh, a + a, ("q", kind))

run_programs(folder, programs)
print(len(programs), "programs on 8 ranks")
