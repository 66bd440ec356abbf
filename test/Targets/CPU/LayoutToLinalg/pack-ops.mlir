// Check that conversions become linalg.pack and linalg.unpack on request.
// RUN: layout-opt %s --convert-layout-to-linalg=pack-ops --canonicalize | FileCheck %s

#nc16 = #layout.blocked<"NCHW" to "NCHW16c">
#nc8 = #layout.blocked<"NCHW" to "NCHW8c">
#nhwc = #layout.blocked<"NCHW" to "NHWC">
#zero = #layout.padded<#layout.blocked<"NCHW" to "NCHW16c">, zero>
#oi = #layout.map<(o, i) -> buffer(o floordiv 16, i floordiv 4, o mod 16, i mod 4)>
#tiles_first = #layout.map<(d0, d1) -> buffer(d1 mod 16, d1 floordiv 16, d0)>
#two_levels = #layout.map<(d0, d1, d2) -> buffer(d1 floordiv 16, d0, d1 floordiv 4 mod 4, d2, d1 mod 4)>
#mixed = #layout.map<(d0, d1, d2, d3) -> buffer(offset = d3 * 16 + (d1 * 5 + d2) mod 16 + ((d1 * 5 + d2) floordiv 16) * 112 extent 560)>

// CHECK-LABEL: @pack
// CHECK: linalg.pack %{{.*}} inner_dims_pos = [1] inner_tiles = [16] into %{{.*}} : tensor<2x32x7x7xf32> -> tensor<2x2x7x7x16xf32>
// CHECK-NEXT: return
func.func @pack(%x: tensor<2x32x7x7xf32>) -> tensor<2x32x7x7xf32, #nc16> {
  %0 = layout.convert %x : tensor<2x32x7x7xf32> to tensor<2x32x7x7xf32, #nc16>
  return %0 : tensor<2x32x7x7xf32, #nc16>
}

// CHECK-LABEL: @unpack
// CHECK: linalg.unpack %{{.*}} inner_dims_pos = [1] inner_tiles = [16] into %{{.*}} : tensor<2x2x7x7x16xf32> -> tensor<2x32x7x7xf32>
// CHECK-NEXT: return
func.func @unpack(%x: tensor<2x32x7x7xf32, #nc16>) -> tensor<2x32x7x7xf32> {
  %0 = layout.convert %x : tensor<2x32x7x7xf32, #nc16> to tensor<2x32x7x7xf32>
  return %0 : tensor<2x32x7x7xf32>
}

// A partial tile is padded, whether the type states a padding value or not.
// CHECK-LABEL: @pack_non_divisible
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0.0
// CHECK: linalg.pack %{{.*}} padding_value(%[[ZERO]] : f32) inner_dims_pos = [1] inner_tiles = [16] into %{{.*}} : tensor<2x17x7x7xf32> -> tensor<2x2x7x7x16xf32>
// CHECK: linalg.pack %{{.*}} padding_value(%[[ZERO]] : f32) inner_dims_pos = [1] inner_tiles = [16]
// CHECK-NEXT: return
func.func @pack_non_divisible(%x: tensor<2x17x7x7xf32>) -> (tensor<2x17x7x7xf32, #nc16>, tensor<2x17x7x7xf32, #zero>) {
  %0 = layout.convert %x : tensor<2x17x7x7xf32> to tensor<2x17x7x7xf32, #nc16>
  %1 = layout.convert %x : tensor<2x17x7x7xf32> to tensor<2x17x7x7xf32, #zero>
  return %0, %1 : tensor<2x17x7x7xf32, #nc16>, tensor<2x17x7x7xf32, #zero>
}

// CHECK-LABEL: @unpack_non_divisible
// CHECK: linalg.unpack %{{.*}} inner_dims_pos = [1] inner_tiles = [16] into %{{.*}} : tensor<2x2x7x7x16xf32> -> tensor<2x17x7x7xf32>
// CHECK-NEXT: return
func.func @unpack_non_divisible(%x: tensor<2x17x7x7xf32, #nc16>) -> tensor<2x17x7x7xf32> {
  %0 = layout.convert %x : tensor<2x17x7x7xf32, #nc16> to tensor<2x17x7x7xf32>
  return %0 : tensor<2x17x7x7xf32>
}

