// Check a softmax whose input and result types state different sizes, and a
// masked read.

// RUN: layout-opt %s --layout-linalg-to-llvm -o %t.mlir
// RUN: layout-opt %s --layout-to-cpu="target={#layout.cpu<lanes = 16>}" -o %t.laid-out.mlir
// RUN: %python -c "import numpy as np, sys; t = sys.argv[1]; r = np.random.default_rng(4); np.save(f'{t}.x.npy', r.standard_normal((2, 16, 5)).astype('f4')); np.save(f'{t}.o.npy', np.zeros((2, 16, 5), 'f4'))" %t
// RUN: layout-run %t.mlir %t.laid-out.mlir --max-rel=1e-6 --input=%t.x.npy --input=%t.o.npy --output=%t.y.npy --output=%t.v.npy
// RUN: %python -c "import numpy as np, sys; t = sys.argv[1]; x, y, v = (np.load(f'{t}.{k}.npy') for k in 'xyv'); e = np.exp(x - x.max(axis=2, keepdims=True)); print(np.allclose(y, e / e.sum(axis=2, keepdims=True), rtol=1e-5), np.array_equal(v, [*x[0, 0, :3], 7]))" %t | FileCheck %s
// CHECK: True True

func.func @main(%x: tensor<?x16x?xf32>, %o: tensor<2x?x?xf32>) -> (tensor<2x?x?xf32>, tensor<4xf32>) {
  %y = linalg.softmax dimension(2) ins(%x : tensor<?x16x?xf32>) outs(%o : tensor<2x?x?xf32>) -> tensor<2x?x?xf32>
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %pad = arith.constant 7.0 : f32
  %mask = vector.create_mask %c3 : vector<4xi1>
  %v = vector.mask %mask { vector.transfer_read %x[%c0, %c0, %c0], %pad {in_bounds = [true]} : tensor<?x16x?xf32>, vector<4xf32> } : vector<4xi1> -> vector<4xf32>
  %e = tensor.empty() : tensor<4xf32>
  %w = vector.transfer_write %v, %e[%c0] {in_bounds = [true]} : vector<4xf32>, tensor<4xf32>
  return %y, %w : tensor<2x?x?xf32>, tensor<4xf32>
}
