// RUN: layout-opt %s -split-input-file -verify-diagnostics --npu-tile-and-fuse --remarks-filter-passed=npu --remark-format=emitRemark 2>&1 | FileCheck %s
// Check tiling for a core of 1024 bytes. Batches are tiled first, then rows; fills are tiled separately, and the
// results are assembled.

// CHECK-LABEL: func.func @batches
// CHECK-COUNT-2: linalg.exp {{.*}} outs(%{{.*}} : tensor<1x4x8x10xf32>)
module attributes {layout.target = #layout.npu<chip = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 32>>} {
func.func @batches(%x: tensor<2x4x8x10xf32>) -> tensor<2x4x8x10xf32> {
  %e = tensor.empty() : tensor<2x4x8x10xf32>
  // expected-remark @below {{cut together for local memory}}
  %r = linalg.exp ins(%x : tensor<2x4x8x10xf32>) outs(%e : tensor<2x4x8x10xf32>) -> tensor<2x4x8x10xf32>
  return %r : tensor<2x4x8x10xf32>
}
}

// -----

// CHECK-LABEL: func.func @rows
// CHECK: %[[S0:.*]] = tensor.extract_slice %{{.*}}[0, 0, 0, 0] [1, 3, 6, 18] [1, 1, 1, 1]
// CHECK: linalg.fill
// CHECK: linalg.conv_2d_nchw_fchw ins(%[[S0]], {{.*}} : tensor<1x3x6x18xf32>, tensor<4x3x3x3xf32>) outs({{.*}} : tensor<1x4x4x16xf32>)
// CHECK: tensor.concat dim(2)
module attributes {layout.target = #layout.npu<chip = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 32>>} {
func.func @rows(%x: tensor<1x3x18x18xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<1x4x16x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x4x16x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x4x16x16xf32>) -> tensor<1x4x16x16xf32>
  // expected-remark @below {{cut together for local memory}}
  %r = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x3x18x18xf32>, tensor<4x3x3x3xf32>) outs(%f : tensor<1x4x16x16xf32>) -> tensor<1x4x16x16xf32>
  return %r : tensor<1x4x16x16xf32>
}
}

// -----

// Ops that fit stay unchanged.

