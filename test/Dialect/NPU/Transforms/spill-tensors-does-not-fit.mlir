// RUN: layout-opt %s --npu-spill-tensors=reuse-holes=true | FileCheck %s
// RUN: not layout-opt %s --npu-spill-tensors=reuse-holes=true --npu-assign-addresses=reuse-holes=true 2>&1 | FileCheck %s --check-prefix=ERROR
// Check that spilling ends if it cannot help: the tensors of one op fit by their sum, 264 of 256 bytes with 132
// elements, but no addresses do.

#npu = #npu.target<npus = 1, bytes_per_npu = 256, eu_bytes = 8>
!in = memref<1x7x3x1xf32, #layout.npu_scatter<aligned, start = 0, axes = "NNNC", target = #npu>, #npu.memory<local>>
!window = memref<3x3xf32, #layout.npu_scatter<aligned, start = 0, axes = "NN", target = #npu>, #npu.memory<local>>
!out = memref<1x3x1x1xf32, #layout.npu_scatter<aligned, start = 0, axes = "NNNC", target = #npu>, #npu.memory<local>>
!sysin = memref<1x7x3x1xf32, #npu.memory<system>>
!sysout = memref<1x3x1x1xf32, #npu.memory<system>>

// CHECK-LABEL: func.func @two_stores_after_one_op
// CHECK: npu.copy %{{[0-9]+}} to %[[HOME:arg[0-9]+]] {{.*}} to memref<3x3xf32
// CHECK: npu.copy %[[HOME]] to %[[W:[0-9]+]]
// CHECK: linalg.pooling_nhwc_sum {{.*}} ins(%{{.*}}, %[[W]] : {{.*}} outs(%[[C:[0-9]+]] :
// CHECK-NEXT: npu.dealloc %[[W]]
// CHECK-NEXT: npu.copy %[[C]] to %{{arg[0-9]+}}
// CHECK-NEXT: npu.dealloc %[[C]]
// CHECK-NEXT: npu.dealloc
// CHECK-NOT: to memref<3x3xf32, #npu.memory<system>>
// CHECK: npu.copy %[[HOME]] to %[[AGAIN:[0-9]+]]
// CHECK: linalg.pooling_nhwc_sum {{.*}} ins(%{{.*}}, %[[AGAIN]] :
// ERROR: error: 'func.func' op has tensors for which no addresses were found
func.func @two_stores_after_one_op(%x: !sysin, %y: !sysin, %z: !sysout {npu.result}, %w: !sysout {npu.result}) {
  %a = npu.alloc : !in
  npu.copy %x to %a : !sysin to !in
  %window = npu.alloc : !window
  %c = npu.alloc : !out
  npu.fill 0.0 : f32 to %c on dma : !out
  linalg.pooling_nhwc_sum {strides = dense<[2, 3]> : tensor<2xi64>} ins(%a, %window : !in, !window) outs(%c : !out)
  npu.dealloc %a : !in
  %b = npu.alloc : !in
  npu.copy %y to %b : !sysin to !in
  %d = npu.alloc : !out
  npu.fill 0.0 : f32 to %d on dma : !out
  linalg.pooling_nhwc_sum {strides = dense<[2, 3]> : tensor<2xi64>} ins(%b, %window : !in, !window) outs(%d : !out)
  npu.dealloc %b : !in
  npu.dealloc %window : !window
  npu.copy %c to %z : !out to !sysout
  npu.dealloc %c : !out
  npu.copy %d to %w : !out to !sysout
  npu.dealloc %d : !out
  return
}
