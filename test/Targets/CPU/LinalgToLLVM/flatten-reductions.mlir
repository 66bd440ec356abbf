// RUN: layout-opt %s -split-input-file -layout-cpu-flatten-reductions -layout-cpu-fuse-elementwise -canonicalize | FileCheck %s

// The window is the whole image, which is one contiguous segment. The following
// division gets the shape of the sums, so that it can be fused.
// CHECK-LABEL: func.func @global_pooling
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%{{.*}} : tensor<96x49xf32>) outs(%{{.*}} : tensor<96xf32>)
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<96xf32>)
// CHECK: arith.divf
func.func @global_pooling(%x: tensor<1x96x7x7xf32>) -> tensor<1x96x1x1xf32> {
  %zero = arith.constant 0.0 : f32
  %count = arith.constant 49.0 : f32
  %e = tensor.empty() : tensor<1x96x1x1xf32>
  %window = tensor.empty() : tensor<7x7xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<1x96x1x1xf32>) -> tensor<1x96x1x1xf32>
  %sum = linalg.pooling_nchw_sum ins(%x, %window : tensor<1x96x7x7xf32>, tensor<7x7xf32>)
      outs(%start : tensor<1x96x1x1xf32>) -> tensor<1x96x1x1xf32>
  %mean = linalg.generic {indexing_maps = [affine_map<(n, c, h, w) -> (n, c, h, w)>, affine_map<(n, c, h, w) -> (n, c, h, w)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%sum : tensor<1x96x1x1xf32>) outs(%e : tensor<1x96x1x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %q = arith.divf %a, %count : f32
      linalg.yield %q : f32
  } -> tensor<1x96x1x1xf32>
  return %mean : tensor<1x96x1x1xf32>
}

// -----

// A convolution of one point is a product of a matrix and a vector.
// CHECK-LABEL: func.func @one_point
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%{{.*}}, %{{.*}} : tensor<48xf32>, tensor<32x48xf32>) outs(%{{.*}} : tensor<32xf32>)
func.func @one_point(%x: tensor<1x48x1x1xf32>, %w: tensor<32x48x1x1xf32>, %y: tensor<1x32x1x1xf32>) -> tensor<1x32x1x1xf32> {
  %r = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x48x1x1xf32>, tensor<32x48x1x1xf32>)
      outs(%y : tensor<1x32x1x1xf32>) -> tensor<1x32x1x1xf32>
  return %r : tensor<1x32x1x1xf32>
}

// -----

// The first window of a wide image is not the whole image: the dim that moves
// the window stays.
// CHECK-LABEL: func.func @first_window
// CHECK: linalg.pooling_nchw_sum
func.func @first_window(%x: tensor<1x96x7x14xf32>, %y: tensor<1x96x1x1xf32>) -> tensor<1x96x1x1xf32> {
  %window = tensor.empty() : tensor<7x2xf32>
  %r = linalg.pooling_nchw_sum {strides = dense<[1, 13]> : tensor<2xi64>} ins(%x, %window : tensor<1x96x7x14xf32>, tensor<7x2xf32>)
      outs(%y : tensor<1x96x1x1xf32>) -> tensor<1x96x1x1xf32>
  return %r : tensor<1x96x1x1xf32>
}

// -----

// Dims of moving windows are not merged.
// CHECK-LABEL: func.func @moving_windows
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
func.func @moving_windows(%x: tensor<1x3x20x20xf32>, %w: tensor<33x3x4x4xf32>, %y: tensor<1x33x5x5xf32>) -> tensor<1x33x5x5xf32> {
  %r = linalg.conv_2d_nchw_fchw {strides = dense<4> : tensor<2xi64>} ins(%x, %w : tensor<1x3x20x20xf32>, tensor<33x3x4x4xf32>)
      outs(%y : tensor<1x33x5x5xf32>) -> tensor<1x33x5x5xf32>
  return %r : tensor<1x33x5x5xf32>
}

// -----

// If a dim of the result can be on lanes, nothing changes.
// CHECK-LABEL: func.func @column_sums
// CHECK: linalg.reduce
func.func @column_sums(%x: tensor<7x1x16xf32>, %y: tensor<1x16xf32>) -> tensor<1x16xf32> {
  %r = linalg.reduce { arith.addf } ins(%x : tensor<7x1x16xf32>) outs(%y : tensor<1x16xf32>) dimensions = [0]
  return %r : tensor<1x16xf32>
}

// -----

// Loops next to moving windows, here the channel and the row, are not merged
// either.
// CHECK-LABEL: func.func @beside_a_window
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%{{.*}}, %{{.*}} : tensor<3x2x3x6xi8>, tensor<3x2x3x3xi8>)
func.func @beside_a_window(%x: tensor<1x3x2x3x6xi8>, %w: tensor<1x3x2x3x3xi8>, %y: tensor<1x3x1x1x2xi32>) -> tensor<1x3x1x1x2xi32> {
  %r = linalg.conv_2d_ngchw_fgchw {strides = dense<[1, 3]> : tensor<2xi64>} ins(%x, %w : tensor<1x3x2x3x6xi8>, tensor<1x3x2x3x3xi8>)
      outs(%y : tensor<1x3x1x1x2xi32>) -> tensor<1x3x1x1x2xi32>
  return %r : tensor<1x3x1x1x2xi32>
}
