# RUN: rm -rf %t && mkdir %t
# RUN: env CXX=%host_cxx %python %s %t
# Check programs with constants in the order of local memory against NumPy. Channels and columns may be no multiple of
# the cores, of pairs or of the columns of a channel.
import numpy as np

from npu_cases import run_functions

random = np.random.default_rng(19)


def draw(*shape):
    return random.integers(-3, 4, shape).astype(np.float32)


def tensor(x):
    return f"tensor<{'x'.join(map(str, x.shape))}xf32>"


def constant(x):
    return f'arith.constant dense<"0x{x.tobytes().hex().upper()}"> : {tensor(x)}'


def check(op, x, w, wanted, chip="BM1684"):
    text = f"""func.func @main(%x: {tensor(x)}) -> {tensor(wanted)} {{
  %w = {constant(w)}
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : {tensor(wanted)}
  %f = linalg.fill ins(%z : f32) outs(%e : {tensor(wanted)}) -> {tensor(wanted)}
  %r = linalg.{op} ins(%x, %w : {tensor(x)}, {tensor(w)}) outs(%f : {tensor(wanted)}) -> {tensor(wanted)}
  return %r : {tensor(wanted)}
}}
"""
    made, = run_functions(text, f'"{chip}"', x)
    np.testing.assert_array_equal(made, wanted, err_msg=f"{op} {w.shape} on {chip}")


def conv(channels, filters, kernel, chip="BM1684"):
    x, w = draw(1, channels, 7, 8), draw(filters, channels, *kernel)
    windows = np.lib.stride_tricks.sliding_window_view(x, kernel, (2, 3))
    check("conv_2d_nchw_fchw", x, w, np.einsum("nchwyx,fcyx->nfhw", windows, w), chip)


for chip in ("BM1684", "BM1688"):
    conv(32, 64, (3, 3), chip)
    conv(8, 96, (1, 1), chip)
    conv(12, 160, (3, 1), chip)
    conv(5, 200, (3, 3), chip)
    conv(3, 33, (3, 2), chip)
    conv(1, 130, (2, 2), chip)
    x, w = draw(7, 33), draw(33, 1000)
    check("matmul", x, w, x @ w, chip)
    x, w = draw(1, 130, 9, 9), draw(130, 3, 3)
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), (2, 3))
    check("depthwise_conv_2d_nchw_chw", x, w, np.einsum("nchwyx,cyx->nchw", windows, w), chip)
