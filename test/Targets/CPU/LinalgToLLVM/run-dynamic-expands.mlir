// Check reshapes with several dynamic sizes in a group, also of slices that are
// not whole rows of memory.

// RUN: layout-opt %s --layout-to-cpu="target={#layout.cpu<lanes = 16>}" -o %t.mlir
// RUN: %python -c "import numpy as np, sys; t = sys.argv[1]; r = np.random.default_rng(2); np.save(f'{t}.x.npy', r.standard_normal((12, 10)).astype('f4')); np.save(f'{t}.like.npy', np.zeros((3, 4), 'f4'))" %t
// RUN: layout-run %t.mlir --input=%t.x.npy --input=%t.like.npy --output=%t.a.npy --output=%t.b.npy
// RUN: %python -c "import numpy as np, sys; t = sys.argv[1]; x, a, b = (np.load(f'{t}.{k}.npy') for k in 'xab'); print(np.array_equal(a, -x.reshape(3, 4, 2, 5)), np.array_equal(b, x[:, 2:8].reshape(3, 4, 6).transpose(1, 0, 2)))" %t | FileCheck %s
// CHECK: True True

func.func @main(%x: tensor<?x?xf32>, %like: tensor<?x?xf32>) -> (tensor<?x?x2x?xf32>, tensor<?x?x6xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %s0 = tensor.dim %like, %c0 : tensor<?x?xf32>
  %s1 = tensor.dim %like, %c1 : tensor<?x?xf32>
  %rows = tensor.dim %x, %c0 : tensor<?x?xf32>
  %columns = tensor.dim %x, %c1 : tensor<?x?xf32>
  %half = arith.divui %columns, %c2 : index
  %0 = tensor.expand_shape %x [[0, 1], [2, 3]] output_shape [%s0, %s1, 2, %half] : tensor<?x?xf32> into tensor<?x?x2x?xf32>
  %a = arith.negf %0 : tensor<?x?x2x?xf32>
  %slice = tensor.extract_slice %x[0, 2] [%rows, 6] [1, 1] : tensor<?x?xf32> to tensor<?x6xf32>
  %1 = tensor.expand_shape %slice [[0, 1], [2]] output_shape [%s0, %s1, 6] : tensor<?x6xf32> into tensor<?x?x6xf32>
  %e = tensor.empty(%s1, %s0) : tensor<?x?x6xf32>
  %b = linalg.transpose ins(%1 : tensor<?x?x6xf32>) outs(%e : tensor<?x?x6xf32>) permutation = [1, 0, 2]
  return %a, %b : tensor<?x?x2x?xf32>, tensor<?x?x6xf32>
}