// Other orders of whole axes are outer_dims_perm.
// CHECK-LABEL: @to_channels_last
// CHECK: linalg.unpack %{{.*}} outer_dims_perm = [0, 3, 1, 2] inner_dims_pos = [3] inner_tiles = [16] into %{{.*}} : tensor<2x2x7x7x16xf32> -> tensor<2x7x7x17xf32>
// CHECK: linalg.pack %{{.*}} outer_dims_perm = [0, 3, 1, 2] inner_dims_pos = [3] inner_tiles = [16] into %{{.*}} : tensor<2x7x7x32xf32> -> tensor<2x2x7x7x16xf32>
// CHECK-NEXT: return
func.func @to_channels_last(%x: tensor<2x17x7x7xf32, #nc16>, %y: tensor<2x32x7x7xf32, #nhwc>) -> (tensor<2x17x7x7xf32, #nhwc>, tensor<2x32x7x7xf32, #nc16>) {
  %0 = layout.convert %x : tensor<2x17x7x7xf32, #nc16> to tensor<2x17x7x7xf32, #nhwc>
  %1 = layout.convert %y : tensor<2x32x7x7xf32, #nhwc> to tensor<2x32x7x7xf32, #nc16>
  return %0, %1 : tensor<2x17x7x7xf32, #nhwc>, tensor<2x32x7x7xf32, #nc16>
}

// Two tiles, in the order in which they are stored.
// CHECK-LABEL: @filter
// CHECK: linalg.pack %{{.*}} padding_value(%{{.*}} : f32) inner_dims_pos = [0, 1] inner_tiles = [16, 4] into %{{.*}} : tensor<17x6xf32> -> tensor<2x2x16x4xf32>
// CHECK-NEXT: return
func.func @filter(%x: tensor<17x6xf32>) -> tensor<17x6xf32, #oi> {
  %0 = layout.convert %x : tensor<17x6xf32> to tensor<17x6xf32, #oi>
  return %0 : tensor<17x6xf32, #oi>
}

// Tiles that are not innermost: a transposition in addition to the pack if the tiles do not divide the sizes, otherwise
// only a transposition.
// CHECK-LABEL: @tiles_first
// CHECK: linalg.pack %{{.*}} padding_value(%{{.*}} : f32) outer_dims_perm = [1, 0] inner_dims_pos = [1] inner_tiles = [16] into %{{.*}} : tensor<3x17xf32> -> tensor<2x3x16xf32>
// CHECK: linalg.transpose {{.*}} permutation = [2, 0, 1]
// CHECK: linalg.transpose {{.*}} permutation = [1, 2, 0]
// CHECK: linalg.unpack %{{.*}} outer_dims_perm = [1, 0] inner_dims_pos = [1] inner_tiles = [16] into %{{.*}} : tensor<2x3x16xf32> -> tensor<3x17xf32>
// CHECK-NOT: linalg.pack
// CHECK: linalg.transpose
// CHECK: return
func.func @tiles_first(%x: tensor<3x17xf32>, %y: tensor<3x17xf32, #tiles_first>, %z: tensor<3x32xf32>) -> (tensor<3x17xf32, #tiles_first>, tensor<3x17xf32>, tensor<3x32xf32, #tiles_first>) {
  %0 = layout.convert %x : tensor<3x17xf32> to tensor<3x17xf32, #tiles_first>
  %1 = layout.convert %y : tensor<3x17xf32, #tiles_first> to tensor<3x17xf32>
  %2 = layout.convert %z : tensor<3x32xf32> to tensor<3x32xf32, #tiles_first>
  return %0, %1, %2 : tensor<3x17xf32, #tiles_first>, tensor<3x17xf32>, tensor<3x32xf32, #tiles_first>
}

// Nested blocks: a pack with the tile of both levels, and a transposition of the inner one.
// CHECK-LABEL: @two_levels
// CHECK: %[[P:.*]] = linalg.pack %{{.*}} padding_value(%{{.*}} : f32) outer_dims_perm = [1, 0, 2] inner_dims_pos = [1] inner_tiles = [16] into %{{.*}} : tensor<3x17x5xf32> -> tensor<2x3x5x16xf32>
// CHECK: tensor.expand_shape %[[P]] {{.*}} into tensor<2x3x5x4x4xf32>
// CHECK: linalg.transpose {{.*}} permutation = [0, 1, 3, 2, 4]
// CHECK-NEXT: return
func.func @two_levels(%x: tensor<3x17x5xf32>) -> tensor<3x17x5xf32, #two_levels> {
  %0 = layout.convert %x : tensor<3x17x5xf32> to tensor<3x17x5xf32, #two_levels>
  return %0 : tensor<3x17x5xf32, #two_levels>
}

