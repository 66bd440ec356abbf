// RUN: layout-opt %s --npu-assign-addresses --split-input-file --verify-diagnostics
// Check that an error states which tensors do not fit, and by how many bytes.

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128>
!t = memref<2x3x4x5xf32, #layout.npu_scatter<aligned, start = 2, target = #npu>, #npu.memory<local>>
!s = memref<2x3x4x5xf32, #layout.npu_scatter<compact, start = 0, target = #npu>, #npu.memory<local>>

func.func @too_many() {
  // expected-note @below {{512 bytes of them}}
  %a = npu.alloc : !t
  %gone = npu.alloc : !s
  npu.dealloc %gone : !s
  // expected-note @below {{512 bytes of them}}
  %b = npu.alloc : !t
  // expected-error @below {{does not fit: the tensors that are live here need 1184 bytes of every core, which has 1024; 160 are too many}}
  // expected-note @below {{160 bytes of them}}
  %c = npu.alloc : !s
  return
}

// -----

// 672 bytes are free, but not contiguously: the fixed tensor splits them.
#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128>
!t = memref<2x3x4x5xf32, #layout.npu_scatter<aligned, start = 2, target = #npu>, #npu.memory<local>>
!s = memref<2x3x4x5xf32, #layout.npu_scatter<compact, start = 0, target = #npu>, #npu.memory<local>>

// expected-error @below {{has tensors for which no addresses were found: at most 672 of the 1024 bytes of a core are live at one time, but fixed addresses, banks or alignments leave holes; use fewer banks or fixed addresses, or smaller tensors}}
func.func @holes() {
  %a = npu.alloc {address = 400} : !s
  %b = npu.alloc : !t
  return
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128>
!t = memref<2x3x4x5xf32, #layout.npu_scatter<aligned, start = 2, target = #npu>, #npu.memory<local>>

func.func @region(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    // expected-error @below {{is in a region: live ranges of tensors in local memory are in the function's block}}
    %a = npu.alloc : !t
  }
  return
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128>
!t = memref<2x3x4x5xf32, #layout.npu_scatter<aligned, start = 2, target = #npu>, #npu.memory<local>>

// expected-error @below {{has several blocks: live ranges of tensors in local memory need a single block}}
func.func @blocks() {
  %a = npu.alloc : !t
  cf.br ^next
^next:
  return
}

// -----

// One byte too many.
#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128>
!a = memref<1x1x1x512xi8, #layout.npu_scatter<compact, start = 0, target = #npu>, #npu.memory<local>>
!b = memref<1x1x1x513xi8, #layout.npu_scatter<strided [513, 513, 513, 1], start = 0, target = #npu>, #npu.memory<local>>

func.func @one_byte() {
  // expected-note @below {{512 bytes of them}}
  %a = npu.alloc : !a
  // expected-error @below {{which has 1024; 1 are too many}}
  // expected-note @below {{513 bytes of them}}
  %b = npu.alloc : !b
  return
}
