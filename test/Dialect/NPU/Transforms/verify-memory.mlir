// RUN: layout-opt %s --npu-verify-memory --split-input-file --verify-diagnostics
// Check that tensors that are live at the same time own disjoint bytes,
// including holes.

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128>
!t = memref<2x3x4x5xf32, #layout.npu_scatter<aligned, start = 2, target = #npu>, #npu.memory<local>>

func.func @one_after_the_other() {
  %a = npu.alloc {address = 2048} : !t
  npu.dealloc %a : !t
  %b = npu.alloc {address = 2048} : !t
  %c = npu.alloc {address = 2560} : !t
  %open = npu.alloc : !t
  return
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128>
!t = memref<2x3x4x5xf32, #layout.npu_scatter<aligned, start = 2, target = #npu>, #npu.memory<local>>

func.func @overlap() {
  // expected-note @below {{the other tensor is here}}
  %a = npu.alloc {address = 2048} : !t
  // expected-error @below {{overlaps a tensor that is still live: both own bytes 256 to 511 of every core, holes included}}
  %b = npu.alloc {address = 2304} : !t
  npu.dealloc %a : !t
  return
}

// -----

// Core 3 stores nothing of one tensor and core 0 nothing of the other, but they
// overlap.
#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128>
!t = memref<1x1x4x5xf32, #layout.npu_scatter<aligned, start = 0, target = #npu>, #npu.memory<local>>
!u = memref<1x1x4x5xf32, #layout.npu_scatter<aligned, start = 3, target = #npu>, #npu.memory<local>>

func.func @other_units() {
  // expected-note @below {{the other tensor is here}}
  %a = npu.alloc {address = 0} : !t
  // expected-error @below {{both own bytes 0 to 127 of every core}}
  %b = npu.alloc {address = 3072} : !u
  return
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128>
#other = #npu.target<npus = 8, bytes_per_npu = 1024, eu_bytes = 128>
!t = memref<1x1x4x5xf32, #layout.npu_scatter<aligned, start = 0, target = #npu>, #npu.memory<local>>
!u = memref<1x1x4x5xf32, #layout.npu_scatter<aligned, start = 0, target = #other>, #npu.memory<local>>

func.func @two_chips() {
  %a = npu.alloc {address = 0} : !t
  // expected-error @below {{is on #npu.target<npus = 8, bytes_per_npu = 1024, eu_bytes = 128>, another tensor of the function on #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128>}}
  %b = npu.alloc {address = 0} : !u
  return
}

// -----

// Parts of one tensor: rows 0 to 1 onto rows 1 to 2.
#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128>
!t = memref<1x3x4x5xf32, #layout.npu_scatter<aligned, start = 0, target = #npu>, #npu.memory<local>>
!a = memref<1x3x2x5xf32, #layout.npu_scatter<strided [32, 32, 5, 1], start = 0, target = #npu>, #npu.memory<local>>
!b = memref<1x3x2x5xf32, #layout.npu_scatter<strided [32, 32, 5, 1], start = 0, offset = 20, target = #npu>, #npu.memory<local>>

func.func @copy_onto_itself() {
  %t = npu.alloc : !t
  %a = npu.subview %t [0, 0, 0, 0] [1, 3, 2, 5] [1, 1, 1, 1] : !t to !a
  %b = npu.subview %t [0, 0, 1, 0] [1, 3, 2, 5] [1, 1, 1, 1] : !t to !b
  // expected-error @below {{reads what it writes: bytes 20 to 39 of core 0}}
  npu.copy %a to %b : !a to !b
  return
}

// -----

// Ops between them, and regions, do not matter.
#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128>
!t = memref<1x1x4x5xf32, #layout.npu_scatter<aligned, start = 0, target = #npu>, #npu.memory<local>>

func.func @not_the_last_one() {
  // expected-note @below {{the other tensor is here}}
  %a = npu.alloc {address = 0} : !t
  %b = npu.alloc {address = 128} : !t
  // expected-error @below {{overlaps a tensor that is still live}}
  %c = npu.alloc {address = 0} : !t
  return
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128>
!t = memref<1x1x4x5xf32, #layout.npu_scatter<aligned, start = 0, target = #npu>, #npu.memory<local>>

func.func @in_a_region(%c: i1) {
  // expected-note @below {{the other tensor is here}}
  %a = npu.alloc {address = 0} : !t
  scf.if %c {
    // expected-error @below {{overlaps a tensor that is still live}}
    %b = npu.alloc {address = 0} : !t
  }
  return
}
