// RUN: layout-opt %s --split-input-file --verify-diagnostics
// Check that slices outside of their source are errors, and that an error states the correct type of a slice.

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128>
!t = memref<2x3x4x5xf32, #layout.npu_scatter<aligned, start = 2, target = #npu>, #npu.memory<local>>
func.func @f(%t: !t) {
  // expected-error @below {{dim 3 takes 2 elements from -1 with stride 1, which are not among the 5 of the source}}
  %p = npu.subview %t [0, 0, 0, -1] [2, 3, 4, 2] [1, 1, 1, 1] : !t
    to memref<2x3x4x2xf32, #layout.npu_scatter<strided [64, 32, 5, 1], start = 2, target = #npu>, #npu.memory<local>>
  return
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128>
!t = memref<2x3x4x5xf32, #layout.npu_scatter<aligned, start = 2, target = #npu>, #npu.memory<local>>
func.func @f(%t: !t) {
  // expected-error @below {{the type must be 'memref<2x3x2x5xf32, #layout.npu_scatter<strided [64, 32, 10, 1], start = 2, target =}}
  %p = npu.subview %t [0, 0, 0, 0] [2, 3, 2, 5] [1, 1, 2, 1] : !t
    to memref<2x3x2x5xf32, #layout.npu_scatter<aligned, start = 2, target = #npu>, #npu.memory<local>>
  return
}

// -----

// The last element is 2 * 2 + 10 elements after the first one of its row, and a
// row has 32.
#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128>
!t = memref<2x3x4x5xf32, #layout.npu_scatter<aligned, start = 2, target = #npu>, #npu.memory<local>>
func.func @f(%t: !t) {
  // expected-error @below {{the type must be 'memref<1x3x2x3xf32, #layout.npu_scatter<strided [47, 32, 10, 2], start = 2, offset = 256, target =}}
  %p = npu.subview %t [1, 0, 0, 0] [1, 3, 2, 3] [1, 1, 2, 2] : !t
    to memref<1x3x2x3xf32, #layout.npu_scatter<aligned, start = 2, target = #npu>, #npu.memory<local>>
  return
}

// -----

// Four batches share a word: steps are those of words.
#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128>
!t = memref<8x5x4x5xi8, #layout.npu_scatter<aligned, start = 0, pack = n4, target = #npu>, #npu.memory<local>>
func.func @f(%t: !t) {
  // expected-error @below {{the type must be 'memref<8x2x4x5xi8, #layout.npu_scatter<strided [64, 32, 5, 1], start = 1, pack = n4, target =}}
  %p = npu.subview %t [0, 1, 0, 0] [8, 2, 4, 5] [1, 1, 1, 1] : !t
    to memref<8x2x4x5xi8, #layout.npu_scatter<aligned, start = 0, pack = n4, target = #npu>, #npu.memory<local>>
  return
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128>
!t = memref<2x3x4x5xf32, #layout.npu_scatter<aligned, start = 2, target = #npu>, #npu.memory<local>>
!s = memref<2x3x4x5xf32, #layout.npu_scatter<compact, start = 2, target = #npu>, #npu.memory<local>>
func.func @f(%t: !t) {
  // expected-error @below {{are not those of}}
  %p = npu.view %t : !t to !s
  return
}

// -----

// 40 columns are three channels of 15, not four.
#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128>
!m = memref<1x40xf32, #layout.npu_scatter<matrix 15, start = 0, target = #npu>, #npu.memory<local>>
!three = memref<1x3x1x15xf32, #layout.npu_scatter<aligned, start = 0, target = #npu>, #npu.memory<local>>
!four = memref<1x4x1x15xf32, #layout.npu_scatter<aligned, start = 0, target = #npu>, #npu.memory<local>>
func.func @f(%t: !m) {
  %p = npu.view %t : !m to !three
  // expected-error @below {{are not those of}}
  %q = npu.view %t : !m to !four
  return
}

// -----

// Whole rows of a matrix are a matrix with the same columns.
#npu = #npu.target<npus = 4, bytes_per_npu = 8192, eu_bytes = 128>
!t = memref<2x5x7xf32, #layout.npu_scatter<matrix 2, start = 1, axes = "NNM", target = #npu>, #npu.memory<local>>
!r = memref<1x2x7xf32, #layout.npu_scatter<matrix 2, start = 1, offset = 512, axes = "NNM", target = #npu>, #npu.memory<local>>
func.func @f(%t: !t) {
  %p = npu.subview %t [0, 2, 0] [1, 2, 7] [1, 1, 1] : !t to !r
  return
}

// -----

// The error states why a part of the columns has no type.
#npu = #npu.target<npus = 4, bytes_per_npu = 8192, eu_bytes = 128>
!t = memref<5x7xf32, #layout.npu_scatter<matrix 2, start = 1, target = #npu>, #npu.memory<local>>
!r = memref<5x3xf32, #layout.npu_scatter<matrix 2, start = 1, target = #npu>, #npu.memory<local>>
func.func @f(%t: !t) {
  // expected-error @below {{the elements of the slice are not where 'memref<5x3xf32,}}
  // expected-remark @below {{a slice needs the dims N, C, H and W, or whole rows of a matrix: choose such a slice, or slice the tensor in system memory}}
  %p = npu.subview %t [0, 1] [5, 3] [1, 1] : !t to !r
  return
}
