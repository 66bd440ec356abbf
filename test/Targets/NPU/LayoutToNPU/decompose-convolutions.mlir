// RUN: layout-opt %s --npu-legalize-linalg --canonicalize | FileCheck %s

// CHECK-DAG: #[[IMAGE:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d2 + d5, d3 + d6)>
// CHECK-DAG: #[[WEIGHTS:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1, d4, d5, d6)>

// Omitted strides and dilations are 1.
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

// A tensor without channels has one: loops n, f, h, w, c, y, x.
// CHECK-LABEL: func.func @no_channels(
// CHECK: linalg.generic
// CHECK-SAME: ins(%{{.*}}, %{{.*}} : tensor<1x1x8x9xf32>, tensor<1x1x3x2xf32>) outs(%{{.*}} : tensor<1x1x6x8xf32>)
func.func @no_channels(%x: tensor<8x9xf32>, %w: tensor<3x2xf32>, %o: tensor<6x8xf32>) -> tensor<6x8xf32> {
  %r = linalg.conv_2d ins(%x, %w : tensor<8x9xf32>, tensor<3x2xf32>) outs(%o : tensor<6x8xf32>) -> tensor<6x8xf32>
  return %r : tensor<6x8xf32>
}

// The image becomes the first factor.
// CHECK-LABEL: func.func @image_is_second(
// CHECK-SAME: %[[W:.*]]: tensor<4x3x3x3xf32>, %[[X:.*]]: tensor<1x3x7x6xf32>
// CHECK: linalg.generic {indexing_maps = [#[[IMAGE]], #[[WEIGHTS]],
// CHECK-SAME: ins(%[[X]], %[[W]] :
// CHECK-NEXT: ^bb0(%[[IN:.*]]: f32, %[[WEIGHT:.*]]: f32, %[[OUT:.*]]: f32):
// CHECK-NEXT: arith.mulf %[[WEIGHT]], %[[IN]]
func.func @image_is_second(%w: tensor<4x3x3x3xf32>, %x: tensor<1x3x7x6xf32>, %o: tensor<1x4x5x4xf32>) -> tensor<1x4x5x4xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(n, f, h, w, c, y, x) -> (f, c, y, x)>,
                                        affine_map<(n, f, h, w, c, y, x) -> (n, c, h + y, w + x)>,
                                        affine_map<(n, f, h, w, c, y, x) -> (n, f, h, w)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%w, %x : tensor<4x3x3x3xf32>, tensor<1x3x7x6xf32>) outs(%o : tensor<1x4x5x4xf32>) {
  ^bb0(%weight: f32, %in: f32, %out: f32):
    %p = arith.mulf %weight, %in : f32
    %s = arith.addf %out, %p : f32
    linalg.yield %s : f32
  } -> tensor<1x4x5x4xf32>
  return %r : tensor<1x4x5x4xf32>
}
