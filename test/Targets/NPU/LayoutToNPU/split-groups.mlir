// RUN: layout-opt %s --layout-prepare-for-cores --canonicalize | FileCheck %s

// Strides and dilations that are not stated are 1.
// CHECK-LABEL: func.func @unstated(
// CHECK-COUNT-2: linalg.conv_2d_nchw_fchw
// CHECK-NOT: linalg.conv
func.func @unstated(%x: tensor<1x2x3x5x5xf32>, %w: tensor<2x4x3x3x3xf32>, %o: tensor<1x2x4x3x3xf32>) -> tensor<1x2x4x3x3xf32> {
  %r = linalg.conv_2d_ngchw_gfchw ins(%x, %w : tensor<1x2x3x5x5xf32>, tensor<2x4x3x3x3xf32>) outs(%o : tensor<1x2x4x3x3xf32>) -> tensor<1x2x4x3x3xf32>
  return %r : tensor<1x2x4x3x3xf32>
}

// CHECK-LABEL: func.func @no_groups(
// CHECK-NEXT: return %arg2
func.func @no_groups(%x: tensor<1x0x3x5x5xf32>, %w: tensor<0x4x3x3x3xf32>, %o: tensor<1x0x4x3x3xf32>) -> tensor<1x0x4x3x3xf32> {
  %r = linalg.conv_2d_ngchw_gfchw ins(%x, %w : tensor<1x0x3x5x5xf32>, tensor<0x4x3x3x3xf32>) outs(%o : tensor<1x0x4x3x3xf32>) -> tensor<1x0x4x3x3xf32>
  return %r : tensor<1x0x4x3x3xf32>
}

// What has no channels has one of them: loops n, f, h, w, c, y, x.
// CHECK-LABEL: func.func @no_channels(
// CHECK: linalg.generic
// CHECK-SAME: ins(%{{.*}}, %{{.*}} : tensor<1x1x8x9xf32>, tensor<1x1x3x2xf32>) outs(%{{.*}} : tensor<1x1x6x8xf32>)
func.func @no_channels(%x: tensor<8x9xf32>, %w: tensor<3x2xf32>, %o: tensor<6x8xf32>) -> tensor<6x8xf32> {
  %r = linalg.conv_2d ins(%x, %w : tensor<8x9xf32>, tensor<3x2xf32>) outs(%o : tensor<6x8xf32>) -> tensor<6x8xf32>
  return %r : tensor<6x8xf32>
}
