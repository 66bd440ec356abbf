// RUN: layout-opt %s --mlir-print-local-scope | FileCheck %s --check-prefix=AS-WRITTEN
// RUN: layout-opt %s | layout-opt --mlir-print-local-scope | FileCheck %s --check-prefix=AS-WRITTEN
// RUN: layout-opt %s --layout-canonicalize | FileCheck %s
// RUN: layout-opt %s --layout-canonicalize | layout-opt --layout-canonicalize | FileCheck %s
// Check that the size of an entry depends on the shape, and that nothing is
// padded.

// AS-WRITTEN: @packed(tensor<6x8xf32, #layout.packed_dims<[1, 0, 1 : 4]>>)
// CHECK-DAG: #[[PACKED:.*]] = #layout.map<(d0, d1) -> buffer(d1 floordiv 4, d0, d1 mod 4)>
// CHECK-DAG: @packed(tensor<6x8xf32, #[[PACKED]]>)
func.func private @packed(tensor<6x8xf32, #layout.packed_dims<[1, 0, 1 : 4]>>)

// An extent larger than the rest of the dim is clipped to it.
// CHECK-DAG: #[[CLIPPED:.*]] = #layout.map<(d0, d1) -> buffer(d0, d1) stored(0, d0, d1)>
// CHECK-DAG: @clipped(tensor<6x2xf32, #[[CLIPPED]]>)
func.func private @clipped(tensor<6x2xf32, #layout.packed_dims<[1, 0, 1 : 4]>>)

// CHECK-DAG: #[[CLIPPED_BELOW:.*]] = #layout.map<(d0, d1) -> buffer(d1, d0) stored(0, d1, d0)>
// CHECK-DAG: @clipped_below(tensor<2x4xf32, #[[CLIPPED_BELOW]]>)
func.func private @clipped_below(tensor<2x4xf32, #layout.packed_dims<[0, 1, 0 : 4]>>)

// The outer one of two parts can be clipped, too.
// CHECK-DAG: #[[NESTED:.*]] = #layout.map<(d0, d1) -> buffer(d0 floordiv 2, d1 floordiv 4, d0 mod 2, d1 mod 4) stored(0, d0 floordiv 2, d1 floordiv 4, d0 mod 2, d1 mod 4)>
// CHECK-DAG: @nested(tensor<4x8xf32, #[[NESTED]]>)
func.func private @nested(tensor<4x8xf32, #layout.packed_dims<[1, 0, 1 : 4, 0 : 2, 1 : 4]>>)

// Even positions precede odd ones.
// AS-WRITTEN: @oddeven(tensor<8xf32, #layout.packed_dims<[0 : oddeven 8]>>)
// CHECK-DAG: #[[ODDEVEN:.*]] = #layout.map<(d0) -> buffer(d0 mod 2, d0 floordiv 2) stored([d0 mod 2, d0 floordiv 2])>
// CHECK-DAG: @oddeven(tensor<8xf32, #[[ODDEVEN]]>)
func.func private @oddeven(tensor<8xf32, #layout.packed_dims<[0 : oddeven 8]>>)

// CHECK-DAG: #[[ODDEVEN_INSIDE:.*]] = #layout.map<(d0) -> buffer(d0 floordiv 8, d0 mod 2, d0 floordiv 2 mod 4) stored(d0 floordiv 8, [d0 mod 2, d0 floordiv 2 mod 4])>
// CHECK-DAG: @oddeven_inside(tensor<16xf32, #[[ODDEVEN_INSIDE]]>)
func.func private @oddeven_inside(tensor<16xf32, #layout.packed_dims<[0, 0 : oddeven 8]>>)

// The permutation applies after the division by the inner parts.
// CHECK-DAG: #[[ODDEVEN_OUTSIDE:.*]] = #layout.map<(d0, d1) -> buffer(d0 floordiv 2 mod 2, d0 floordiv 4, d1, d0 mod 2) stored([d0 floordiv 2 mod 2, d0 floordiv 4], d1, d0 mod 2)>
// CHECK-DAG: @oddeven_outside(tensor<8x2xf32, #[[ODDEVEN_OUTSIDE]]>)
func.func private @oddeven_outside(tensor<8x2xf32, #layout.packed_dims<[0 : oddeven 4, 1, 0 : 2]>>)

// A dim in one piece is one digit, regardless of its entry.
// CHECK-DAG: @one_piece(tensor<4x3x1xf32>)
func.func private @one_piece(tensor<4x3x1xf32, #layout.packed_dims<[0 : 4, 1 : 7, 2 : 1]>>)

// CHECK-DAG: @oddeven_of_one(tensor<1x3xf32>)
func.func private @oddeven_of_one(tensor<1x3xf32, #layout.packed_dims<[0 : oddeven 4, 1]>>)

// Omitted dims have size 1.
// CHECK-DAG: #[[OMITTED:.*]] = #layout.map<(d0, d1, d2) -> buffer(d2 floordiv 16, d1, d2 mod 16)>
// CHECK-DAG: @omitted(tensor<1x2x32xf32, #[[OMITTED]]>)
func.func private @omitted(tensor<1x2x32xf32, #layout.packed_dims<[2, 1, 2 : 16]>>)

// AS-WRITTEN: @nothing_left(tensor<1x1xf32, #layout.packed_dims<[]>>)
func.func private @nothing_left(tensor<1x1xf32, #layout.packed_dims<[]>>)

// CHECK-DAG: @scalar(tensor<f32>)
func.func private @scalar(tensor<f32, #layout.packed_dims<[]>>)

// Whole dims may have any size, and so may a part of extent 1.
// CHECK-DAG: @dynamic(tensor<?x8xf32, #[[PACKED]]>)
func.func private @dynamic(tensor<?x8xf32, #layout.packed_dims<[1, 0, 1 : 4]>>)

// CHECK-DAG: #[[ALL_DYNAMIC:.*]] = #layout.map<(d0, d1) -> buffer(d1, d0) stored(d1, d0, 0)>
// CHECK-DAG: @all_dynamic(tensor<?x?xf32, #[[ALL_DYNAMIC]]>)
func.func private @all_dynamic(tensor<?x?xf32, #layout.packed_dims<[1, 0, 1 : 1]>>)

// Every part divides 0.
// CHECK-DAG: #[[EMPTY:.*]] = #layout.map<(d0, d1) -> buffer(d0 floordiv 4, d1, d0 mod 4)>
// CHECK-DAG: @empty(tensor<0x6xf32, #[[EMPTY]]>)
func.func private @empty(tensor<0x6xf32, #layout.packed_dims<[0, 1, 0 : 4]>>)

// If all parts divide their dims, the layout is the blocked layout.
// CHECK-DAG: @blocked(tensor<1x8x2x1xf32, #[[BLOCKED:.*]]>, tensor<1x8x2x1xf32, #[[BLOCKED]]>)
func.func private @blocked(
  tensor<1x8x2x1xf32, #layout.packed_dims<[0, 1, 2, 3, 1 : 4]>>,
  tensor<1x8x2x1xf32, #layout.blocked<"NCHW" to "NCHW4c">>)

// AS-WRITTEN: #layout.padded<#layout.packed_dims<[1, 0]>, zero>
// CHECK-DAG: #[[TRANSPOSED:.*]] = #layout.map<(d0, d1) -> buffer(d1, d0)>
// CHECK-DAG: #[[PADDED:.*]] = #layout.padded<#[[TRANSPOSED]], zero>
// CHECK-DAG: @padded(tensor<2x3xf32, #[[PADDED]]>)
func.func private @padded(tensor<2x3xf32, #layout.padded<#layout.packed_dims<[1, 0]>, zero>>)
