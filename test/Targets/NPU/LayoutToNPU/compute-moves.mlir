// Check which fills and copies run on the execution units: those inside of cores that take less time there.
// RUN: layout-opt %s -split-input-file --npu-compute-moves | FileCheck %s

#npu = #npu.target<npus = 4, bytes_per_npu = 16384, eu_bytes = 32>
#aligned = #layout.npu_scatter<aligned, start = 0, target = #npu>
#inside = #layout.npu_scatter<strided [560, 280, 20, 1], start = 0, offset = 84, target = #npu>
#next = #layout.npu_scatter<aligned, start = 1, target = #npu>
!sys = memref<1x8x12x18xf32, #npu.memory<system>>
!small = memref<1x8x12x18xf32, #aligned, #npu.memory<local>>
!inside = memref<1x8x12x18xf32, #inside, #npu.memory<local>>
!padded = memref<1x8x14x20xf32, #aligned, #npu.memory<local>>
!moved = memref<1x8x12x18xf32, #next, #npu.memory<local>>
!bytes = memref<1x8x12x18xi8, #aligned, #npu.memory<local>>

// CHECK-LABEL: func.func @pad
// CHECK: npu.copy %{{.*}} to %[[X:.*]] : memref<1x8x12x18xf32, #npu.memory<system>>
// CHECK: npu.fill 0.000000e+00 : f32 to %{{.*}} on compute
// CHECK: linalg.generic {{.*}} ins(%[[X]] : {{.*}}) outs(%{{.*}} : memref<1x8x12x18xf32, #npu_strided, {{.*}}) {
// CHECK-NEXT: ^bb0(%[[IN:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT: linalg.yield %[[IN]]
func.func @pad(%x: !sys) {
  %s = npu.alloc : !small
  npu.copy %x to %s : !sys to !small
  %p = npu.alloc : !padded
  %i = npu.subview %p [0, 0, 1, 1] [1, 8, 12, 18] [1, 1, 1, 1] : !padded to !inside
  npu.fill 0.0 : f32 to %p on dma : !padded
  npu.copy %s to %i : !small to !inside
  return
}

// Other cores, bytes, system memory and a parallel region need the DMA engine.
// CHECK-LABEL: func.func @kept
// CHECK-COUNT-2: npu.copy
// CHECK: npu.fill 0 : i8 to %{{.*}} on dma
// CHECK: npu.fill 0.000000e+00 : f32 to %{{.*}} on dma : memref<1x8x12x18xf32, #npu.memory<system>>
// CHECK: npu.parallel
// CHECK: npu.fill 0.000000e+00 : f32 to %{{.*}} on dma
func.func @kept(%x: !sys) {
  %s = npu.alloc : !small
  npu.copy %x to %s : !sys to !small
  %m = npu.alloc : !moved
  npu.copy %s to %m : !small to !moved
  %b = npu.alloc : !bytes
  npu.fill 0 : i8 to %b on dma : !bytes
  npu.fill 0.0 : f32 to %x on dma : !sys
  %t = npu.alloc : !small
  npu.parallel {
    npu.fill 0.0 : f32 to %t on dma : !small
  }
  return
}

// -----

// The start of a command may take longer than a transfer.
#npu = #npu.target<npus = 4, bytes_per_npu = 16384, eu_bytes = 32, clock = {fill_local_start = 1, s2l_start = 1, compute_start = 1000}>
#aligned = #layout.npu_scatter<aligned, start = 0, target = #npu>
!t = memref<1x8x12x18xf32, #aligned, #npu.memory<local>>
// CHECK-LABEL: func.func @slow
// CHECK: npu.fill 0.000000e+00 : f32 to %{{.*}} on dma
func.func @slow() {
  %t = npu.alloc : !t
  npu.fill 0.0 : f32 to %t on dma : !t
  return
}
