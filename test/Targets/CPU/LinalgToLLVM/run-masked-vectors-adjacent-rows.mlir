// Check rows of 14 points in masked vectors of 16: the next row is adjacent and
// must not be changed. 256-bit vectors are masked on loads only.
//
// RUN: layout-opt %s --layout-linalg-to-llvm=cpu=x86-64-v4 -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: %python -c "import numpy as np; r = np.random.default_rng(3); np.save(r'%t.x.npy', r.standard_normal((6, 14)).astype('f4')); np.save(r'%t.b.npy', r.standard_normal(14).astype('f4'))"
// RUN: layout-run %t.mlir --input=%t.x.npy --input=%t.b.npy --output=%t.y.npy
// RUN: %python -c "import numpy as np; assert (np.load(r'%t.y.npy') == np.load(r'%t.x.npy') + np.load(r'%t.b.npy')).all()"
// RUN: layout-opt %s --layout-linalg-to-llvm=cpu=x86-64-v3 -o %t.avx2.mlir
// RUN: FileCheck %s --check-prefix=AVX2 < %t.avx2.mlir
// RUN: layout-run %t.avx2.mlir --input=%t.x.npy --input=%t.b.npy --output=%t.z.npy
// RUN: cmp %t.y.npy %t.z.npy
// RUN: layout-opt %s --layout-linalg-to-llvm=cpu=aarch64 | FileCheck %s --check-prefix=NEON
// CHECK: llvm.intr.masked.load
// CHECK: llvm.intr.masked.store
// AVX2: llvm.intr.masked.load
// AVX2-NOT: llvm.intr.masked.store
// NEON-NOT: llvm.intr.masked

// The addend is equal in each row, so that rows are not one loop.
#xy = affine_map<(y, x) -> (y, x)>
#x = affine_map<(y, x) -> (x)>
func.func @main(%x: tensor<6x14xf32>, %b: tensor<14xf32>) -> tensor<6x14xf32> {
  %e = tensor.empty() : tensor<6x14xf32>
  %r = linalg.generic {indexing_maps = [#xy, #x, #xy], iterator_types = ["parallel", "parallel"]} ins(%x, %b : tensor<6x14xf32>, tensor<14xf32>) outs(%e : tensor<6x14xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %s = arith.addf %a, %c : f32
    linalg.yield %s : f32
  } -> tensor<6x14xf32>
  return %r : tensor<6x14xf32>
}
