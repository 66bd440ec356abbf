// RUN: layout-opt %s --convert-layout-to-linalg | FileCheck %s
// RUN: layout-opt %s --layout-canonicalize --convert-layout-to-linalg | FileCheck %s
// Check that functions take and return the dims that the notation stores, even
// if the axes of the map differ; the reshapes move nothing.

#fused = #layout.blocked<"OIHW" to "OIHW[4o4i]">
#nc4 = #layout.blocked<"NC" to "NC4c">
#hw = #layout.relations<(n, h, w), fuse (h, w) -> hw, store (hw, n)>

// CHECK-LABEL: @view
// CHECK-SAME: (%[[X:.*]]: tensor<16x7x7x7x16xf32>) -> tensor<16x7x7x7x16xf32>
// CHECK-NOT: linalg
// CHECK: return
func.func @view(%x: tensor<64x28x7x7xf32, #fused>) -> tensor<16x7x7x7x16xf32> {
  %0 = layout.storage_view %x : tensor<64x28x7x7xf32, #fused> to tensor<16x7x7x7x16xf32>
  return %0 : tensor<16x7x7x7x16xf32>
}

// CHECK-LABEL: @back
// CHECK-SAME: (%[[X:.*]]: tensor<3x5x4xf32>) -> tensor<3x17xf32>
// CHECK: tensor.collapse_shape %[[X]] {{.*}} : tensor<3x5x4xf32> into tensor<3x20xf32>
func.func @back(%x: tensor<3x5x4xf32>) -> tensor<3x17xf32> {
  %0 = layout.storage_view %x : tensor<3x5x4xf32> to tensor<3x17xf32, #nc4>
  %1 = layout.convert %0 : tensor<3x17xf32, #nc4> to tensor<3x17xf32>
  return %1 : tensor<3x17xf32>
}

// CHECK: func.func private @declared(tensor<3x5x4xf32>) -> tensor<3x5x4xf32>
func.func private @declared(tensor<3x17xf32, #nc4>) -> tensor<3x17xf32, #nc4>

// CHECK-LABEL: @calls
// CHECK-SAME: (%[[X:.*]]: tensor<3x17xf32>) -> tensor<3x5x4xf32>
// CHECK: %[[GIVEN:.*]] = tensor.expand_shape {{.*}} : tensor<3x20xf32> into tensor<3x5x4xf32>
// CHECK: %[[Y:.*]] = call @declared(%[[GIVEN]]) : (tensor<3x5x4xf32>) -> tensor<3x5x4xf32>
// CHECK: return
func.func @calls(%x: tensor<3x17xf32>) -> tensor<3x17xf32, #nc4> {
  %0 = layout.convert %x : tensor<3x17xf32> to tensor<3x17xf32, #nc4>
  %1 = call @declared(%0) : (tensor<3x17xf32, #nc4>) -> tensor<3x17xf32, #nc4>
  return %1 : tensor<3x17xf32, #nc4>
}

// A size that the storage does not determine is passed along.
// CHECK-LABEL: @dynamic
// CHECK-SAME: (%[[X:.*]]: tensor<?x?x4xf32>, %[[C:.*]]: index) -> tensor<?x?xf32>
func.func @dynamic(%x: tensor<?x?xf32, #nc4>) -> tensor<?x?xf32> {
  %0 = layout.convert %x : tensor<?x?xf32, #nc4> to tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// CHECK-LABEL: @dynamic_back
// CHECK-SAME: (%[[X:.*]]: tensor<?x?xf32>) -> (tensor<?x?x4xf32>, index)
func.func @dynamic_back(%x: tensor<?x?xf32>) -> tensor<?x?xf32, #nc4> {
  %0 = layout.convert %x : tensor<?x?xf32> to tensor<?x?xf32, #nc4>
  return %0 : tensor<?x?xf32, #nc4>
}

// A fused dim determines neither of its sizes.
// CHECK-LABEL: @fused_dynamic
// CHECK-SAME: (%[[X:.*]]: tensor<?x2xf32>, %[[H:.*]]: index, %[[W:.*]]: index) -> tensor<2x?x?xf32>
func.func @fused_dynamic(%x: tensor<2x?x?xf32, #hw>) -> tensor<2x?x?xf32> {
  %0 = layout.convert %x : tensor<2x?x?xf32, #hw> to tensor<2x?x?xf32>
  return %0 : tensor<2x?x?xf32>
}

// The pass keeps them inside of types.
// CHECK-LABEL: @plain_view
// CHECK-SAME: (%[[X:.*]]: tensor<7xf32>) -> tensor<7xf32>
// CHECK-NEXT: return %[[X]]
func.func @plain_view(%x: tensor<7xf32>) -> tensor<7xf32> {
  %0 = layout.convert %x : tensor<7xf32> to tensor<7xf32, #layout.blocked<"A" to "A">>
  %1 = layout.storage_view %0 : tensor<7xf32, #layout.blocked<"A" to "A">> to tensor<7xf32>
  return %1 : tensor<7xf32>
}
