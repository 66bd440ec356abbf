// RUN: layout-opt %s --npu-overlap-transfers | FileCheck %s
// RUN: layout-opt %s --npu-overlap-transfers --npu-assign-addresses --npu-verify-memory -o /dev/null
// Check that no transfer overlaps if memory is full: e does not fit while b, c and d are live.

#npu = #npu.target<npus = 4, bytes_per_npu = 1536, eu_bytes = 32>
!sys = memref<1x4x16x8xf32, #npu.memory<system>>
!t = memref<1x4x16x8xf32, #layout.npu_scatter<aligned, start = 0, target = #npu>, #npu.memory<local>>

// CHECK: npu.copy %arg0 to %[[A:.*]] :
// CHECK: linalg.exp ins(%[[A]] : {{.*}}) outs(%[[B:.*]] :
// CHECK: npu.parallel {
// CHECK-NEXT: linalg.exp
// CHECK-NEXT: npu.copy %[[B]] to %arg2
// CHECK-NEXT: }
// CHECK: npu.dealloc %[[B]]
// CHECK: npu.copy %arg1 to %[[E:.*]] :
// CHECK-NOT: npu.parallel
// CHECK: linalg.add
func.func @full(%x: !sys, %z: !sys, %u: !sys {npu.result}, %y: !sys {npu.result}) {
  %a = npu.alloc : !t
  npu.copy %x to %a : !sys to !t
  %b = npu.alloc : !t
  linalg.exp ins(%a : !t) outs(%b : !t)
  npu.dealloc %a : !t
  npu.copy %b to %u : !t to !sys
  npu.dealloc %b : !t
  %c = npu.alloc : !t
  npu.fill 1.0 : f32 to %c on dma : !t
  %d = npu.alloc : !t
  linalg.exp ins(%c : !t) outs(%d : !t)
  %e = npu.alloc : !t
  npu.copy %z to %e : !sys to !t
  linalg.add ins(%d, %e : !t, !t) outs(%c : !t)
  npu.dealloc %d : !t
  npu.dealloc %e : !t
  npu.copy %c to %y : !t to !sys
  npu.dealloc %c : !t
  return
}
