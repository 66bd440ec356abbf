// A branch of another size than a cast behind it states is not taken, and a
// view of no elements may have any offset.

// RUN: layout-opt %s --layout-linalg-to-llvm -o %t.mlir
// RUN: %python -c "import numpy as np, sys; t = sys.argv[1]; np.save(f'{t}.x.npy', np.arange(21, dtype='f4').reshape(3, 7)); np.save(f'{t}.y.npy', np.zeros((0, 2), dtype='f4'))" %t
// RUN: layout-run %t.mlir --input=%t.x.npy --input=%t.y.npy --output=%t.a.npy --output=%t.b.npy
// RUN: %python -c "import numpy as np, sys; t = sys.argv[1]; x, a, b = (np.load(f'{t}.{k}.npy') for k in 'xab'); print((a == np.concatenate([2 * x, x])).all(), b.shape)" %t | FileCheck %s
// CHECK: True (0, 5)

#id = affine_map<(i, j) -> (i, j)>
func.func @main(%x: tensor<3x?xf32>, %y: tensor<?x2xf32>) -> (tensor<6x7xf32>, tensor<?x5xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c1 : tensor<3x?xf32>
  %first = tensor.extract %x[%c0, %c0] : tensor<3x?xf32>
  %isPositive = arith.cmpf ogt, %first, %zero : f32
  %i = scf.if %isPositive -> tensor<3x?xf32> {
    %e = tensor.empty() : tensor<3x6xf32>
    %f = linalg.fill ins(%first : f32) outs(%e : tensor<3x6xf32>) -> tensor<3x6xf32>
    %c = tensor.cast %f : tensor<3x6xf32> to tensor<3x?xf32>
    scf.yield %c : tensor<3x?xf32>
  } else {
    %e = tensor.empty(%n) : tensor<3x?xf32>
    %g = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%x : tensor<3x?xf32>) outs(%e : tensor<3x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %s = arith.addf %in, %in : f32
      linalg.yield %s : f32
    } -> tensor<3x?xf32>
    scf.yield %g : tensor<3x?xf32>
  }
  %a = tensor.concat dim(0) %i, %x : (tensor<3x?xf32>, tensor<3x?xf32>) -> tensor<6x7xf32>

  %w = tensor.empty() : tensor<0x3xf32>
  %z = tensor.cast %w : tensor<0x3xf32> to tensor<?x3xf32>
  %b = tensor.concat dim(1) %y, %z : (tensor<?x2xf32>, tensor<?x3xf32>) -> tensor<?x5xf32>
  return %a, %b : tensor<6x7xf32>, tensor<?x5xf32>
}
