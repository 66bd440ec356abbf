# RUN: rm -rf %t && mkdir %t
# RUN: env CXX=%host_cxx %python %s %t | FileCheck %s
# Check ops of trained networks, as importers write them, as OKKernel functions on three chips against NumPy.
# CHECK: BM1684: [[N:[0-9]+]] results, 0 kernels
# CHECK: BM1684X: [[N]] results, 0 kernels
# CHECK: BM1688: [[N]] results, 0 kernels
import numpy as np

from npu_cases import case, dense, draw, generic, random, run_all, tensor

# ---------------------------------------------------------------- elements

def elements(body, inputs, wanted, tolerance=1e-5):
    shape = inputs[0].shape
    arguments = ", ".join([*(f"%{name}: f32" for name, _ in zip("abc", inputs)), "%o: f32"])
    case("  %zero = arith.constant 0.0 : f32\n  %six = arith.constant 6.0 : f32\n  %true = arith.constant true\n" +
         generic("%r", len(shape), [(f"%x{i}", tensor(shape)) for i in range(len(inputs))],
                 f"^bb0({arguments}):\n{body}\n linalg.yield %v : f32", tensor(shape)), inputs, wanted, tolerance)


SHAPES = [(2, 67, 5, 3), (3, 70), (1, 1, 9), (1, 3, 1, 1), (0, 4)]
PREDICATES = {"ogt": np.greater, "olt": np.less, "oge": np.greater_equal, "ole": np.less_equal, "oeq": np.equal,
              "one": lambda x, y: (x < y) | (x > y)}


def unordered(of):
    return lambda x, y: of(x, y) | np.isnan(x) | np.isnan(y)


PREDICATES.update({"u" + name[1:]: unordered(of) for name, of in PREDICATES.items()})
PREDICATES.update(ord=lambda x, y: ~(np.isnan(x) | np.isnan(y)), uno=lambda x, y: np.isnan(x) | np.isnan(y))
for number, (name, of) in enumerate(PREDICATES.items()):
    x, y = (draw(*SHAPES[number % len(SHAPES)]).round() for _ in range(2))
    for each in (x, y):
        each.reshape(-1)[::5] = np.nan
    elements(f"%p = arith.cmpf {name}, %a, %b : f32\n %v = arith.select %p, %six, %zero : f32", [x, y],
             np.where(of(x, y), np.float32(6), np.float32(0)))

x = 6 * draw(2, 67, 5, 3)
for low, high in (("ult", "ugt"), ("olt", "ogt"), ("ole", "uge")):
    elements(f"""%p = arith.cmpf {low}, %a, %zero : f32
    %w = arith.select %p, %zero, %a : f32
    %q = arith.cmpf {high}, %w, %six : f32
    %v = arith.select %q, %six, %w : f32""", [x], np.clip(x, 0, 6))
elements("%p = arith.cmpf ugt, %a, %zero : f32\n %v = arith.select %p, %a, %zero : f32", [x], np.maximum(x, 0))
elements("%p = arith.cmpf olt, %six, %a : f32\n %v = arith.select %p, %a, %six : f32", [x], np.maximum(x, 6))
wide = np.abs(draw(2, 67, 5, 3)) * np.float32(10) ** random.integers(-20, 20, x.shape).astype(np.float32)
elements("%v = math.log %a : f32", [wide], np.log(wide), 1e-6)
elements("%v = math.log1p %a : f32", [np.abs(x)], np.log1p(np.abs(x)))
elements("%v = math.expm1 %a : f32", [x / 6], np.expm1(x / 6))
elements("%c = arith.constant 2 : i64\n %v = math.fpowi %a, %c : f32, i64", [x], x * x)
elements("%c = arith.constant 3.0 : f32\n %v = math.powf %a, %c : f32", [x], x * x * x)
x, y = draw(3, 5, 7), draw(3, 5, 7)
both = ~(x > 0) & (y < 0)
elements("""%p = arith.cmpf ogt, %a, %zero : f32
  %q = arith.cmpf ult, %b, %zero : f32
  %n = arith.xori %p, %true : i1
  %m = arith.andi %n, %q : i1
  %u = arith.ori %m, %p : i1
  %f = arith.uitofp %u : i1 to f32
  %v = arith.select %m, %a, %f : f32""", [x, y], np.where(both, x, (both | (x > 0)).astype(np.float32)))

