// RUN: layout-opt %s --convert-npu-to-emitc --split-input-file --verify-diagnostics
// What has no C++.

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128>
!aligned = memref<2x3x4x5xf32, #layout.npu_scatter<aligned, start = 2, target = #npu>, #npu.memory<local>>
func.func @f() {
  // expected-error @below {{has no address: write one, or run npu-assign-addresses}}
  %t = npu.alloc : !aligned
  return
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128>
!aligned = memref<2x3x4x5xf32, #layout.npu_scatter<aligned, start = 2, target = #npu>, #npu.memory<local>>
func.func @f() {
  // expected-note @below {{the other tensor is here}}
  %t = npu.alloc {address = 2048} : !aligned
  // expected-error @below {{overlaps a tensor that is still alive}}
  %u = npu.alloc {address = 2304} : !aligned
  return
}

// -----

func.func @f(%x: memref<4xf32, #npu.memory<system>>, %i: index) {
  // expected-error @above {{takes memrefs of system memory where it becomes OKKernel code, found 'index'}}
  return
}

// -----

// expected-error @below {{has one block and no results where it becomes OKKernel code: results are memrefs that it is given}}
func.func @f(%x: memref<4xf32, #npu.memory<system>>) -> memref<4xf32, #npu.memory<system>> {
  return %x : memref<4xf32, #npu.memory<system>>
}

// -----

func.func @f(%x: memref<4xf32, #npu.memory<system>>) {
  // expected-error @below {{'arith.constant' has no function of OKKernel's: lower it to npu ops}}
  %c = arith.constant 0 : index
  return
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128, dma_alignment = 4>
!bytes = memref<6x5x4x5xi8, #layout.npu_scatter<aligned, start = 0, pack = n4, target = #npu>, #npu.memory<local>>
func.func @f(%x: memref<6x5x4x4xi8, strided<[80, 16, 4, 1], offset: 2>, #npu.memory<system>>, %y: memref<6x5x4x5xi8, #npu.memory<system>>) {
  %t = npu.alloc {address = 0} : !bytes
  npu.copy %y to %t : memref<6x5x4x5xi8, #npu.memory<system>> to !bytes
  %u = npu.alloc {address = 512} : memref<6x5x4x4xi8, #layout.npu_scatter<compact, start = 0, target = #npu>, #npu.memory<local>>
  // expected-error @below {{a transfer would start at byte 2 of the source, which is not a multiple of the 4 bytes that the DMA engine asks for}}
  npu.copy %x to %u : memref<6x5x4x4xi8, strided<[80, 16, 4, 1], offset: 2>, #npu.memory<system>> to memref<6x5x4x4xi8, #layout.npu_scatter<compact, start = 0, target = #npu>, #npu.memory<local>>
  return
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128>
!bytes = memref<6x5x4x5xi8, #layout.npu_scatter<aligned, start = 0, pack = n4, target = #npu>, #npu.memory<local>>
func.func @f() {
  %t = npu.alloc {address = 0} : !bytes
  // expected-error @below {{execution units write words of 32 bits: view the tensor as i32, or fill it on dma}}
  npu.fill 7 : i8 to %t on compute : !bytes
  return
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128>
!wide = memref<2x3x4x5xi64, #layout.npu_scatter<aligned, start = 0, target = #npu>, #npu.memory<local>>
func.func @f() {
  %t = npu.alloc {address = 0} : !wide
  npu.fill -1 : i64 to %t on dma : !wide
  // expected-error @below {{writes elements of 64 bits in words of 32, which only a value of equal words can be}}
  npu.fill 7 : i64 to %t on dma : !wide
  return
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128>
!aligned = memref<2x3x4x5xf32, #layout.npu_scatter<aligned, start = 2, target = #npu>, #npu.memory<local>>
func.func @f(%x: memref<2x3x4x5xf32, #npu.memory<system>>) {
  %t = npu.alloc {address = 2048} : !aligned
  npu.copy %x to %t : memref<2x3x4x5xf32, #npu.memory<system>> to !aligned
  // expected-error @below {{another tensor of the function on #npu.target<npus = 4}}
  %u = npu.alloc {address = 0} : memref<2x3x4x5xf32, #layout.npu_scatter<aligned, start = 0, target = #npu.target<"BM1684">>, #npu.memory<local>>
  return
}

// -----

#big = #npu.target<npus = 8192, bytes_per_npu = 1048576, eu_bytes = 128>
!t = memref<1x3x4x5xf32, #layout.npu_scatter<aligned, start = 4096, target = #big>, #npu.memory<local>>
func.func @f(%x: memref<1x3x4x5xf32, #npu.memory<system>>) {
  %t = npu.alloc {address = 4294967296} : !t
  // expected-error @below {{takes shapes, strides or addresses beyond the 32 bits of OKKernel's: split the tensor}}
  npu.copy %x to %t : memref<1x3x4x5xf32, #npu.memory<system>> to !t
  return
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128>
!a = memref<2x3x4x5xf32, #layout.npu_scatter<compact, start = 2, target = #npu>, #npu.memory<local>>
!b = memref<2x3x4x5xf32, #layout.npu_scatter<compact, start = 0, target = #npu>, #npu.memory<local>>
func.func @f() {
  %a = npu.alloc {address = 2048} : !a
  %b = npu.alloc {address = 512} : !b
  // expected-error @below {{'linalg.add' runs on execution units, which see their own memory only: its operands start at units 2 and 0, move one by npu.copy}}
  linalg.add ins(%a, %b : !a, !b) outs(%a : !a)
  return
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128>
!a = memref<2x40xf32, #layout.npu_scatter<matrix 15, start = 0, target = #npu>, #npu.memory<local>>
func.func @f() {
  %a = npu.alloc {address = 0} : !a
  // expected-error @below {{'linalg.negf' runs on execution units, which take f32 tensors of four dims in local memory, found 'memref<2x40xf32}}
  linalg.negf ins(%a : !a) outs(%a : !a)
  return
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128>
!a = memref<3x3x4x5xf32, #layout.npu_scatter<compact, start = 0, pack = ic2, target = #npu>, #npu.memory<local>>
func.func @f() {
  %a = npu.alloc {address = 0} : !a
  // expected-error @below {{'linalg.negf' runs on execution units, which take tensors that step evenly, found 'memref<}}
  linalg.negf ins(%a : !a) outs(%a : !a)
  return
}