// CHECK-LABEL: func.func @fits
// CHECK-NOT: tensor.extract_slice
module attributes {layout.target = #layout.npu<chip = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 32>>} {
func.func @fits(%x: tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> {
  %e = tensor.empty() : tensor<1x4x8x8xf32>
  %r = linalg.exp ins(%x : tensor<1x4x8x8xf32>) outs(%e : tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  return %r : tensor<1x4x8x8xf32>
}
}

// -----

// A result without dims gets a unit dim that is distributed over the cores; indices stay.

// CHECK-LABEL: func.func @scalar
// CHECK: %[[F:.*]] = linalg.fill {{.*}} -> tensor<1xf32>
// CHECK: linalg.generic {indexing_maps = [#{{.*}}, #{{.*}}], iterator_types = ["parallel", "reduction"]} ins(%{{.*}} : tensor<1x5xf32>) outs(%[[F]] : tensor<1xf32>)
// CHECK: linalg.index 1
// CHECK: tensor.collapse_shape %{{.*}} [] : tensor<1xf32> into tensor<f32>
module attributes {layout.target = #layout.npu<chip = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 32>>} {
func.func @scalar(%x: tensor<5xf32>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%x : tensor<5xf32>) outs(%f : tensor<f32>) {
    ^bb0(%a: f32, %o: f32):
      %i = linalg.index 0 : index
      %j = arith.index_cast %i : index to i32
      %k = arith.sitofp %j : i32 to f32
      %p = arith.mulf %a, %k : f32
      %s = arith.addf %p, %o : f32
      linalg.yield %s : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}
}

// -----

// expected-error @below {{npu-tile-and-fuse is for targets #layout.npu<..>, found #layout.cpu<lanes = 8>}}
module attributes {layout.target = #layout.cpu<lanes = 8>} {
}

// -----

// If no tile would fit, the op is not tiled.
module attributes {layout.target = #layout.npu<chip = #npu.target<npus = 4, bytes_per_npu = 8, eu_bytes = 8>>} {
func.func @never(%x: tensor<64x64x64xf32>, %z: tensor<64x64x64xf32>) -> tensor<64x64x64xf32> {
  %e = tensor.empty() : tensor<64x64x64xf32>
  // expected-error @below {{'linalg.add' does not fit local memory in any parts: one iteration of its loops needs 12 bytes of a core, which has 8; 4 are too many, so split the op, or use a chip with more memory}}
  %r = linalg.add ins(%x, %z : tensor<64x64x64xf32>, tensor<64x64x64xf32>) outs(%e : tensor<64x64x64xf32>) -> tensor<64x64x64xf32>
  return %r : tensor<64x64x64xf32>
}
}

// -----

module attributes {layout.target = #layout.npu<chip = #npu.target<npus = 4, bytes_per_npu = 64, eu_bytes = 32>>} {
func.func @too_many(%x: tensor<64x64x64x64xf32>, %z: tensor<64x64x64x64xf32>) -> tensor<64x64x64x64xf32> {
  %e = tensor.empty() : tensor<64x64x64x64xf32>
  // expected-error @below {{'linalg.add' needs 262144 parts or more to fit local memory, but at most 4096 are supported: split the op into several programs, or use a chip with more memory}}
  %r = linalg.add ins(%x, %z : tensor<64x64x64x64xf32>, tensor<64x64x64x64xf32>) outs(%e : tensor<64x64x64x64xf32>) -> tensor<64x64x64x64xf32>
  return %r : tensor<64x64x64x64xf32>
}
}

// -----

// More elements than a 64-bit number counts.
module attributes {layout.target = #layout.npu<chip = #npu.target<npus = 4, bytes_per_npu = 64, eu_bytes = 32>>} {
func.func @uncountable(%x: tensor<3037000500x3037000500x4xi8>) -> tensor<3037000500x3037000500x4xi8> {
  %e = tensor.empty() : tensor<3037000500x3037000500x4xi8>
  // expected-error @below {{'linalg.add' needs 36028797018963968 parts or more to fit local memory, but at most 4096 are supported}}
  %r = linalg.add ins(%x, %x : tensor<3037000500x3037000500x4xi8>, tensor<3037000500x3037000500x4xi8>) outs(%e : tensor<3037000500x3037000500x4xi8>) -> tensor<3037000500x3037000500x4xi8>
  return %r : tensor<3037000500x3037000500x4xi8>
}
}

// -----

// Neither the image nor the weights fit: they are summed tile by tile, each continuing from the previous sum.

// CHECK-LABEL: func.func @pieces
// CHECK: linalg.fill
// CHECK: %[[F:.*]] = linalg.fill
// CHECK: %[[A:.*]] = linalg.conv_2d_nchw_fchw ins({{.*}} : tensor<1x8x5x5xf32>, tensor<32x8x3x3xf32>) outs(%[[F]] :
// CHECK-COUNT-15: linalg.conv_2d_nchw_fchw {{.*}} -> tensor<1x32x3x3xf32>
// CHECK-NOT: tensor.concat
module attributes {layout.target = #layout.npu<launch_cost = 1, flops_per_byte = 8, chip = #npu.target<npus = 4, bytes_per_npu = 4096, eu_bytes = 32>>} {
func.func @pieces(%x: tensor<1x128x5x5xf32>, %w: tensor<32x128x3x3xf32>) -> tensor<1x32x3x3xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x32x3x3xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x32x3x3xf32>) -> tensor<1x32x3x3xf32>
  // expected-remark @below {{cut together for local memory}}
  %r = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x128x5x5xf32>, tensor<32x128x3x3xf32>) outs(%f : tensor<1x32x3x3xf32>) -> tensor<1x32x3x3xf32>
  return %r : tensor<1x32x3x3xf32>
}
}

// -----

// A reshape is tiled with its adjacent ops.

// CHECK-LABEL: func.func @reshaped
// CHECK: tensor.expand_shape {{.*}} into tensor<1x8x32xf32>
// CHECK: tensor.expand_shape {{.*}} into tensor<1x8x32xf32>
// CHECK: tensor.concat dim(1) {{.*}} -> tensor<1x16x32xf32>
module attributes {layout.target = #layout.npu<chip = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 32>>} {
func.func @reshaped(%x: tensor<16x32xf32>) -> tensor<1x16x32xf32> {
  %e = tensor.empty() : tensor<16x32xf32>
  %r = linalg.exp ins(%x : tensor<16x32xf32>) outs(%e : tensor<16x32xf32>) -> tensor<16x32xf32>
  %s = tensor.expand_shape %r [[0, 1], [2]] output_shape [1, 16, 32] : tensor<16x32xf32> into tensor<1x16x32xf32>
  %g = tensor.empty() : tensor<1x16x32xf32>
  // expected-remark @below {{cut together for local memory}}
  %t = linalg.tanh ins(%s : tensor<1x16x32xf32>) outs(%g : tensor<1x16x32xf32>) -> tensor<1x16x32xf32>
  return %t : tensor<1x16x32xf32>
}
}