# An i1 tensor between ops.
bits, numbers = tensor(x.shape, "i1"), tensor(x.shape)
case("  %zero = arith.constant 0.0 : f32\n" +
     generic("%c", 3, [("%x0", numbers)], "^bb0(%a: f32, %o: i1):\n %p = arith.cmpf ogt, %a, %zero : f32\n"
             " linalg.yield %p : i1", bits) + "\n" +
     generic("%d", 3, [("%c", bits), ("%x1", numbers)], "^bb0(%b: i1, %a: f32, %o: i1):\n"
             " %p = arith.cmpf olt, %a, %zero : f32\n %q = arith.andi %b, %p : i1\n linalg.yield %q : i1", bits,
             init="%f") + "\n" +
     generic("%r", 3, [("%d", bits), ("%x0", numbers), ("%x1", numbers)],
             "^bb0(%p: i1, %a: f32, %b: f32, %o: f32):\n %q = arith.select %p, %a, %b : f32\n"
             " linalg.yield %q : f32", numbers, init="%g"), [x, y], np.where((x > 0) & (y < 0), x, y))
# Functions that do not support strides, on tensors without some dims or with one index there.
for shape, of, lines in (((3, 5, 7), (), "(a, b, c) -> ()"), ((3, 5, 7), (5,), "(a, b, c) -> (b)"), ((2, 67), (2, 1), "(a, b) -> (a, 0)"),
                         ((1, 4), (1,), "(a, b) -> (a)"), ((2, 3, 4, 5), (3, 1, 5), "(a, b, c, d) -> (b, 0, d)")):
    x, y = draw(*shape), draw(*of).round()
    dims = ", ".join("abcd"[:len(shape)])
    whole, spread = f"({dims}) -> ({dims})", y.reshape(5, 1) if of == (5,) else y
    case("  %zero = arith.constant 0.0 : f32\n" +
         generic("%r", len(shape), [("%x0", tensor(shape)), ("%x1", tensor(of))],
                 "^bb0(%a: f32, %b: f32, %o: f32):\n %p = arith.cmpf oeq, %b, %zero : f32\n"
                 " %v = arith.select %p, %zero, %a : f32\n linalg.yield %v : f32", tensor(shape), [whole, lines]),
         [x, y], np.where(spread == 0, np.float32(0), x))
    case(generic("%r", len(shape), [("%x0", tensor(of))],
                 "^bb0(%a: f32, %o: f32):\n %v = math.exp %a : f32\n linalg.yield %v : f32", tensor(shape), [lines]),
         [y], np.broadcast_to(np.exp(spread), shape))
# A triangular loop nest, and a constant mask.
x = draw(2, 6, 5)
case("  %low = arith.constant -1.0e9 : f32\n" +
     generic("%r", 3, [("%x0", tensor(x.shape))], """^bb0(%a: f32, %o: f32):
   %i = linalg.index 1 : index
   %j = linalg.index 2 : index
   %p = arith.cmpi ule, %j, %i : index
   %v = arith.select %p, %a, %low : f32
   linalg.yield %v : f32""", tensor(x.shape)), [x], np.where(np.tri(6, 5, dtype=bool), x, np.float32(-1e9)))
mask = random.integers(0, 2, (6, 5)).astype(bool)
case("  %low = arith.constant -1.0e9 : f32\n"
     f"  %m = arith.constant {dense(mask.astype(int)).replace('1', 'true').replace('0', 'false')} : tensor<6x5xi1>\n" +
     generic("%r", 3, [("%x0", tensor(x.shape)), ("%m", "tensor<6x5xi1>")], """^bb0(%a: f32, %p: i1, %o: f32):
   %v = arith.select %p, %a, %low : f32
   linalg.yield %v : f32""", tensor(x.shape), ["(a, b, c) -> (a, b, c)", "(a, b, c) -> (b, c)"]), [x],
     np.where(mask, x, np.float32(-1e9)))


# ------------------------------------------------------------------ resizes

def place(name, loop, scale, size):
    """Returns the source position of a loop index, as %name, with centers at half pixels."""
    return f"""
    %{name}0 = arith.index_cast %{loop} : index to i64
    %{name}1 = arith.sitofp %{name}0 : i64 to f32
    %{name}2 = arith.addf %{name}1, %half : f32
    %{name}s = arith.constant {np.float32(scale):.9e} : f32
    %{name}m = arith.constant {size - 1:e} : f32
    %{name}3 = arith.divf %{name}2, %{name}s : f32
    %{name}4 = arith.subf %{name}3, %half : f32
    %{name}5 = arith.maximumf %{name}4, %zero : f32
    %{name} = arith.minimumf %{name}5, %{name}m : f32"""


