// Check views without elements: a group of sizes 0 and dynamic, an empty
// unpack.
//
// RUN: layout-opt %s --layout-linalg-to-llvm -o %t.mlir
// RUN: %python -c "import numpy as np, sys; t = sys.argv[1]; np.save(t + '.x.npy', np.zeros((1, 0, 5, 1), 'f4')); np.save(t + '.y.npy', np.zeros((1, 1, 0, 3), 'i4'))" %t
// RUN: layout-run %t.mlir --input=%t.x.npy --input=%t.y.npy --output=%t.a.npy --output=%t.b.npy --output=%t.c.npy --output=%t.d.npy
// RUN: %python -c "import numpy as np, sys; print(*[np.load(f'{sys.argv[1]}.{k}.npy').shape for k in 'abcd'])" %t | FileCheck %s
// CHECK: (1, 0, 1) (0, 1) (3, 1, 0) (1, 0, 2, 1)

func.func @main(%x: tensor<1x0x?x1xf32>, %y: tensor<1x1x0x3xi32>) -> (tensor<1x?x1xf32>, tensor<?x1xf32>, tensor<3x1x0xi32>, tensor<1x0x?x1xf32>) {
  %a = tensor.collapse_shape %x [[0], [1, 2], [3]] : tensor<1x0x?x1xf32> into tensor<1x?x1xf32>
  %b = tensor.collapse_shape %x [[0, 1, 2], [3]] : tensor<1x0x?x1xf32> into tensor<?x1xf32>
  %e = tensor.empty() : tensor<3x1x0xi32>
  %c = linalg.unpack %y inner_dims_pos = [0] inner_tiles = [3] into %e : tensor<1x1x0x3xi32> -> tensor<3x1x0xi32>
  // Half of the columns, although the first and the last type are equal.
  %two = arith.constant 2 : index
  %columns = tensor.dim %x, %two : tensor<1x0x?x1xf32>
  %half = arith.divui %columns, %two : index
  %v = tensor.expand_shape %x [[0], [1], [2, 3], [4]] output_shape [1, 0, 2, %half, 1] : tensor<1x0x?x1xf32> into tensor<1x0x2x?x1xf32>
  %d = tensor.collapse_shape %v [[0], [1, 2], [3], [4]] : tensor<1x0x2x?x1xf32> into tensor<1x0x?x1xf32>
  return %a, %b, %c, %d : tensor<1x?x1xf32>, tensor<?x1xf32>, tensor<3x1x0xi32>, tensor<1x0x?x1xf32>
}
