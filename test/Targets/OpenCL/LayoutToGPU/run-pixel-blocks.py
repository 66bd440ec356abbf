# Check work-items that compute several pixels, the last ones past the end of a row: integer convolutions and matrix
# products, exactly as NumPy's.

# REQUIRES: opencl-device
# RUN: env PYTHONPATH=%S/Inputs %python %s %t

import re
import subprocess
import sys

import numpy as np

from on_device import check, run

random = np.random.default_rng(11)
IMAGE = '#layout.rgba_image<in_out_channel, "NCHW">'
FILTER = "#layout.rgba_image<conv2d_filter>"
TYPES = {"f32": "f4", "f16": "f2", "i32": "i4"}


def run_blocks(text, *inputs):
    """Returns the results, and the pixels and reads in loops of work-items with several pixels."""
    found = run(text, *inputs)
    remarks = subprocess.run(["layout-opt", f"{sys.argv[1]}.mlir", "--convert-layout-to-gpu", "-o", "-",
                              "--remarks-filter=convert-layout-to-gpu", "--remark-format=emitRemark"],
                             check=True, text=True, capture_output=True).stderr
    kernels = re.findall(r"image reads(.*) and \d+ buffer reads(.*) for each of \d+ items of (\d+) pixels", remarks)
    return found, {(int(pixels), sum(map(int, re.findall(r"\d+", images + buffers))))
                   for images, buffers, pixels in kernels if images or buffers} or {None}


def numbers(shape, element):
    return random.integers(-3, 4, shape).astype(TYPES[element])


def convolve(x, w, stride, groups=1):
    """Convolves x, which is padded, with filters of one group, or depthwise."""
    n, _, h, width = x.shape
    f, _, kh, kw = w.shape
    out = np.zeros((n, f, (h - kh) // stride + 1, (width - kw) // stride + 1), x.dtype)
    for i in range(kh):
        for j in range(kw):
            part = x[:, :, i:i + stride * (out.shape[2] - 1) + 1:stride, j:j + stride * (out.shape[3] - 1) + 1:stride]
            out += (part * w[None, :, 0, i, j, None, None] if groups > 1
                    else np.einsum("nchw,fc->nfhw", part, w[:, :, i, j]))
    return out


def convolution(element, n, c, f, size, kernel, stride):
    """Checks a convolution with padding of one pixel and a relu."""
    padded = size + 2
    wide = (padded - kernel) // stride + 1
    x, w = numbers((n, c, size, size), element), numbers((f, c, kernel, kernel), element)
    zero = f"arith.constant {'0' if element == 'i32' else '0.0'} : {element}"
    larger = "maxsi" if element == "i32" else "maximumf"
    t = {"x": f"tensor<{n}x{c}x{size}x{size}x{element}", "p": f"tensor<{n}x{c}x{padded}x{padded}x{element}",
         "w": f"tensor<{f}x{c}x{kernel}x{kernel}x{element}", "y": f"tensor<{n}x{f}x{wide}x{wide}x{element}"}
    found, pixels = run_blocks(f"""
func.func @main(%x0: {t["x"]}>, %w0: {t["w"]}>) -> {t["y"]}> {{
  %zero = {zero}
  %x = layout.convert %x0 : {t["x"]}> to {t["x"]}, {IMAGE}>
  %w = layout.convert %w0 : {t["w"]}> to {t["w"]}, {FILTER}>
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {{
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : {element}
  }} : {t["x"]}, {IMAGE}> to {t["p"]}, {IMAGE}>
  %e = tensor.empty() : {t["y"]}, {IMAGE}>
  %f = linalg.fill ins(%zero : {element}) outs(%e : {t["y"]}, {IMAGE}>) -> {t["y"]}, {IMAGE}>
  %c = linalg.conv_2d_nchw_fchw {{strides = dense<{stride}> : tensor<2xi64>}}
      ins(%p, %w : {t["p"]}, {IMAGE}>, {t["w"]}, {FILTER}>) outs(%f : {t["y"]}, {IMAGE}>) -> {t["y"]}, {IMAGE}>
  %r = arith.{larger} %c, %f : {t["y"]}, {IMAGE}>
  %y = layout.convert %r : {t["y"]}, {IMAGE}> to {t["y"]}>
  return %y : {t["y"]}>
}}""", x, w)
    wanted = convolve(np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1))), w, stride)
    check(found, np.maximum(wanted, 0).astype(TYPES[element]))
    assert None not in pixels, "an item has one pixel"


