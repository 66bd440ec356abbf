// Check values rounded to bf16 inside of a kernel, in buffers and in images: by
// definition, the upper half of an f32 rounded to nearest even.

// REQUIRES: opencl-device
// RUN: layout-opt %s --layout-to-opencl='target={#layout.opencl}' -o %t.ll.mlir
// RUN: %python -c "import numpy as np, sys; x = np.random.default_rng(3).standard_normal((16, 4)).astype('f4'); x[0] = [0, np.inf, -np.inf, 1 + 2**-8]; x[1] = [1 + 3 * 2**-8, -0.0, 3.4e38, 1e-40]; np.save(sys.argv[1], x)" %t.x.npy
// RUN: layout-run %t.ll.mlir --input=%t.x.npy --output=%t.y.npy --output=%t.z.npy
// RUN: %python -c "import numpy as np, sys; x, y, z = map(np.load, sys.argv[1:]); b = x.view('u4').astype('u8'); want = ((b + 0x7fff + (b >> 16 & 1)) >> 16 << 16).astype('u4').view('f4'); assert np.array_equal(y.view('u4'), want.view('u4')), (y, want); assert np.array_equal(z.view('u4'), want.view('u4'))" %t.x.npy %t.y.npy %t.z.npy

#img = #layout.map<(a, b) -> image2d(x = a, y = b floordiv 4, lane = b mod 4)>
#map = affine_map<(a, b) -> (a, b)>
func.func @main(%x: tensor<16x4xf32>) -> (tensor<16x4xf32>, tensor<16x4xf32>) {
  %e = tensor.empty() : tensor<16x4xf32>
  %r = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<16x4xf32>) outs(%e : tensor<16x4xf32>) {
  ^bb0(%i: f32, %o: f32):
    %t = arith.truncf %i : f32 to bf16
    %u = arith.extf %t : bf16 to f32
    linalg.yield %u : f32
  } -> tensor<16x4xf32>
  %c = layout.convert %x : tensor<16x4xf32> to tensor<16x4xf32, #img>
  %f = tensor.empty() : tensor<16x4xf32, #img>
  %s = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%c : tensor<16x4xf32, #img>) outs(%f : tensor<16x4xf32, #img>) {
  ^bb0(%i: f32, %o: f32):
    %t = arith.truncf %i : f32 to bf16
    %u = arith.extf %t : bf16 to f32
    linalg.yield %u : f32
  } -> tensor<16x4xf32, #img>
  %y = layout.convert %s : tensor<16x4xf32, #img> to tensor<16x4xf32>
  return %r, %y : tensor<16x4xf32>, tensor<16x4xf32>
}
