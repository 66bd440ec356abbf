// RUN: layout-opt %s --npu-verify-memory=exact-bytes=true --split-input-file --verify-diagnostics
// Check that a tensor owns only the bytes of its elements on request.

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128>
!t = memref<2x3x4x5xf32, #layout.npu_scatter<aligned, start = 0, target = #npu>, #npu.memory<local>>
!hole = memref<1x3x1x12xf32, #layout.npu_scatter<compact, start = 0, target = #npu>, #npu.memory<local>>
!unit3 = memref<1x1x4x5xf32, #layout.npu_scatter<aligned, start = 3, target = #npu>, #npu.memory<local>>

func.func @in_the_holes() {
  %a = npu.alloc {address = 0} : !t
  %b = npu.alloc {address = 80} : !hole
  %c = npu.alloc {address = 3072} : !unit3
  return
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128>
!t = memref<2x3x4x5xf32, #layout.npu_scatter<aligned, start = 0, target = #npu>, #npu.memory<local>>
!hole = memref<1x3x1x13xf32, #layout.npu_scatter<compact, start = 0, target = #npu>, #npu.memory<local>>

func.func @larger_than_the_hole() {
  // expected-note @below {{the other tensor is here}}
  %a = npu.alloc {address = 0} : !t
  // expected-error @below {{overlaps a tensor that is still live: both own bytes 128 to 131 of core 0}}
  %b = npu.alloc {address = 80} : !hole
  return
}

// -----

// A product writes all columns of the last channel: 5 to 7 of core 2 here.
#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128>
!matrix = memref<2x21xf32, #layout.npu_scatter<matrix 8, start = 0, target = #npu>, #npu.memory<local>>
!behind = memref<1x3x1x2xf32, #layout.npu_scatter<compact, start = 0, target = #npu>, #npu.memory<local>>
!inside = memref<1x3x1x1xf32, #layout.npu_scatter<compact, start = 0, target = #npu>, #npu.memory<local>>

func.func @columns_of_the_last_channel() {
  // expected-note @below {{the other tensor is here}}
  %a = npu.alloc {address = 0} : !matrix
  %b = npu.alloc {address = 32} : !behind
  // expected-error @below {{overlaps a tensor that is still live: both own bytes 28 to 31 of core 0}}
  %c = npu.alloc {address = 28} : !inside
  return
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128>
!matrix = memref<2x21xf32, #layout.npu_scatter<matrix 8, start = 0, target = #npu>, #npu.memory<local>>
!last = memref<1x1x1x1xf32, #layout.npu_scatter<compact, start = 2, target = #npu>, #npu.memory<local>>

func.func @padding_of_the_last_channel() {
  // expected-note @below {{the other tensor is here}}
  %a = npu.alloc {address = 0} : !matrix
  // expected-error @below {{overlaps a tensor that is still live: both own bytes 20 to 23 of core 2}}
  %b = npu.alloc {address = 2068} : !last
  return
}