def integer(name, of):
    return f"""
    %{name}i = arith.fptosi %{of} : f32 to i64
    %{name} = arith.index_cast %{name}i : i64 to index"""


def places(old, new):
    scale = np.float32(new / old)
    half = np.float32(0.5)
    return np.clip((np.arange(new, dtype=np.float32) + half) / scale - half, 0, old - 1)


def resize(shape, rows, columns, is_linear):
    x, out = draw(*shape), (*shape[:2], rows, columns)
    body = ["^bb0(%o: f32):", *(f"%i{i} = linalg.index {i} : index" for i in range(4))]
    for name, loop, old, new in (("h", "i2", shape[2], rows), ("w", "i3", shape[3], columns)):
        body += [place(name, loop, new / old, old), f"%{name}f = math.floor %{name} : f32", integer(name + "lo", name + "f"),
                 f"%{name}t = arith.subf %{name}, %{name}f : f32", f"%{name}u = arith.subf %one, %{name}t : f32",
                 f"%{name}g = arith.addf %{name}f, %one : f32", f"%{name}n = arith.minimumf %{name}g, %{name}m : f32",
                 integer(name + "hi", name + "n")]
    reads = [f"%{h}{w} = tensor.extract %x0[%i0, %i1, %h{h}, %w{w}] : {tensor(shape)}"
             for h in ("lo", "hi") for w in ("lo", "hi")]
    row, column = places(shape[2], rows), places(shape[3], columns)
    low, left = np.floor(row).astype(int), np.floor(column).astype(int)
    if is_linear:
        body += reads + [f"""%a0 = arith.mulf %lolo, %wu : f32
        %a1 = arith.mulf %lohi, %wt : f32
        %a2 = arith.addf %a0, %a1 : f32
        %b0 = arith.mulf %hilo, %wu : f32
        %b1 = arith.mulf %hihi, %wt : f32
        %b2 = arith.addf %b0, %b1 : f32
        %c0 = arith.mulf %a2, %hu : f32
        %c1 = arith.mulf %b2, %ht : f32
        %lolov = arith.addf %c0, %c1 : f32
        linalg.yield %lolov : f32"""]
        high, right = np.minimum(low + 1, shape[2] - 1), np.minimum(left + 1, shape[3] - 1)
        across = lambda at: x[:, :, at][..., left] * (1 - column + left) + x[:, :, at][..., right] * (column - left)
        wanted = across(low) * (1 - row + low)[:, None] + across(high) * (row - low)[:, None]
    else:
        body += [reads[0], "linalg.yield %lolo : f32"]
        wanted = x[:, :, low][..., left]
    case("  %zero = arith.constant 0.0 : f32\n  %half = arith.constant 0.5 : f32\n  %one = arith.constant 1.0 : f32\n" +
         generic("%r", 4, [], "\n".join(body), tensor(out)), [x], wanted.astype(np.float32))


for is_linear in (False, True):
    resize((1, 16, 8, 8), 16, 16, is_linear)
    resize((2, 67, 3, 5), 9, 10, is_linear)
    resize((2, 5, 4, 7), 6, 11, is_linear)
    resize((2, 3, 9, 8), 3, 4, is_linear)
    resize((1, 1, 1, 1), 4, 3, is_linear)


# ---------------------------------------------------- elements at known indices

