// Check that layouts print as aliases with descriptive names, and that modules
// with aliases parse back.
//
// RUN: layout-opt %s --verify-roundtrip > %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: layout-opt %t.mlir | diff %t.mlir -
// RUN: layout-opt %t.mlir --emit-bytecode | layout-opt | diff %t.mlir -
// RUN: layout-opt %t.mlir --mlir-print-op-generic | layout-opt | diff %t.mlir -
// RUN: layout-opt %t.mlir --mlir-print-local-scope | layout-opt | diff %t.mlir -
// RUN: layout-opt %t.mlir --mlir-print-debuginfo | layout-opt | diff %t.mlir -

// Attributes nested in aliases print as aliases, too.
// CHECK: #chip = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128>
// CHECK: #nc4c = #layout.blocked<"NC" to "NC4c">
// CHECK: #nc4c_padded = #layout.padded<#nc4c, zero>
// CHECK: #npu_compact = #layout.npu_scatter<compact, start = 2, target = #chip>

// CHECK: @channels_in_blocks(tensor<1x64x7x7xf32, #nchw16c>)
func.func private @channels_in_blocks(tensor<1x64x7x7xf32,
  #layout.map<(n, c, h, w) -> buffer(n, c floordiv 16, h, w, c mod 16)>>)

// CHECK: @channels_last(tensor<1x64x7x7xf32, #nhwc>)
func.func private @channels_last(tensor<1x64x7x7xf32, #layout.map<(n, c, h, w) -> buffer(n, h, w, c)>>)

// CHECK: @filter(tensor<64x32x3x3xf32, #oihw16i16o>)
func.func private @filter(tensor<64x32x3x3xf32,
  #layout.map<(o, i, h, w) -> buffer(o floordiv 16, i floordiv 16, h, w, i mod 16, o mod 16)>>)

// Without dim names that all uses share: letters in logical order.
// CHECK: @transposed(tensor<4x6xf32, #ba>)
func.func private @transposed(tensor<4x6xf32, #layout.map<(a, b) -> buffer(b, a)>>)
// CHECK: @last_dim_in_blocks(tensor<1x7x7x64xf32, #adbc16d>)
func.func private @last_dim_in_blocks(tensor<1x7x7x64xf32,
  #layout.map<(n, h, w, c) -> buffer(n, c floordiv 16, h, w, c mod 16)>>)

// Other layouts of linear memory are distinguished by numbers.
// CHECK: @strides(tensor<4x5xf32, #layout>)
func.func private @strides(tensor<4x5xf32, #layout.map<(a, b) -> buffer(offset = a * 40 + b)>>)
// CHECK: @swizzle(tensor<4x4xf32, #layout1>)
func.func private @swizzle(tensor<4x4xf32, #layout.map<(a, b) -> buffer(a, xor(a, b : 4))>>)
// CHECK: @border(tensor<1x6x4x4xf32, #layout2>)
func.func private @border(tensor<1x6x4x4xf32,
  #layout.map<(n, c, h, w) -> buffer(n, c, pad(h, 1, 1), pad(w, 1, 1))>>)

// CHECK: @image(tensor<1x64x7x7xf32, #image_in_out_channel>)
func.func private @image(tensor<1x64x7x7xf32,
  #layout.map<(n, c, h, w) -> image2d(x = [c floordiv 4, w], y = [n, h], lane = c mod 4)>>)
// CHECK: @image_of_a_filter(tensor<64x32x3x3xf32, #image_conv2d_filter>)
func.func private @image_of_a_filter(tensor<64x32x3x3xf32,
  #layout.map<(o, i, h, w) -> image2d(x = i, y = [o floordiv 4, h, w], lane = o mod 4)>>)
// CHECK: @image_of_no_kind(tensor<8x4x64xf32, #image2d>)
func.func private @image_of_no_kind(tensor<8x4x64xf32,
  #layout.map<(a, b, c) -> image2d(x = c floordiv 4, y = [a, b], lane = c mod 4)>>)
// CHECK: @space(tensor<3x5xf32, #mesh>)
func.func private @space(tensor<3x5xf32,
  #layout.map<(a, b) replicate(r : 4) -> mesh(device = r, offset = [a, b])>>)

// CHECK: @blocked(tensor<1x64x7x7xf32, #nchw16c1>)
func.func private @blocked(tensor<1x64x7x7xf32, #layout.blocked<"NCHW" to "NCHW16c">>)
// CHECK: @blocked_and_fused(tensor<8x8x3x3xf32, #oihw4o4i>)
func.func private @blocked_and_fused(tensor<8x8x3x3xf32, #layout.blocked<"OIHW" to "OIHW[4o4i]">>)
// CHECK: @packed_dims(tensor<6x8xf32, #packed_dims>)
func.func private @packed_dims(tensor<6x8xf32, #layout.packed_dims<[1, 0, 1 : 4]>>)
// CHECK: @rgba_image(tensor<2x6x5x3xf32, #image_3d>)
func.func private @rgba_image(tensor<2x6x5x3xf32, #layout.rgba_image<image_3d>>)
// CHECK: @rgba_image_of_a_kind(tensor<1x4x5x3xf32, #image_weight_height>)
func.func private @rgba_image_of_a_kind(tensor<1x4x5x3xf32, #layout.rgba_image<weight_height, "IOHW">>)
// CHECK: @scattered(tensor<2x3x4x5xf32, #npu_compact>)
func.func private @scattered(tensor<2x3x4x5xf32, #layout.npu_scatter<compact, start = 2,
  target = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128>>>)
// CHECK: @relations(tensor<1x17x7x7xf32, #nchw8c>)
func.func private @relations(tensor<1x17x7x7xf32,
  #layout.relations<(n, c, h, w), split c -> (co, ci : 8), store (n, co, h, w, ci)>>)
// CHECK: @tag(tensor<1x17x7x7xf32, #nchw4c>)
func.func private @tag(tensor<1x17x7x7xf32, #layout.import<onednn, "nChw4c">>)
// CHECK: @descriptor(tensor<2x17x5x4xf32, #onednn>)
func.func private @descriptor(tensor<2x17x5x4xf32, #layout.import<onednn,
  "strides=[480,160,32,8] blks=[8] idxs=[1] padded=[2,24,5,4]">>)
// CHECK: @tiles(tensor<3x5xf32, #ab2a2b>)
func.func private @tiles(tensor<3x5xf32, #layout.import<xla, "{1,0:T(2,2)}">>)
// CHECK: @tuples(tensor<4x4xf32, #cute>)
func.func private @tuples(tensor<4x4xf32, #layout.import<cute, "Sw<2,0,2> o 0 o (4,4):(4,1)">>)
// CHECK: @bits(tensor<2x4xf32, #linear>)
func.func private @bits(tensor<2x4xf32,
  #layout.import<triton, "register=[[0,1]] lane=[[0,2],[1,0]] warp=[] block=[] : [2,4]">>)
// CHECK: @padded(tensor<3x6xf32, #nc4c_padded>)
func.func private @padded(tensor<3x6xf32, #layout.padded<#layout.blocked<"NC" to "NC4c">, zero>>)

// Names that have another meaning, or are not identifiers, are changed.
// CHECK: @named_as_affine_maps(tensor<2x3x4xf32, #map>, memref<4x4xf32, #map1>)
func.func private @named_as_affine_maps(tensor<2x3x4xf32, #layout.blocked<"AMP" to "MAP">>,
  memref<4x4xf32, affine_map<(d0, d1) -> (d1, d0)>>)
// CHECK: @named_as_locations(tensor<2x3x4xf32, #loc>)
func.func private @named_as_locations(tensor<2x3x4xf32, #layout.blocked<"CLO" to "LOC">>)
// CHECK: @ends_in_a_digit(tensor<2x3xf32, #loc1>)
func.func private @ends_in_a_digit(tensor<2x3xf32,
  #layout.map<(a, b) -> loc1(x = a, y = b)>>)
