// RUN: layout-opt %s --convert-npu-to-emitc=strict-okkernel=false --split-input-file --verify-diagnostics
// Check errors for ops without a C++ form.

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
  // expected-error @below {{overlaps a tensor that is still live}}
  %u = npu.alloc {address = 2304} : !aligned
  return
}

// -----

func.func @f(%x: memref<4xf32, #npu.memory<system>>, %i: index) {
  // expected-error @above {{needs memrefs in system memory to become OKKernel code, found 'index'}}
  return
}

// -----

// expected-error @below {{must have one block and no results to become OKKernel code: pass results as memref arguments}}
func.func @f(%x: memref<4xf32, #npu.memory<system>>) -> memref<4xf32, #npu.memory<system>> {
  return %x : memref<4xf32, #npu.memory<system>>
}

// -----

func.func @f(%x: memref<4xf32, #npu.memory<system>>) {
  // expected-error @below {{'memref.alloc' has no OKKernel function: lower it to npu ops}}
  %c = memref.alloc() : memref<4xf32, #npu.memory<system>>
  return
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128, dma_alignment = 4>
!bytes = memref<6x5x4x5xi8, #layout.npu_scatter<aligned, start = 0, pack = n4, target = #npu>, #npu.memory<local>>
func.func @f(%x: memref<6x5x4x4xi8, strided<[80, 16, 4, 1], offset: 2>, #npu.memory<system>>, %y: memref<6x5x4x5xi8, #npu.memory<system>>) {
  %t = npu.alloc {address = 0} : !bytes
  npu.copy %y to %t : memref<6x5x4x5xi8, #npu.memory<system>> to !bytes
  %u = npu.alloc {address = 512} : memref<6x5x4x4xi8, #layout.npu_scatter<compact, start = 0, target = #npu>, #npu.memory<local>>
  // expected-error @below {{a transfer would start at byte 2 of the source, which is not a multiple of the 4 bytes that the DMA engine requires}}
  npu.copy %x to %u : memref<6x5x4x4xi8, strided<[80, 16, 4, 1], offset: 2>, #npu.memory<system>> to memref<6x5x4x4xi8, #layout.npu_scatter<compact, start = 0, target = #npu>, #npu.memory<local>>
  return
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128>
!bytes = memref<6x5x4x5xi8, #layout.npu_scatter<aligned, start = 0, pack = n4, target = #npu>, #npu.memory<local>>
func.func @f() {
  %t = npu.alloc {address = 0} : !bytes
  // expected-error @below {{execution units write 32-bit words: view the tensor as i32, or fill it on dma}}
  npu.fill 7 : i8 to %t on compute : !bytes
  return
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128>
!wide = memref<2x3x4x5xi64, #layout.npu_scatter<aligned, start = 0, target = #npu>, #npu.memory<local>>
func.func @f() {
  %t = npu.alloc {address = 0} : !wide
  npu.fill -1 : i64 to %t on dma : !wide
  // expected-error @below {{writes elements of 64 bits in words of 32 bits, but the words of the value differ}}
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
  // expected-error @below {{needs shapes, strides or addresses of more than 32 bits, the limit of OKKernel: split the tensor}}
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
  // expected-error @below {{'linalg.add' runs on execution units, which see their own memory only: operand #1 starts at core 0, the result at core 2, and not every element is in the core that computes its result}}
  linalg.add ins(%a, %b : !a, !b) outs(%a : !a)
  return
}

// -----

// A bias must be on one core each, regardless of other reduced dims.
#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128>
!a = memref<2x3x4x5xf32, #layout.npu_scatter<compact, start = 2, target = #npu>, #npu.memory<local>>
!b = memref<3xf32, #layout.npu_scatter<compact, start = 2, axes = "C", target = #npu>, #npu.memory<local>>
!c = memref<3xf32, #layout.npu_scatter<compact, start = 3, axes = "C", target = #npu>, #npu.memory<local>>
func.func @f() {
  %a = npu.alloc {address = 2048} : !a
  %b = npu.alloc {address = 2560} : !b
  %c = npu.alloc {address = 3712} : !c
  // expected-error @below {{operand #1 starts at core 3, the result at core 2, and not every element is in the core that computes its result}}
  linalg.generic {indexing_maps = [affine_map<(n, c, h, w) -> (n, c, h, w)>, affine_map<(n, c, h, w) -> (c)>, affine_map<(n, c, h, w) -> (c)>],
      iterator_types = ["reduction", "parallel", "reduction", "reduction"]} ins(%a, %c : !a, !c) outs(%b : !b) {
  ^bb0(%i: f32, %j: f32, %o: f32):
    %p = arith.mulf %i, %j : f32
    %s = arith.addf %p, %o : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128>
!a = memref<1x3x4x5xbf16, #layout.npu_scatter<compact, start = 2, target = #npu>, #npu.memory<local>>
func.func @f() {
  %a = npu.alloc {address = 2048} : !a
  // expected-error @below {{'linalg.negf' runs on execution units, which compute with f16, f32, f64 and integers of 8 to 64 bits, found 'bf16'}}
  linalg.negf ins(%a : !a) outs(%a : !a)
  return
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128>
!a = memref<1x3x4x5xf32, #layout.npu_scatter<compact, start = 2, target = #npu>, #npu.memory<local>>
func.func @f(%x: memref<1x3x4x5xf32, #npu.memory<system>>) {
  %a = npu.alloc {address = 2048} : !a
  // expected-error @below {{'linalg.exp' runs on execution units, which reach local memory only, found 'memref<1x3x4x5xf32, #npu.memory<system>>': move it by npu.copy}}
  linalg.exp ins(%x : memref<1x3x4x5xf32, #npu.memory<system>>) outs(%a : !a)
  return
}

// -----

// expected-error @below {{becomes coefficients in system memory: it must be a constant with its data}}
memref.global "private" @w : memref<4xf32, #npu.memory<system>>
func.func @f() {
  return
}

// -----

// expected-error @below {{becomes coefficients in system memory: it must have integers or floats of whole bytes in row-major order or in a #layout.map in #npu.memory<system>, found 'memref<4xf32>'}}
memref.global "private" constant @w : memref<4xf32> = dense<0.0>
func.func @f() {
  return
}

// -----

!first = memref<1x4x8xf32, #layout.npu_scatter<aligned, start = 0, axes = "NCW", target = #npu.target<"BM1684">>, #npu.memory<local>>
!second = memref<1x4x8xf32, #layout.npu_scatter<aligned, start = 0, axes = "NCW", target = #npu.target<"BM1688">>, #npu.memory<local>>
func.func @first() {
  %t = npu.alloc {address = 0} : !first
  return
}
// expected-error @below {{is for a chip with the API TPU-KERNEL, another function of the module for one with OKKernel: convert them in two modules}}
func.func @second() {
  %t = npu.alloc {address = 0} : !second
  return
}
