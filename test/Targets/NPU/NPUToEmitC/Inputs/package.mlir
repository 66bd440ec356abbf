// CHECK: "bytes": 24
// CHECK: "element": "f32"
// CHECK: "role": "input"
// CHECK: "role": "result"
// CHECK: "role": "scratch"
// CHECK: "chip": {
// CHECK: "dma_alignment": 4
// CHECK: "max_stride": 512
// CHECK: "npus": 4
// CHECK: "constants": 326
// CHECK: "function": "main"
#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128, dma_alignment = 4, max_stride = 512>
!sys = memref<1x3x1x2xf32, #npu.memory<system>>
!local = memref<1x3x1x2xf32, #layout.npu_scatter<compact, start = 0, target = #npu>, #npu.memory<local>>

memref.global "private" constant @splat : memref<3xf32, #npu.memory<system>> = dense<1.5>
memref.global "private" constant @bytes : memref<3xi8, #npu.memory<system>> = dense<[1, -2, 3]>
memref.global "private" constant @wide : memref<3xi64, #npu.memory<system>> = dense<[1, 2, 3]>
memref.global "private" constant @resource : memref<2xf32, #npu.memory<system>> = dense_resource<numbers>
memref.global "private" constant @halfs : memref<7xf16, #npu.memory<system>> = dense<0.5>
memref.global "private" constant @shorts : memref<3xi16, #npu.memory<system>> = dense<-7>

func.func @main(%x: !sys, %y: !sys, %z: !sys {npu.scratch}) {
  %t = npu.alloc {address = 0} : !local
  npu.copy %x to %t : !sys to !local
  %part = memref.subview %y[0, 0, 0, 0] [1, 3, 1, 2] [1, 1, 1, 1] : !sys to memref<1x3x1x2xf32, strided<[6, 2, 2, 1]>, #npu.memory<system>>
  npu.copy %t to %part : !local to memref<1x3x1x2xf32, strided<[6, 2, 2, 1]>, #npu.memory<system>>
  npu.copy %t to %z : !local to !sys
  return
}

{-#
  dialect_resources: {
    builtin: {
      numbers: "0x040000000000803F00000040"
    }
  }
#-}
