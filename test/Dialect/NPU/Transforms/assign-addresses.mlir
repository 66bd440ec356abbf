// RUN: layout-opt %s --npu-assign-addresses --split-input-file | FileCheck %s
// RUN: layout-opt %s --npu-assign-addresses --split-input-file --remarks-filter="npu" --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// Check addresses of tensors: an address is the start core times 1024, plus a
// byte offset.

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128, banks = 8>
!t = memref<2x3x4x5xf32, #layout.npu_scatter<aligned, start = 2, target = #npu>, #npu.memory<local>>
!s = memref<2x3x4x5xf32, #layout.npu_scatter<compact, start = 0, target = #npu>, #npu.memory<local>>

// 512 bytes each: the third tensor reuses the memory of the first one.
// CHECK-LABEL: func @reuse
// CHECK: npu.alloc {address = 2048 : i64}
// CHECK: npu.alloc {address = 2560 : i64}
// CHECK: npu.alloc {address = 2048 : i64}
// REMARK: LocalMemory | Category:npu | Function=reuse
// REMARK-SAME: BytesPerCore=1024, {{.*}}LowerBound=1024, PeakBytes=1024
func.func @reuse() {
  %a = npu.alloc : !t
  %b = npu.alloc : !t
  npu.dealloc %a : !t
  %c = npu.alloc : !t
  npu.dealloc %b : !t
  npu.dealloc %c : !t
  return
}

// Smaller tensors around a fixed one, with the alignment of their mode.
// CHECK-LABEL: func @fixed
// CHECK: npu.alloc {address = 4 : i64}
// CHECK: npu.alloc {address = 2432 : i64}
// CHECK: npu.alloc {address = 164 : i64}
func.func @fixed() {
  %a = npu.alloc {address = 4} : !s
  %b = npu.alloc : !t
  %c = npu.alloc : !s
  return
}

// CHECK-LABEL: func @alignment_and_bank
// CHECK: npu.alloc {address = 640 : i64, bank = 5 : i64}
// CHECK: npu.alloc {address = 0 : i64, alignment = 512 : i64}
// CHECK: npu.alloc {address = 160 : i64}
func.func @alignment_and_bank() {
  %a = npu.alloc {bank = 5} : !s
  %b = npu.alloc {alignment = 512} : !s
  %c = npu.alloc : !s
  return
}

// In program order the peak would be 896: the tensor of 512 bytes does not fit
// below the one of 160, which lives longer.
// CHECK-LABEL: func @order
// CHECK: npu.alloc {address = {{[0-9]+}} : i64}
// REMARK: Function=order
// REMARK-SAME: LowerBound=[[BOUND:[0-9]+]], PeakBytes=[[BOUND]]
func.func @order() {
  %a = npu.alloc : !s
  %b = npu.alloc : !s
  npu.dealloc %a : !s
  %c = npu.alloc : !t
  npu.dealloc %b : !s
  npu.dealloc %c : !t
  return
}

// -----

// The DMA engine requires multiples of 16.
#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128, dma_alignment = 16>
!t = memref<1x1x1x5xi8, #layout.npu_scatter<compact, start = 0, target = #npu>, #npu.memory<local>>

// CHECK-LABEL: func @engine
// CHECK: npu.alloc {address = 0 : i64}
// CHECK: npu.alloc {address = 16 : i64}
func.func @engine() {
  %a = npu.alloc : !t
  %b = npu.alloc : !t
  return
}
