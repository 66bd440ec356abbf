#npu = #npu.target<npus = 4, bytes_per_npu = 2048, eu_bytes = 128>
#aligned = #layout.npu_scatter<aligned, start = 2, target = #npu>
#bytes = #layout.npu_scatter<aligned, start = 0, pack = n4, target = #npu>
#matrix = #layout.npu_scatter<matrix 15, start = 2, target = #npu>
#compact = #layout.npu_scatter<compact, start = 1, target = #npu>
!tensor = memref<2x3x4x5xf32, #npu.memory<system>>
!bytes = memref<6x5x4x5xi8, #npu.memory<system>>
!matrix = memref<2x40xf32, #npu.memory<system>>
!aligned = memref<2x3x4x5xf32, #aligned, #npu.memory<local>>
!compact = memref<2x3x4x5xf32, #compact, #npu.memory<local>>
!localBytes = memref<6x5x4x5xi8, #bytes, #npu.memory<local>>
!localMatrix = memref<2x40xf32, #matrix, #npu.memory<local>>

// Moves tensors of all layouts in and out, while the execution units fill an unread tensor, and negates twice.
func.func @program(%x: !tensor, %y: !tensor, %b: !bytes, %c: !bytes,
                   %m: !matrix, %n: !matrix) {
  %t = npu.alloc {address = 4096} : !aligned
  %u = npu.alloc {address = 3328} : !compact
  %v = npu.alloc {address = 512} : !localBytes
  %w = npu.alloc {address = 5632} : !localMatrix
  npu.parallel {
    npu.copy %x to %t : !tensor to !aligned
    npu.fill 0.0 : f32 to %u on compute : !compact
    npu.copy %b to %v : !bytes to !localBytes
  }
  npu.copy %t to %u : !aligned to !compact
  linalg.negf ins(%u : !compact) outs(%u : !compact)
  linalg.negf ins(%u : !compact) outs(%u : !compact)
  npu.copy %u to %y : !compact to !tensor
  npu.copy %v to %c : !localBytes to !bytes
  npu.copy %m to %w : !matrix to !localMatrix
  linalg.negf ins(%w : !localMatrix) outs(%w : !localMatrix)
  linalg.negf ins(%w : !localMatrix) outs(%w : !localMatrix)
  npu.copy %w to %n : !localMatrix to !matrix
  npu.dealloc %w : !localMatrix
  npu.dealloc %v : !localBytes
  npu.dealloc %u : !compact
  npu.dealloc %t : !aligned
  return
}
