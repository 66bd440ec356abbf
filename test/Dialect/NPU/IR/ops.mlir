// RUN: layout-opt %s | layout-opt --mlir-print-local-scope | FileCheck %s
// RUN: layout-opt %s --mlir-print-op-generic | layout-opt --mlir-print-local-scope | FileCheck %s
// Check ops on local memory, and views that are proven valid.

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128, banks = 8>
#aligned2 = #layout.npu_scatter<aligned, start = 2, target = #npu>
#aligned0 = #layout.npu_scatter<aligned, start = 0, target = #npu>
#n4 = #layout.npu_scatter<aligned, start = 0, pack = n4, target = #npu>
#n2 = #layout.npu_scatter<aligned, start = 0, pack = n2, target = #npu>
#ic2 = #layout.npu_scatter<compact, start = 0, pack = ic2, target = #npu>
#compact0 = #layout.npu_scatter<compact, start = 0, target = #npu>
#matrix15 = #layout.npu_scatter<matrix 15, start = 2, target = #npu>

!sys = memref<2x3x4x5xf32, #npu.memory<system>>
!loc = memref<2x3x4x5xf32, #aligned2, #npu.memory<local>>

// CHECK-LABEL: func @memory
func.func @memory(%x: !sys, %y: memref<2x3x4x5xf32, strided<[60, 20, 5, 1], offset: 7>, #npu.memory<system>>) {
  // CHECK: npu.alloc : memref<2x3x4x5xf32, #layout.npu_scatter<aligned, start = 2, target = #npu.target<
  %open = npu.alloc : !loc
  // CHECK: npu.alloc {address = 2048 : i64, alignment = 256 : i64, bank = 0 : i64} : memref
  %t = npu.alloc {address = 2048, alignment = 256, bank = 0} : !loc
  // CHECK: npu.copy %{{.*}} to %[[T:.*]] : memref<2x3x4x5xf32, #npu.memory<system>> to memref
  npu.copy %x to %t : !sys to !loc
  npu.copy %t to %y : !loc to memref<2x3x4x5xf32, strided<[60, 20, 5, 1], offset: 7>, #npu.memory<system>>
  // CHECK: npu.fill 1.000000e+00 : f32 to %{{.*}} on compute : memref
  npu.fill 1.0 : f32 to %t on compute : !loc
  // CHECK: npu.parallel {
  // CHECK-NEXT: npu.copy
  // CHECK-NEXT: npu.fill 0.000000e+00 : f32 to %{{.*}} on compute
  npu.parallel {
    npu.copy %x to %open : !sys to !loc
    npu.fill 0.0 : f32 to %t on compute : !loc
  }
  // CHECK: npu.dealloc
  npu.dealloc %t : !loc
  return
}

// CHECK-LABEL: func @variants
func.func @variants(%t: !loc, %nc: memref<3x2x4x5xf32, #compact0, #npu.memory<local>>,
                    %cw: memref<2x5x4x3xf32, #compact0, #npu.memory<local>>,
                    %bias: memref<1x1x4x5xf32, #npu.memory<system>>) {
  // CHECK: npu.copy %{{.*}} to %{{.*}} permutation = [1, 0, 2, 3] : memref
  npu.copy %t to %nc permutation = [1, 0, 2, 3] : !loc to memref<3x2x4x5xf32, #compact0, #npu.memory<local>>
  npu.copy %t to %cw permutation = [0, 3, 2, 1] : !loc to memref<2x5x4x3xf32, #compact0, #npu.memory<local>>
  // CHECK: npu.copy %{{.*}} to %{{.*}} broadcast : memref
  npu.copy %bias to %t broadcast : memref<1x1x4x5xf32, #npu.memory<system>> to !loc
  return
}

// A slice starts at another core, possibly one row later, and keeps its
// strides.
// CHECK-LABEL: func @slices
func.func @slices(%t: !loc) {
  // CHECK: npu.subview %{{.*}} [0, 1, 0, 0] [2, 2, 4, 5] [1, 1, 1, 1] : memref
  %0 = npu.subview %t [0, 1, 0, 0] [2, 2, 4, 5] [1, 1, 1, 1] : !loc
    to memref<2x2x4x5xf32, #layout.npu_scatter<strided [64, 32, 5, 1], start = 3, target = #npu>, #npu.memory<local>>
  %1 = npu.subview %t [0, 2, 0, 0] [2, 1, 4, 5] [1, 1, 1, 1] : !loc
    to memref<2x1x4x5xf32, #layout.npu_scatter<strided [64, 32, 5, 1], start = 0, offset = 128, target = #npu>, #npu.memory<local>>
  %2 = npu.subview %t [1, 0, 1, 1] [1, 3, 2, 2] [1, 1, 2, 2] : !loc
    to memref<1x3x2x2xf32, #layout.npu_scatter<strided [64, 32, 10, 2], start = 2, offset = 280, target = #npu>, #npu.memory<local>>
  // Any layout with the same positions: one batch, and no channel that wraps
  // around.
  %3 = npu.subview %t [1, 0, 0, 0] [1, 2, 4, 5] [1, 1, 1, 1] : !loc
    to memref<1x2x4x5xf32, #layout.npu_scatter<aligned, start = 2, offset = 256, target = #npu>, #npu.memory<local>>
  return
}

// CHECK-LABEL: func @views
func.func @views(%bytes: memref<6x5x4x5xi8, #n4, #npu.memory<local>>,
                 %halves: memref<3x5x4x5xi16, #n2, #npu.memory<local>>,
                 %weights: memref<3x5x3x3xf32, #ic2, #npu.memory<local>>,
                 %matrix: memref<2x40xf32, #matrix15, #npu.memory<local>>) {
  // CHECK: npu.view
  %0 = npu.view %bytes : memref<6x5x4x5xi8, #n4, #npu.memory<local>> to memref<2x5x4x5xvector<4xi8>, #aligned0, #npu.memory<local>>
  %1 = npu.view %0 : memref<2x5x4x5xvector<4xi8>, #aligned0, #npu.memory<local>> to memref<2x5x4x5xf32, #aligned0, #npu.memory<local>>
  %2 = npu.view %0 : memref<2x5x4x5xvector<4xi8>, #aligned0, #npu.memory<local>> to memref<8x5x4x5xi8, #n4, #npu.memory<local>>
  %3 = npu.view %halves : memref<3x5x4x5xi16, #n2, #npu.memory<local>> to memref<2x5x4x5xi32, #aligned0, #npu.memory<local>>
  %4 = npu.view %weights : memref<3x5x3x3xf32, #ic2, #npu.memory<local>> to memref<2x5x3x3xvector<2xf32>, #compact0, #npu.memory<local>>
  %5 = npu.view %matrix : memref<2x40xf32, #matrix15, #npu.memory<local>> to memref<2x3x1x15xf32, #aligned2, #npu.memory<local>>
  return
}

// Layouts of whole chips; ops of other dialects accept the memrefs.
// CHECK-LABEL: func @chip
// CHECK: memref.dim
func.func @chip(%t: memref<1x64x56x56xf32, #layout.npu_scatter<aligned, start = 1, target = #npu.target<"BM1684">>, #npu.memory<local>>) -> index {
  %c = arith.constant 1 : index
  %d = memref.dim %t, %c : memref<1x64x56x56xf32, #layout.npu_scatter<aligned, start = 1, target = #npu.target<"BM1684">>, #npu.memory<local>>
  return %d : index
}
