// RUN: layout-opt %s --split-input-file --verify-diagnostics
// Check the errors of the verifier of views.

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128, banks = 8>
#aligned2 = #layout.npu_scatter<aligned, start = 2, target = #npu>
#aligned0 = #layout.npu_scatter<aligned, start = 0, target = #npu>
func.func @f(%t: memref<2x3x4x5xf32, #aligned2, #npu.memory<local>>) {
  // expected-error @below {{the elements of the slice are not where 'memref<2x1x4x5xf32, #layout.npu_scatter<aligned, start = 0}}
  %p = npu.subview %t [0, 2, 0, 0] [2, 1, 4, 5] [1, 1, 1, 1] : memref<2x3x4x5xf32, #aligned2, #npu.memory<local>>
    to memref<2x1x4x5xf32, #aligned0, #npu.memory<local>>
  return
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128, banks = 8>
#aligned2 = #layout.npu_scatter<aligned, start = 2, target = #npu>
#aligned0 = #layout.npu_scatter<aligned, start = 0, target = #npu>
func.func @f(%t: memref<2x3x4x5xf32, #aligned2, #npu.memory<local>>) {
  // expected-error @below {{the type must be 'memref<2x1x4x5xf32, #layout.npu_scatter<strided [64, 32, 5, 1], start = 0, offset = 128, target =}}
  %p = npu.subview %t [0, 2, 0, 0] [2, 1, 4, 5] [1, 1, 1, 1] : memref<2x3x4x5xf32, #aligned2, #npu.memory<local>>
    to memref<2x1x4x5xf32, #aligned0, #npu.memory<local>>
  return
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128, banks = 8>
#aligned2 = #layout.npu_scatter<aligned, start = 2, target = #npu>
func.func @f(%t: memref<2x3x4x5xf32, #aligned2, #npu.memory<local>>) {
  // expected-error @below {{dim 2 takes 3 elements from 0 with stride 2, which are not among the 4 of the source}}
  %p = npu.subview %t [0, 0, 0, 0] [2, 3, 3, 5] [1, 1, 2, 1] : memref<2x3x4x5xf32, #aligned2, #npu.memory<local>>
    to memref<2x3x3x5xf32, #layout.npu_scatter<strided [64, 32, 10, 1], start = 2, target = #npu>, #npu.memory<local>>
  return
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128, banks = 8>
#aligned2 = #layout.npu_scatter<aligned, start = 2, target = #npu>
func.func @f(%t: memref<2x3x4x5xf32, #aligned2, #npu.memory<local>>) {
  // expected-error @below {{needs an offset, a size and a stride for each of the 4 dims}}
  %p = npu.subview %t [0, 0, 0] [2, 3, 4, 5] [1, 1, 1, 1] : memref<2x3x4x5xf32, #aligned2, #npu.memory<local>>
    to memref<2x3x4x5xf32, #aligned2, #npu.memory<local>>
  return
}

// -----

func.func @f(%t: memref<2x3x4x5xf32, #npu.memory<system>>) {
  // expected-error @below {{memref.subview is for linear memory}}
  %p = npu.subview %t [0, 0, 0, 0] [2, 3, 4, 5] [1, 1, 1, 1] : memref<2x3x4x5xf32, #npu.memory<system>>
    to memref<2x3x4x5xf32, #npu.memory<system>>
  return
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128, banks = 8>
#compact0 = #layout.npu_scatter<compact, start = 0, target = #npu>
func.func @f(%t: memref<6x5x4x5xi8, #layout.npu_scatter<aligned, start = 0, pack = n4, target = #npu>, #npu.memory<local>>) {
  // expected-error @below {{are not those of}}
  %p = npu.view %t : memref<6x5x4x5xi8, #layout.npu_scatter<aligned, start = 0, pack = n4, target = #npu>, #npu.memory<local>>
    to memref<2x5x4x5xi32, #compact0, #npu.memory<local>>
  return
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128, banks = 8>
#aligned0 = #layout.npu_scatter<aligned, start = 0, target = #npu>
func.func @f(%t: memref<2x40xf32, #layout.npu_scatter<matrix 15, start = 0, target = #npu>, #npu.memory<local>>) {
  // expected-error @below {{a view keeps the shape and the positions, merges the P elements of a storage unit into one, views a tensor (N, C, 1, w) as a matrix, or expands or collapses dims}}
  %p = npu.view %t : memref<2x40xf32, #layout.npu_scatter<matrix 15, start = 0, target = #npu>, #npu.memory<local>>
    to memref<2x4x1x10xf32, #aligned0, #npu.memory<local>>
  return
}
