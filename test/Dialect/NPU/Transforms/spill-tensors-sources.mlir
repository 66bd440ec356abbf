// RUN: layout-opt %s -split-input-file --npu-spill-tensors | FileCheck %s
// RUN: layout-opt %s -split-input-file --npu-spill-tensors --npu-assign-addresses -o /dev/null
// Check that a spilled tensor is loaded again from its source if one load of unchanged memory made it.

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 32>
!sys = memref<1x4x16x8xf32, #npu.memory<system>>
!t = memref<1x4x16x8xf32, #layout.npu_scatter<aligned, start = 0, target = #npu>, #npu.memory<local>>

// Loaded, and then overwritten in place.
// CHECK: func.func @computed_on({{.*}}, %[[HOME:[a-z0-9]*]]: memref<{{[^>]*}}, #npu.memory<system>> {npu.scratch})
// CHECK: npu.copy %arg0 to %[[A:.*]] :
// CHECK: linalg.exp ins(%[[A]] : {{.*}}) outs(%[[A]] :
// CHECK: npu.copy %[[A]] to %[[HOME]]
// CHECK: npu.copy %[[HOME]] to %[[AGAIN:.*]] :
// CHECK: linalg.add ins(%[[AGAIN]]
func.func @computed_on(%x: !sys, %y: !sys {npu.result}) {
  %a = npu.alloc : !t
  npu.copy %x to %a : !sys to !t
  linalg.exp ins(%a : !t) outs(%a : !t)
  %b = npu.alloc : !t
  linalg.exp ins(%a : !t) outs(%b : !t)
  %c = npu.alloc : !t
  linalg.exp ins(%b : !t) outs(%c : !t)
  npu.dealloc %b : !t
  linalg.add ins(%a, %c : !t, !t) outs(%c : !t)
  npu.dealloc %a : !t
  npu.copy %c to %y : !t to !sys
  npu.dealloc %c : !t
  return
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 32>
!sys = memref<1x4x16x8xf32, #npu.memory<system>>
!t = memref<1x4x16x8xf32, #layout.npu_scatter<aligned, start = 0, target = #npu>, #npu.memory<local>>

// Loaded from memory that is written before the tensor is needed again.
// CHECK: func.func @source_changes({{.*}}, %[[HOME:[a-z0-9]*]]: memref<{{[^>]*}}, #npu.memory<system>> {npu.scratch})
// CHECK: npu.copy %arg0 to %[[A:.*]] :
// CHECK: npu.copy %[[A]] to %[[HOME]]
// CHECK: npu.copy %{{.*}} to %arg0
// CHECK: npu.copy %[[HOME]] to %[[AGAIN:.*]] :
// CHECK: linalg.add ins(%[[AGAIN]]
func.func @source_changes(%x: !sys {npu.scratch}, %y: !sys {npu.result}) {
  %a = npu.alloc : !t
  npu.copy %x to %a : !sys to !t
  %b = npu.alloc : !t
  linalg.exp ins(%a : !t) outs(%b : !t)
  %c = npu.alloc : !t
  linalg.exp ins(%b : !t) outs(%c : !t)
  npu.dealloc %b : !t
  npu.copy %c to %x : !t to !sys
  linalg.add ins(%a, %c : !t, !t) outs(%c : !t)
  npu.dealloc %a : !t
  npu.copy %c to %y : !t to !sys
  npu.dealloc %c : !t
  return
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 32>
!sys = memref<1x4x16x8xf32, #npu.memory<system>>
!half_sys = memref<1x4x8x8xf32, #npu.memory<system>>
!t = memref<1x4x16x8xf32, #layout.npu_scatter<aligned, start = 0, target = #npu>, #npu.memory<local>>
!half = memref<1x4x8x8xf32, #layout.npu_scatter<strided [128, 128, 8, 1], start = 0, target = #npu>, #npu.memory<local>>

// Only half of it is loaded: all bytes are initialized before they are stored.
// CHECK: func.func @loaded_in_part({{.*}}, %[[HOME:[a-z0-9]*]]: memref<1x4x16x8xf32, #npu.memory<system>> {npu.scratch})
// CHECK: %[[A:.*]] = npu.alloc
// CHECK-NEXT: npu.fill 0.000000e+00 : f32 to %[[A]] on dma
// CHECK: npu.copy %[[A]] to %[[HOME]]
// CHECK: npu.copy %[[HOME]] to %[[AGAIN:.*]] :
// CHECK: npu.subview %[[AGAIN]]
func.func @loaded_in_part(%x: !half_sys, %y: !sys {npu.result}, %z: !half_sys {npu.result}) {
  %a = npu.alloc : !t
  %v = npu.subview %a [0, 0, 0, 0] [1, 4, 8, 8] [1, 1, 1, 1] : !t to !half
  npu.copy %x to %v : !half_sys to !half
  %b = npu.alloc : !t
  npu.fill 1.0 : f32 to %b on dma : !t
  %c = npu.alloc : !t
  linalg.exp ins(%b : !t) outs(%c : !t)
  npu.dealloc %b : !t
  npu.copy %c to %y : !t to !sys
  npu.dealloc %c : !t
  npu.copy %v to %z : !half to !half_sys
  npu.dealloc %a : !t
  return
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 32>
!sys = memref<1x4x16x8xf32, #npu.memory<system>>
!t = memref<1x4x16x8xf32, #layout.npu_scatter<aligned, start = 0, target = #npu>, #npu.memory<local>>

// The tensor that is needed last has a fixed address, so another one is
// spilled.
// CHECK-LABEL: func.func @fixed
// CHECK: %[[A:.*]] = npu.alloc {address = 0 : i64}
// CHECK: npu.copy %arg1 to %[[B:.*]] :
// CHECK: npu.dealloc %[[B]]
// CHECK: npu.copy %arg4 to
// CHECK: npu.copy %[[A]] to %arg2
func.func @fixed(%x: !sys, %w: !sys, %y: !sys {npu.result}, %z: !sys {npu.result}) {
  %a = npu.alloc {address = 0} : !t
  npu.copy %x to %a : !sys to !t
  %b = npu.alloc : !t
  npu.copy %w to %b : !sys to !t
  linalg.exp ins(%b : !t) outs(%a : !t)
  %c = npu.alloc : !t
  npu.fill 1.0 : f32 to %c on dma : !t
  npu.copy %c to %z : !t to !sys
  npu.dealloc %c : !t
  linalg.exp ins(%b : !t) outs(%b : !t)
  npu.copy %b to %z : !t to !sys
  npu.dealloc %b : !t
  npu.copy %a to %y : !t to !sys
  npu.dealloc %a : !t
  return
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 32>
!sys = memref<1x4x16x8xf32, #npu.memory<system>>
!t = memref<1x4x16x8xf32, #layout.npu_scatter<aligned, start = 0, target = #npu>, #npu.memory<local>>

// Derived from a computed tensor, which a load does not restore.
// CHECK: func.func @made_of_computed({{.*}}, %[[HOME:[a-z0-9]*]]: memref<{{[^>]*}}, #npu.memory<system>> {npu.scratch})
// CHECK: linalg.exp ins(%[[A:.*]] : {{.*}}) outs(%[[A]] :
// CHECK: linalg.exp ins(%[[A]] : {{.*}}) outs(%[[B:[0-9]+]] :
// CHECK: npu.copy %[[B]] to %[[HOME]]
// CHECK: npu.copy %[[HOME]] to %[[AGAIN:.*]] :
// CHECK: linalg.add ins(%[[AGAIN]]
func.func @made_of_computed(%x: !sys, %y: !sys {npu.result}) {
  %a = npu.alloc : !t
  npu.copy %x to %a : !sys to !t
  linalg.exp ins(%a : !t) outs(%a : !t)
  %b = npu.alloc : !t
  linalg.exp ins(%a : !t) outs(%b : !t)
  npu.dealloc %a : !t
  %c = npu.alloc : !t
  npu.copy %x to %c : !sys to !t
  %d = npu.alloc : !t
  linalg.exp ins(%c : !t) outs(%d : !t)
  npu.dealloc %c : !t
  linalg.add ins(%b, %d : !t, !t) outs(%d : !t)
  npu.dealloc %b : !t
  npu.copy %d to %y : !t to !sys
  npu.dealloc %d : !t
  return
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 1536, eu_bytes = 32>
!sys = memref<1x4x16x8xf32, #npu.memory<system>>
!t = memref<1x4x16x8xf32, #layout.npu_scatter<aligned, start = 0, target = #npu>, #npu.memory<local>>

// Derived from two tensors of its size, whose loads move at least as much as
// its store.
// CHECK: func.func @made_of_more({{.*}}, %[[HOME:[a-z0-9]*]]: memref<{{[^>]*}}, #npu.memory<system>> {npu.scratch})
// CHECK: linalg.sub {{.*}} outs(%[[B:[0-9]+]] :
// CHECK: npu.copy %[[B]] to %[[HOME]]
// CHECK: npu.copy %[[HOME]] to %[[AGAIN:.*]] :
// CHECK: linalg.mul ins(%[[AGAIN]]
func.func @made_of_more(%x: !sys, %w: !sys, %y: !sys {npu.result}) {
  %p = npu.alloc : !t
  npu.copy %x to %p : !sys to !t
  %q = npu.alloc : !t
  npu.copy %w to %q : !sys to !t
  %b = npu.alloc : !t
  linalg.sub ins(%p, %q : !t, !t) outs(%b : !t)
  npu.dealloc %p : !t
  npu.dealloc %q : !t
  %u = npu.alloc : !t
  npu.copy %x to %u : !sys to !t
  %c = npu.alloc : !t
  linalg.exp ins(%u : !t) outs(%c : !t)
  %d = npu.alloc : !t
  linalg.add ins(%u, %c : !t, !t) outs(%d : !t)
  npu.dealloc %u : !t
  npu.dealloc %c : !t
  linalg.mul ins(%b, %d : !t, !t) outs(%d : !t)
  npu.dealloc %b : !t
  npu.copy %d to %y : !t to !sys
  npu.dealloc %d : !t
  return
}
