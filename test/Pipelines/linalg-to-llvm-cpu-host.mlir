// Check that cpu=host uses the vectors of this machine, with the results of the default CPU.
// REQUIRES: host-avx512f
// RUN: layout-opt %s --layout-linalg-to-llvm=cpu=host | FileCheck %s
// RUN: %python -c "import numpy as np; r = np.random.default_rng(0); np.save(r'%t.x.npy', r.random((67, 129), 'f4')); np.save(r'%t.y.npy', r.random((129, 259), 'f4'))"
// RUN: layout-opt %s --layout-linalg-to-llvm -o %t.v3.mlir
// RUN: layout-opt %s --layout-linalg-to-llvm=cpu=host -o %t.host.mlir
// RUN: layout-run %t.v3.mlir %t.host.mlir --input=%t.x.npy --input=%t.y.npy --max-rel=1e-6

// CHECK: vector<16xf32>
func.func @main(%x: tensor<67x129xf32>, %y: tensor<129x259xf32>) -> tensor<67x259xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<67x259xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<67x259xf32>) -> tensor<67x259xf32>
  %r = linalg.matmul ins(%x, %y : tensor<67x129xf32>, tensor<129x259xf32>)
                     outs(%f : tensor<67x259xf32>) -> tensor<67x259xf32>
  return %r : tensor<67x259xf32>
}
