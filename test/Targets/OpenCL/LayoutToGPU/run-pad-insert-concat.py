# Check padding on one side only, slices that are inserted with steps, parts that are concatenated within and between
# pixels, and lanes of a pixel in another order.

# REQUIRES: opencl-device
# RUN: env PYTHONPATH=%S/Inputs %python %s %t

import numpy as np

from on_device import check, run

random = np.random.default_rng(3)

# Two elements before, or three after, with and without pixels.
x = random.integers(-9, 9, 6).astype("f4")
for low, high in (2, 0), (0, 3):
    for layout in "#layout.map<(a) -> buffer(a)>", "#layout.rgba_image<argument>":
        size = 6 + low + high
        found = run(f"""
func.func @main(%x0: tensor<6xf32>) -> tensor<{size}xf32> {{
  %x = layout.convert %x0 : tensor<6xf32> to tensor<6xf32, {layout}>
  %number = arith.constant 5.0 : f32
  %p = tensor.pad %x low[{low}] high[{high}] {{
  ^bb0(%i: index):
    tensor.yield %number : f32
  }} : tensor<6xf32, {layout}> to tensor<{size}xf32, {layout}>
  %y = layout.convert %p : tensor<{size}xf32, {layout}> to tensor<{size}xf32>
  return %y : tensor<{size}xf32>
}}""", x)
        check(found, np.pad(x, (low, high), constant_values=np.float32(5)))

# Every third column of every second row is replaced.
x, s = random.integers(-9, 9, (5, 9)).astype("f4"), random.integers(10, 90, (2, 3)).astype("f4")
wanted = x.copy()
wanted[1:4:2, 1:8:3] = s
check(run("""
func.func @main(%x: tensor<5x9xf32>, %s: tensor<2x3xf32>) -> tensor<5x9xf32> {
  %y = tensor.insert_slice %s into %x[1, 1] [2, 3] [2, 3] : tensor<2x3xf32> into tensor<5x9xf32>
  return %y : tensor<5x9xf32>
}""", x, s), wanted)

# Channels of three images are concatenated: the first ends at a pixel boundary, the second within a pixel.
IMAGE = '#layout.rgba_image<in_out_channel, "NHWC">'
parts = [random.integers(-9, 9, (1, 2, 3, n)).astype("f4") for n in (8, 3, 6)]
check(run(f"""
func.func @main(%a0: tensor<1x2x3x8xf32>, %b0: tensor<1x2x3x3xf32>, %c0: tensor<1x2x3x6xf32>) -> tensor<1x2x3x17xf32> {{
  %a = layout.convert %a0 : tensor<1x2x3x8xf32> to tensor<1x2x3x8xf32, {IMAGE}>
  %b = layout.convert %b0 : tensor<1x2x3x3xf32> to tensor<1x2x3x3xf32, {IMAGE}>
  %c = layout.convert %c0 : tensor<1x2x3x6xf32> to tensor<1x2x3x6xf32, {IMAGE}>
  %r = tensor.concat dim(3) %a, %b, %c : (tensor<1x2x3x8xf32, {IMAGE}>, tensor<1x2x3x3xf32, {IMAGE}>,
      tensor<1x2x3x6xf32, {IMAGE}>) -> tensor<1x2x3x17xf32, {IMAGE}>
  %y = layout.convert %r : tensor<1x2x3x17xf32, {IMAGE}> to tensor<1x2x3x17xf32>
  return %y : tensor<1x2x3x17xf32>
}}""", *parts), np.concatenate(parts, 3))

# Pixels of 2 x 2 elements, transposed.
SQUARES = "#layout.map<(a, b) -> image2d(x = b floordiv 2, y = a floordiv 2, lane = [a mod 2, b mod 2])>"
x = random.integers(-9, 9, (4, 6)).astype("f4")
check(run(f"""
func.func @main(%x0: tensor<4x6xf32>) -> tensor<6x4xf32> {{
  %x = layout.convert %x0 : tensor<4x6xf32> to tensor<4x6xf32, {SQUARES}>
  %e = tensor.empty() : tensor<6x4xf32, {SQUARES}>
  %t = linalg.transpose ins(%x : tensor<4x6xf32, {SQUARES}>) outs(%e : tensor<6x4xf32, {SQUARES}>) permutation = [1, 0]
  %s = arith.addf %t, %t : tensor<6x4xf32, {SQUARES}>
  %y = layout.convert %s : tensor<6x4xf32, {SQUARES}> to tensor<6x4xf32>
  return %y : tensor<6x4xf32>
}}""", x), 2 * x.T)
