// Check that neighbors on a diagonal are not treated as contiguous.
//
// RUN: layout-opt %s --layout-linalg-to-llvm -o %t.mlir
// RUN: %python -c "import numpy as np; np.save(r'%t.x.npy', np.arange(221, dtype='f4').reshape(13, 17)); np.save(r'%t.y.npy', np.arange(289, dtype='f4').reshape(17, 17) ** 2)"
// RUN: layout-run %t.mlir --input=%t.x.npy --input=%t.y.npy --output=%t.0.npy
// RUN: %python -c "import numpy as np; x, y = np.load(r'%t.x.npy'), np.load(r'%t.y.npy'); assert (np.load(r'%t.0.npy') == x + np.diag(y)).all()"

func.func @main(%x: tensor<13x17xf32>, %y: tensor<17x17xf32>) -> tensor<13x17xf32> {
  %e = tensor.empty() : tensor<13x17xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
    ins(%x, %y : tensor<13x17xf32>, tensor<17x17xf32>) outs(%e : tensor<13x17xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.addf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<13x17xf32>
  return %0 : tensor<13x17xf32>
}
