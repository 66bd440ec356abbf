# RUN: rm -rf %t && mkdir %t
# RUN: env CXX=%host_cxx %python %s %t
# Check 3-D windows, which become 2-D windows, in the simulator against numpy, without kernels: with and without
# channels, depthwise, with several batches, with strides, and pools.
import numpy as np

from npu_cases import compile_for

random = np.random.default_rng(11)


def draw(*shape):
    return random.integers(-3, 4, shape).astype(np.float32)


def tensor(x):
    return f"tensor<{'x'.join(map(str, x.shape))}xf32>"


def windows(x, sizes, first, strides, dilations):
    """Returns 3-D windows of x from dim `first` on; the window indices are the last dims."""
    spans = [(size - 1) * dilation + 1 for size, dilation in zip(sizes, dilations)]
    view = np.lib.stride_tricks.sliding_window_view(x, spans, axis=(first, first + 1, first + 2))
    steps = [slice(None)] * first + [slice(None, None, s) for s in strides]
    taps = [slice(None, None, d) for d in dilations]
    return view[(*steps, *[slice(None)] * (x.ndim - first - 3), *taps)]


def check(name, x, w, wanted, attributes="", start="0.0"):
    text = f"""func.func @main(%x: {tensor(x)}, %w: {tensor(w)}) -> {tensor(wanted)} {{
  %z = arith.constant {start} : f32
  %e = tensor.empty() : {tensor(wanted)}
  %f = linalg.fill ins(%z : f32) outs(%e : {tensor(wanted)}) -> {tensor(wanted)}
  %r = linalg.{name} {attributes} ins(%x, %w : {tensor(x)}, {tensor(w)}) outs(%f : {tensor(wanted)}) -> {tensor(wanted)}
  return %r : {tensor(wanted)}
}}
"""
    for chip in ("BM1684", "BM1688"):
        made, = compile_for(text, f'"{chip}"').run(x, w).outputs
        np.testing.assert_array_equal(made, wanted, err_msg=f"{name} on {chip}")


def stated(strides, dilations):
    return f"{{dilations = dense<{dilations}> : tensor<3xi64>, strides = dense<{strides}> : tensor<3xi64>}}"


ONES = [1, 1, 1]
x, w = draw(5, 6, 7), draw(2, 3, 3)
check("conv_3d", x, w, np.einsum("dhwijk,ijk->dhw", windows(x, w.shape, 0, ONES, ONES), w))
x, w = draw(2, 3, 7, 6, 7), draw(4, 3, 2, 3, 2)
view = windows(x, w.shape[2:], 2, [2, 1, 2], [3, 2, 1])
check("conv_3d_ncdhw_fcdhw", x, w, np.einsum("ncdhwijk,fcijk->nfdhw", view, w), stated([2, 1, 2], [3, 2, 1]))
x, w = draw(1, 5, 6, 7, 3), draw(3, 3, 3, 3, 4)
view = windows(x, w.shape[:3], 1, ONES, ONES)
check("conv_3d_ndhwc_dhwcf", x, w, np.einsum("ndhwcijk,ijkcf->ndhwf", view, w), stated(ONES, ONES))
x, w = draw(2, 4, 5, 5, 3), draw(2, 2, 2, 3)
view = windows(x, w.shape[:3], 1, ONES, ONES)
check("depthwise_conv_3d_ndhwc_dhwc", x, w, np.einsum("ndhwcijk,ijkc->ndhwc", view, w), stated(ONES, ONES))
x, w = draw(1, 4, 6, 6, 5), np.zeros((2, 2, 3), np.float32)
view = windows(x, w.shape, 1, [2, 2, 3], ONES)
check("pooling_ndhwc_max", x, w, view.max((5, 6, 7)), stated([2, 2, 3], ONES), "0xFF800000")
check("pooling_ndhwc_sum", x, w, view.sum((5, 6, 7)), stated([2, 2, 3], ONES))
