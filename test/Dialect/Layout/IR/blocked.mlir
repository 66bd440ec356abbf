// RUN: layout-opt %s --mlir-print-local-scope | FileCheck %s --check-prefix=AS-WRITTEN
// RUN: layout-opt %s --mlir-print-local-scope --layout-canonicalize | FileCheck %s
// Check that a family attribute prints as it was written and canonicalizes to
// #layout.map.

// AS-WRITTEN: @nchw16c(tensor<1x17x7x7xf32, #layout.blocked<"NCHW" to "NCHW16c">>)
// CHECK: @nchw16c(tensor<1x17x7x7xf32, #layout.map<(d0, d1, d2, d3) -> buffer(d0, d1 floordiv 16, d2, d3, d1 mod 16)>>)
func.func private @nchw16c(tensor<1x17x7x7xf32, #layout.blocked<"NCHW" to "NCHW16c">>)

// CHECK: @weights({{.*}} buffer(d0 floordiv 16, d1 floordiv 16, d2, d3, d1 floordiv 4 mod 4, d0 mod 16, d1 mod 4)
func.func private @weights(tensor<60x20x3x3xf32, #layout.blocked<"OIHW" to "OIHW4i16o4i">>)

// Fused parts are one stored axis; the map has their digits.
// CHECK: @fused({{.*}} buffer(d0 floordiv 4, d1 floordiv 4, d2, d3, d0 mod 4, d1 mod 4)
func.func private @fused(tensor<64x28x7x7xf32, #layout.blocked<"OIHW" to "OIHW[4o4i]">>)

// Split and fuse in one relation.
// CHECK: @reblock({{.*}} buffer(d0, d1, d4 floordiv 8 mod 2, d2, d3, d4 mod 8)
func.func private @reblock(tensor<1x2x7x7x16xf32, #layout.blocked<"NCHW16c" to "NCHW8c">>)

// CHECK: @unfuse({{.*}} buffer(d0, d2 floordiv 4 mod 4, d1, d2 mod 4)
func.func private @unfuse(tensor<2x3x16xf32, #layout.blocked<"OI[4o4i]" to "OI">>)

// The row-major order is the absence of a layout.
// CHECK: @row_major(tensor<2x3xf32>)
func.func private @row_major(tensor<2x3xf32, #layout.blocked<"AB" to "AB">>)

// CHECK: @padded(tensor<1x17x7x7xf32, #layout.padded<#layout.map<(d0, d1, d2, d3) -> buffer(d0, d1 floordiv 16, d2, d3, d1 mod 16)>, zero>>)
func.func private @padded(tensor<1x17x7x7xf32, #layout.padded<#layout.blocked<"NCHW" to "NCHW16c">, 0.0 : f32>>)
