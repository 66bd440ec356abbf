// Check the layout rules of linalg ops: loops with one index per tensor, and
// packing as a view.
//
// RUN: layout-opt %s --layout-print-rules -o /dev/null | FileCheck %s --match-full-lines

// CHECK: %1 = linalg.fill (scalar, unread [i, j]) -> [i, j], loops i=4 j=?, tiles i, 0 ops per point, only writes, free in any layout
// CHECK: %2 = linalg.matmul ([i, k], [k, j], [i, j]) -> [i, j], loops i=4 j=? k=16, reduces k, tiles i k, 2 ops per point
func.func @matmul(%x: tensor<4x16xf32>, %y: tensor<16x?xf32>, %n: index) -> tensor<4x?xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%n) : tensor<4x?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x?xf32>) -> tensor<4x?xf32>
  %r = linalg.matmul ins(%x, %y : tensor<4x16xf32>, tensor<16x?xf32>)
                     outs(%f : tensor<4x?xf32>) -> tensor<4x?xf32>
  return %r : tensor<4x?xf32>
}

// A loop inside of a sum cannot be tiled.
// CHECK: %0 = linalg.conv_2d_nchw_fchw ([i, m, k * 2 + n, l * 2 + o], [j, m, n, o], [i, j, k, l]) -> [i, j, k, l], loops i=1 j=64 k=4 l=4 m=32 n=3 o=3, reduces m n o, tiles i j m, 2 ops per point
func.func @conv(%x: tensor<1x32x9x9xf32>, %w: tensor<64x32x3x3xf32>, %y: tensor<1x64x4x4xf32>)
    -> tensor<1x64x4x4xf32> {
  %r = linalg.conv_2d_nchw_fchw {strides = dense<2> : tensor<2xi64>}
    ins(%x, %w : tensor<1x32x9x9xf32>, tensor<64x32x3x3xf32>)
    outs(%y : tensor<1x64x4x4xf32>) -> tensor<1x64x4x4xf32>
  return %r : tensor<1x64x4x4xf32>
}

// Neither a diagonal nor a loop whose index the body reads can be tiled.
// CHECK: %0 = linalg.generic ([i, i], unread [i, j]) -> [i, j], loops i=4 j=6, 2 ops per point
// CHECK: %transposed = linalg.transpose ([j, i], unread [i, j]) -> [i, j], loops i=4 j=4, tiles i j, 0 ops per point
func.func @diagonal(%x: tensor<4x4xi64>, %y: tensor<4x6xi64>) -> (tensor<4x6xi64>, tensor<4x4xi64>) {
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, i)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x4xi64>) outs(%y : tensor<4x6xi64>) {
  ^bb0(%a: i64, %b: i64):
    %j = linalg.index 1 : index
    %k = arith.index_cast %j : index to i64
    %s = arith.addi %a, %k : i64
    linalg.yield %s : i64
  } -> tensor<4x6xi64>
  %t = linalg.transpose ins(%x : tensor<4x4xi64>) outs(%x : tensor<4x4xi64>) permutation = [1, 0]
  return %r, %t : tensor<4x6xi64>, tensor<4x4xi64>
}

// CHECK: %0 = linalg.softmax ([i, j], unread [i, j]) -> [i, j], loops i=8 j=32, tiles i, 5 ops per point, runs in any layout
func.func @softmax(%x: tensor<8x32xf32>, %y: tensor<8x32xf32>) -> tensor<8x32xf32> {
  %r = linalg.softmax dimension(1) ins(%x : tensor<8x32xf32>) outs(%y : tensor<8x32xf32>) -> tensor<8x32xf32>
  return %r : tensor<8x32xf32>
}

// CHECK: %pack = linalg.pack view (d0, d1) -> (d0 floordiv 8, d1, d0 mod 8), moves row-major elements
// CHECK: %unpack = linalg.unpack view (d0, d1, d2) -> (d0 * 8 + d2, d1), moves row-major elements
// CHECK: %pack_0 = linalg.pack keeps its types: its tiles are not proven to divide the sizes, so it may pad
func.func @pack(%x: tensor<64x5xf32>, %y: tensor<8x5x8xf32>, %z: tensor<64x5xf32>, %p: tensor<22x5x3xf32>)
    -> (tensor<64x5xf32>, tensor<22x5x3xf32>) {
  %pad = arith.constant 0.0 : f32
  %0 = linalg.pack %x inner_dims_pos = [0] inner_tiles = [8] into %y : tensor<64x5xf32> -> tensor<8x5x8xf32>
  %1 = linalg.unpack %0 inner_dims_pos = [0] inner_tiles = [8] into %z : tensor<8x5x8xf32> -> tensor<64x5xf32>
  %2 = linalg.pack %x padding_value(%pad : f32) inner_dims_pos = [0] inner_tiles = [3] into %p
    : tensor<64x5xf32> -> tensor<22x5x3xf32>
  return %1, %2 : tensor<64x5xf32>, tensor<22x5x3xf32>
}
