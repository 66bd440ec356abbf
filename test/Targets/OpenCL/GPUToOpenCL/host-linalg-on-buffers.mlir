// Check that a structured op on buffers of the program becomes loops on the
// host.

// RUN: layout-opt %s --layout-to-opencl='target={#layout.opencl}' | FileCheck %s
// CHECK-LABEL: llvm.func @multiply
// CHECK-NOT: linalg
// CHECK: llvm.fmul
// CHECK: llvm.fadd
// CHECK-NOT: linalg
func.func @multiply(%a: memref<3x4xf32>, %b: memref<4x5xf32>, %c: memref<3x5xf32>) {
  linalg.matmul ins(%a, %b : memref<3x4xf32>, memref<4x5xf32>) outs(%c : memref<3x5xf32>)
  return
}
