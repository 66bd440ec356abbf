// Check padding amounts and slice sizes that are constants behind dynamic
// types; the assignment stores both tensors in tiles.
//
// RUN: layout-opt %s --layout-assign --convert-layout-to-linalg --layout-linalg-to-llvm='target={#layout.cpu<lanes = 16, vector_bits = 0>}' -o %t.mlir
// RUN: %python -c "import numpy as np, sys; t = sys.argv[1]; np.save(t + '.x.npy', np.full((1, 1, 1, 1, 1), 7)); np.save(t + '.y.npy', np.full((1, 1), 2, 'f4')); np.save(t + '.z.npy', np.arange(5, dtype='f4').reshape(5, 1, 1, 1))" %t
// RUN: layout-run %t.mlir --input=%t.x.npy --input=%t.y.npy --input=%t.z.npy --output=%t.a.npy --output=%t.b.npy
// RUN: %python -c "import numpy as np, sys; a, b = (np.load(f'{sys.argv[1]}.{k}.npy') for k in 'ab'); print(a.shape, np.argwhere(a).tolist(), b.tolist())" %t | FileCheck %s
// CHECK: (1, 1, 3, 3, 2) {{\[\[}}0, 0, 2, 0, 0]] {{\[\[}}6.0], [8.0]]

module attributes {layout.target = #layout.cpu<lanes = 2, line_bytes = 1, strided_percent = 200, scalar_percent = 400, mask_percent = 1000, assumed_size = 8>} {
func.func private @pad(%x: tensor<1x1x1x1x1xi64>) -> tensor<1x1x?x?x?xi64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0 : i64
  %p = tensor.pad %x low[0, %c0, %c0, 0, %c2] high[0, %c1, %c2, 0, %c0] {
  ^bb0(%i: index, %j: index, %k: index, %l: index, %m: index):
    tensor.yield %zero : i64
  } : tensor<1x1x1x1x1xi64> to tensor<1x?x?x1x?xi64>
  %a = tensor.dim %p, %c1 : tensor<1x?x?x1x?xi64>
  %b = tensor.dim %p, %c2 : tensor<1x?x?x1x?xi64>
  %c = tensor.dim %p, %c4 : tensor<1x?x?x1x?xi64>
  %e = tensor.empty(%c, %b, %a) : tensor<1x1x?x?x?xi64>
  %t = linalg.transpose ins(%p : tensor<1x?x?x1x?xi64>) outs(%e : tensor<1x1x?x?x?xi64>) permutation = [3, 0, 4, 2, 1]
  return %t : tensor<1x1x?x?x?xi64>
}

func.func private @slice(%y: tensor<1x1xf32>, %z: tensor<5x1x1x1xf32>) -> tensor<2x1xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = tensor.extract_slice %z[3, 0, 0, %c0] [2, 1, 1, %c1] [1, 1, 1, 1] : tensor<5x1x1x1xf32> to tensor<2x1x1x?xf32>
  %e = tensor.empty() : tensor<2x1xf32>
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x1xf32>) -> tensor<2x1xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d3, d0, d2, d1)>, affine_map<(d0, d1, d2, d3) -> (d1, d0)>, affine_map<(d0, d1, d2, d3) -> (d3, d2)>], iterator_types = ["reduction", "reduction", "parallel", "parallel"]} ins(%s, %y : tensor<2x1x1x?xf32>, tensor<1x1xf32>) outs(%f : tensor<2x1xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %n = arith.addf %o, %m : f32
    linalg.yield %n : f32
  } -> tensor<2x1xf32>
  return %r : tensor<2x1xf32>
}

func.func @main(%x: tensor<1x1x1x1x1xi64>, %y: tensor<1x1xf32>, %z: tensor<5x1x1x1xf32>) -> (tensor<1x1x?x?x?xi64>, tensor<2x1xf32>) {
  %a = call @pad(%x) : (tensor<1x1x1x1x1xi64>) -> tensor<1x1x?x?x?xi64>
  %b = call @slice(%y, %z) : (tensor<1x1xf32>, tensor<5x1x1x1xf32>) -> tensor<2x1xf32>
  return %a, %b : tensor<1x1x?x?x?xi64>, tensor<2x1xf32>
}
}
