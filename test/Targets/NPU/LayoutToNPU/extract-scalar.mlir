// RUN: layout-opt %s --layout-to-npu | FileCheck %s

// Check that a scalar, which has no axis to distribute over cores, is read from
// the tensor in system memory.
// CHECK-LABEL: func.func @main
// CHECK: npu.copy %{{.*}} to %[[HOME:[a-z0-9_]+]] : memref<5x1x1x1xf32, #{{.*}}> to memref<5x1x1x1xf32, #npu.memory<system>>
// CHECK: memref.subview %[[HOME]][0, 0, 0, 0] [1, 1, 1, 1] [1, 1, 1, 1] : {{.*}} to memref<f32
module attributes {layout.target = #layout.npu<chip = #npu.target<"BM1684X">>} {
  func.func @main(%x: tensor<5x1x3x2xf32>, %w: tensor<1x3x2x6xf32>) -> tensor<1x1xf32> {
    %zero = arith.constant 0.0 : f32
    %empty = tensor.empty() : tensor<5x1x1x6xf32>
    %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<5x1x1x6xf32>) -> tensor<5x1x1x6xf32>
    %sum = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>}
      ins(%x, %w : tensor<5x1x3x2xf32>, tensor<1x3x2x6xf32>) outs(%start : tensor<5x1x1x6xf32>) -> tensor<5x1x1x6xf32>
    %part = tensor.extract_slice %sum[0, 0, 0, 4] [5, 1, 1, 1] [1, 1, 1, 1] : tensor<5x1x1x6xf32> to tensor<5x1x1x1xf32>
    %c0 = arith.constant 0 : index
    %number = tensor.extract %part[%c0, %c0, %c0, %c0] : tensor<5x1x1x1xf32>
    %r = tensor.splat %number : tensor<1x1xf32>
    return %r : tensor<1x1xf32>
  }
}