def take(shape, indices):
    """Adds a gather along the last dim, by constant indices that may be negative."""
    x, out, rank = draw(*shape), (*shape[:-1], len(indices)), len(shape)
    words, flags = f"tensor<{len(indices)}xi64>", f"tensor<{len(indices)}xi1>"
    loops = ", ".join("abcdef"[:rank])
    case(f"  %i = arith.constant dense<{indices}> : {words}\n  %z = arith.constant 0 : i64\n"
         f"  %n = arith.constant {shape[-1]} : i64\n" +
         generic("%b", 1, [("%i", words)], "^bb0(%a: i64, %o: i1):\n %p = arith.cmpi slt, %a, %z : i64\n"
                 " linalg.yield %p : i1", flags) + "\n" +
         generic("%s", 1, [("%i", words)], "^bb0(%a: i64, %o: i64):\n %p = arith.addi %a, %n : i64\n"
                 " linalg.yield %p : i64", words, init="%f") + "\n" +
         generic("%j", 1, [("%b", flags), ("%s", words), ("%i", words)], "^bb0(%p: i1, %a: i64, %c: i64, %o: i64):\n"
                 " %q = arith.select %p, %a, %c : i64\n linalg.yield %q : i64", words, init="%g") + "\n" +
         generic("%r", rank, [("%j", words)], "\n".join([
             "^bb0(%a: i64, %o: f32):", "%at = arith.index_cast %a : i64 to index",
             *(f"%i{d} = linalg.index {d} : index" for d in range(rank - 1)),
             f"%v = tensor.extract %x0[{''.join(f'%i{d}, ' for d in range(rank - 1))}%at] : {tensor(shape)}",
             "linalg.yield %v : f32"]), tensor(out), [f"({loops}) -> ({'abcdef'[rank - 1]})"], "%h"),
         [x], x[..., indices])


take((2, 3, 10), [3, 2, 1, *range(10), 8, 7, 6])  # reflected
take((2, 5), [0, 0, 0, 1, 2, 3, 4, 4, 4])  # replicated
take((1, 9), [4, 1, 8, 8, 2, -1])
take((3, 7), [-1, -2, -3, -4, -5, -6, -7])
take((1, 2, 12), [0, 3, 6, 9])
take((4, 1), [0, 0, 0])
take((0, 3), [2, 0])


# -------------------------------------------------------------- convolutions

