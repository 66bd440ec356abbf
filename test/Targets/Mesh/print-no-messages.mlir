// Check that conversions within the blocks of each device send nothing and have no plan, for any element type and block
// size.

// RUN: layout-opt %s --layout-print-messages -o /dev/null | FileCheck %s

// CHECK-NOT: conversion
// CHECK: conversion of 7x4xf32 at {{.*}}: 2 messages in 1 rounds on 2 devices, 56 bytes, lower bound 56
// CHECK-NOT: conversion
#rows = #layout.mesh<[x = 2], [[x], []]>
#columns = #layout.mesh<[x = 2], [[], [x]]>
#by_columns = #layout.mesh<[x = 2], [[x], []], local = #layout.blocked<"AB" to "BA">>
func.func @f(%a: tensor<8x6xf32, #rows>, %b: tensor<8x6xi1, #rows>, %c: tensor<7x6xf32, #rows>, %d: tensor<7x4xf32, #rows>) {
  %0 = layout.convert %a : tensor<8x6xf32, #rows> to tensor<8x6xf32, #by_columns>
  %1 = layout.convert %b : tensor<8x6xi1, #rows> to tensor<8x6xi1, #by_columns>
  %2 = layout.convert %c : tensor<7x6xf32, #rows> to tensor<7x6xf32, #by_columns>
  %3 = layout.convert %d : tensor<7x4xf32, #rows> to tensor<7x4xf32, #columns>
  return
}
