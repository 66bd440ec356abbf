// RUN: layout-opt %s -split-input-file --npu-spill-tensors | FileCheck %s
// RUN: layout-opt %s -split-input-file --npu-spill-tensors --npu-assign-addresses -o /dev/null
// Check spilled tensors of which slices are needed. A core holds two tensors of
// 512 bytes.

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 32>
!sys = memref<1x4x16x8xf32, #npu.memory<system>>
!half_sys = memref<1x4x8x8xf32, #npu.memory<system>>
!t = memref<1x4x16x8xf32, #layout.npu_scatter<aligned, start = 0, target = #npu>, #npu.memory<local>>
!part = memref<1x4x8x8xf32, #layout.npu_scatter<strided [128, 128, 8, 1], start = 0, target = #npu>, #npu.memory<local>>
!last = memref<1x4x8x8xf32, #layout.npu_scatter<strided [64, 128, 8, 1], start = 0, offset = 256, target = #npu>, #npu.memory<local>>
!half = memref<1x4x8x8xf32, #layout.npu_scatter<aligned, start = 0, target = #npu>, #npu.memory<local>>

// Only half of a spilled tensor is loaded if no more is needed.
// CHECK-LABEL: func.func @halves
// CHECK-SAME: %[[HOME:[a-z0-9]*]]: memref<1x4x16x8xf32, #npu.memory<system>> {npu.scratch})
// CHECK: npu.copy %{{.*}} to %[[HOME]]
// CHECK-NOT: npu.copy %[[HOME]]
// CHECK: %[[UPPER:.*]] = memref.subview %[[HOME]][0, 0, 0, 0] [1, 4, 8, 8]
// CHECK: npu.copy %[[UPPER]] to
// CHECK: %[[LOWER:.*]] = memref.subview %[[HOME]][0, 0, 8, 0] [1, 4, 8, 8]
// CHECK: npu.copy %[[LOWER]] to
// CHECK-NOT: npu.copy %[[HOME]]
func.func @halves(%x: !sys, %y: !sys {npu.result}, %u: !half_sys {npu.result}, %v: !half_sys {npu.result}) {
  %a = npu.alloc : !t
  npu.copy %x to %a : !sys to !t
  linalg.exp ins(%a : !t) outs(%a : !t)
  %b = npu.alloc : !t
  npu.fill 1.0 : f32 to %b on dma : !t
  %c = npu.alloc : !t
  linalg.exp ins(%b : !t) outs(%c : !t)
  npu.dealloc %b : !t
  npu.copy %c to %y : !t to !sys
  npu.dealloc %c : !t
  %upper = npu.subview %a [0, 0, 0, 0] [1, 4, 8, 8] [1, 1, 1, 1] : !t to !part
  %p = npu.alloc : !half
  npu.copy %upper to %p : !part to !half
  linalg.exp ins(%p : !half) outs(%p : !half)
  npu.copy %p to %u : !half to !half_sys
  npu.dealloc %p : !half
  %lower = npu.subview %a [0, 0, 8, 0] [1, 4, 8, 8] [1, 1, 1, 1] : !t to !last
  %q = npu.alloc : !half
  npu.copy %lower to %q : !last to !half
  npu.dealloc %a : !t
  linalg.exp ins(%q : !half) outs(%q : !half)
  npu.copy %q to %v : !half to !half_sys
  npu.dealloc %q : !half
  return
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 32>
!sys = memref<1x4x16x8xf32, #npu.memory<system>>
!t = memref<1x4x16x8xf32, #layout.npu_scatter<aligned, start = 0, target = #npu>, #npu.memory<local>>

// A tensor that was stored and only read since is not stored again.
// CHECK-LABEL: func.func @stored_once
// CHECK-SAME: %[[HOME:[a-z0-9]*]]: memref<1x4x16x8xf32, #npu.memory<system>> {npu.scratch})
// CHECK: npu.copy %{{.*}} to %[[HOME]]
// CHECK: npu.copy %[[HOME]] to %[[B:.*]] :
// CHECK: linalg.add ins(%[[B]]
// CHECK: npu.copy %[[HOME]] to %[[C:.*]] :
// CHECK: linalg.add ins(%[[C]]
func.func @stored_once(%x: !sys, %y: !sys {npu.result}, %z: !sys {npu.result}) {
  %a = npu.alloc : !t
  npu.copy %x to %a : !sys to !t
  linalg.exp ins(%a : !t) outs(%a : !t)
  %b = npu.alloc : !t
  npu.copy %x to %b : !sys to !t
  %c = npu.alloc : !t
  linalg.exp ins(%b : !t) outs(%c : !t)
  npu.dealloc %b : !t
  linalg.add ins(%a, %c : !t, !t) outs(%c : !t)
  %d = npu.alloc : !t
  linalg.exp ins(%c : !t) outs(%d : !t)
  npu.copy %c to %y : !t to !sys
  npu.dealloc %c : !t
  linalg.add ins(%a, %d : !t, !t) outs(%d : !t)
  npu.dealloc %a : !t
  npu.copy %d to %z : !t to !sys
  npu.dealloc %d : !t
  return
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 512, eu_bytes = 32>
!sys = memref<1x4x8x8xf32, #npu.memory<system>>
!half_sys = memref<1x4x4x8xf32, #npu.memory<system>>
!t = memref<1x4x8x8xf32, #layout.npu_scatter<aligned, start = 0, target = #npu>, #npu.memory<local>>
!part = memref<1x4x4x8xf32, #layout.npu_scatter<strided [64, 64, 8, 1], start = 0, target = #npu>, #npu.memory<local>>
!half = memref<1x4x4x8xf32, #layout.npu_scatter<aligned, start = 0, target = #npu>, #npu.memory<local>>

// Elements that have other indices in system memory are all loaded again: the
// upper rows are the left columns there.
// CHECK-LABEL: func.func @turned
// CHECK: npu.copy %arg0 to %{{.*}} permutation
// CHECK: npu.copy %arg0 to %[[AGAIN:.*]] permutation
// CHECK: npu.subview %[[AGAIN]]
func.func @turned(%x: !sys, %y: !sys {npu.result}, %u: !half_sys {npu.result}) {
  %a = npu.alloc : !t
  npu.copy %x to %a permutation = [0, 1, 3, 2] : !sys to !t
  %b = npu.alloc : !t
  linalg.exp ins(%a : !t) outs(%b : !t)
  %c = npu.alloc : !t
  linalg.exp ins(%b : !t) outs(%c : !t)
  npu.dealloc %b : !t
  npu.copy %c to %y : !t to !sys
  npu.dealloc %c : !t
  %upper = npu.subview %a [0, 0, 0, 0] [1, 4, 4, 8] [1, 1, 1, 1] : !t to !part
  %p = npu.alloc : !half
  npu.copy %upper to %p : !part to !half
  npu.dealloc %a : !t
  linalg.exp ins(%p : !half) outs(%p : !half)
  npu.copy %p to %u : !half to !half_sys
  npu.dealloc %p : !half
  return
}
