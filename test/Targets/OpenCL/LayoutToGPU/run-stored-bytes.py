# Check that every stored position has the value of the layout: an element, each replica of it, or stated padding.
# Tensors share memory only if all of these agree.

# REQUIRES: opencl-device
# RUN: env PYTHONPATH=%S/Inputs %python %s %t

import numpy as np

from on_device import check, run

ROWS = np.arange(24, dtype="f4").reshape(4, 6)
LINE = np.arange(1, 7, dtype="f4")


def doubled(layout, element="f32"):
    """Returns a program that stores 2 x in the layout."""
    return f"""
func.func @main(%x0: tensor<6x{element}>) -> tensor<6x{element}, {layout}> {{
  %x = layout.convert %x0 : tensor<6x{element}> to tensor<6x{element}, {layout}>
  %y = arith.addf %x, %x : tensor<6x{element}, {layout}>
  return %y : tensor<6x{element}, {layout}>
}}"""


# Another order of equally many elements.
check(run("""
func.func @main(%x: tensor<4x6xf32>) -> tensor<4x6xf32, #layout.map<(a, b) -> buffer(b, a)>> {
  %y = layout.convert %x : tensor<4x6xf32> to tensor<4x6xf32, #layout.map<(a, b) -> buffer(b, a)>>
  return %y : tensor<4x6xf32, #layout.map<(a, b) -> buffer(b, a)>>
}""", ROWS), ROWS.T)

# A tensor that is computed by its reader has no memory to share.
check(run("""
#rows = #layout.map<(a, b) -> buffer(a, b)>
func.func @main(%x: tensor<4x6xf32>) -> tensor<6x4xf32, #rows> {
  %e = tensor.empty() : tensor<6x4xf32>
  %t = linalg.transpose ins(%x : tensor<4x6xf32>) outs(%e : tensor<6x4xf32>) permutation = [1, 0]
  %y = layout.convert %t : tensor<6x4xf32> to tensor<6x4xf32, #rows>
  return %y : tensor<6x4xf32, #rows>
}""", ROWS), ROWS.T)

# Padding of the argument is not zero.
check(run("""
#open = #layout.map<(a) -> buffer([a] align 8)>
#zero = #layout.padded<#open, zero>
func.func @main(%x: tensor<6xf32, #open>) -> tensor<6xf32, #zero> {
  %y = layout.convert %x : tensor<6xf32, #open> to tensor<6xf32, #zero>
  return %y : tensor<6xf32, #zero>
}""", np.append(LINE, [8, 9]).astype("f4")), np.append(LINE, [0, 0]).astype("f4"))

# Padding with another value, next to the results of an op.
check(run(doubled("#layout.padded<#layout.map<(a) -> buffer([a] align 8)>, 7.0 : f32>"), LINE),
      np.append(2 * LINE, [7, 7]).astype("f4"))
check(run(doubled("#layout.padded<#layout.rgba_image<argument>, -1.0 : f32>"), LINE).ravel(),
      np.append(2 * LINE, [-1, -1]).astype("f4"))

# Three replicas in four rows, and six in two times four.
check(run(doubled("#layout.padded<#layout.map<(a) replicate(r : 3) -> buffer([r] align 4, a)>, zero>"), LINE),
      np.stack([2 * LINE] * 3 + [0 * LINE]))
check(run(doubled("#layout.padded<#layout.map<(a) replicate(r : 6) -> buffer(r floordiv 4, r mod 4, a)>, zero>"),
          LINE).reshape(8, 6), np.stack([2 * LINE] * 6 + [0 * LINE] * 2))

# The map only uses the first of two rows of pixels. Columns come first in the array.
check(run(doubled("#layout.padded<#layout.map<(a) -> image2d(x = a floordiv 4, y = 0 extent 2, "
                  "lane = a mod 4)>, zero>"), LINE).ravel(),
      np.array([2, 4, 6, 8, 0, 0, 0, 0, 10, 12, 0, 0, 0, 0, 0, 0], "f4"))

# Two dims in a pixel, with the other digits of both next to it.
two = "#layout.map<(a, b) -> image2d(x = [b floordiv 2], y = a floordiv 2, lane = [a mod 2, b mod 2])>"
check(run(f"""
func.func @main(%x0: tensor<4x6xf32>) -> tensor<4x6xf32, {two}> {{
  %x = layout.convert %x0 : tensor<4x6xf32> to tensor<4x6xf32, {two}>
  %y = arith.addf %x, %x : tensor<4x6xf32, {two}>
  return %y : tensor<4x6xf32, {two}>
}}""", ROWS).ravel(), 2 * ROWS.reshape(2, 2, 3, 2).transpose(2, 0, 1, 3).ravel())
