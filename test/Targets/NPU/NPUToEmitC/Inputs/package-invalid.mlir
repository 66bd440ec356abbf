#npu = #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128>
!sys = memref<1x3x1x2xf32, #npu.memory<system>>
!local = memref<1x3x1x2xf32, #layout.npu_scatter<compact, start = 0, target = #npu>, #npu.memory<local>>

// Reads uninitialized memory.
func.func @main(%y: !sys) {
  %t = npu.alloc {address = 0} : !local
  npu.copy %t to %y : !local to !sys
  return
}
