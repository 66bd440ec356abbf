// Check that an image that exceeds the limits of the target is never chosen: another image or
// linear memory is, with a remark.
//
// REQUIRES: target-opencl
// RUN: layout-opt %s -split-input-file -layout-assign | FileCheck %s
// RUN: layout-opt %s -split-input-file -layout-solve --remarks-filter=layout --remark-format=emitRemark \
// RUN:   -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// Rows of 1352 pixels for 64 channels are 21632 pixels wide; with the channels in the rows (y)
// the image fits.
//
// REMARK: OtherImage{{.*}}result 0 of linalg.conv_2d_nhwc_hwcf, tensor<1x760x1352x64xf32>, would be an image of 21632 x 760 pixels, but the target supports at most 16384 x 16384: it is proposed as #layout.map<(d0, d1, d2, d3) -> image2d(x = d2, y = [d3 floordiv 4, d0, d1], lane = d3 mod 4)> instead
// CHECK: #[[IMAGE_CONV2D_FILTER:.*]] = #layout.map<(d0, d1, d2, d3) -> image2d(x = d2, y = [d3 floordiv 4, d0, d1], lane = d3 mod 4)>
// CHECK-LABEL: func @wide
// CHECK: linalg.conv_2d_nhwc_hwcf
// CHECK-SAME: -> tensor<1x760x1352x64xf32, #[[IMAGE_CONV2D_FILTER]]>

module attributes {layout.target = #layout.opencl<image2d_max_width = 16384, image2d_max_height = 16384>} {
func.func @wide(%x: tensor<1x760x1352x8xf32>) -> tensor<1x760x1352x8xf32> {
  %up = arith.constant dense<0.5> : tensor<1x1x8x64xf32>
  %down = arith.constant dense<0.25> : tensor<1x1x64x8xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x760x1352x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x760x1352x64xf32>) -> tensor<1x760x1352x64xf32>
  %a = linalg.conv_2d_nhwc_hwcf ins(%x, %up : tensor<1x760x1352x8xf32>, tensor<1x1x8x64xf32>)
    outs(%f : tensor<1x760x1352x64xf32>) -> tensor<1x760x1352x64xf32>
  %e1 = tensor.empty() : tensor<1x760x1352x8xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<1x760x1352x8xf32>) -> tensor<1x760x1352x8xf32>
  %b = linalg.conv_2d_nhwc_hwcf ins(%a, %down : tensor<1x760x1352x64xf32>, tensor<1x1x64x8xf32>)
    outs(%f1 : tensor<1x760x1352x8xf32>) -> tensor<1x760x1352x8xf32>
  return %b : tensor<1x760x1352x8xf32>
}
}

// -----

// No image fits the small limits. Limits that the target does not state are those that OpenCL
// guarantees.
//
// REMARK: NoImage{{.*}}result 0 of linalg.matmul, tensor<64x4096xf32>, would be an image of 1024 x 64 pixels, but the target supports at most 32 x 32: it stays in linear memory
// CHECK-LABEL: func @tiny
// CHECK-NOT: #image
// CHECK: return

module attributes {layout.target = #layout.opencl<image2d_max_width = 32, image2d_max_height = 32>} {
func.func @tiny(%x: tensor<64x64xf32>) -> tensor<64x4096xf32> {
  %w = arith.constant dense<0.5> : tensor<64x4096xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x4096xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x4096xf32>) -> tensor<64x4096xf32>
  %a = linalg.matmul ins(%x, %w : tensor<64x64xf32>, tensor<64x4096xf32>)
    outs(%f : tensor<64x4096xf32>) -> tensor<64x4096xf32>
  return %a : tensor<64x4096xf32>
}
}

// -----

// No channel type stores doubles.
//
// REMARK: NoImage{{.*}}result 0 of linalg.matmul, tensor<256x256xf64>, would be an image of f64, for which the target has no channel type: it stays in linear memory
// CHECK-LABEL: func @doubles
// CHECK-NOT: #image
// CHECK: return