convolution("f32", n=2, c=5, f=14, size=37, kernel=3, stride=1)
convolution("f32", n=3, c=3, f=9, size=79, kernel=5, stride=2)
convolution("f16", n=1, c=4, f=17, size=41, kernel=1, stride=1)
convolution("i32", n=1, c=6, f=16, size=33, kernel=3, stride=1)

# Depthwise convolutions: neighbors share the filter, and the reads of one window, depending on stride and dilation.
DEPTHWISE = "#layout.map<(c, h, w) -> image2d(x = w, y = [c floordiv 4, h], lane = c mod 4)>"


def windows(op, c, size, wide, kernel, stride, dilation, wanted, reads):
    """Checks a depthwise op; `reads` are those of a work-item."""
    x, w = numbers((2, c, size, size), "f32"), numbers((c, kernel, kernel), "f32")
    t = {"x": f"tensor<2x{c}x{size}x{size}xf32", "w": f"tensor<{c}x{kernel}x{kernel}xf32",
         "y": f"tensor<2x{c}x{wide}x{wide}xf32"}
    pooled = f"tensor<{kernel}x{kernel}xf32>"
    second = "%s" if "pooling" in op else "%w"
    found, pixels = run_blocks(f"""
func.func @main(%x0: {t["x"]}>, %w0: {t["w"]}>) -> {t["y"]}> {{
  %zero = arith.constant 0.0 : f32
  %x = layout.convert %x0 : {t["x"]}> to {t["x"]}, {IMAGE}>
  %w = layout.convert %w0 : {t["w"]}> to {t["w"]}, {DEPTHWISE}>
  %s = tensor.empty() : {pooled}
  %e = tensor.empty() : {t["y"]}, {IMAGE}>
  %f = linalg.fill ins(%zero : f32) outs(%e : {t["y"]}, {IMAGE}>) -> {t["y"]}, {IMAGE}>
  %c = linalg.{op} {{strides = dense<{stride}> : tensor<2xi64>, dilations = dense<{dilation}> : tensor<2xi64>}}
      ins(%x, {second} : {t["x"]}, {IMAGE}>, {pooled if second == "%s" else t["w"] + ", " + DEPTHWISE + ">"})
      outs(%f : {t["y"]}, {IMAGE}>) -> {t["y"]}, {IMAGE}>
  %y = layout.convert %c : {t["y"]}, {IMAGE}> to {t["y"]}>
  return %y : {t["y"]}>
}}""", x, w)
    check(found, wanted(x, w))
    assert reads in pixels, f"{op} reads {pixels}, not {reads}"


def pool(x, kernel, stride, combine, start):
    wide = (x.shape[2] - kernel) // stride + 1
    out = np.full((*x.shape[:2], wide, wide), start, x.dtype)
    for i, j in np.ndindex(kernel, kernel):
        out = combine(out, x[:, :, i:i + stride * wide:stride, j:j + stride * wide:stride][..., :wide, :wide])
    return out


windows("depthwise_conv_2d_nchw_chw", 14, 39, 37, 3, 1, 1, lambda x, w: convolve(x, w[:, None], 1, groups=14),
        reads=(8, 3 * (10 + 3)))
windows("depthwise_conv_2d_nchw_chw", 14, 76, 37, 3, 2, 1, lambda x, w: convolve(x, w[:, None], 2, groups=14),
        reads=(8, 3 * (17 + 3)))
windows("depthwise_conv_2d_nchw_chw", 14, 41, 37, 3, 1, 2,
        lambda x, w: convolve(x, np.insert(np.insert(w, [1, 2], 0, 1), [1, 2], 0, 2)[:, None], 1, groups=14),
        reads=(8, 3 * (12 + 3)))
