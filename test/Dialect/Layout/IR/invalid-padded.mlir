// RUN: not layout-opt %s --split-input-file 2>&1 | FileCheck %s
// Check that errors point to the column of the invalid layout or value.

// CHECK: :[[# @LINE + 1]]:51: error: expected a layout inside #layout.padded
func.func private @f(tensor<1xf32, #layout.padded<5, zero>>)

// -----

// CHECK: :[[# @LINE + 1]]:51: error: the padding is stated twice (P1): use one #layout.padded
func.func private @f(tensor<1xf32, #layout.padded<#layout.padded<#layout.map<(i) -> buffer(i)>, zero>, zero>>)

// -----

// CHECK: :[[# @LINE + 1]]:82: error: padding must hold a number (P1), found "a"
func.func private @f(tensor<1xf32, #layout.padded<#layout.map<(i) -> buffer(i)>, "a">>)