// Blocks are split into smaller ones and merged into larger ones.
// CHECK-LABEL: @reblock
// CHECK: linalg.pack %{{.*}} outer_dims_perm = [0, 1, 4, 2, 3] inner_dims_pos = [4] inner_tiles = [8] into %{{.*}} : tensor<1x2x7x7x16xf32> -> tensor<1x2x2x7x7x8xf32>
// CHECK: linalg.unpack %{{.*}} outer_dims_perm = [0, 1, 4, 2, 3] inner_dims_pos = [4] inner_tiles = [8] into %{{.*}} : tensor<1x2x2x7x7x8xf32> -> tensor<1x2x7x7x16xf32>
// CHECK: return
func.func @reblock(%x: tensor<1x32x7x7xf32, #nc16>, %y: tensor<1x32x7x7xf32, #nc8>) -> (tensor<1x32x7x7xf32, #nc8>, tensor<1x32x7x7xf32, #nc16>) {
  %0 = layout.convert %x : tensor<1x32x7x7xf32, #nc16> to tensor<1x32x7x7xf32, #nc8>
  %1 = layout.convert %y : tensor<1x32x7x7xf32, #nc8> to tensor<1x32x7x7xf32, #nc16>
  return %0, %1 : tensor<1x32x7x7xf32, #nc8>, tensor<1x32x7x7xf32, #nc16>
}

// The tail of the source is unspecified: a pack would pad less than the type states.
// CHECK-LABEL: @state_tail
// CHECK-NOT: linalg.pack
// CHECK: return
func.func @state_tail(%x: tensor<1x20x7x7xf32, #nc8>) -> tensor<1x20x7x7xf32, #zero> {
  %0 = layout.convert %x : tensor<1x20x7x7xf32, #nc8> to tensor<1x20x7x7xf32, #zero>
  return %0 : tensor<1x20x7x7xf32, #zero>
}

// Dynamic sizes.
// CHECK-LABEL: @dynamic
// CHECK-SAME: (%[[X:.*]]: tensor<?x?x7x7xf32>) -> (tensor<?x?x7x7x16xf32>, index, tensor<?x?x7x7xf32>)
// CHECK: linalg.pack %[[X]] padding_value(%{{.*}} : f32) inner_dims_pos = [1] inner_tiles = [16] into %{{.*}} : tensor<?x?x7x7xf32> -> tensor<?x?x7x7x16xf32>
// CHECK: linalg.unpack %{{.*}} inner_dims_pos = [1] inner_tiles = [16] into %{{.*}} : tensor<?x?x7x7x16xf32> -> tensor<?x?x7x7xf32>
func.func @dynamic(%x: tensor<?x?x7x7xf32>) -> (tensor<?x?x7x7xf32, #nc16>, tensor<?x?x7x7xf32>) {
  %0 = layout.convert %x : tensor<?x?x7x7xf32> to tensor<?x?x7x7xf32, #nc16>
  %1 = layout.convert %0 : tensor<?x?x7x7xf32, #nc16> to tensor<?x?x7x7xf32>
  return %0, %1 : tensor<?x?x7x7xf32, #nc16>, tensor<?x?x7x7xf32>
}

// The storage interleaves the two result dims: the source dim is converted first.
// CHECK-LABEL: @before_expand
// CHECK-SAME: (%[[X:.*]]: tensor<1x5x7x16xf32>)
// CHECK: %[[U:.*]] = linalg.unpack %[[X]] inner_dims_pos = [1] inner_tiles = [16] into %{{.*}} : tensor<1x5x7x16xf32> -> tensor<1x80x7xf32>
// CHECK: tensor.expand_shape %[[U]] {{.*}} into tensor<1x16x5x7xf32>
// CHECK-NOT: linalg
// CHECK: return
func.func @before_expand(%x: tensor<1x80x7xf32, #layout.map<(d0, d1, d2) -> buffer(d0, d1 floordiv 16, d2, d1 mod 16)>>) -> tensor<1x16x5x7xf32> {
  %0 = tensor.expand_shape %x [[0], [1, 2], [3]] output_shape [1, 16, 5, 7]
      : tensor<1x80x7xf32, #layout.map<(d0, d1, d2) -> buffer(d0, d1 floordiv 16, d2, d1 mod 16)>> into tensor<1x16x5x7xf32, #mixed>
  %1 = layout.convert %0 : tensor<1x16x5x7xf32, #mixed> to tensor<1x16x5x7xf32>
  return %1 : tensor<1x16x5x7xf32>
}