windows("pooling_nchw_max", 14, 76, 37, 3, 2, 1, lambda x, w: pool(x, 3, 2, np.maximum, 0), reads=(8, 3 * 17))
windows("pooling_nchw_sum", 14, 78, 39, 2, 2, 1, lambda x, w: pool(x, 2, 2, np.add, 0), reads=None)
windows("pooling_nchw_sum", 14, 54, 45, 10, 1, 1, lambda x, w: pool(x, 10, 1, np.add, 0), reads=None)

# Rows of a product share the reads of the second matrix.
ROWS = "#layout.map<(a, b) -> image2d(x = b floordiv 4, y = a, lane = b mod 4)>"
ROWS_OF_TWO = "#layout.map<(a, b, c) -> image2d(x = c floordiv 4, y = [a, b], lane = c mod 4)>"
m, k, n = 1501, 7, 22
a, b = numbers((m, k), "f32"), numbers((k, n), "f32")
found, pixels = run_blocks(f"""
func.func @main(%a0: tensor<{m}x{k}xf32>, %b0: tensor<{k}x{n}xf32>) -> tensor<{m}x{n}xf32> {{
  %zero = arith.constant 0.0 : f32
  %a = layout.convert %a0 : tensor<{m}x{k}xf32> to tensor<{m}x{k}xf32, {ROWS}>
  %b = layout.convert %b0 : tensor<{k}x{n}xf32> to tensor<{k}x{n}xf32, {ROWS}>
  %e = tensor.empty() : tensor<{m}x{n}xf32, {ROWS}>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<{m}x{n}xf32, {ROWS}>) -> tensor<{m}x{n}xf32, {ROWS}>
  %c = linalg.matmul ins(%a, %b : tensor<{m}x{k}xf32, {ROWS}>, tensor<{k}x{n}xf32, {ROWS}>)
      outs(%f : tensor<{m}x{n}xf32, {ROWS}>) -> tensor<{m}x{n}xf32, {ROWS}>
  %y = layout.convert %c : tensor<{m}x{n}xf32, {ROWS}> to tensor<{m}x{n}xf32>
  return %y : tensor<{m}x{n}xf32>
}}""", a, b)
check(found, a @ b)
assert None not in pixels, "an item has one pixel"

# So does a product whose result is added to another one in a second shape.
found, pixels = run_blocks(f"""
func.func @main(%a0: tensor<{m}x{k}xf32>, %b0: tensor<{k}x{n}xf32>, %s0: tensor<19x79x{n}xf32>) -> tensor<19x79x{n}xf32> {{
  %zero = arith.constant 0.0 : f32
  %a = layout.convert %a0 : tensor<{m}x{k}xf32> to tensor<{m}x{k}xf32, {ROWS}>
  %b = layout.convert %b0 : tensor<{k}x{n}xf32> to tensor<{k}x{n}xf32, {ROWS}>
  %s = layout.convert %s0 : tensor<19x79x{n}xf32> to tensor<19x79x{n}xf32, {ROWS_OF_TWO}>
  %e = tensor.empty() : tensor<{m}x{n}xf32, {ROWS}>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<{m}x{n}xf32, {ROWS}>) -> tensor<{m}x{n}xf32, {ROWS}>
  %c = linalg.matmul ins(%a, %b : tensor<{m}x{k}xf32, {ROWS}>, tensor<{k}x{n}xf32, {ROWS}>)
      outs(%f : tensor<{m}x{n}xf32, {ROWS}>) -> tensor<{m}x{n}xf32, {ROWS}>
  %g = arith.subf %f, %c : tensor<{m}x{n}xf32, {ROWS}>
  %x = tensor.expand_shape %g [[0, 1], [2]] output_shape [19, 79, {n}]
      : tensor<{m}x{n}xf32, {ROWS}> into tensor<19x79x{n}xf32, {ROWS_OF_TWO}>
  %t = arith.addf %x, %s : tensor<19x79x{n}xf32, {ROWS_OF_TWO}>
  %y = layout.convert %t : tensor<19x79x{n}xf32, {ROWS_OF_TWO}> to tensor<19x79x{n}xf32>
  return %y : tensor<19x79x{n}xf32>
}}""", a, b, s := numbers((19, 79, n), "f32"))
check(found, s - (a @ b).reshape(19, 79, n))
assert None not in pixels, "an item has one pixel"
