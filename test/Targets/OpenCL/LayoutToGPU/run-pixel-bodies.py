# Check bodies of ops whose results are pixels, and sums over pixels: lane by lane if an op has no vector form, without
# divisions by padding, and with inits of sums over a partial last pixel.

# REQUIRES: opencl-device
# RUN: env PYTHONPATH=%S/Inputs POCL_SIGFPE_HANDLER=0 %python %s %t

import numpy as np

from on_device import check, run

IMAGE = '#layout.rgba_image<in_out_channel, "NHWC">'
random = np.random.default_rng(7)

# A table is read at as many positions as a pixel has lanes; indices out of bounds are clamped.
table = random.integers(-9, 9, (5, 8)).astype("f4")
index = np.array([4, -3, 7, 0, 2, 12], "i4")
check(run("""
#pixels = #layout.rgba_image<argument>
func.func @main(%t: tensor<5x8xf32>, %i0: tensor<6xi32>) -> tensor<6xf32> {
  %row = arith.constant 2 : index
  %i = layout.convert %i0 : tensor<6xi32> to tensor<6xi32, #pixels>
  %e = tensor.empty() : tensor<6xf32, #pixels>
  %g = linalg.generic {indexing_maps = [affine_map<(a) -> (a)>, affine_map<(a) -> (a)>],
                       iterator_types = ["parallel"]}
      ins(%i : tensor<6xi32, #pixels>) outs(%e : tensor<6xf32, #pixels>) {
  ^bb0(%v: i32, %o: f32):
    %c = arith.index_cast %v : i32 to index
    %r = tensor.extract %t[%row, %c] : tensor<5x8xf32>
    linalg.yield %r : f32
  } -> tensor<6xf32, #pixels>
  %y = layout.convert %g : tensor<6xf32, #pixels> to tensor<6xf32>
  return %y : tensor<6xf32>
}""", table, index), table[2][index.clip(0, 7)])

# Padding lanes hold zeros, by which integers must not be divided: a processor traps unless PoCL prevents it.
a = np.array([7, -7, 9, -9, 100, -100], "i4")
b = np.array([2, 2, -4, -4, 7, 7], "i4")
for op, wanted in ("divsi", np.trunc(a / b)), ("floordivsi", a // b), ("remsi", np.fmod(a, b)):
    check(run(f"""
#zero = #layout.padded<#layout.rgba_image<argument>, zero>
func.func @main(%a0: tensor<6xi32>, %b: tensor<6xi32, #zero>) -> tensor<6xi32> {{
  %a = layout.convert %a0 : tensor<6xi32> to tensor<6xi32, #zero>
  %q = arith.{op} %a, %b : tensor<6xi32, #zero>
  %y = layout.convert %q : tensor<6xi32, #zero> to tensor<6xi32>
  return %y : tensor<6xi32>
}}""", a, np.append(b, [0, 0]).astype("i4").reshape(2, 1, 4)), wanted.astype("i4"))

# Sums over 3 and 6 channels with init 10; loop-invariant values are read again after the loop.
for channels in 3, 6:
    x = random.integers(-4, 5, (1, 2, 3, channels)).astype("f4")
    scale = random.integers(1, 5, 3).astype("f4")
    found = run(f"""
func.func @main(%x0: tensor<1x2x3x{channels}xf32>, %s: tensor<3xf32>) -> tensor<3xf32> {{
  %x = layout.convert %x0 : tensor<1x2x3x{channels}xf32> to tensor<1x2x3x{channels}xf32, {IMAGE}>
  %c = arith.constant 10.0 : f32
  %e = tensor.empty() : tensor<3xf32>
  %f = linalg.fill ins(%c : f32) outs(%e : tensor<3xf32>) -> tensor<3xf32>
  %t = linalg.generic {{
      indexing_maps = [affine_map<(n, h, w, c) -> (n, h, w, c)>, affine_map<(n, h, w, c) -> (w)>,
                       affine_map<(n, h, w, c) -> (w)>],
      iterator_types = ["reduction", "reduction", "parallel", "reduction"]}}
      ins(%x, %s : tensor<1x2x3x{channels}xf32, {IMAGE}>, tensor<3xf32>) outs(%f : tensor<3xf32>) {{
  ^bb0(%v: f32, %k: f32, %o: f32):
    %m = arith.mulf %v, %k : f32
    %r = arith.addf %o, %m : f32
    linalg.yield %r : f32
  }} -> tensor<3xf32>
  %y = arith.subf %t, %s : tensor<3xf32>
  return %y : tensor<3xf32>
}}""", x, scale)
    check(found, 10 + x.sum((0, 1, 3)) * scale - scale)
