// RUN: layout-opt %s --split-input-file --verify-diagnostics
// Check the errors of the verifier of allocations.

func.func @f() {
  // expected-error @below {{allocates local memory: the memory space must be #npu.memory<local>}}
  %t = npu.alloc : memref<2x3x4x5xf32, #npu.memory<system>>
  return
}

// -----

func.func @f() {
  // expected-error @below {{local memory needs a #layout.npu_scatter with a start core}}
  %t = npu.alloc : memref<2x3x4x5xf32, #npu.memory<local>>
  return
}

// -----

func.func @f() {
  // expected-error @below {{local memory needs a #layout.npu_scatter with a start core}}
  %t = npu.alloc : memref<2x3x4x5xf32, #layout.npu_scatter<continuous>, #npu.memory<local>>
  return
}

// -----

func.func @f() {
  // expected-error @below {{needs the parameters of a chip: state `target = #npu.target<..>` in the layout (L1)}}
  %t = npu.alloc : memref<2x3x4x5xf32, #layout.npu_scatter<aligned, start = 2>, #npu.memory<local>>
  return
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128, banks = 8>
func.func @f() {
  // expected-error @below {{packs elements of 8 bits with n4, the tensor's have 32 (L1)}}
  %t = npu.alloc : memref<2x3x4x5xf32, #layout.npu_scatter<aligned, start = 0, pack = n4, target = #npu>, #npu.memory<local>>
  return
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128, banks = 8>
#aligned0 = #layout.npu_scatter<aligned, start = 0, target = #npu>
func.func @f() {
  // expected-error @below {{needs 1280 bytes of every core, the target has 1024}}
  %t = npu.alloc : memref<5x5x4x5xf32, #aligned0, #npu.memory<local>>
  return
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128, banks = 8>
func.func @f() {
  // expected-error @below {{is not injective (L1)}}
  %t = npu.alloc : memref<2x5x3x4xf32, #layout.npu_scatter<strided [48, 12, 3, 1], start = 0, target = #npu>, #npu.memory<local>>
  return
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128, banks = 8>
func.func @f() {
  // expected-error @below {{the layout must start at offset 0 of the allocated memory, found 128: write the offset as part of the address}}
  %t = npu.alloc : memref<2x3x4x5xf32, #layout.npu_scatter<aligned, start = 2, offset = 128, target = #npu>, #npu.memory<local>>
  return
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128, banks = 8>
#aligned2 = #layout.npu_scatter<aligned, start = 2, target = #npu>
func.func @f() {
  // expected-error @below {{address 4096 is not in one of the 4 cores of 1024 bytes: addresses are between 0 and 4095}}
  %t = npu.alloc {address = 4096} : memref<2x3x4x5xf32, #aligned2, #npu.memory<local>>
  return
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128, banks = 8>
#aligned2 = #layout.npu_scatter<aligned, start = 2, target = #npu>
func.func @f() {
  // expected-error @below {{address 1024 is in core 1, the layout starts at core 2: its addresses are between 2048 and 3071}}
  %t = npu.alloc {address = 1024} : memref<2x3x4x5xf32, #aligned2, #npu.memory<local>>
  return
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128, banks = 8>
#aligned2 = #layout.npu_scatter<aligned, start = 2, target = #npu>
func.func @f() {
  // expected-error @below {{starts at address 2112, which is not a multiple of the 128 bytes of an execution unit}}
  %t = npu.alloc {address = 2112} : memref<2x3x4x5xf32, #aligned2, #npu.memory<local>>
  return
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128, banks = 8>
#aligned2 = #layout.npu_scatter<aligned, start = 2, target = #npu>
func.func @f() {
  // expected-error @below {{needs 1152 bytes of every core, the target has 1024}}
  %t = npu.alloc {address = 2688} : memref<2x3x4x5xf32, #aligned2, #npu.memory<local>>
  return
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128, banks = 8>
#aligned2 = #layout.npu_scatter<aligned, start = 2, target = #npu>
func.func @f() {
  // expected-error @below {{address 2176 is byte 128 of a core, which is not a multiple of the alignment 256}}
  %t = npu.alloc {address = 2176, alignment = 256} : memref<2x3x4x5xf32, #aligned2, #npu.memory<local>>
  return
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128, banks = 8>
#aligned2 = #layout.npu_scatter<aligned, start = 2, target = #npu>
func.func @f() {
  // expected-error @below {{alignment 12 is not a power of two}}
  %t = npu.alloc {alignment = 12} : memref<2x3x4x5xf32, #aligned2, #npu.memory<local>>
  return
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128, banks = 8>
#aligned2 = #layout.npu_scatter<aligned, start = 2, target = #npu>
func.func @f() {
  // expected-error @below {{address 2176 is in bank 1 of a core, but bank 2 is requested}}
  %t = npu.alloc {address = 2176, bank = 2} : memref<2x3x4x5xf32, #aligned2, #npu.memory<local>>
  return
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128, banks = 8>
#aligned2 = #layout.npu_scatter<aligned, start = 2, target = #npu>
func.func @f() {
  // expected-error @below {{requests bank 8, but banks are between 0 and 7}}
  %t = npu.alloc {bank = 8} : memref<2x3x4x5xf32, #aligned2, #npu.memory<local>>
  return
}

// -----

func.func @f() {
  // expected-error @below {{requests bank 0, but the target has no banks: state `banks` in #npu.target}}
  %t = npu.alloc {bank = 0} : memref<2x3x4x5xf32, #layout.npu_scatter<aligned, start = 0, target = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128>>, #npu.memory<local>>
  return
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128, banks = 8>
#aligned2 = #layout.npu_scatter<aligned, start = 2, target = #npu>
func.func @f(%t: memref<2x3x4x5xf32, #aligned2, #npu.memory<local>>) {
  // expected-error @below {{needs the result of an npu.alloc of the same function, not a view or an argument}}
  npu.dealloc %t : memref<2x3x4x5xf32, #aligned2, #npu.memory<local>>
  return
}

// -----

// Only ops of the npu dialect allocate local memory.
#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128>
func.func @f() {
  // expected-error @below {{symbol operand count does not equal memref symbol count: expected 4, got 0}}
  %t = memref.alloc() : memref<2x3x4x5xf32, #layout.npu_scatter<aligned, start = 2, target = #npu>, #npu.memory<local>>
  return
}
