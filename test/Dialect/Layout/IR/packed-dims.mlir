// RUN: layout-opt %s --mlir-print-local-scope | FileCheck %s --check-prefix=AS-WRITTEN
// RUN: layout-opt %s | layout-opt --mlir-print-local-scope | FileCheck %s --check-prefix=AS-WRITTEN
// RUN: layout-opt %s --mlir-print-local-scope --layout-canonicalize | FileCheck %s
// RUN: layout-opt %s --layout-canonicalize | layout-opt --mlir-print-local-scope --layout-canonicalize | FileCheck %s
// Check that the size of an entry depends on the shape, and that nothing is
// padded.

// AS-WRITTEN: @packed(tensor<6x8xf32, #layout.packed_dims<[1, 0, 1 : 4]>>)
// CHECK: @packed(tensor<6x8xf32, #layout.map<(d0, d1) -> buffer(d1 floordiv 4, d0, d1 mod 4)>>)
func.func private @packed(tensor<6x8xf32, #layout.packed_dims<[1, 0, 1 : 4]>>)

// An extent larger than the rest of the dim is clipped to it.
// CHECK: @clipped(tensor<6x2xf32, #layout.map<(d0, d1) -> buffer(d0, d1) stored(0, d0, d1)>>)
func.func private @clipped(tensor<6x2xf32, #layout.packed_dims<[1, 0, 1 : 4]>>)

// CHECK: @clipped_below(tensor<2x4xf32, #layout.map<(d0, d1) -> buffer(d1, d0) stored(0, d1, d0)>>)
func.func private @clipped_below(tensor<2x4xf32, #layout.packed_dims<[0, 1, 0 : 4]>>)

// The outer one of two parts can be clipped, too.
// CHECK: @nested(tensor<4x8xf32, #layout.map<(d0, d1) -> buffer(d0 floordiv 2, d1 floordiv 4, d0 mod 2, d1 mod 4) stored(0, d0 floordiv 2, d1 floordiv 4, d0 mod 2, d1 mod 4)>>)
func.func private @nested(tensor<4x8xf32, #layout.packed_dims<[1, 0, 1 : 4, 0 : 2, 1 : 4]>>)

// Even positions precede odd ones.
// AS-WRITTEN: @oddeven(tensor<8xf32, #layout.packed_dims<[0 : oddeven 8]>>)
// CHECK: @oddeven(tensor<8xf32, #layout.map<(d0) -> buffer(d0 mod 2, d0 floordiv 2) stored([d0 mod 2, d0 floordiv 2])>>)
func.func private @oddeven(tensor<8xf32, #layout.packed_dims<[0 : oddeven 8]>>)

// CHECK: @oddeven_inside(tensor<16xf32, #layout.map<(d0) -> buffer(d0 floordiv 8, d0 mod 2, d0 floordiv 2 mod 4) stored(d0 floordiv 8, [d0 mod 2, d0 floordiv 2 mod 4])>>)
func.func private @oddeven_inside(tensor<16xf32, #layout.packed_dims<[0, 0 : oddeven 8]>>)

// The permutation applies after the division by the inner parts.
// CHECK: @oddeven_outside(tensor<8x2xf32, #layout.map<(d0, d1) -> buffer(d0 floordiv 2 mod 2, d0 floordiv 4, d1, d0 mod 2) stored([d0 floordiv 2 mod 2, d0 floordiv 4], d1, d0 mod 2)>>)
func.func private @oddeven_outside(tensor<8x2xf32, #layout.packed_dims<[0 : oddeven 4, 1, 0 : 2]>>)

// A dim in one piece is one digit, regardless of its entry.
// CHECK: @one_piece(tensor<4x3x1xf32>)
func.func private @one_piece(tensor<4x3x1xf32, #layout.packed_dims<[0 : 4, 1 : 7, 2 : 1]>>)

// CHECK: @oddeven_of_one(tensor<1x3xf32>)
func.func private @oddeven_of_one(tensor<1x3xf32, #layout.packed_dims<[0 : oddeven 4, 1]>>)

// Omitted dims have size 1.
// CHECK: @omitted(tensor<1x2x32xf32, #layout.map<(d0, d1, d2) -> buffer(d2 floordiv 16, d1, d2 mod 16)>>)
func.func private @omitted(tensor<1x2x32xf32, #layout.packed_dims<[2, 1, 2 : 16]>>)

// AS-WRITTEN: @nothing_left(tensor<1x1xf32, #layout.packed_dims<[]>>)
func.func private @nothing_left(tensor<1x1xf32, #layout.packed_dims<[]>>)

// CHECK: @scalar(tensor<f32>)
func.func private @scalar(tensor<f32, #layout.packed_dims<[]>>)

// Whole dims may have any size, and so may a part of extent 1.
// CHECK: @dynamic(tensor<?x8xf32, #layout.map<(d0, d1) -> buffer(d1 floordiv 4, d0, d1 mod 4)>>)
func.func private @dynamic(tensor<?x8xf32, #layout.packed_dims<[1, 0, 1 : 4]>>)

// CHECK: @all_dynamic(tensor<?x?xf32, #layout.map<(d0, d1) -> buffer(d1, d0) stored(d1, d0, 0)>>)
func.func private @all_dynamic(tensor<?x?xf32, #layout.packed_dims<[1, 0, 1 : 1]>>)

// Every part divides 0.
// CHECK: @empty(tensor<0x6xf32, #layout.map<(d0, d1) -> buffer(d0 floordiv 4, d1, d0 mod 4)>>)
func.func private @empty(tensor<0x6xf32, #layout.packed_dims<[0, 1, 0 : 4]>>)

// If all parts divide their dims, the layout is the blocked layout.
// CHECK: @blocked(tensor<1x8x2x1xf32, #[[MAP:layout.map<.*>]]>, tensor<1x8x2x1xf32, #[[MAP]]>)
func.func private @blocked(
  tensor<1x8x2x1xf32, #layout.packed_dims<[0, 1, 2, 3, 1 : 4]>>,
  tensor<1x8x2x1xf32, #layout.blocked<"NCHW" to "NCHW4c">>)

// AS-WRITTEN: #layout.padded<#layout.packed_dims<[1, 0]>, zero>
// CHECK: @padded(tensor<2x3xf32, #layout.padded<#layout.map<(d0, d1) -> buffer(d1, d0)>, zero>>)
func.func private @padded(tensor<2x3xf32, #layout.padded<#layout.packed_dims<[1, 0]>, zero>>)
