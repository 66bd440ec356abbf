// RUN: layout-opt %s -split-input-file --convert-layout-to-npu | FileCheck %s
// Check that a tensor assembled from slices is moved as a whole, after the elements that no slice writes are filled.

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 32>
#t = #layout.npu_scatter<aligned, start = 0, target = #npu>
!part = tensor<1x4x2x2xf32, #t>
!whole = tensor<1x4x2x5xf32, #t>

// The last slice is written in system memory, where the result is.
// CHECK-LABEL: func.func @last_slice_elsewhere
// CHECK-SAME: %[[R:[a-z0-9]+]]: memref<1x4x2x5xf32, #npu.memory<system>> {npu.result}
// CHECK: %[[W:.*]] = npu.alloc : memref<1x4x2x5xf32
// CHECK-NEXT: npu.fill 0.000000e+00 : f32 to %[[W]]
// CHECK: npu.subview %[[W]] [0, 0, 0, 0]
// CHECK: npu.subview %[[W]] [0, 0, 0, 2]
// CHECK: npu.copy %[[W]] to %[[R]]
// CHECK: memref.subview %[[R]][0, 0, 0, 4]
func.func @last_slice_elsewhere(%x: tensor<1x4x2x2xf32>, %y: tensor<1x4x2x1xf32>) -> tensor<1x4x2x5xf32> {
  %e = tensor.empty() : !whole
  %a = layout.convert %x : tensor<1x4x2x2xf32> to !part
  %0 = tensor.insert_slice %a into %e[0, 0, 0, 0] [1, 4, 2, 2] [1, 1, 1, 1] : !part into !whole
  %1 = tensor.insert_slice %a into %0[0, 0, 0, 2] [1, 4, 2, 2] [1, 1, 1, 1] : !part into !whole
  %2 = layout.convert %1 : !whole to tensor<1x4x2x5xf32>
  %3 = tensor.insert_slice %y into %2[0, 0, 0, 4] [1, 4, 2, 1] [1, 1, 1, 1] : tensor<1x4x2x1xf32> into tensor<1x4x2x5xf32>
  return %3 : tensor<1x4x2x5xf32>
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 32>
#t = #layout.npu_scatter<aligned, start = 0, target = #npu>
!part = tensor<1x4x2x2xf32, #t>
!whole = tensor<1x4x2x4xf32, #t>

// Slices that together write everything, in any order, need no fill.
// CHECK-LABEL: func.func @all_slices
// CHECK-NOT: npu.fill
// CHECK: return
func.func @all_slices(%x: tensor<1x4x2x2xf32>) -> tensor<1x4x2x4xf32> {
  %e = tensor.empty() : !whole
  %a = layout.convert %x : tensor<1x4x2x2xf32> to !part
  %0 = tensor.insert_slice %a into %e[0, 0, 0, 2] [1, 4, 2, 2] [1, 1, 1, 1] : !part into !whole
  %1 = tensor.insert_slice %a into %0[0, 0, 0, 0] [1, 4, 2, 2] [1, 1, 1, 1] : !part into !whole
  %2 = layout.convert %1 : !whole to tensor<1x4x2x4xf32>
  return %2 : tensor<1x4x2x4xf32>
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 32>
#t = #layout.npu_scatter<aligned, start = 0, target = #npu>
!part = tensor<1x4x2x2xf32, #t>
!whole = tensor<1x4x2x4xf32, #t>

// The slices have as many elements as the result, but overlap.
// CHECK-LABEL: func.func @slices_that_overlap
// CHECK: %[[W:.*]] = npu.alloc : memref<1x4x2x4xf32
// CHECK-NEXT: npu.fill 0.000000e+00 : f32 to %[[W]]
func.func @slices_that_overlap(%x: tensor<1x4x2x2xf32>) -> tensor<1x4x2x4xf32> {
  %e = tensor.empty() : !whole
  %a = layout.convert %x : tensor<1x4x2x2xf32> to !part
  %0 = tensor.insert_slice %a into %e[0, 0, 0, 0] [1, 4, 2, 2] [1, 1, 1, 1] : !part into !whole
  %1 = tensor.insert_slice %a into %0[0, 0, 0, 1] [1, 4, 2, 2] [1, 1, 1, 1] : !part into !whole
  %2 = layout.convert %1 : !whole to tensor<1x4x2x4xf32>
  return %2 : tensor<1x4x2x4xf32>
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 32>
#t = #layout.npu_scatter<aligned, start = 0, target = #npu>
!part = tensor<1x4x2x2xf32, #t>
!whole = tensor<1x4x2x4xf32, #t>

// The first slice is read before the second one is written.
// CHECK-LABEL: func.func @read_between
// CHECK: %[[W:.*]] = npu.alloc : memref<1x4x2x4xf32
// CHECK-NEXT: npu.fill 0.000000e+00 : f32 to %[[W]]
func.func @read_between(%x: tensor<1x4x2x2xf32>) -> (tensor<1x4x2x4xf32>, tensor<1x4x2x4xf32>) {
  %e = tensor.empty() : !whole
  %a = layout.convert %x : tensor<1x4x2x2xf32> to !part
  %0 = tensor.insert_slice %a into %e[0, 0, 0, 0] [1, 4, 2, 2] [1, 1, 1, 1] : !part into !whole
  %1 = tensor.insert_slice %a into %0[0, 0, 0, 2] [1, 4, 2, 2] [1, 1, 1, 1] : !part into !whole
  %2 = layout.convert %0 : !whole to tensor<1x4x2x4xf32>
  %3 = layout.convert %1 : !whole to tensor<1x4x2x4xf32>
  return %2, %3 : tensor<1x4x2x4xf32>, tensor<1x4x2x4xf32>
}
