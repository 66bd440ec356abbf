// RUN: layout-opt %s --mlir-print-local-scope | FileCheck %s --check-prefix=AS-WRITTEN
// RUN: layout-opt %s --layout-canonicalize | layout-opt --mlir-print-local-scope | FileCheck %s
// Check that an imported notation prints as it was written and canonicalizes to
// #layout.map.

// AS-WRITTEN: @xla(tensor<3x5xf32, #layout.import<xla, "{1,0:T(2,2)}">>)
// CHECK: @xla(tensor<3x5xf32, #layout.map<(d0, d1) -> buffer(d0 floordiv 2, d1 floordiv 2, d0 mod 2, d1 mod 2)>>)
func.func private @xla(tensor<3x5xf32, #layout.import<xla, "{1,0:T(2,2)}">>)

// Sizes may be dynamic.
// CHECK: @xla_dynamic({{.*}} buffer(d0 floordiv 8, d1 floordiv 128, d0 floordiv 2 mod 4, d1 mod 128, d0 mod 2)
func.func private @xla_dynamic(tensor<?x?xf32, #layout.import<xla, "{1,0:T(8,128)(2,1)}">>)

// CHECK: @xla_fused({{.*}} buffer([d0, d1] align 4)
func.func private @xla_fused(tensor<3x5xf32, #layout.import<xla, "{1,0:T(*,4)}">>)

// CHECK: @xla_scalar({{.*}} buffer([0] align 256)
func.func private @xla_scalar(tensor<f32, #layout.import<xla, "{:T(256)}">>)

// AS-WRITTEN: @onednn(tensor<2x17x5x4xf32, #layout.import<onednn, "nChw8c">>)
// CHECK: @onednn({{.*}} buffer(d0, d1 floordiv 8, d2, d3, d1 mod 8)
func.func private @onednn(tensor<2x17x5x4xf32, #layout.import<onednn, "nChw8c">>)

// CHECK: @onednn_weights({{.*}} buffer(d0 floordiv 16, d1 floordiv 16, d2, d3, d1 floordiv 4 mod 4, d0 mod 16, d1 mod 4)
func.func private @onednn_weights(tensor<?x?x3x3xf32, #layout.import<onednn, "OIhw4i16o4i">>)

// Rows of 40 elements, 33 of which are used.
// CHECK: @onednn_numbers({{.*}} buffer(offset = d0 * 40 + d1 extent 120)
func.func private @onednn_numbers(tensor<3x33xf32, #layout.import<onednn, "strides=[40,1] blks=[] idxs=[] padded=[3,33]">>)

// AS-WRITTEN: @cute(tensor<4x4xf32, #layout.import<cute, "((2,2),4):((1,8),2)">>)
// CHECK: @cute({{.*}} d0 mod 2 + (d0 floordiv 2) * 8 + d1 * 2
func.func private @cute(tensor<4x4xf32, #layout.import<cute, "((2,2),4):((1,8),2)">>)

// CHECK: @cute_swizzle({{.*}} d0 * 4 + xor(d0, d1 : 4)
func.func private @cute_swizzle(tensor<4x4xf32, #layout.import<cute, "S<2,0,2> o (4,4):(4,1)">>)

// AS-WRITTEN{LITERAL}: @triton(tensor<4x8xf32, #layout.import<triton, "register=[[0,1],[0,2]] lane=[[0,4],[1,0],[2,0]] warp=[[0,0]] block=[] : [4,8]">>)
// The second warp holds the same.
// CHECK: @triton({{.*}}(d0, d1) replicate(r0 : 2) -> linear(register = d1 mod 4, lane = d0 * 2 + d1 floordiv 4 extent 8, warp = r0, block = 0)
func.func private @triton(tensor<4x8xf32, #layout.import<triton, "register=[[0,1],[0,2]] lane=[[0,4],[1,0],[2,0]] warp=[[0,0]] block=[] : [4,8]">>)

// CHECK: @triton_memory({{.*}} d0 mod 2 + (d0 floordiv 2) * 4 + xor(d0, d1 : 2) * 2
func.func private @triton_memory(tensor<4x2xf32, #layout.import<triton, "offset=[[1,1],[0,1],[2,0]] : [4,2]">>)

// The swizzled offsets of 3 .. 18 are below 20.
// CHECK: @cute_offset({{.*}} extent 20)
func.func private @cute_offset(tensor<4x4xf32, #layout.import<cute, "Sw<2,0,2> o 3 o (4,4):(4,1)">>)
