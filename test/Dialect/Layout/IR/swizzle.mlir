// RUN: layout-opt %s --mlir-print-local-scope | FileCheck %s
// RUN: layout-opt %s | layout-opt --mlir-print-local-scope | FileCheck %s
// Check the canonical form of swizzles, the xor of digits.

// CHECK-LABEL: @rows_swizzled_by_their_number
// CHECK-SAME: tensor<4x4xf32, #layout.map<(d0, d1) -> buffer(d0, xor(d0, d1 : 4))>>
func.func private @rows_swizzled_by_their_number(
  tensor<4x4xf32, #layout.map<(i, j) -> buffer(i, xor(j, i : 4))>>)

// The order of operands, a mod equal to the extent, canceling pairs and nested
// swizzles do not affect the map.
// CHECK-LABEL: @spellings_of_one_swizzle
// CHECK-SAME: tensor<8x8xf32, #[[MAP:.*]]>, tensor<8x8xf32, #[[MAP]]>, tensor<8x8xf32, #[[MAP]]>, tensor<8x8xf32, #[[MAP]]>
func.func private @spellings_of_one_swizzle(
  tensor<8x8xf32, #layout.map<(i, j) -> buffer(i, j floordiv 4, xor(i mod 4, j mod 4))>>,
  tensor<8x8xf32, #layout.map<(i, j) -> buffer(i, j floordiv 4, xor(j, i : 4))>>,
  tensor<8x8xf32, #layout.map<(i, j) -> buffer(i, j floordiv 4, xor(j, i mod 8, 0 : 4))>>,
  tensor<8x8xf32, #layout.map<(i, j) -> buffer(i, j floordiv 4, xor(xor(j, i floordiv 2 : 4), i, i floordiv 2 : 4))>>)

// A digit of a swizzle is the swizzle of the digits.
// CHECK-LABEL: @digits_of_a_swizzle
// CHECK-SAME: tensor<8x8xf32, #[[MAP:.*]]>, tensor<8x8xf32, #[[MAP]]>
func.func private @digits_of_a_swizzle(
  tensor<8x8xf32, #layout.map<(i, j) -> buffer(i, xor(i, j : 8) floordiv 2, xor(i, j : 8) mod 2)>>,
  tensor<8x8xf32, #layout.map<(i, j) -> buffer(i, xor(i floordiv 2, j floordiv 2 : 4), xor(i, j : 2))>>)

// Two equations in two unknowns, both with bits of i and j: solved over F2.
// CHECK-LABEL: @a_system_of_swizzles
func.func private @a_system_of_swizzles(
  tensor<4x4xf32, #layout.map<(i, j) -> buffer(offset =
    xor(i, j : 2) + xor(i floordiv 2, j : 2) * 2 + xor(i, j floordiv 2 : 2) * 4 + xor(i, i floordiv 2, j floordiv 2 : 2) * 8)>>)

// CHECK-LABEL: @dynamic
// CHECK-SAME: tensor<?x?xf32, #layout.map<(d0, d1) -> bank(row = [d0, d1 floordiv 4], bank = xor(d0, d1 : 4))>>
func.func private @dynamic(
  tensor<?x?xf32, #layout.map<(i, j) -> bank(row = [i, j floordiv 4], bank = xor(i, j : 4))>>)
