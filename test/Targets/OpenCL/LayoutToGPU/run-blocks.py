# Work items that compute several pixels, the last ones of a row past its end:
# convolutions and products of matrices of integers, exactly as NumPy's.

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
    """What the program gives, and how many pixels its items have."""
    found = run(text, *inputs)
    remarks = subprocess.run(["layout-opt", f"{sys.argv[1]}.mlir", "--convert-layout-to-gpu", "-o", "-",
                              "--remarks-filter=convert-layout-to-gpu", "--remark-format=emitRemark"],
                             check=True, text=True, capture_output=True).stderr
    return found, {int(count) for count in re.findall(r"for each (\d+) pixels", remarks)}


def numbers(shape, element):
    return random.integers(-3, 4, shape).astype(TYPES[element])


def convolve(x, w, stride, groups=1):
    """Of x, which is padded, with filters of one group or of one channel each."""
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
    """With padding of one pixel, and what is negative cut off."""
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
    assert pixels, "an item has one pixel"


convolution("f32", n=2, c=5, f=14, size=37, kernel=3, stride=1)
convolution("f32", n=3, c=3, f=9, size=79, kernel=5, stride=2)
convolution("f16", n=1, c=4, f=17, size=41, kernel=1, stride=1)
convolution("i32", n=1, c=6, f=16, size=33, kernel=3, stride=1)

# Each channel by itself: the filter alone is shared.
x, w = numbers((2, 14, 39, 39), "f32"), numbers((14, 3, 3), "f32")
DEPTHWISE = "#layout.map<(c, h, w) -> image2d(x = w, y = [c floordiv 4, h], lane = c mod 4)>"
found, pixels = run_blocks(f"""
func.func @main(%x0: tensor<2x14x39x39xf32>, %w0: tensor<14x3x3xf32>) -> tensor<2x14x37x37xf32> {{
  %zero = arith.constant 0.0 : f32
  %x = layout.convert %x0 : tensor<2x14x39x39xf32> to tensor<2x14x39x39xf32, {IMAGE}>
  %w = layout.convert %w0 : tensor<14x3x3xf32> to tensor<14x3x3xf32, {DEPTHWISE}>
  %e = tensor.empty() : tensor<2x14x37x37xf32, {IMAGE}>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x14x37x37xf32, {IMAGE}>) -> tensor<2x14x37x37xf32, {IMAGE}>
  %c = linalg.depthwise_conv_2d_nchw_chw ins(%x, %w : tensor<2x14x39x39xf32, {IMAGE}>, tensor<14x3x3xf32, {DEPTHWISE}>)
      outs(%f : tensor<2x14x37x37xf32, {IMAGE}>) -> tensor<2x14x37x37xf32, {IMAGE}>
  %y = layout.convert %c : tensor<2x14x37x37xf32, {IMAGE}> to tensor<2x14x37x37xf32>
  return %y : tensor<2x14x37x37xf32>
}}""", x, w)
check(found, convolve(x, w[:, None], 1, groups=14))
assert pixels, "an item has one pixel"

# Rows of a product share what they read of the second matrix.
ROWS = "#layout.map<(a, b) -> image2d(x = b floordiv 4, y = a, lane = b mod 4)>"
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
assert pixels, "an item has one pixel"
