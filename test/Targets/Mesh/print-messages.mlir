// Conversions of the blocks of each device send nothing, whatever their elements are, and have no plan. Where some devices have
// less than others, a plan says so.

// RUN: layout-opt %s --layout-print-messages -o /dev/null | FileCheck %s

// CHECK-NOT: conversion of 8x6
// CHECK: conversion of 7x6xf32 at {{.*}}: 0 messages in 0 rounds on 2 devices, 0 bytes, lower bound 0
// CHECK-NOT: conversion
#rows = #layout.mesh<[x = 2], [[x], []]>
#by_columns = #layout.mesh<[x = 2], [[x], []], local = #layout.blocked<"AB" to "BA">>
func.func @f(%a: tensor<8x6xf32, #rows>, %b: tensor<8x6xi1, #rows>, %c: tensor<7x6xf32, #rows>) {
  %0 = layout.convert %a : tensor<8x6xf32, #rows> to tensor<8x6xf32, #by_columns>
  %1 = layout.convert %b : tensor<8x6xi1, #rows> to tensor<8x6xi1, #by_columns>
  %2 = layout.convert %c : tensor<7x6xf32, #rows> to tensor<7x6xf32, #by_columns>
  return
}