// -----

// Each tile of a reduction continues from the previous result.

// CHECK-LABEL: func.func @sum
// CHECK: %[[F:.*]] = linalg.fill {{.*}} outs(%{{[0-9]+}} : tensor<1xf32>)
// CHECK: %[[F2:.*]] = linalg.fill
// CHECK: %[[A:.*]] = linalg.generic {{.*}} ins(%{{.*}} : tensor<1x600xf32>) outs(%[[F2]] :
// CHECK: %[[A2:.*]] = tensor.extract_slice %[[A]][0]
// CHECK: %[[B:.*]] = linalg.generic {{.*}} ins(%{{.*}} : tensor<1x600xf32>) outs(%[[A2]] :
// CHECK: %[[B2:.*]] = tensor.extract_slice %[[B]][0]
// CHECK: %[[C:.*]] = linalg.generic {{.*}} ins(%{{.*}} : tensor<1x600xf32>) outs(%[[B2]] :
// CHECK: %[[C2:.*]] = tensor.extract_slice %[[C]][0]
// CHECK: %[[D:.*]] = linalg.generic {{.*}} ins(%{{.*}} : tensor<1x600xf32>) outs(%[[C2]] :
// CHECK: return %[[D]]
module attributes {layout.target = #layout.npu<chip = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 32>>} {
func.func @sum(%x: tensor<1x2400xf32>) -> tensor<1xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1xf32>) -> tensor<1xf32>
  // expected-remark @below {{split for local memory}}
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<1x2400xf32>) outs(%f : tensor<1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %a, %o : f32
      linalg.yield %s : f32
  } -> tensor<1xf32>
  return %r : tensor<1xf32>
}
}

// -----

// An op with stated layouts runs on them untiled.
module attributes {layout.target = #layout.npu<chip = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 16>>} {
// CHECK-LABEL: func.func @stated
// CHECK-NOT: tensor.extract_slice
func.func @stated(%x: tensor<4096xf32, #layout.blocked<"A" to "A8a">>) -> tensor<4096xf32, #layout.blocked<"A" to "A8a">> {
  %e = tensor.empty() : tensor<4096xf32, #layout.blocked<"A" to "A8a">>
  %r = linalg.exp ins(%x : tensor<4096xf32, #layout.blocked<"A" to "A8a">>) outs(%e : tensor<4096xf32, #layout.blocked<"A" to "A8a">>) -> tensor<4096xf32, #layout.blocked<"A" to "A8a">>
  return %r : tensor<4096xf32, #layout.blocked<"A" to "A8a">>
}
}

// -----

// The slice of an operand that is read at one index has only that index.
// CHECK-DAG: #[[FIRST:.*]] = affine_map<(d0, d1, d2) -> (d0, d1, d2, 0)>
// CHECK-LABEL: func.func @constant_index
// CHECK: tensor.extract_slice %{{.*}}[0, 0, 0, 1] [1, 8, 40, 1] [1, 1, 1, 1]
// CHECK: linalg.generic {indexing_maps = [#[[FIRST]],
module attributes {layout.target = #layout.npu<chip = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 32>>} {
func.func @constant_index(%x: tensor<4x8x40x2xf32>) -> tensor<4x8x40xf32> {
  %e = tensor.empty() : tensor<4x8x40xf32>
  // expected-remark @below {{cut together for local memory}}
  %r = linalg.generic {indexing_maps = [affine_map<(a, b, c) -> (a, b, c, 1)>, affine_map<(a, b, c) -> (a, b, c)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : tensor<4x8x40x2xf32>) outs(%e : tensor<4x8x40xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = arith.negf %a : f32
    linalg.yield %v : f32
  } -> tensor<4x8x40xf32>
  return %r : tensor<4x8x40xf32>
}
}
