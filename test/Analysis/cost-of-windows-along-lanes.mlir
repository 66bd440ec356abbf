// Check that vectors of half a line, and the bytes of the image, count 1.5 times if a window slides along the lanes.
//
// RUN: layout-opt %s --split-input-file -layout-print-cost -o %t | FileCheck %s

module attributes {layout.target = #layout.cpu<lanes = 16, flops_per_byte = 1, strided_percent = 150>} {

// 16 x 16 x 16 pixels with 16 x 9 products and sums each are 1179648 operations, here at 150 %. Reads and writes are
// 20736 bytes of the image, at 150 %, 9216 of the filters and twice 16384 of the results.
// CHECK: ops: 1, cost 1842560
func.func @rows(%x: tensor<1x16x18x18xf32>, %w: tensor<16x16x3x3xf32>, %e: tensor<1x16x16x16xf32>) -> tensor<1x16x16x16xf32> {
  %c = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x16x18x18xf32>, tensor<16x16x3x3xf32>)
      outs(%e : tensor<1x16x16x16xf32>) -> tensor<1x16x16x16xf32>
  return %c : tensor<1x16x16x16xf32>
}
}

// -----

#nchw16c = #layout.map<(n, c, h, w) -> buffer(n, c floordiv 16, h, w, c mod 16)>
#filter = #layout.map<(o, i, h, w) -> buffer(o floordiv 16, i floordiv 16, h, w, i mod 16, o mod 16)>
module attributes {layout.target = #layout.cpu<lanes = 16, flops_per_byte = 1, strided_percent = 150>} {

// CHECK: ops: 1, cost 1242368
func.func @channels(%x: tensor<1x16x18x18xf32, #nchw16c>, %w: tensor<16x16x3x3xf32, #filter>, %e: tensor<1x16x16x16xf32, #nchw16c>)
    -> tensor<1x16x16x16xf32, #nchw16c> {
  %c = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x16x18x18xf32, #nchw16c>, tensor<16x16x3x3xf32, #filter>)
      outs(%e : tensor<1x16x16x16xf32, #nchw16c>) -> tensor<1x16x16x16xf32, #nchw16c>
  return %c : tensor<1x16x16x16xf32, #nchw16c>
}
}

// -----

module attributes {layout.target = #layout.cpu<lanes = 16, flops_per_byte = 1, strided_percent = 150>} {

// 131072 operations and 3 x 16384 + 1024 bytes.
// CHECK: ops: 1, cost 181248
func.func @pixels(%x: tensor<1x16x16x16xf32>, %w: tensor<16x16x1x1xf32>, %e: tensor<1x16x16x16xf32>) -> tensor<1x16x16x16xf32> {
  %c = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x16x16x16xf32>, tensor<16x16x1x1xf32>)
      outs(%e : tensor<1x16x16x16xf32>) -> tensor<1x16x16x16xf32>
  return %c : tensor<1x16x16x16xf32>
}
}
