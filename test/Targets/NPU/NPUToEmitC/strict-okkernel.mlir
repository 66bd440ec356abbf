// RUN: layout-opt %s --convert-npu-to-emitc --split-input-file --verify-diagnostics
// RUN: layout-opt %s --convert-npu-to-emitc=strict-okkernel=false --split-input-file | FileCheck %s
// Check that ops without an OKKernel function are errors with the reason; with strict-okkernel=false they become
// kernels of the simulator.

#npu = #npu.target<npus = 4, bytes_per_npu = 8192, eu_bytes = 128>
!x = memref<2x3x4x5xi8, #layout.npu_scatter<aligned, start = 2, target = #npu>, #npu.memory<local>>
// CHECK: call_opaque "okk_sim_compute_run"
func.func @integers(%in: memref<2x3x4x5xi8, #npu.memory<system>>) {
  %x = npu.alloc {address = 16384} : !x
  npu.copy %in to %x : memref<2x3x4x5xi8, #npu.memory<system>> to !x
  // expected-error @below {{'linalg.add' has no OKKernel function: no OKKernel function computes its 'arith.addi'; let layout-to-npu decompose it}}
  linalg.add ins(%x, %x : !x, !x) outs(%x : !x)
  return
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 8192, eu_bytes = 128>
!x = memref<2x3x4x5xf32, #layout.npu_scatter<compact, start = 2, target = #npu>, #npu.memory<local>>
// CHECK: call_opaque "okk_sim_compute_run"
func.func @compact(%in: memref<2x3x4x5xf32, #npu.memory<system>>) {
  %x = npu.alloc {address = 16384} : !x
  npu.copy %in to %x : memref<2x3x4x5xf32, #npu.memory<system>> to !x
  // expected-error @below {{'linalg.sqrt' has no OKKernel function: 'sqrt' needs tensors in the aligned layout}}
  linalg.sqrt ins(%x : !x) outs(%x : !x)
  return
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 8192, eu_bytes = 128>
!x = memref<2x3x4x5xf32, #layout.npu_scatter<aligned, start = 2, target = #npu>, #npu.memory<local>>
// CHECK: call_opaque "okk_sim_compute_run"
func.func @work(%in: memref<2x3x4x5xf32, #npu.memory<system>>) {
  %x = npu.alloc {address = 16384} : !x
  npu.copy %in to %x : memref<2x3x4x5xf32, #npu.memory<system>> to !x
  // expected-error @below {{'linalg.exp' has no OKKernel function: 'exp' needs work memory, as a second result}}
  linalg.exp ins(%x : !x) outs(%x : !x)
  return
}
