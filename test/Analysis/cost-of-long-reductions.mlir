// Check that arithmetic of a reduction along the lanes counts 1.5 times if its rows exceed 32 KiB of L1.
//
// RUN: layout-opt %s --split-input-file -layout-print-cost -o %t | FileCheck %s

#target = #layout.cpu<lanes = 8, flops_per_byte = 1, strided_percent = 100>
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>

module attributes {layout.target = #target} {

// 2 x 8 x 8 x 1024 operations, and for each of 64 results 24 products and sums more to combine lanes. Reads are 2 x
// 32768 bytes, and results are read and written.
// CHECK: ops: 1, cost 200192
func.func @short(%x: tensor<8x1024xf32>, %y: tensor<8x1024xf32>, %e: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<8x1024xf32>, tensor<8x1024xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%u: f32, %v: f32, %z: f32):
    %p = arith.mulf %u, %v : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<8x8xf32>
  return %r : tensor<8x8xf32>
}
}

// -----

#target = #layout.cpu<lanes = 8, flops_per_byte = 1, strided_percent = 100>
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>

module attributes {layout.target = #target} {

// 2 x 64 x 1032 operations and again 3072, at 150 %, and 2 x 33024 bytes and the results.
// CHECK: ops: 1, cost 269312
func.func @long(%x: tensor<8x1032xf32>, %y: tensor<8x1032xf32>, %e: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<8x1032xf32>, tensor<8x1032xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%u: f32, %v: f32, %z: f32):
    %p = arith.mulf %u, %v : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<8x8xf32>
  return %r : tensor<8x8xf32>
}
}

// -----

module attributes {layout.target = #layout.cpu<lanes = 8, flops_per_byte = 1, strided_percent = 100>} {

// With one row of results, no other row reads the matrix again: 2 x 8 x 2048 operations and 384, 9 x 8192 bytes and 2 x
// 32.
// CHECK: ops: 1, cost 106944
func.func @vector(%x: tensor<2048xf32>, %y: tensor<8x2048xf32>, %e: tensor<8xf32>) -> tensor<8xf32> {
  %r = linalg.matvec ins(%y, %x : tensor<8x2048xf32>, tensor<2048xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}
}

// -----

module attributes {layout.target = #layout.cpu<lanes = 8, flops_per_byte = 1, strided_percent = 100>} {

// A window reuses the rows of the previous one: 2 x 8 x 64 x 9 x 256 operations and 24576, 102400 bytes of the image,
// 73728 of filters and 2 x 2048 of results.
// CHECK: ops: 1, cost 2564096
func.func @window(%x: tensor<1x10x10x256xf32>, %w: tensor<8x3x3x256xf32>, %e: tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32> {
  %r = linalg.conv_2d_nhwc_fhwc ins(%x, %w : tensor<1x10x10x256xf32>, tensor<8x3x3x256xf32>) outs(%e : tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
  return %r : tensor<1x8x8x8xf32>
}
}
