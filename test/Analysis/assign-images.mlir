// Check that convolutions store channels on the lanes of pixels, and that conversions remain at the ends only.
//
// REQUIRES: target-opencl
// RUN: layout-opt %s -split-input-file -layout-assign -layout-verify | FileCheck %s
// RUN: layout-opt %s -split-input-file -layout-solve | FileCheck %s --check-prefix=BOUND

// The optimum is proven.
// BOUND-COUNT-4: layout.assignment = {conversion_cost = {{[0-9]+}} : i64, cost = [[COST:[0-9]+]] : i64, lower_bound = [[COST]] : i64}

// CHECK-DAG: #[[IMAGE_ARGUMENT:.*]] = #layout.map<(d0) -> image2d(x = d0 floordiv 4, y = 0, lane = d0 mod 4)>
// CHECK-DAG: #[[IMAGE_CONV2D_FILTER:.*]] = #layout.map<(d0, d1, d2, d3) -> image2d(x = d1, y = [d0 floordiv 4, d2, d3], lane = d0 mod 4)>
// CHECK-DAG: #[[IMAGE_IN_OUT_CHANNEL:.*]] = #layout.map<(d0, d1, d2, d3) -> image2d(x = [d1 floordiv 4, d3], y = [d0, d2], lane = d1 mod 4)>
// CHECK-LABEL: func @nchw
// CHECK-DAG: arith.constant dense<5.000000e-01> : tensor<64x64x3x3xf32, #[[IMAGE_CONV2D_FILTER]]>
// CHECK-DAG: arith.constant dense<2.000000e+00> : tensor<64xf32, #[[IMAGE_ARGUMENT]]>
// CHECK-DAG: layout.convert %arg0 : tensor<1x64x58x58xf32> to tensor<1x64x58x58xf32, #[[IMAGE_IN_OUT_CHANNEL]]>
// CHECK: linalg.conv_2d_nchw_fchw
// CHECK-SAME: tensor<64x64x3x3xf32, #[[IMAGE_CONV2D_FILTER]]>
// CHECK-NOT: layout.convert
// CHECK: linalg.generic
// CHECK-SAME: tensor<64xf32, #[[IMAGE_ARGUMENT]]>
// CHECK-NOT: layout.convert
// CHECK: tensor.pad
// CHECK-NOT: layout.convert
// CHECK: linalg.conv_2d_nchw_fchw
// CHECK-NEXT: [[OUT:%.+]] = layout.convert
// CHECK-SAME: to tensor<1x64x56x56xf32>
// CHECK-NEXT: return [[OUT]]

#id = affine_map<(n, c, h, w) -> (n, c, h, w)>
#channel = affine_map<(n, c, h, w) -> (c)>
module attributes {layout.target = #layout.opencl} {
func.func @nchw(%x: tensor<1x64x58x58xf32>) -> tensor<1x64x56x56xf32> {
  %zero = arith.constant 0.0 : f32
  %w = arith.constant dense<0.5> : tensor<64x64x3x3xf32>
  %bias = arith.constant dense<2.0> : tensor<64xf32>
  %e = tensor.empty() : tensor<1x64x56x56xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x64x56x56xf32>) -> tensor<1x64x56x56xf32>
  %a = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x64x58x58xf32>, tensor<64x64x3x3xf32>)
    outs(%f : tensor<1x64x56x56xf32>) -> tensor<1x64x56x56xf32>
  %b = linalg.generic {indexing_maps = [#id, #channel, #id],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%a, %bias : tensor<1x64x56x56xf32>, tensor<64xf32>) outs(%e : tensor<1x64x56x56xf32>) {
  ^bb0(%v: f32, %s: f32, %o: f32):
    %0 = arith.addf %v, %s : f32
    %1 = arith.maximumf %0, %zero : f32
    linalg.yield %1 : f32
  } -> tensor<1x64x56x56xf32>
  %p = tensor.pad %b low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%n: index, %c: index, %h: index, %v: index):
    tensor.yield %zero : f32
  } : tensor<1x64x56x56xf32> to tensor<1x64x58x58xf32>
  %d = linalg.conv_2d_nchw_fchw ins(%p, %w : tensor<1x64x58x58xf32>, tensor<64x64x3x3xf32>)
    outs(%f : tensor<1x64x56x56xf32>) -> tensor<1x64x56x56xf32>
  return %d : tensor<1x64x56x56xf32>
}
}

// -----

// Channels are identified by their role in an op, not by the order of dims.
//
// CHECK-DAG: #[[IMAGE2D:.*]] = #layout.map<(d0, d1, d2) -> image2d(x = [d0, d1], y = d2 floordiv 4, lane = d2 mod 4)>
// CHECK-DAG: #[[IMAGE_CONV2D_FILTER:.*]] = #layout.map<(d0, d1, d2, d3) -> image2d(x = d2, y = [d3 floordiv 4, d0, d1], lane = d3 mod 4)>
// CHECK-DAG: #[[IMAGE_IN_OUT_CHANNEL:.*]] = #layout.map<(d0, d1, d2, d3) -> image2d(x = [d3 floordiv 4, d2], y = [d0, d1], lane = d3 mod 4)>
// CHECK-LABEL: func @nhwc
// CHECK-DAG: arith.constant dense<5.000000e-01> : tensor<3x3x64xf32, #[[IMAGE2D]]>
// CHECK-DAG: arith.constant dense<2.500000e-01> : tensor<1x1x64x30xf32, #[[IMAGE_CONV2D_FILTER]]>
// CHECK: linalg.depthwise_conv_2d_nhwc_hwc
// CHECK-SAME: -> tensor<2x28x28x64xf32, #[[IMAGE_IN_OUT_CHANNEL]]>
// CHECK-NOT: layout.convert
// CHECK: linalg.conv_2d_nhwc_hwcf
// CHECK-NOT: layout.convert
// CHECK: linalg.pooling_nhwc_max
// CHECK-SAME: ins({{.*}} : tensor<2x28x28x30xf32, #[[IMAGE_IN_OUT_CHANNEL]]>
//
// The last op writes the returned buffer itself: a conversion would launch one more kernel.
//
// CHECK-SAME: -> tensor<2x14x14x30xf32>

