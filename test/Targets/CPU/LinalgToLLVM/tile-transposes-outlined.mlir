// RUN: layout-opt %s -split-input-file --convert-layout-to-linalg --layout-linalg-to-llvm | FileCheck %s

// A copy is tiled before it is outlined: the alignment of its result is known
// there, so that stores to a result that exceeds the caches are nontemporal.
// CHECK-LABEL: llvm.func @streamed
// CHECK: llvm.call @layout_kernel
// CHECK: llvm.func internal @layout_kernel
// CHECK: llvm.store {{.*}} {alignment = 32 : i64, nontemporal}
func.func @streamed(%x: tensor<4096x2048xf32>) -> tensor<2048x4096xf32> {
  %e = tensor.empty() : tensor<2048x4096xf32>
  %r = linalg.transpose ins(%x : tensor<4096x2048xf32>) outs(%e : tensor<2048x4096xf32>) permutation = [1, 0]
  return %r : tensor<2048x4096xf32>
}

// -----

// Padding that follows a copy is part of its kernel.
// CHECK-LABEL: llvm.func @padded
// CHECK: llvm.call @layout_kernel
// CHECK-NOT: llvm.call @layout_kernel
// CHECK: llvm.func internal @layout_kernel
#blocks = #layout.padded<#layout.blocked<"NCHW" to "NCHW16c">, zero>
func.func @padded(%x: tensor<1x3x8x32xf32>) -> tensor<1x1x8x32x16xf32> {
  %y = layout.convert %x : tensor<1x3x8x32xf32> to tensor<1x3x8x32xf32, #blocks>
  %r = layout.storage_view %y : tensor<1x3x8x32xf32, #blocks> to tensor<1x1x8x32x16xf32>
  return %r : tensor<1x1x8x32x16xf32>
}
