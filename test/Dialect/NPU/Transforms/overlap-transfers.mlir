// Check that transfers overlap with computation.
// RUN: layout-opt %s -split-input-file -verify-diagnostics --npu-overlap-transfers --remarks-filter=npu --remark-format=emitRemark | FileCheck %s
// RUN: layout-opt %s -split-input-file --npu-overlap-transfers --npu-assign-addresses | layout-opt -split-input-file --npu-verify-memory

#npu = #npu.target<npus = 4, bytes_per_npu = 4096, eu_bytes = 32>
!sys = memref<1x4x16x8xf32, #npu.memory<system>>
!t = memref<1x4x16x8xf32, #layout.npu_scatter<aligned, start = 0, target = #npu>, #npu.memory<local>>

// The second operand is loaded while the first op computes, and the first
// result is stored while the second op computes.
// CHECK-LABEL: func.func @both
// CHECK: npu.copy %{{.*}} to %[[A:.*]] :
// CHECK: %[[B:.*]] = npu.alloc
// CHECK: %[[C:.*]] = npu.alloc
// CHECK: npu.parallel {
// CHECK-NEXT: linalg.exp ins(%[[A]] : {{.*}}) outs(%[[B]] :
// CHECK-NEXT: npu.copy %{{.*}} to %[[C]]
// CHECK-NEXT: }
// CHECK: npu.parallel {
// CHECK-NEXT: linalg.add ins(%[[B]], %[[C]] : {{.*}}) outs(%[[D:.*]] :
// CHECK-NEXT: npu.copy %[[B]] to %{{.*}}
// CHECK-NEXT: }
// CHECK: npu.dealloc %[[B]]
// CHECK: npu.copy %[[D]] to
// expected-remark @below {{transfers overlap with compute}}
func.func @both(%x: !sys, %z: !sys, %y: !sys {npu.result}, %u: !sys {npu.result}) {
  %a = npu.alloc : !t
  npu.copy %x to %a : !sys to !t
  %b = npu.alloc : !t
  linalg.exp ins(%a : !t) outs(%b : !t)
  npu.dealloc %a : !t
  npu.copy %b to %u : !t to !sys
  %c = npu.alloc : !t
  npu.copy %z to %c : !sys to !t
  %d = npu.alloc : !t
  linalg.add ins(%b, %c : !t, !t) outs(%d : !t)
  npu.dealloc %b : !t
  npu.dealloc %c : !t
  npu.copy %d to %y : !t to !sys
  npu.dealloc %d : !t
  return
}

// -----

// Transfers do not overlap if one more tensor does not fit.

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 32>
!sys = memref<1x4x16x8xf32, #npu.memory<system>>
!t = memref<1x4x16x8xf32, #layout.npu_scatter<aligned, start = 0, target = #npu>, #npu.memory<local>>

// CHECK-LABEL: func.func @full
// CHECK-NOT: npu.parallel
func.func @full(%x: !sys, %z: !sys, %y: !sys {npu.result}) {
  %a = npu.alloc : !t
  npu.copy %x to %a : !sys to !t
  %b = npu.alloc : !t
  linalg.exp ins(%a : !t) outs(%b : !t)
  npu.dealloc %a : !t
  %c = npu.alloc : !t
  npu.copy %z to %c : !sys to !t
  linalg.add ins(%b, %c : !t, !t) outs(%b : !t)
  npu.dealloc %c : !t
  npu.copy %b to %y : !t to !sys
  npu.dealloc %b : !t
  return
}

// -----

// Loads from memory that the program writes, a result or a local buffer, are
// not moved.

#npu = #npu.target<npus = 4, bytes_per_npu = 4096, eu_bytes = 32>
!sys = memref<1x4x16x8xf32, #npu.memory<system>>
!t = memref<1x4x16x8xf32, #layout.npu_scatter<aligned, start = 0, target = #npu>, #npu.memory<local>>

// CHECK-LABEL: func.func @written
// CHECK-NOT: npu.parallel
func.func @written(%x: !sys, %y: !sys {npu.result}, %s: !sys {npu.scratch}) {
  %a = npu.alloc : !t
  npu.copy %x to %a : !sys to !t
  linalg.exp ins(%a : !t) outs(%a : !t)
  npu.copy %a to %s : !t to !sys
  npu.dealloc %a : !t
  %c = npu.alloc : !t
  npu.copy %s to %c : !sys to !t
  linalg.exp ins(%c : !t) outs(%c : !t)
  npu.copy %c to %y : !t to !sys
  npu.dealloc %c : !t
  return
}

// CHECK-LABEL: func.func @result
// CHECK-NOT: npu.parallel
func.func @result(%x: !sys, %y: !sys {npu.result}, %s: !sys {npu.result}) {
  %a = npu.alloc : !t
  npu.copy %x to %a : !sys to !t
  linalg.exp ins(%a : !t) outs(%a : !t)
  npu.copy %a to %s : !t to !sys
  npu.dealloc %a : !t
  %c = npu.alloc : !t
  npu.copy %s to %c : !sys to !t
  linalg.exp ins(%c : !t) outs(%c : !t)
  npu.copy %c to %y : !t to !sys
  npu.dealloc %c : !t
  return
}

// -----

