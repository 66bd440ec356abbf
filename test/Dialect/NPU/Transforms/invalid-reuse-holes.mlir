// RUN: layout-opt %s --npu-assign-addresses=reuse-holes=true --split-input-file --verify-diagnostics
// Check that tensors without holes that exceed one core are an error: there is
// nothing to reuse.

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128>
!t = memref<1x3x16x12xf32, #layout.npu_scatter<aligned, start = 0, target = #npu>, #npu.memory<local>>

func.func @too_many() {
  // expected-note @below {{768 bytes of them}}
  %a = npu.alloc : !t
  // expected-error @below {{does not fit: the tensors that are live here need 1536 bytes of one core, which has 1024; 512 are too many}}
  // expected-note @below {{768 bytes of them}}
  %b = npu.alloc : !t
  return
}

// -----

// One channel each, in different cores: both fit.
#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128>
!t = memref<1x1x16x12xf32, #layout.npu_scatter<aligned, start = 0, target = #npu>, #npu.memory<local>>
!u = memref<1x1x16x12xf32, #layout.npu_scatter<aligned, start = 1, target = #npu>, #npu.memory<local>>

func.func @other_units() {
  %a = npu.alloc : !t
  %b = npu.alloc : !u
  return
}
