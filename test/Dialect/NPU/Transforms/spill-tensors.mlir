// RUN: layout-opt %s -split-input-file -verify-diagnostics --npu-spill-tensors --remarks-filter=npu --remark-format=emitRemark | FileCheck %s
// RUN: layout-opt %s -split-input-file --npu-spill-tensors --npu-assign-addresses | FileCheck %s --check-prefix=PLACED
// Check spilling of a third tensor while two are live: a core has 1024 bytes,
// and each tensor needs 512.

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 32>
!sys = memref<1x4x16x8xf32, #npu.memory<system>>
!t = memref<1x4x16x8xf32, #layout.npu_scatter<aligned, start = 0, target = #npu>, #npu.memory<local>>

// A tensor that was loaded from an argument is loaded from there again.
// CHECK: func.func @load_again(%[[X:[a-z0-9]*]]: memref<{{[^>]*}}, #npu.memory<system>>, %{{[a-z0-9]*}}: memref<{{[^>]*}}, #npu.memory<system>> {npu.result})
// CHECK: %[[A:.*]] = npu.alloc
// CHECK: npu.copy %[[X]] to %[[A]]
// CHECK: linalg.exp ins(%[[A]]
// CHECK: npu.dealloc %[[A]]
// CHECK: linalg.exp
// CHECK: %[[B:.*]] = npu.alloc
// CHECK: npu.copy %[[X]] to %[[B]]
// CHECK: linalg.add ins(%[[B]]
// CHECK: npu.dealloc %[[B]]
// PLACED-LABEL: @load_again
// PLACED-COUNT-4: npu.alloc {address =
// expected-remark @below {{tensors spilled}}
func.func @load_again(%x: !sys, %y: !sys {npu.result}) {
  %a = npu.alloc : !t
  npu.copy %x to %a : !sys to !t
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
!half = memref<1x4x8x8xf32, #layout.npu_scatter<strided [128, 128, 8, 1], start = 0, target = #npu>, #npu.memory<local>>

// A computed tensor is stored in an additional argument; a view of it becomes a
// view of the reloaded tensor.
// CHECK: func.func @store({{.*}}, %[[S:[a-z0-9]*]]: memref<{{[^>]*}}, #npu.memory<system>> {npu.scratch})
// CHECK: linalg.exp
// CHECK: linalg.exp {{.*}} outs(%[[B:[0-9]+]] :
// CHECK-NEXT: npu.copy %[[B]] to %[[S]]
// CHECK-NEXT: npu.dealloc %[[B]]
// CHECK: linalg.exp
// CHECK: %[[AGAIN:.*]] = npu.alloc
// CHECK: npu.copy %[[S]] to %[[AGAIN]]
// CHECK: %[[V:.*]] = npu.subview %[[AGAIN]]
// CHECK: npu.copy %[[V]]
// PLACED-LABEL: @store
// PLACED-COUNT-4: npu.alloc {address =
// expected-remark @below {{tensors spilled}}
func.func @store(%x: !sys, %y: !sys {npu.result}, %z: memref<1x4x8x8xf32, #npu.memory<system>> {npu.result}) {
  %a = npu.alloc : !t
  npu.copy %x to %a : !sys to !t
  %b = npu.alloc : !t
  linalg.exp ins(%a : !t) outs(%b : !t)
  linalg.exp ins(%b : !t) outs(%b : !t)
  %v = npu.subview %b [0, 0, 0, 0] [1, 4, 8, 8] [1, 1, 1, 1] : !t to !half
  %c = npu.alloc : !t
  linalg.exp ins(%a : !t) outs(%c : !t)
  npu.dealloc %a : !t
  npu.copy %c to %y : !t to !sys
  npu.dealloc %c : !t
  npu.copy %v to %z : !half to memref<1x4x8x8xf32, #npu.memory<system>>
  npu.dealloc %b : !t
  return
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 32>
!sys = memref<1x4x16x8xf32, #npu.memory<system>>
!t = memref<1x4x16x8xf32, #layout.npu_scatter<aligned, start = 0, target = #npu>, #npu.memory<local>>
!half = memref<1x4x8x8xf32, #layout.npu_scatter<strided [128, 128, 8, 1], start = 0, target = #npu>, #npu.memory<local>>

// A tensor that one op computes from loaded data is recomputed, which moves
// fewer bytes.
// CHECK-LABEL: func.func @make_again(
// CHECK-SAME: %[[X:[a-z0-9]*]]: memref<{{[^>]*}}, #npu.memory<system>>, {{.*}}, #npu.memory<system>> {npu.result}) {
// CHECK-COUNT-2: linalg.exp
// CHECK: %[[AGAIN:.*]] = npu.alloc
// CHECK: %[[LOADED:.*]] = npu.alloc
// CHECK: npu.copy %[[X]] to %[[LOADED]]
// CHECK: linalg.exp ins(%[[LOADED]] : {{.*}}) outs(%[[AGAIN]] :
// CHECK: npu.dealloc %[[LOADED]]
// CHECK: npu.subview %[[AGAIN]]
// PLACED-LABEL: @make_again
// PLACED-COUNT-5: npu.alloc {address =
// expected-remark @below {{tensors spilled}}
func.func @make_again(%x: !sys, %y: !sys {npu.result}, %z: memref<1x4x8x8xf32, #npu.memory<system>> {npu.result}) {
  %a = npu.alloc : !t
  npu.copy %x to %a : !sys to !t
  %b = npu.alloc : !t
  linalg.exp ins(%a : !t) outs(%b : !t)
  %v = npu.subview %b [0, 0, 0, 0] [1, 4, 8, 8] [1, 1, 1, 1] : !t to !half
  %c = npu.alloc : !t
  linalg.exp ins(%a : !t) outs(%c : !t)
  npu.dealloc %a : !t
  npu.copy %c to %y : !t to !sys
  npu.dealloc %c : !t
  npu.copy %v to %z : !half to memref<1x4x8x8xf32, #npu.memory<system>>
  npu.dealloc %b : !t
  return
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 2048, eu_bytes = 32>
!sys = memref<1x4x16x8xf32, #npu.memory<system>>
!t = memref<1x4x16x8xf32, #layout.npu_scatter<aligned, start = 0, target = #npu>, #npu.memory<local>>

// If all tensors fit, the program stays unchanged.
// CHECK: func.func @enough
// CHECK-COUNT-2: npu.alloc
// CHECK-NOT: npu.alloc
// PLACED-LABEL: @enough
func.func @enough(%x: !sys, %y: !sys {npu.result}) {
  %a = npu.alloc : !t
  npu.copy %x to %a : !sys to !t
  %b = npu.alloc : !t
  linalg.exp ins(%a : !t) outs(%b : !t)
  npu.dealloc %a : !t
  npu.copy %b to %y : !t to !sys
  npu.dealloc %b : !t
  return
}

// -----

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 32>
!sys = memref<1x4x16x12xf32, #npu.memory<system>>
!t = memref<1x4x16x12xf32, #layout.npu_scatter<aligned, start = 0, target = #npu>, #npu.memory<local>>

// A tensor and its copy, of 768 bytes each: the copy stays in system memory
// until the first one is dead.
// CHECK: func.func @copy(%[[X:[a-z0-9]*]]: memref<{{[^>]*}}, #npu.memory<system>>, %{{[a-z0-9]*}}: memref<{{[^>]*}}, #npu.memory<system>> {npu.result}, %[[HOME:[a-z0-9]*]]: memref<{{[^>]*}}, #npu.memory<system>> {npu.scratch})
// CHECK: %[[A:.*]] = npu.alloc
// CHECK: npu.copy %[[X]] to %[[A]]
// CHECK: linalg.exp
// CHECK: npu.copy %[[A]] to %[[HOME]]
// CHECK: npu.dealloc %[[A]]
// CHECK: %[[B:.*]] = npu.alloc
// CHECK: npu.copy %[[HOME]] to %[[B]]
// CHECK: linalg.exp ins(%[[B]]
// PLACED-LABEL: @copy
// PLACED-COUNT-2: npu.alloc {address = 0
// expected-remark @below {{tensors spilled}}
func.func @copy(%x: !sys, %y: !sys {npu.result}) {
  %a = npu.alloc : !t
  npu.copy %x to %a : !sys to !t
  linalg.exp ins(%a : !t) outs(%a : !t)
  %b = npu.alloc : !t
  npu.copy %a to %b : !t to !t
  npu.dealloc %a : !t
  linalg.exp ins(%b : !t) outs(%b : !t)
  npu.copy %b to %y : !t to !sys
  npu.dealloc %b : !t
  return
}

// -----

// The free memory is in two pieces when c is created, because a and b are at multiples of 512: one of them is stored.

#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 32>
!sys = memref<1x4x8x8xf32, #npu.memory<system>>
!quarter = memref<1x4x8x8xf32, #layout.npu_scatter<aligned, start = 0, target = #npu>, #npu.memory<local>>
!half = memref<1x4x16x8xf32, #layout.npu_scatter<aligned, start = 0, target = #npu>, #npu.memory<local>>
!out = memref<1x4x16x8xf32, #npu.memory<system>>

// CHECK-LABEL: func.func @in_pieces
// CHECK-SAME: {npu.scratch}
// PLACED-LABEL: @in_pieces
// PLACED-COUNT-6: npu.alloc {{.*}}address =
// expected-remark @below {{tensors spilled}}
func.func @in_pieces(%y: !sys {npu.result}, %z: !out {npu.result}, %w: !out {npu.result}) {
  %p = npu.alloc : !half
  npu.fill 1.0 : f32 to %p on dma : !half
  %q = npu.alloc : !half
  linalg.exp ins(%p : !half) outs(%q : !half)
  npu.dealloc %p : !half
  npu.copy %q to %w : !half to !out
  npu.dealloc %q : !half
  %a = npu.alloc {alignment = 512} : !quarter
  npu.fill 1.0 : f32 to %a on dma : !quarter
  %b = npu.alloc {alignment = 512} : !quarter
  npu.fill 2.0 : f32 to %b on dma : !quarter
  %c = npu.alloc : !half
  npu.fill 3.0 : f32 to %c on dma : !half
  npu.copy %c to %z : !half to !out
  npu.dealloc %c : !half
  linalg.add ins(%a, %b : !quarter, !quarter) outs(%b : !quarter)
  npu.dealloc %a : !quarter
  npu.copy %b to %y : !quarter to !sys
  npu.dealloc %b : !quarter
  return
}
