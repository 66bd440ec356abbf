// Check that storage without elements becomes the tensor again: no rows of 9 columns in tiles of 2048.
//
// RUN: layout-opt %s --convert-layout-to-linalg --layout-linalg-to-llvm -o %t.mlir
// RUN: layout-opt %s --layout-assign='target={#layout.cpu<lanes = 16>}' --convert-layout-to-linalg --layout-linalg-to-llvm -o %t.laid.mlir
// RUN: %python -c "import numpy as np, sys; np.save(sys.argv[1] + '.x.npy', np.zeros((1, 0, 9), 'f4'))" %t
// RUN: layout-run %t.mlir --input=%t.x.npy --output=%t.a.npy --output=%t.b.npy --output=%t.c.npy --output=%t.g.npy
// RUN: layout-run %t.laid.mlir --input=%t.x.npy --output=%t.d.npy --output=%t.e.npy --output=%t.f.npy --output=%t.h.npy
// RUN: %python -c "import numpy as np, sys; print(*[np.load(f'{sys.argv[1]}.{k}.npy').shape for k in 'abcgdefh'])" %t | FileCheck %s
// CHECK: (1, 0, 9) (1, 9, 0) (1, 3, 3, 0) (2, 0, 7) (1, 0, 9) (1, 9, 0) (1, 3, 3, 0) (2, 0, 7)

#xla = #layout.import<xla, "{0,1,2:T(4)(8,16,4)(2,16)}">

func.func @main(%x: tensor<?x0x?xf32>) -> (tensor<?x0x?xf32>, tensor<?x?x0xf32>, tensor<?x3x?x0xf32>, tensor<2x?x?xf32>) {
  %0 = layout.convert %x : tensor<?x0x?xf32> to tensor<?x0x?xf32, #xla>
  %1 = layout.convert %0 : tensor<?x0x?xf32, #xla> to tensor<?x0x?xf32>
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %1, %c0 : tensor<?x0x?xf32>
  %m = tensor.dim %1, %c2 : tensor<?x0x?xf32>
  %e = tensor.empty(%n, %m) : tensor<?x?x0xf32>
  %2 = linalg.transpose ins(%1 : tensor<?x0x?xf32>) outs(%e : tensor<?x?x0xf32>) permutation = [0, 2, 1]
  %3 = layout.convert %2 : tensor<?x?x0xf32> to tensor<?x?x0xf32, #layout.blocked<"ABC" to "ABC16c">>
  %4 = layout.convert %3 : tensor<?x?x0xf32, #layout.blocked<"ABC" to "ABC16c">> to tensor<?x?x0xf32>
  %c3 = arith.constant 3 : index
  %k = arith.divui %m, %c3 : index
  %5 = tensor.expand_shape %4 [[0], [1, 2], [3]] output_shape [%n, 3, %k, 0] : tensor<?x?x0xf32> into tensor<?x3x?x0xf32>
  // The source is found to be empty while it is copied to storage without
  // positions.
  %static = tensor.empty() : tensor<2x0x7xf32>
  %cast = tensor.cast %static : tensor<2x0x7xf32> to tensor<2x?x?xf32>
  %6 = layout.convert %cast : tensor<2x?x?xf32> to tensor<2x?x?xf32, #layout.blocked<"ABC" to "ABC8a">>
  %7 = layout.convert %6 : tensor<2x?x?xf32, #layout.blocked<"ABC" to "ABC8a">> to tensor<2x?x?xf32>
  return %1, %4, %5, %7 : tensor<?x0x?xf32>, tensor<?x?x0xf32>, tensor<?x3x?x0xf32>, tensor<2x?x?xf32>
}