module attributes {layout.target = #layout.opencl} {
func.func @nhwc(%x: tensor<2x30x30x64xf32>) -> tensor<2x14x14x30xf32> {
  %zero = arith.constant 0.0 : f32
  %dw = arith.constant dense<0.5> : tensor<3x3x64xf32>
  %pw = arith.constant dense<0.25> : tensor<1x1x64x30xf32>
  %e = tensor.empty() : tensor<2x28x28x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x28x28x64xf32>) -> tensor<2x28x28x64xf32>
  %a = linalg.depthwise_conv_2d_nhwc_hwc ins(%x, %dw : tensor<2x30x30x64xf32>, tensor<3x3x64xf32>)
    outs(%f : tensor<2x28x28x64xf32>) -> tensor<2x28x28x64xf32>
  %e1 = tensor.empty() : tensor<2x28x28x30xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<2x28x28x30xf32>) -> tensor<2x28x28x30xf32>
  %b = linalg.conv_2d_nhwc_hwcf ins(%a, %pw : tensor<2x28x28x64xf32>, tensor<1x1x64x30xf32>)
    outs(%f1 : tensor<2x28x28x30xf32>) -> tensor<2x28x28x30xf32>
  %window = tensor.empty() : tensor<2x2xf32>
  %e2 = tensor.empty() : tensor<2x14x14x30xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<2x14x14x30xf32>) -> tensor<2x14x14x30xf32>
  %c = linalg.pooling_nhwc_max {strides = dense<2> : tensor<2xi64>}
    ins(%b, %window : tensor<2x28x28x30xf32>, tensor<2x2xf32>)
    outs(%f2 : tensor<2x14x14x30xf32>) -> tensor<2x14x14x30xf32>
  return %c : tensor<2x14x14x30xf32>
}
}

// -----

// A matrix product stores its columns on the lanes, those of the weights too. The view of a feature
// map of one pixel is a view of the image, too.
//
// CHECK-DAG: #[[IMAGE2D:.*]] = #layout.map<(d0, d1) -> image2d(x = d0, y = d1 floordiv 4, lane = d1 mod 4)>
// CHECK-DAG: #[[IMAGE_IN_OUT_CHANNEL1:.*]] = #layout.map<(d0, d1) -> image2d(x = d1 floordiv 4, y = d0, lane = d1 mod 4)>
// CHECK-LABEL: func @classifier
// CHECK-DAG: arith.constant dense<5.000000e-01> : tensor<512x1000xf32, #[[IMAGE2D]]>
// CHECK: linalg.conv_2d_nchw_fchw
// CHECK: tensor.collapse_shape
// CHECK-SAME: into tensor<1x512xf32, #[[IMAGE_IN_OUT_CHANNEL1]]>
// CHECK-NOT: layout.convert
// CHECK: linalg.matmul

module attributes {layout.target = #layout.opencl} {
func.func @classifier(%x: tensor<1x512x7x7xf32>) -> tensor<1x1000xf32> {
  %zero = arith.constant 0.0 : f32
  %w = arith.constant dense<0.25> : tensor<512x512x7x7xf32>
  %classes = arith.constant dense<0.5> : tensor<512x1000xf32>
  %e = tensor.empty() : tensor<1x512x1x1xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x512x1x1xf32>) -> tensor<1x512x1x1xf32>
  %a = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x512x7x7xf32>, tensor<512x512x7x7xf32>)
    outs(%f : tensor<1x512x1x1xf32>) -> tensor<1x512x1x1xf32>
  %b = tensor.collapse_shape %a [[0], [1, 2, 3]] : tensor<1x512x1x1xf32> into tensor<1x512xf32>
  %e1 = tensor.empty() : tensor<1x1000xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<1x1000xf32>) -> tensor<1x1000xf32>
  %c = linalg.matmul ins(%b, %classes : tensor<1x512xf32>, tensor<512x1000xf32>)
    outs(%f1 : tensor<1x1000xf32>) -> tensor<1x1000xf32>
  return %c : tensor<1x1000xf32>
}
}

// -----

// The convolution is too small to justify one more kernel launch: it reads and
// writes linear memory.
//
// CHECK-LABEL: func @small
// CHECK-NOT: layout.convert
// CHECK: linalg.conv_2d_nchw_fchw
// CHECK-NOT: layout.convert
// CHECK: return

module attributes {layout.target = #layout.opencl} {
func.func @small(%x: tensor<1x8x3x3xf32>) -> tensor<1x8x3x3xf32> {
  %w = arith.constant dense<0.5> : tensor<8x8x1x1xf32>
  %e = tensor.empty() : tensor<1x8x3x3xf32>
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x8x3x3xf32>) -> tensor<1x8x3x3xf32>
  %a = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x8x3x3xf32>, tensor<8x8x1x1xf32>)
    outs(%f : tensor<1x8x3x3xf32>) -> tensor<1x8x3x3xf32>
  return %a : tensor<1x8x3x3xf32>
}
}
