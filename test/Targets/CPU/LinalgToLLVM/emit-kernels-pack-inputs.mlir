// Check that non-constant inputs are packed into blocks that a tile reads if L1 does not hold the lines of their rows.
//
// RUN: layout-opt %s -pass-pipeline="builtin.module(func.func(layout-cpu-emit-kernels))" | FileCheck %s
// RUN: layout-opt %s -layout-linalg-to-llvm -o %t.packed.mlir
// RUN: layout-opt %s -layout-linalg-to-llvm=emit-kernels=false -o %t.plain.mlir
// RUN: %python -c "import numpy as np; np.save(r'%t.x.npy', np.arange(520 * 50, dtype='f4').reshape(520, 50) % 17)"
// RUN: %python -c "import numpy as np; np.save(r'%t.w.npy', np.arange(520 * 300, dtype='f4').reshape(520, 300) % 13)"
// RUN: layout-run %t.plain.mlir %t.packed.mlir --input=%t.x.npy --input=%t.w.npy --max-rel=0

// CHECK-LABEL: func.func @main
// CHECK: linalg.transpose ins(%{{.*}} : tensor<520x[[BLOCKS:[0-9]+]]x[[WIDTH:[0-9]+]]xf32>) outs(%{{.*}} : tensor<[[BLOCKS]]x520x[[WIDTH]]xf32>) permutation = [1, 0, 2]
// CHECK-COUNT-2: linalg.transpose
// CHECK-NOT: linalg.transpose
// CHECK: cpu.kernel
func.func @main(%x: tensor<520x50xf32>, %w: tensor<520x300xf32>) -> tensor<50x300xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<50x300xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<50x300xf32>) -> tensor<50x300xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<520x50xf32>, tensor<520x300xf32>) outs(%f : tensor<50x300xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %p, %c : f32
    linalg.yield %s : f32
  } -> tensor<50x300xf32>
  return %r : tensor<50x300xf32>
}