// A store that cannot be delayed stays before the end of its tensor.

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 32>
!sys = memref<1x4x16x8xf32, #npu.memory<system>>
!t = memref<1x4x16x8xf32, #layout.npu_scatter<aligned, start = 0, target = #npu>, #npu.memory<local>>

// CHECK-LABEL: func.func @stays
// CHECK-NOT: npu.parallel
// CHECK: npu.copy %[[B:.*]] to %arg1
// CHECK-NEXT: npu.dealloc %[[B]]
func.func @stays(%x: !sys, %u: !sys {npu.result}, %y: !sys {npu.result}) {
  %b = npu.alloc : !t
  npu.fill 1.0 : f32 to %b on dma : !t
  npu.copy %b to %u : !t to !sys
  npu.dealloc %b : !t
  %a = npu.alloc : !t
  npu.copy %x to %a : !sys to !t
  %c = npu.alloc : !t
  linalg.exp ins(%a : !t) outs(%c : !t)
  npu.dealloc %a : !t
  npu.copy %c to %y : !t to !sys
  npu.dealloc %c : !t
  return
}

// -----

// The previous contents of memory are stored before it is loaded again.

#npu = #npu.target<npus = 4, bytes_per_npu = 4096, eu_bytes = 32>
!sys = memref<1x4x16x8xf32, #npu.memory<system>>
!t = memref<1x4x16x8xf32, #layout.npu_scatter<aligned, start = 0, target = #npu>, #npu.memory<local>>

// CHECK-LABEL: func.func @written_before
// CHECK-NOT: npu.parallel
// CHECK: npu.copy %[[C:.*]] to %arg2 :
// CHECK: npu.copy %arg1 to %[[C]]
// CHECK-NOT: npu.parallel
func.func @written_before(%x: !sys, %z: !sys, %u: !sys {npu.result}, %y: !sys {npu.result}) {
  %a = npu.alloc : !t
  npu.copy %x to %a : !sys to !t
  %b = npu.alloc : !t
  linalg.exp ins(%a : !t) outs(%b : !t)
  npu.dealloc %a : !t
  %c = npu.alloc : !t
  npu.fill 1.0 : f32 to %c on dma : !t
  npu.copy %c to %u : !t to !sys
  npu.copy %z to %c : !sys to !t
  %d = npu.alloc : !t
  linalg.add ins(%b, %c : !t, !t) outs(%d : !t)
  npu.dealloc %b : !t
  npu.dealloc %c : !t
  npu.copy %d to %y : !t to !sys
  npu.dealloc %d : !t
  return
}

// -----

// A load that takes longer than the op before its reader runs with an earlier
// one, and a short one with the nearest.

#npu = #npu.target<npus = 4, bytes_per_npu = 65536, eu_bytes = 32>
#aligned = #layout.npu_scatter<aligned, start = 0, target = #npu>
!sys = memref<1x4x16x16xf32, #npu.memory<system>>
!t = memref<1x4x16x16xf32, #aligned, #npu.memory<local>>
!few = memref<1x4x1x1xf32, #npu.memory<system>>
!c = memref<1x4x1x1xf32, #aligned, #npu.memory<local>>
!window = memref<8x8xf32, #layout.npu_scatter<aligned, start = 0, axes = "HW", target = #npu>, #npu.memory<local>>
!sums = memref<1x4x9x9xf32, #aligned, #npu.memory<local>>

// CHECK-LABEL: func.func @earlier
// CHECK: npu.parallel {
// CHECK-NEXT: linalg.pooling_nchw_sum
// CHECK-NEXT: npu.copy %arg1 to %[[LONG:[0-9]+]] :
// CHECK-NEXT: }
// CHECK: npu.parallel {
// CHECK-NEXT: linalg.exp
// CHECK-NEXT: npu.copy %arg2 to %[[SHORT:[0-9]+]] :
// CHECK-NEXT: }
// CHECK: linalg.add ins(%[[LONG]], %[[LONG]]
// CHECK: linalg.add ins(%[[SHORT]], %[[SHORT]]
// expected-remark @below {{transfers overlap with compute}}
func.func @earlier(%x: !sys, %y: !sys, %z: !few) {
  %a = npu.alloc : !t
  npu.copy %x to %a : !sys to !t
  %w = npu.alloc : !window
  %s = npu.alloc : !sums
  npu.fill 0.0 : f32 to %s on dma : !sums
  linalg.pooling_nchw_sum {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
    ins(%a, %w : !t, !window) outs(%s : !sums)
  linalg.exp ins(%a : !t) outs(%a : !t)
  %b = npu.alloc : !t
  npu.copy %y to %b : !sys to !t
  %d = npu.alloc : !c
  npu.copy %z to %d : !few to !c
  linalg.add ins(%b, %b : !t, !t) outs(%b : !t)
  linalg.add ins(%d, %d : !c, !c) outs(%d : !c)
  return
}

// -----

// A program without local memory has nothing to overlap.

// CHECK-LABEL: func.func @outside
// CHECK-NOT: npu.parallel
func.func @outside(%x: memref<4xf32, #npu.memory<system>>, %y: memref<4xf32, #npu.memory<system>> {npu.result}) {
  npu.copy %x to %y : memref<4xf32, #npu.memory<system>> to memref<4xf32, #npu.memory<system>>
  return
}
