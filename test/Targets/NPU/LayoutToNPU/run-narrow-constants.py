# RUN: rm -rf %t && mkdir %t
# RUN: env CXX=%host_cxx %python %s %t | FileCheck %s
# Check that f32 weights with int8 values are transferred as bytes and become f32 on the cores, against NumPy.
# CHECK: conv 64x32x3x3: bytes
# CHECK: conv 70x6x3x3: bytes
# CHECK: conv 40x5x3x3: floats
# CHECK: conv 130x64x1x1: bytes
# CHECK: conv 1x64x5x5: bytes
# CHECK: depthwise 200x3x3: bytes
# CHECK: product 3x150x77: bytes
# CHECK: product 1x640x100: bytes
# CHECK: product 65x33x64: bytes
# CHECK: in columns: bytes
# CHECK: with a half: floats
# CHECK: twice: bytes
# CHECK: small chip: bytes
# CHECK: no room: bytes
import numpy as np

from npu_cases import compile_for

random = np.random.default_rng(23)


def weights(*shape):
    w = random.integers(-128, 128, shape).astype(np.float32)
    w.flat[:2] = -128, 127
    return w


def data(*shape):
    return random.integers(-3, 4, shape).astype(np.float32)


def type_of(array):
    return f"tensor<{'x'.join(map(str, array.shape))}xf32>"


def constant(name, array):
    return f'  %{name} = arith.constant dense<"0x{array.tobytes().hex().upper()}"> : {type_of(array)}\n'


def zero(name, array):
    return (f"  %{name}e = tensor.empty() : {type_of(array)}\n  %{name} = linalg.fill ins(%zero : f32) "
            f"outs(%{name}e : {type_of(array)}) -> {type_of(array)}\n")


def conv(name, x, w, x_name, w_name, stride=1):
    kh, kw = w.shape[2:]
    windows = np.lib.stride_tricks.sliding_window_view(x, (kh, kw), (2, 3))[:, :, ::stride, ::stride]
    y = np.einsum("nchwyx,fcyx->nfhw", windows.astype(np.float64), w.astype(np.float64)).astype(np.float32)
    return zero(name + "z", y) + (
        f"  %{name} = linalg.conv_2d_nchw_fchw {{dilations = dense<1> : vector<2xi64>, strides = dense<{stride}> : vector<2xi64>}} "
        f"ins(%{x_name}, %{w_name} : {type_of(x)}, {type_of(w)}) outs(%{name}z : {type_of(y)}) -> {type_of(y)}\n"), y


def check(name, text, inputs, wanted, w, chip='"BM1684"'):
    arguments = ", ".join(f"%x{i}: {type_of(x)}" for i, x in enumerate(inputs))
    module = (f"func.func @main({arguments}) -> {type_of(wanted)} {{\n  %zero = arith.constant 0.0 : f32\n"
              f"{text}  return %r : {type_of(wanted)}\n}}\n")
    program = compile_for(module, chip, ", launch_cost = 256, flops_per_byte = 32")
    result = program.run(*inputs)
    np.testing.assert_array_equal(result.outputs[0], wanted)
    is_narrow = program.manifest["constants"] < w.nbytes
    print(f"{name}: {'bytes' if is_narrow else 'floats'}")
    if is_narrow:
        assert "int8_to_fp32" in program.functions
    return result.counters


def check_conv(x, w, stride=1):
    text, y = conv("r", x, w, "x0", "w", stride)
    check(f"conv {'x'.join(map(str, w.shape))}", constant("w", w) + text, [x], y, w)


check_conv(data(1, 32, 9, 7), weights(64, 32, 3, 3))
check_conv(data(2, 6, 11, 5), weights(70, 6, 3, 3), stride=2)
check_conv(data(1, 5, 6, 6), weights(40, 5, 3, 3))
check_conv(data(3, 64, 4, 5), weights(130, 64, 1, 1))
check_conv(data(1, 64, 6, 7), weights(1, 64, 5, 5))

x, w = data(2, 200, 7, 9), weights(200, 3, 3)
windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), (2, 3))
y = np.einsum("nchwyx,cyx->nchw", windows, w).astype(np.float32)
check("depthwise 200x3x3", constant("w", w) + zero("z", y) +
      f"  %r = linalg.depthwise_conv_2d_nchw_chw {{dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}} "
      f"ins(%x0, %w : {type_of(x)}, {type_of(w)}) outs(%z : {type_of(y)}) -> {type_of(y)}\n", [x], y, w)


def product(name, rows, inner, columns):
    x, w = data(rows, inner), weights(inner, columns)
    return x, w, (x.astype(np.float64) @ w).astype(np.float32)


for rows, inner, columns in [(3, 150, 77), (1, 640, 100), (65, 33, 64)]:
    x, w, y = product("r", rows, inner, columns)
    check(f"product {rows}x{inner}x{columns}", constant("w", w) + zero("z", y) +
          f"  %r = linalg.matmul ins(%x0, %w : {type_of(x)}, {type_of(w)}) outs(%z : {type_of(y)}) -> {type_of(y)}\n", [x], y, w)

# Split in two, the columns would fill three cores and a part of one, which needs a command per row.
x, w, y = product("r", 1, 320, 50)
check("in columns", constant("w", w) + zero("z", y) +
      f"  %r = linalg.matmul ins(%x0, %w : {type_of(x)}, {type_of(w)}) outs(%z : {type_of(y)}) -> {type_of(y)}\n", [x], y, w,
      chip="npus = 4, bytes_per_npu = 16384, eu_bytes = 16")

# One element is not an int8.
x, w = data(1, 32, 9, 7), weights(64, 32, 3, 3)
w[5, 6, 1, 2] = 0.5
text, y = conv("r", x, w, "x0", "w")
check("with a half", constant("w", w) + text, [x], y, w)

# Two convolutions with the same weights.
x, w = random.integers(-1, 2, (1, 32, 9, 9)).astype(np.float32), random.integers(-2, 3, (32, 32, 3, 3)).astype(np.float32)
first, y = conv("a", x, w, "x0", "w")
second, y = conv("r", y, w, "a", "w")
check("twice", constant("w", w) + first + second, [x], y, w)

# Tiled with the op, on a chip with little memory.
x, w = data(1, 16, 30, 20), weights(24, 16, 3, 3)
text, y = conv("r", x, w, "x0", "w")
check("small chip", constant("w", w) + text, [x], y, w, chip="npus = 4, bytes_per_npu = 32768, eu_bytes = 64")

# Weights of the last op do not fit while the other ops run: they are recomputed, not stored.
x = random.integers(-1, 2, (1, 16, 12, 12)).astype(np.float32)
w, v = random.integers(-1, 2, (16, 16, 3, 3)).astype(np.float32), random.integers(-1, 2, (16, 16, 3, 3)).astype(np.float32)
first, y = conv("a", x, w, "x0", "w")
second, y = conv("b", y, v, "a", "v")
third, y = conv("r", y, w, "b", "w")
check("no room", constant("w", w) + constant("v", v) + first + second + third, [x], y, w,
      chip="npus = 4, bytes_per_npu = 9216, eu_bytes = 64")
