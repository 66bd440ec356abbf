// Check that constants get the order of the local memory that they are loaded to, if that makes rows longer.
// RUN: layout-opt %s -split-input-file --npu-order-constants | FileCheck %s
// RUN: layout-opt %s -split-input-file --npu-order-constants | layout-opt -split-input-file --npu-order-constants | FileCheck %s

#npu = #npu.target<npus = 4, bytes_per_npu = 16384, eu_bytes = 32>
#pairs = #layout.npu_scatter<strided [3, 6, 3, 1], start = 0, pack = ic2, axes = "CNHW", target = #npu>

// Pairs of input channels are together, and the third one has a pair for itself.
// CHECK-DAG: #[[PAIRS:.*]] = #layout.map<(d0, d1, d2, d3) -> buffer(d0, d1 floordiv 2, d3, d1 mod 2)>
// CHECK-DAG: memref.global "private" constant @weights : memref<9x3x1x3xf32, #[[PAIRS]], #npu.memory<system>> = dense
// CHECK-LABEL: func.func @pairs
// CHECK: memref.get_global @weights : memref<9x3x1x3xf32, #[[PAIRS]], #npu.memory<system>>
memref.global "private" constant @weights : memref<9x3x1x3xf32, #npu.memory<system>> = dense<1.0>
func.func @pairs() {
  %w = memref.get_global @weights : memref<9x3x1x3xf32, #npu.memory<system>>
  %t = npu.alloc : memref<9x3x1x3xf32, #pairs, #npu.memory<local>>
  npu.copy %w to %t : memref<9x3x1x3xf32, #npu.memory<system>> to memref<9x3x1x3xf32, #pairs, #npu.memory<local>>
  return
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 16384, eu_bytes = 32>
#matrix = #layout.npu_scatter<matrix 6, start = 0, axes = "MN", target = #npu>
!sys = memref<20x5xf32, #npu.memory<system>>
!local = memref<20x5xf32, #matrix, #npu.memory<local>>

// The columns of a transposed matrix are together in the rows of their channel. Those of the other one are already.
// CHECK-DAG: #[[OWN:.*]] = #layout.map<(d0, d1) -> buffer(d0 floordiv 6, d1, d0 mod 6)>
// CHECK-DAG: @columns : memref<20x5xf32, #[[OWN]], #npu.memory<system>>
// CHECK-DAG: @rows : memref<5x20xf32, #npu.memory<system>>
// CHECK-LABEL: func.func @columns_of_channels
memref.global "private" constant @columns : !sys = dense<1.0>
memref.global "private" constant @rows : memref<5x20xf32, #npu.memory<system>> = dense<1.0>
func.func @columns_of_channels() {
  %c = memref.get_global @columns : !sys
  %t = npu.alloc : !local
  npu.copy %c to %t : !sys to !local
  %r = memref.get_global @rows : memref<5x20xf32, #npu.memory<system>>
  %u = npu.alloc : !local
  npu.copy %r to %u permutation = [1, 0] : memref<5x20xf32, #npu.memory<system>> to !local
  return
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 16384, eu_bytes = 32>
#aligned = #layout.npu_scatter<aligned, start = 0, axes = "NC", target = #npu>
!sys = memref<20x8xf32, #npu.memory<system>>
!local = memref<20x8xf32, #aligned, #npu.memory<local>>

// A constant of which a part is loaded, one that is public and one that is not constant keep their order.
// CHECK-DAG: @part : memref<20x8xf32, #npu.memory<system>>
// CHECK-DAG: @public : memref<20x8xf32, #npu.memory<system>>
// CHECK-DAG: @variable : memref<20x8xf32, #npu.memory<system>>
memref.global "private" constant @part : !sys = dense<1.0>
memref.global constant @public : !sys = dense<1.0>
memref.global "private" @variable : !sys = dense<1.0>
func.func @kept() {
  %p = memref.get_global @part : !sys
  %half = memref.subview %p[0, 0] [20, 4] [1, 1] : !sys to memref<20x4xf32, strided<[8, 1]>, #npu.memory<system>>
  %h = npu.alloc : memref<20x4xf32, #aligned, #npu.memory<local>>
  npu.copy %half to %h : memref<20x4xf32, strided<[8, 1]>, #npu.memory<system>> to memref<20x4xf32, #aligned, #npu.memory<local>>
  %q = memref.get_global @public : !sys
  %t = npu.alloc : !local
  npu.copy %q to %t : !sys to !local
  %v = memref.get_global @variable : !sys
  %u = npu.alloc : !local
  npu.copy %v to %u : !sys to !local
  return
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 16384, eu_bytes = 32>
#pairs = #layout.npu_scatter<compact, start = 0, pack = ic2, axes = "CNHW", target = #npu>
!sys = memref<3x1x4x6xf32, #npu.memory<system>>
!local = memref<4x6x1x3xf32, #pairs, #npu.memory<local>>

// With a permutation, the dims of the map are those of the constant.
// CHECK-DAG: #[[PERMUTED:.*]] = #layout.map<(d0, d1, d2, d3) -> buffer(d2, d3 floordiv 2, d0, d3 mod 2)>
// CHECK-DAG: @turned : memref<3x1x4x6xf32, #[[PERMUTED]], #npu.memory<system>>
memref.global "private" constant @turned : !sys = dense<1.0>
func.func @turned_weights() {
  %w = memref.get_global @turned : !sys
  %t = npu.alloc : !local
  npu.copy %w to %t permutation = [2, 3, 1, 0] : !sys to !local
  return
}