module attributes {layout.target = #layout.opencl} {
func.func @doubles(%x: tensor<256x256xf64>) -> tensor<256x256xf64> {
  %w = arith.constant dense<0.5> : tensor<256x256xf64>
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<256x256xf64>
  %f = linalg.fill ins(%zero : f64) outs(%e : tensor<256x256xf64>) -> tensor<256x256xf64>
  %a = linalg.matmul ins(%x, %w : tensor<256x256xf64>, tensor<256x256xf64>)
    outs(%f : tensor<256x256xf64>) -> tensor<256x256xf64>
  return %a : tensor<256x256xf64>
}
}

// -----

// This device has half-precision images only: the product of halves uses images, that of
// floats does not.
//
// REMARK: NoImage{{.*}}tensor<256x256xf32>, would be an image of f32, for which the target has no channel type
// CHECK: #[[IMAGE_IN_OUT_CHANNEL:.*]] = #layout.map<(d0, d1) -> image2d(x = d1 floordiv 4, y = d0, lane = d1 mod 4)>
// CHECK-LABEL: func @halves
// CHECK: linalg.matmul {{.*}} -> tensor<256x256xf16, #[[IMAGE_IN_OUT_CHANNEL]]>
// CHECK: linalg.matmul {{.*}} -> tensor<256x256xf32>

module attributes {layout.target = #layout.opencl<image_types = [f16]>} {
func.func @halves(%x: tensor<256x256xf16>, %y: tensor<256x256xf32>) -> (tensor<256x256xf16>, tensor<256x256xf32>) {
  %w = arith.constant dense<0.5> : tensor<256x256xf16>
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<256x256xf16>
  %f = linalg.fill ins(%zero : f16) outs(%e : tensor<256x256xf16>) -> tensor<256x256xf16>
  %a = linalg.matmul ins(%x, %w : tensor<256x256xf16>, tensor<256x256xf16>)
    outs(%f : tensor<256x256xf16>) -> tensor<256x256xf16>
  %v = arith.constant dense<0.5> : tensor<256x256xf32>
  %e1 = tensor.empty() : tensor<256x256xf32>
  %b = linalg.matmul ins(%y, %v : tensor<256x256xf32>, tensor<256x256xf32>)
    outs(%e1 : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %a, %b : tensor<256x256xf16>, tensor<256x256xf32>
}
}

// -----

// The assumed size stands for a dynamic size: with the first one, rows are pixels of the image;
// with the second one, they exceed the limit.
//
// CHECK: #[[IMAGE_IN_OUT_CHANNEL:.*]] = #layout.map<(d0, d1) -> image2d(x = d1 floordiv 4, y = d0, lane = d1 mod 4)>
// CHECK-LABEL: func @dynamic
// CHECK: linalg.matmul {{.*}} -> tensor<?x256xf32, #[[IMAGE_IN_OUT_CHANNEL]]>

module attributes {layout.target = #layout.opencl<assumed_size = 64>} {
func.func @dynamic(%x: tensor<?x256xf32>, %e: tensor<?x256xf32>) -> tensor<?x256xf32> {
  %w = arith.constant dense<0.5> : tensor<256x256xf32>
  %a = linalg.matmul ins(%x, %w : tensor<?x256xf32>, tensor<256x256xf32>)
    outs(%e : tensor<?x256xf32>) -> tensor<?x256xf32>
  return %a : tensor<?x256xf32>
}
}

// -----

// REMARK: NoImage{{.*}}result 0 of linalg.matmul, tensor<?x256xf32>, would be an image of 64 x 9000 pixels, but the target supports at most 8192 x 8192: it stays in linear memory
// CHECK: #[[IMAGE_IN_OUT_CHANNEL:.*]] = #layout.map<(d0, d1) -> image2d(x = d0 floordiv 4, y = d1, lane = d0 mod 4)>
// CHECK-LABEL: func @assumed_large
// CHECK: linalg.matmul {{.*}} -> tensor<?x256xf32, #[[IMAGE_IN_OUT_CHANNEL]]>

module attributes {layout.target = #layout.opencl<assumed_size = 9000>} {
func.func @assumed_large(%x: tensor<?x256xf32>, %e: tensor<?x256xf32>) -> tensor<?x256xf32> {
  %w = arith.constant dense<0.5> : tensor<256x256xf32>
  %a = linalg.matmul ins(%x, %w : tensor<?x256xf32>, tensor<256x256xf32>)
    outs(%e : tensor<?x256xf32>) -> tensor<?x256xf32>
  return %a : tensor<?x256xf32>
}
}
