// RUN: layout-opt %s --split-input-file --verify-diagnostics
// Check the errors of the verifiers of transfers, fills and regions.

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128, banks = 8>
#aligned2 = #layout.npu_scatter<aligned, start = 2, target = #npu>
func.func @f(%x: memref<2x3x4x5xf32>, %t: memref<2x3x4x5xf32, #aligned2, #npu.memory<local>>) {
  // expected-error @below {{needs memrefs with a memory space, such as #npu.memory<local>}}
  npu.copy %x to %t : memref<2x3x4x5xf32> to memref<2x3x4x5xf32, #aligned2, #npu.memory<local>>
  return
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128, banks = 8>
#aligned2 = #layout.npu_scatter<aligned, start = 2, target = #npu>
func.func @f(%x: memref<?x3x4x5xf32, #npu.memory<system>>, %t: memref<2x3x4x5xf32, #aligned2, #npu.memory<local>>) {
  // expected-error @below {{needs memrefs with static sizes}}
  npu.copy %x to %t : memref<?x3x4x5xf32, #npu.memory<system>> to memref<2x3x4x5xf32, #aligned2, #npu.memory<local>>
  return
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128, banks = 8>
#aligned2 = #layout.npu_scatter<aligned, start = 2, target = #npu>
func.func @f(%x: memref<2x3x4x5xf32, strided<[?, 20, 5, 1]>, #npu.memory<system>>, %t: memref<2x3x4x5xf32, #aligned2, #npu.memory<local>>) {
  // expected-error @below {{linear memory must have static strides}}
  npu.copy %x to %t : memref<2x3x4x5xf32, strided<[?, 20, 5, 1]>, #npu.memory<system>> to memref<2x3x4x5xf32, #aligned2, #npu.memory<local>>
  return
}

// -----

func.func @f(%x: memref<2x3x4x5xi1, #npu.memory<system>>) {
  // expected-error @below {{stores integers and floats of whole bytes, found 'i1'}}
  npu.fill true to %x on dma : memref<2x3x4x5xi1, #npu.memory<system>>
  return
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128, banks = 8>
#aligned2 = #layout.npu_scatter<aligned, start = 2, target = #npu>
func.func @f(%x: memref<2x3x4x5xf32, #npu.memory<system>>, %t: memref<2x3x4x5xi32, #aligned2, #npu.memory<local>>) {
  // expected-error @below {{keeps the element type, found 'f32' and 'i32': npu.view changes the type of the same bytes}}
  npu.copy %x to %t : memref<2x3x4x5xf32, #npu.memory<system>> to memref<2x3x4x5xi32, #aligned2, #npu.memory<local>>
  return
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128, banks = 8>
#aligned2 = #layout.npu_scatter<aligned, start = 2, target = #npu>
func.func @f(%x: memref<6x4x5xf32, #npu.memory<system>>, %t: memref<2x3x4x5xf32, #aligned2, #npu.memory<local>>) {
  // expected-error @below {{keeps the rank}}
  npu.copy %x to %t : memref<6x4x5xf32, #npu.memory<system>> to memref<2x3x4x5xf32, #aligned2, #npu.memory<local>>
  return
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128, banks = 8>
#aligned2 = #layout.npu_scatter<aligned, start = 2, target = #npu>
func.func @f(%x: memref<2x1x4x5xf32, #npu.memory<system>>, %t: memref<2x3x4x5xf32, #aligned2, #npu.memory<local>>) {
  // expected-error @below {{dim 1 of the destination has size 3, dim 1 of the source 1: write `broadcast` to repeat it}}
  npu.copy %x to %t : memref<2x1x4x5xf32, #npu.memory<system>> to memref<2x3x4x5xf32, #aligned2, #npu.memory<local>>
  return
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128, banks = 8>
#aligned2 = #layout.npu_scatter<aligned, start = 2, target = #npu>
func.func @f(%x: memref<2x3x4x5xf32, #npu.memory<system>>, %t: memref<2x3x4x5xf32, #aligned2, #npu.memory<local>>) {
  // expected-error @below {{dim 0 of the destination has size 2, dim 1 of the source 3}}
  npu.copy %x to %t permutation = [1, 0, 2, 3] : memref<2x3x4x5xf32, #npu.memory<system>> to memref<2x3x4x5xf32, #aligned2, #npu.memory<local>>
  return
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128, banks = 8>
#aligned2 = #layout.npu_scatter<aligned, start = 2, target = #npu>
func.func @f(%x: memref<2x3x4x5xf32, #npu.memory<system>>, %t: memref<2x3x4x5xf32, #aligned2, #npu.memory<local>>) {
  // expected-error @below {{[0, 1, 2, 2] is not a permutation of the 4 dims}}
  npu.copy %x to %t permutation = [0, 1, 2, 2] : memref<2x3x4x5xf32, #npu.memory<system>> to memref<2x3x4x5xf32, #aligned2, #npu.memory<local>>
  return
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128, banks = 8>
#aligned2 = #layout.npu_scatter<aligned, start = 2, target = #npu>
func.func @f(%x: memref<2x3x4x5xf32, #layout.npu_scatter<aligned, start = 0, target = #npu.target<"BM1684">>, #npu.memory<local>>, %t: memref<2x3x4x5xf32, #aligned2, #npu.memory<local>>) {
  // expected-error @below {{moves data between two chips}}
  npu.copy %x to %t : memref<2x3x4x5xf32, #layout.npu_scatter<aligned, start = 0, target = #npu.target<"BM1684">>, #npu.memory<local>> to memref<2x3x4x5xf32, #aligned2, #npu.memory<local>>
  return
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128, banks = 8>
#aligned2 = #layout.npu_scatter<aligned, start = 2, target = #npu>
func.func @f(%t: memref<2x3x4x5xf32, #aligned2, #npu.memory<local>>) {
  // expected-error @below {{source and destination are the same memory}}
  npu.copy %t to %t : memref<2x3x4x5xf32, #aligned2, #npu.memory<local>> to memref<2x3x4x5xf32, #aligned2, #npu.memory<local>>
  return
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128, banks = 8>
#aligned2 = #layout.npu_scatter<aligned, start = 2, target = #npu>
func.func @f(%t: memref<2x3x4x5xf32, #aligned2, #npu.memory<local>>) {
  // expected-error @below {{writes a constant of the element type 'f32', found 1 : i32}}
  npu.fill 1 : i32 to %t on dma : memref<2x3x4x5xf32, #aligned2, #npu.memory<local>>
  return
}

// -----

func.func @f(%t: memref<2x3x4x5xf32, #npu.memory<system>>) {
  // expected-error @below {{execution units reach local memory only}}
  npu.fill 1.0 : f32 to %t on compute : memref<2x3x4x5xf32, #npu.memory<system>>
  return
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128, banks = 8>
#aligned2 = #layout.npu_scatter<aligned, start = 2, target = #npu>
func.func @f(%x: memref<2x3x4x5xf32, #npu.memory<system>>, %t: memref<2x3x4x5xf32, #aligned2, #npu.memory<local>>) {
  npu.parallel {
    // expected-note @below {{it is written here}}
    npu.fill 1.0 : f32 to %t on compute : memref<2x3x4x5xf32, #aligned2, #npu.memory<local>>
    // expected-error @below {{reads what the other engine writes in the same npu.parallel}}
    npu.copy %t to %x : memref<2x3x4x5xf32, #aligned2, #npu.memory<local>> to memref<2x3x4x5xf32, #npu.memory<system>>
  }
  return
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128, banks = 8>
#aligned2 = #layout.npu_scatter<aligned, start = 2, target = #npu>
func.func @f(%x: memref<2x3x4x5xf32, #npu.memory<system>>, %t: memref<2x3x4x5xf32, #aligned2, #npu.memory<local>>) {
  npu.parallel {
    // expected-note @below {{it is written here}}
    npu.copy %x to %t : memref<2x3x4x5xf32, #npu.memory<system>> to memref<2x3x4x5xf32, #aligned2, #npu.memory<local>>
    %p = npu.subview %t [0, 1, 0, 0] [2, 2, 4, 5] [1, 1, 1, 1] : memref<2x3x4x5xf32, #aligned2, #npu.memory<local>>
      to memref<2x2x4x5xf32, #layout.npu_scatter<strided [64, 32, 5, 1], start = 3, target = #npu>, #npu.memory<local>>
    // expected-error @below {{writes what the other engine writes in the same npu.parallel}}
    npu.fill 1.0 : f32 to %p on compute : memref<2x2x4x5xf32, #layout.npu_scatter<strided [64, 32, 5, 1], start = 3, target = #npu>, #npu.memory<local>>
  }
  return
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128, banks = 8>
#aligned2 = #layout.npu_scatter<aligned, start = 2, target = #npu>
func.func @f() {
  // expected-note @below {{the region is here}}
  npu.parallel {
    // expected-error @below {{must not be inside npu.parallel: the order of two engines is unknown there}}
    %t = npu.alloc : memref<2x3x4x5xf32, #aligned2, #npu.memory<local>>
  }
  return
}

// -----

#npu = #npu.target<"BM1684", memories = {sram = 4096}>
#aligned = #layout.npu_scatter<aligned, start = 0, target = #npu>
func.func @f(%x: memref<2x3x4x5xf32, #npu.memory<sram>>, %y: memref<2x3x4x5xf32, #npu.memory<l2>>,
             %t: memref<2x3x4x5xf32, #aligned, #npu.memory<local>>) {
  npu.copy %x to %t : memref<2x3x4x5xf32, #npu.memory<sram>> to memref<2x3x4x5xf32, #aligned, #npu.memory<local>>
  // expected-error @below {{memory 'l2' is not a memory of #npu.target<npus = 64, bytes_per_npu = 524288, eu_bytes = 128, banks = 8, memories = {sram = 4096 : i64}>: list it in `memories`}}
  npu.copy %y to %t : memref<2x3x4x5xf32, #npu.memory<l2>> to memref<2x3x4x5xf32, #aligned, #npu.memory<local>>
  return
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128, banks = 8>
!t = memref<2x3x4x5xf32, #layout.npu_scatter<aligned, start = 2, target = #npu>, #npu.memory<local>>
func.func @f(%t: !t, %y: !t) {
  npu.parallel {
    // expected-note @below {{it is written here}}
    npu.fill 1.0 : f32 to %t on dma : !t
    // expected-error @below {{reads what the other engine writes in the same npu.parallel}}
    linalg.exp ins(%t : !t) outs(%y : !t)
  }
  return
}
