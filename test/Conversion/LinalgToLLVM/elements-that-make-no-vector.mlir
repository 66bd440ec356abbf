// RUN: layout-opt %s --layout-linalg-to-llvm | FileCheck %s
// Elements that are no numbers take the way of plain loops.

// CHECK: llvm.func @complex_transpose
// CHECK-NOT: builtin.unrealized_conversion_cast
func.func @complex_transpose(%x: tensor<3x5xcomplex<f32>>) -> tensor<5x3xcomplex<f32>> {
  %e = tensor.empty() : tensor<5x3xcomplex<f32>>
  %0 = linalg.transpose ins(%x : tensor<3x5xcomplex<f32>>) outs(%e : tensor<5x3xcomplex<f32>>) permutation = [1, 0]
  return %0 : tensor<5x3xcomplex<f32>>
}