def convolve(x, w, stride=1):
    """Convolves [n, c, h, w] by [o, c, k, k]."""
    rows, columns = ((size - w.shape[2]) // stride + 1 for size in x.shape[2:])
    windows = np.lib.stride_tricks.sliding_window_view(x.astype(np.float64), w.shape[2:], (2, 3))
    return np.einsum("nchwij,ocij->nohw", windows[:, :, ::stride, ::stride][:, :, :rows, :columns], w)


def from_zero(op, w, x, out, stride=1):
    return f"""  %z = arith.constant 0.0 : f32
  %w = arith.constant {dense(w)} : {tensor(w.shape)}
  %e = tensor.empty() : {tensor(out)}
  %f = linalg.fill ins(%z : f32) outs(%e : {tensor(out)}) -> {tensor(out)}
  %r = linalg.{op} {{dilations = dense<1> : vector<2xi64>, strides = dense<{stride}> : vector<2xi64>}}
      ins(%{x[0]}, %w : {tensor(x[1])}, {tensor(w.shape)}) outs(%f : {tensor(out)}) -> {tensor(out)}"""


for batch, groups, inputs, outputs, size, kernel, stride in ((2, 3, 5, 7, 9, 3, 2), (1, 2, 33, 3, 5, 3, 1),
                                                             (1, 1, 3, 5, 4, 2, 1), (2, 32, 1, 2, 8, 3, 1)):
    x, w = draw(batch, groups, inputs, size, size), draw(groups, outputs, inputs, kernel, kernel)
    wanted = np.stack([convolve(x[:, g], w[g], stride) for g in range(groups)], 1).astype(np.float32)
    case(from_zero("conv_2d_ngchw_gfchw", w, ("x0", x.shape), wanted.shape, stride), [x], wanted)
    swapped = np.ascontiguousarray(w.swapaxes(0, 1))
    case(from_zero("conv_2d_ngchw_fgchw", swapped, ("x0", x.shape), wanted.shape, stride), [x], wanted)

# 1-D convolutions.
for batch, inputs, outputs, size, kernel, stride in ((1, 1, 67, 288, 256, 16), (2, 5, 3, 9, 3, 2), (2, 3, 4, 1, 1, 1)):
    x, w = draw(batch, inputs, size), draw(outputs, inputs, kernel)
    windows = np.lib.stride_tricks.sliding_window_view(x.astype(np.float64), kernel, 2)[:, :, ::stride]
    wanted = np.einsum("ncwk,ock->now", windows, w).astype(np.float32)
    case(from_zero("conv_1d_ncw_fcw", w, ("x0", x.shape), wanted.shape, stride).replace("vector<2xi64>", "vector<1xi64>"),
         [x], wanted)

# Transposed convolutions: zeros between the elements.
for batch, inputs, outputs, size, kernel, stride in ((1, 8, 8, 6, 2, 2), (2, 5, 7, 4, 3, 2), (2, 3, 2, 1, 2, 3)):
    x, w = draw(batch, inputs, size, size), draw(outputs, inputs, kernel, kernel)
    whole = (size - 1) * stride + 1 + 2 * (kernel - 1)
    apart = np.zeros((batch, inputs, whole, whole), np.float32)
    apart[:, :, kernel - 1:whole - kernel + 1:stride, kernel - 1:whole - kernel + 1:stride] = x
    wanted = convolve(apart, w).astype(np.float32)
    case(f"""  %zero = arith.constant 0.0 : f32
  %ea = tensor.empty() : {tensor(apart.shape)}
  %fa = linalg.fill ins(%zero : f32) outs(%ea : {tensor(apart.shape)}) -> {tensor(apart.shape)}
  %apart = tensor.insert_slice %x0 into %fa[0, 0, {kernel - 1}, {kernel - 1}] [{batch}, {inputs}, {size}, {size}]
      [1, 1, {stride}, {stride}] : {tensor(x.shape)} into {tensor(apart.shape)}
""" + from_zero("conv_2d_nchw_fchw", w, ("apart", apart.shape), wanted.shape), [x], wanted)

# Windows before channels.
for kind, start, of in (("max", "0xFF800000", np.max), ("min", "0x7F800000", np.min), ("sum", "0.0", np.sum)):
    x, size = draw(2, 9, 9, 67), tensor((2, 3, 3, 67))
    case(f"""  %z = arith.constant {start} : f32
  %w = tensor.empty() : tensor<3x3xf32>
  %e = tensor.empty() : {size}
  %f = linalg.fill ins(%z : f32) outs(%e : {size}) -> {size}
  %r = linalg.pooling_nhwc_{kind} {{dilations = dense<1> : vector<2xi64>, strides = dense<3> : vector<2xi64>}}
      ins(%x0, %w : {tensor(x.shape)}, tensor<3x3xf32>) outs(%f : {size}) -> {size}""", [x],
         of(x.reshape(2, 3, 3, 3, 3, 67), axis=(2, 4)))

# Minima of more elements than the maximal number of commands of an op, from several inits.
for shape, dims, start in (((2, 3, 309), [2], "inf"), ((1, 172), [0, 1], "inf"), ((2, 67, 5), [1], -0.5), ((3, 2, 1, 4), [1, 3], "inf"),
                           ((0, 300), [1], "inf"), ((2, 5, 3, 7), [0], 0.25),
                           ((300, 5), [0], "inf"), ((20, 3, 20), [0, 2], "inf"), ((300, 70, 2), [0], "inf")):
    x, kept = draw(*shape), tuple(size for d, size in enumerate(shape) if d not in dims)
    number = "0x7F800000" if start == "inf" else start
    case(f"""  %z = arith.constant {number} : f32
  %e = tensor.empty() : {tensor(kept)}
  %f = linalg.fill ins(%z : f32) outs(%e : {tensor(kept)}) -> {tensor(kept)}
  %r = linalg.reduce ins(%x0 : {tensor(shape)}) outs(%f : {tensor(kept)}) dimensions = {dims}
    (%a: f32, %b: f32) {{
      %m = arith.minimumf %a, %b : f32
      linalg.yield %m : f32
    }}""", [x], x.min(axis=tuple(dims), initial=np.float32(start)))

# Sums that keep the reduced dim, as in a softmax.
for shape, dim in (((40, 663), 1), ((1, 300), 1), ((3, 5, 290), 2), ((2, 300, 3), 1), ((1, 1), 1)):
    x, kept = draw(*shape), tuple(1 if d == dim else size for d, size in enumerate(shape))
    loops = "abc"[:len(shape)]
    kinds = ", ".join('"reduction"' if d == dim else '"parallel"' for d in range(len(shape)))
    case(f"""  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : {tensor(kept)}
  %f = linalg.fill ins(%z : f32) outs(%e : {tensor(kept)}) -> {tensor(kept)}
  %r = linalg.generic {{indexing_maps = [affine_map<({", ".join(loops)}) -> ({", ".join(loops)})>,
      affine_map<({", ".join(loops)}) -> ({", ".join("0" if d == dim else loop for d, loop in enumerate(loops))})>],
      iterator_types = [{kinds}]}} ins(%x0 : {tensor(shape)}) outs(%f : {tensor(kept)}) {{
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
  }} -> {tensor(kept)}""", [x], x.sum(axis=dim, keepdims=True), 1e-4)

# Sums of a group norm: over five dims, and in a layout of its batches.
for shape in ((2, 5, 6, 8, 8), (1, 3, 2, 9, 5), (2, 1, 1, 1, 1)):
    x = draw(*shape)
    for kind, start, of in (("addf", "0.0", lambda x: x.sum(axis=(2, 3, 4))), ("maximumf", "0xFF800000", lambda x: x.max(axis=(2, 3, 4)))):
        case(f"""  %z = arith.constant {start} : f32
  %e = tensor.empty() : {tensor(shape[:2])}
  %f = linalg.fill ins(%z : f32) outs(%e : {tensor(shape[:2])}) -> {tensor(shape[:2])}
  %r = linalg.reduce ins(%x0 : {tensor(shape)}) outs(%f : {tensor(shape[:2])}) dimensions = [2, 3, 4]
    (%a: f32, %b: f32) {{
      %m = arith.{kind} %a, %b : f32
      linalg.yield %m : f32
    }}""", [x], of(x), 1e-4)

# Groups with default strides and dilations.
x, w = draw(1, 2, 3, 5, 5), draw(2, 4, 3, 3, 3)
wanted = np.stack([convolve(x[:, g], w[g]) for g in range(2)], 1).astype(np.float32)
unstated = " {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}"
case(from_zero("conv_2d_ngchw_gfchw", w, ("x0", x.shape), wanted.shape).replace(unstated, ""), [x], wanted)
case(from_zero("conv_2d_ngchw_fgchw", np.ascontiguousarray(w.swapaxes(0, 1)), ("x0", x.shape),
               wanted.shape).replace(unstated, ""), [x], wanted)

# A number that only an i64 product with zeros uses.
x = draw(3, 5)
case(f"""  %n = arith.constant dense<0> : tensor<3x5xi64>
  %o = arith.constant dense<7> : tensor<3x5xi64>
""" + generic("%m", 2, [("%n", "tensor<3x5xi64>"), ("%o", "tensor<3x5xi64>")], """^bb0(%a: i64, %b: i64, %c: i64):
   %p = arith.muli %b, %a : i64
   linalg.yield %p : i64""", "tensor<3x5xi64>", init="%i") + "\n" +
     generic("%r", 2, [("%m", "tensor<3x5xi64>"), ("%x0", tensor(x.shape))], """^bb0(%a: i64, %b: f32, %c: f32):
   %p = arith.sitofp %a : i64 to f32
   %q = arith.addf %b, %p : f32
   linalg.yield %q : f32""", tensor(x.shape)), [x], x)

# --------------------------------------------------------------------- loops

x, table = draw(3, 4), draw(6, 4)
wanted = x
for step in range(1, 6, 2):
    for _ in range(2):
        wanted = np.maximum(wanted + table[step], 0)
case(f"""  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %six = arith.constant 6 : index
  %none = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %t = arith.constant {dense(table)} : tensor<6x4xf32>
  %e = tensor.empty() : tensor<3x4xf32>
  %r = scf.for %i = %one to %six step %two iter_args(%c = %x0) -> (tensor<3x4xf32>) {{
    %row = tensor.extract_slice %t[%i, 0] [1, 4] [1, 1] : tensor<6x4xf32> to tensor<4xf32>
    %inner = scf.for %j = %none to %two step %one iter_args(%d = %c) -> (tensor<3x4xf32>) {{
      %s = linalg.generic {{indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (b)>,
                                             affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]}}
          ins(%d, %row : tensor<3x4xf32>, tensor<4xf32>) outs(%e : tensor<3x4xf32>) {{
        ^bb0(%a: f32, %b: f32, %o: f32):
          %u = arith.addf %a, %b : f32
          %v = arith.maximumf %u, %zero : f32
          linalg.yield %v : f32
      }} -> tensor<3x4xf32>
      scf.yield %s : tensor<3x4xf32>
    }}
    scf.yield %inner : tensor<3x4xf32>
  }}""", [x], wanted)

run_all()
