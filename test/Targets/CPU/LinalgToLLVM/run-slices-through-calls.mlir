// Check that a slice of dynamic size that a function returns is contiguous for the function that reads it.
//
// RUN: layout-opt %s --layout-linalg-to-llvm -o %t.mlir
// RUN: %python -c "import numpy as np; np.save(r'%t.x.npy', np.arange(80, dtype=np.float32).reshape(8, 10)); np.save(r'%t.n.npy', np.zeros(9, np.float32))"
// RUN: layout-run %t.mlir --input=%t.x.npy --input=%t.n.npy --output=%t.y.npy --output=%t.z.npy --output=%t.w.npy
// RUN: %python -c "import numpy as np; x, y, z, w = (np.load(rf'%t.{k}.npy') for k in 'xyzw'); print((y == x[:, :9]).all(), (z == y).all(), (w == np.concatenate([x.T, x.T], 1)).all())" | FileCheck %s
// CHECK: True True True

func.func private @slice(%x: tensor<8x?xf32>, %n: index) -> tensor<8x?xf32> {
  %s = tensor.extract_slice %x[0, 0] [8, %n] [1, 1] : tensor<8x?xf32> to tensor<8x?xf32>
  return %s : tensor<8x?xf32>
}

func.func private @same(%x: tensor<8x?xf32>) -> tensor<8x?xf32> {
  return %x : tensor<8x?xf32>
}

func.func private @both(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  return %x : tensor<?x?xf32>
}

func.func @main(%x: tensor<8x?xf32>, %sized: tensor<?xf32>) -> (tensor<8x?xf32>, tensor<8x?xf32>, tensor<10x16xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %sized, %c0 : tensor<?xf32>
  %s = call @slice(%x, %n) : (tensor<8x?xf32>, index) -> tensor<8x?xf32>
  %t = call @same(%s) : (tensor<8x?xf32>) -> tensor<8x?xf32>
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c1 : tensor<8x?xf32>
  %e = tensor.empty(%m) : tensor<?x8xf32>
  %u = linalg.transpose ins(%x : tensor<8x?xf32>) outs(%e : tensor<?x8xf32>) permutation = [1, 0]
  %d = tensor.cast %u : tensor<?x8xf32> to tensor<?x?xf32>
  %v = call @both(%d) : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %w = tensor.concat dim(1) %u, %v : (tensor<?x8xf32>, tensor<?x?xf32>) -> tensor<10x16xf32>
  return %s, %t, %w : tensor<8x?xf32>, tensor<8x?xf32>, tensor<10x16xf32>
}
