// RUN: layout-opt %s --layout-linalg-to-llvm | FileCheck %s
// Check that elements that are not numbers are lowered to plain loops.

// CHECK: llvm.func @complex_transpose
// CHECK-NOT: builtin.unrealized_conversion_cast
func.func @complex_transpose(%x: tensor<3x5xcomplex<f32>>) -> tensor<5x3xcomplex<f32>> {
  %e = tensor.empty() : tensor<5x3xcomplex<f32>>
  %0 = linalg.transpose ins(%x : tensor<3x5xcomplex<f32>>) outs(%e : tensor<5x3xcomplex<f32>>) permutation = [1, 0]
  return %0 : tensor<5x3xcomplex<f32>>
}

// Elements of partial bytes are moved one by one, because unrolling would enlarge the code.
// CHECK: llvm.func @nibbles
// CHECK-COUNT-17: llvm.store {{.*}} : i4
// CHECK-NOT: llvm.store {{.*}} : i4
// CHECK: llvm.return
func.func @nibbles(%n: index) -> tensor<?xi4> {
  %c = arith.constant 1 : i4
  %e = tensor.empty(%n) : tensor<?xi4>
  %0 = linalg.fill ins(%c : i4) outs(%e : tensor<?xi4>) -> tensor<?xi4>
  return %0 : tensor<?xi4>
}
