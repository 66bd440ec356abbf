// RUN: layout-opt %s -layout-linalg-to-llvm | FileCheck %s
// RUN: layout-opt %s -layout-linalg-to-llvm="emit-kernels=false fuse=false plan-memory=false" | FileCheck %s --check-prefix=LOOPS

// Check the whole pipeline: C interface, constants as globals, one allocation per result, loops as functions.
// CHECK-DAG: llvm.mlir.global private constant @{{.*}}(dense_resource<weights>
// CHECK: llvm.func @main(
// CHECK-SAME: layout.signature = (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK: llvm.call @malloc
// CHECK: llvm.call @layout_kernel(
// CHECK: llvm.return
// CHECK: llvm.func @_mlir_ciface_main(
// CHECK: llvm.func internal @layout_kernel(%{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr)
// CHECK-SAME: passthrough = ["noinline"]
// CHECK: llvm.fadd {{.*}} : vector<8xf32>
// CHECK-NOT: unrealized_conversion_cast

// Without kernels there are no vectors.
// LOOPS: llvm.func @main(
// LOOPS-NOT: vector<

// RUN: layout-opt %s -layout-linalg-to-llvm=outline-kernels=false | FileCheck %s --check-prefix=INLINE
// INLINE: llvm.func @main(
// INLINE: llvm.fadd {{.*}} : vector<8xf32>
// INLINE-NOT: layout_kernel
func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %w = arith.constant dense_resource<weights> : tensor<8xf32>
  %e = tensor.empty() : tensor<4x8xf32>
  %b = linalg.broadcast ins(%w : tensor<8xf32>) outs(%e : tensor<4x8xf32>) dimensions = [0]
  %r = linalg.add ins(%x, %b : tensor<4x8xf32>, tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

{-#
  dialect_resources: {
    builtin: {
      weights: "0x040000000000803F0000004000004040000080400000A0400000C0400000E04000000041"
    }
  }
#-}
