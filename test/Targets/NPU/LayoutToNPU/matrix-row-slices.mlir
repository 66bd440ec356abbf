// RUN: layout-opt %s --layout-to-npu --mlir-print-local-scope | FileCheck %s
// Check that rows of a matrix in local memory are a matrix, and are copied within each core; run-composed-ops.py checks
// their results.

module attributes {layout.target = #layout.npu<chip = #npu.target<"BM1684">>} {
  // CHECK-LABEL: func.func @rows
  // CHECK: %[[ROWS:.*]] = npu.subview %{{.*}} [2, 0] [3, 768] [1, 1] : {{.*}} to memref<3x768xf32, #layout.npu_scatter<matrix 12, start = 0, offset = {{.*}}local>>
  // CHECK: linalg.generic {{.*}} ins(%[[ROWS]] : {{.*}}) outs(%{{[0-9]+}} : memref<3x768xf32, #layout.npu_scatter<matrix 12, start = 0, target = {{.*}}local>>
  func.func @rows(%x: tensor<197x64xf32>, %w: tensor<64x768xf32>) -> (tensor<197x768xf32>, tensor<3x768xf32>) {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<197x768xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<197x768xf32>) -> tensor<197x768xf32>
    %p = linalg.matmul ins(%x, %w : tensor<197x64xf32>, tensor<64x768xf32>) outs(%f : tensor<197x768xf32>) -> tensor<197x768xf32>
    %s = tensor.extract_slice %p[2, 0] [3, 768] [1, 1] : tensor<197x768xf32> to tensor<3x768xf32>
    %es = tensor.empty() : tensor<3x768xf32>
    %n = linalg.negf ins(%s : tensor<3x768xf32>) outs(%es : tensor<3x768xf32>) -> tensor<3x768xf32>
    %a = linalg.add ins(%n, %s : tensor<3x768xf32>, tensor<3x768xf32>) outs(%es : tensor<3x768xf32>) -> tensor<3x768xf32>
    %q = linalg.negf ins(%p : tensor<197x768xf32>) outs(%e : tensor<197x768xf32>) -> tensor<197x768xf32>
    return %q, %a : tensor<197x768xf32>, tensor<3x768xf32>
  }
}
