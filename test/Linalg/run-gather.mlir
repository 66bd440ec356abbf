// Check tensor.gather along one dim and along two, with unit dims kept and
// dropped, and with dynamic sizes.

// RUN: layout-opt %s --layout-linalg-to-llvm -o %t.mlir
// RUN: %python -c "import numpy as np, sys; t = sys.argv[1]; np.save(t + '.x.npy', np.arange(24, dtype='f4').reshape(2, 3, 4)); np.save(t + '.i.npy', np.array([[2], [0]], 'i4')); np.save(t + '.j.npy', np.array([[1, 3], [0, 2], [1, 0]], 'i8'))" %t
// RUN: layout-run %t.mlir --input=%t.x.npy --input=%t.i.npy --input=%t.j.npy --output=%t.a.npy --output=%t.b.npy
// RUN: %python -c "import numpy as np, sys; [print(a.shape, a.ravel().tolist()) for a in (np.load(f'{sys.argv[1]}.{k}.npy') for k in 'ab')]" %t | FileCheck %s
// CHECK: (2, 2, 1, 4) [8.0, 9.0, 10.0, 11.0, 20.0, 21.0, 22.0, 23.0, 0.0, 1.0, 2.0, 3.0, 12.0, 13.0, 14.0, 15.0]
// CHECK-NEXT: (3, 3) [15.0, 19.0, 23.0, 2.0, 6.0, 10.0, 12.0, 16.0, 20.0]

func.func @main(%x: tensor<2x3x4xf32>, %i: tensor<2x1xi32>, %j: tensor<?x2xi64>) -> (tensor<2x2x1x4xf32>, tensor<?x3xf32>) {
  %a = tensor.gather %x[%i] gather_dims([1]) : (tensor<2x3x4xf32>, tensor<2x1xi32>) -> tensor<2x2x1x4xf32>
  %b = tensor.gather %x[%j] gather_dims([0, 2]) : (tensor<2x3x4xf32>, tensor<?x2xi64>) -> tensor<?x3xf32>
  return %a, %b : tensor<2x2x1x4xf32>, tensor<?x3xf32>
}
