// RUN: layout-opt %s --layout-canonicalize | layout-opt --mlir-print-local-scope | FileCheck %s
// Check that the value of padding prints in a form that parses back: a zero of any type is
// `zero`.

#blocked = #layout.blocked<"AB" to "AB4b">

// CHECK: @index(tensor<4x5xindex, #layout.padded<#layout.map<(d0, d1) -> buffer(d0, [d1] align 4) stored(d0, d1 floordiv 4, d1 mod 4)>, zero>>)
func.func private @index(tensor<4x5xindex, #layout.padded<#blocked, 0 : index>>)

// CHECK: @signed({{.*}}, zero>>)
func.func private @signed(tensor<4x5xsi8, #layout.padded<#blocked, 0 : si8>>)

// CHECK: @unsigned({{.*}}, zero>>)
func.func private @unsigned(tensor<4x5xui8, #layout.padded<#blocked, zero>>)

// A negative zero is a different value.
// CHECK: @negative({{.*}}, -0.000000e+00 : f32>>)
func.func private @negative(tensor<4x5xf32, #layout.padded<#blocked, -0.0 : f32>>)

// CHECK: @one({{.*}}, true>>)
func.func private @one(tensor<4x5xi1, #layout.padded<#blocked, true>>)
