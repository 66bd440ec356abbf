// Check casts of branches of other sizes, of views without elements, and of packed dims that get a static size.

// RUN: layout-opt %s --layout-linalg-to-llvm -o %t.mlir
// RUN: %python -c "import numpy as np, sys; t = sys.argv[1]; np.save(f'{t}.x.npy', np.arange(21, dtype='f4').reshape(3, 7)); np.save(f'{t}.y.npy', np.zeros((0, 2), dtype='f4'))" %t
// RUN: layout-run %t.mlir --input=%t.x.npy --input=%t.y.npy --output=%t.a.npy --output=%t.b.npy --output=%t.c.npy
// RUN: %python -c "import numpy as np, sys; t = sys.argv[1]; x, a, b, c = (np.load(f'{t}.{k}.npy') for k in 'xabc'); print((a == np.concatenate([2 * x, x])).all(), b.shape, (c == np.pad(x, ((0, 0), (0, 1))).reshape(3, 4, 2)).all())" %t | FileCheck %s
// CHECK: True (0, 5) True

#id = affine_map<(i, j) -> (i, j)>
func.func @main(%x: tensor<3x?xf32>, %y: tensor<?x2xf32>) -> (tensor<6x7xf32>, tensor<?x5xf32>, tensor<3x4x2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
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

  %u = tensor.cast %x : tensor<3x?xf32> to tensor<?x?xf32>
  %k = tensor.extract_slice %u[0, 0] [%c3, 7] [1, 1] : tensor<?x?xf32> to tensor<?x7xf32>
  %m = tensor.dim %k, %c0 : tensor<?x7xf32>
  %d = tensor.empty(%m) : tensor<?x4x2xf32>
  %p = linalg.pack %k padding_value(%zero : f32) inner_dims_pos = [1] inner_tiles = [2]
      into %d : tensor<?x7xf32> -> tensor<?x4x2xf32>
  %q = tensor.cast %p : tensor<?x4x2xf32> to tensor<3x4x2xf32>
  return %a, %b, %q : tensor<6x7xf32>, tensor<?x5xf32>, tensor<3x4x2xf32>
}
