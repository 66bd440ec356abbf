# RUN: rm -rf %t && mkdir %t
# RUN: env CXX=%host_cxx %python %s %t | FileCheck %s
# Check windows whose strides exceed 15 or whose dilations exceed 16, which one command of the chip does not take: full
# and depthwise convolutions, maxima and sums, with ragged sizes, several batches, and weights of int8 values. Compared
# with numpy in the simulator of three chips.
# CHECK: BM1684: [[N:[0-9]+]] results, 0 kernels
# CHECK: BM1684X: [[N]] results, 0 kernels
# CHECK: BM1688: [[N]] results, 0 kernels
import numpy as np

from npu_cases import case, dense, random, run_all, tensor


def draw(*shape, most=3):
    """Returns integers, whose sums are exact in any order."""
    return random.integers(-most, most + 1, shape).astype(np.float32)


def get_windows(x, kernel, strides, dilations):
    """Returns the elements in each window of [n, c, h, w] as last dims."""
    (kh, kw), (sh, sw), (dh, dw) = kernel, strides, dilations
    reach = (dh * (kh - 1) + 1, dw * (kw - 1) + 1)
    windows = np.lib.stride_tricks.sliding_window_view(x.astype(np.float64), reach, (2, 3))
    return windows[:, :, ::sh, ::sw, ::dh, ::dw]


def run(op, x, weights, wanted, strides, dilations, start="0.0"):
    window, out = tensor(weights.shape), tensor(wanted.shape)
    given = f"arith.constant {dense(weights)} :" if "conv" in op else "tensor.empty() :"
    case(f"""  %z = arith.constant {start} : f32
  %w = {given} {window}
  %e = tensor.empty() : {out}
  %f = linalg.fill ins(%z : f32) outs(%e : {out}) -> {out}
  %r = linalg.{op} {{dilations = dense<{list(dilations)}> : vector<2xi64>, strides = dense<{list(strides)}> : vector<2xi64>}}
      ins(%x0, %w : {tensor(x.shape)}, {window}) outs(%f : {out}) -> {out}""", [x], wanted.astype(np.float32))


def input_of(batch, channels, outputs, kernel, strides, dilations, beyond=1):
    """Returns an input with a few rows and columns that no window reads."""
    return draw(batch, channels, *((o - 1) * s + (k - 1) * d + 1 + min(beyond, s - 1)
                                   for o, k, s, d in zip(outputs, kernel, strides, dilations)))


# Patches of a vision transformer, strides that are prime, kernels shorter and longer than the stride, one output along a
# dim, dilations of segmentation networks, and both.
for batch, channels, filters, outputs, kernel, strides, dilations in (
        (1, 3, 67, (3, 2), (16, 16), (16, 16), (1, 1)), (2, 3, 70, (2, 3), (14, 14), (14, 32), (1, 1)),
        (2, 5, 9, (3, 2), (2, 3), (17, 16), (1, 1)), (2, 67, 3, (2, 3), (3, 5), (1, 18), (1, 2)),
        (1, 2, 5, (1, 3), (3, 17), (16, 16), (1, 1)), (2, 1, 66, (5, 4), (3, 3), (1, 1), (18, 17)),
        (1, 3, 5, (2, 2), (3, 4), (32, 20), (24, 3)), (1, 2, 3, (3, 1), (2, 2), (30, 40), (1, 20))):
    x = input_of(batch, channels, outputs, kernel, strides, dilations)
    w = draw(filters, channels, *kernel)
    wanted = np.einsum("nchwyx,ocyx->nohw", get_windows(x, kernel, strides, dilations), w)
    run("conv_2d_nchw_fchw", x, w, wanted, strides, dilations)
    bytes_ = draw(*w.shape, most=127)
    wanted = np.einsum("nchwyx,ocyx->nohw", get_windows(x, kernel, strides, dilations), bytes_)
    run("conv_2d_nchw_fchw", x, bytes_, wanted, strides, dilations)

for batch, channels, outputs, kernel, strides, dilations in (
        (2, 67, (3, 2), (2, 3), (16, 17), (1, 1)), (1, 5, (4, 3), (3, 3), (1, 2), (18, 1))):
    x, w = input_of(batch, channels, outputs, kernel, strides, dilations), draw(channels, *kernel)
    wanted = np.einsum("nchwyx,cyx->nchw", get_windows(x, kernel, strides, dilations), w)
    run("depthwise_conv_2d_nchw_chw", x, w, wanted, strides, dilations)

for batch, channels, outputs, kernel, strides in (
        (2, 67, (2, 3), (16, 16), (16, 16)), (1, 3, (2, 2), (32, 24), (32, 24)), (2, 5, (3, 2), (3, 2), (17, 16)),
        (1, 66, (2, 3), (18, 5), (17, 2)), (1, 3, (1, 2), (20, 3), (40, 3))):
    x = input_of(batch, channels, outputs, kernel, strides, (1, 1))
    windows = get_windows(x, kernel, strides, (1, 1))
    shape = np.empty(kernel)
    run("pooling_nchw_sum", x, shape, windows.sum((4, 5)), strides, (1, 1))
    run("pooling_nchw_max", x, shape, windows.max((4, 5)), strides, (1, 1), "0xFF800000")

run_all()
