// RUN: layout-opt %s --verify-roundtrip
// RUN: layout-opt %s --mlir-print-local-scope | FileCheck %s
// Check that a digit of a sum has one form, regardless of the order of floordiv and mod.

// CHECK: @floor_of_mod(tensor<8x8xf32, #[[MAP:layout.map<\(d0, d1\) -> mesh\(u = \(d0 floordiv 2 \+ d1\) mod 2, v = d0, w = d1\)>]]>)
func.func private @floor_of_mod(tensor<8x8xf32, #layout.map<(a, b) -> mesh(u = (a + b * 2) mod 4 floordiv 2, v = a, w = b)>>)
// CHECK: @mod_of_floor(tensor<8x8xf32, #[[MAP]]>)
func.func private @mod_of_floor(tensor<8x8xf32, #layout.map<(a, b) -> mesh(u = (a + b * 2) floordiv 2 mod 2, v = a, w = b)>>)
// CHECK: @inside(tensor<8x8xf32, #[[MAP]]>)
func.func private @inside(tensor<8x8xf32, #layout.map<(a, b) -> mesh(u = (a floordiv 2 + b) mod 2, v = a, w = b)>>)
