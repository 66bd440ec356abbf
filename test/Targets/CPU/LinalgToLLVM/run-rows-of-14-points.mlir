// Rows of 14 points in vectors of 16 with a mask: a row ends where the next one
// begins, which is not touched.
//
// RUN: layout-opt %s --layout-linalg-to-llvm=cpu=x86-64-v4 -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: %python -c "import numpy as np; np.save(r'%t.x.npy', np.random.default_rng(3).standard_normal((6, 14)).astype('f4'))"
// RUN: layout-run %t.mlir --input=%t.x.npy --output=%t.y.npy
// RUN: %python -c "import numpy as np; x = np.load(r'%t.x.npy'); assert (np.load(r'%t.y.npy') == x + x).all()"
// CHECK: llvm.intr.masked.load
// CHECK: llvm.intr.masked.store

func.func @main(%x: tensor<6x14xf32>) -> tensor<6x14xf32> {
  %e = tensor.empty() : tensor<6x14xf32>
  %r = linalg.add ins(%x, %x : tensor<6x14xf32>, tensor<6x14xf32>) outs(%e : tensor<6x14xf32>) -> tensor<6x14xf32>
  return %r : tensor<6x14xf32>
}
