// RUN: layout-opt %s --layout-linalg-to-llvm | FileCheck %s
// Check that a copy determines the owner if branches yield different buffers.

// CHECK: llvm.func @choose
// CHECK-NOT: bufferization
// CHECK-NOT: unrealized_conversion_cast
func.func @choose(%c: i1, %x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = scf.if %c -> tensor<4xf32> {
    scf.yield %x : tensor<4xf32>
  } else {
    %1 = arith.addf %x, %y : tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}
