// finalize-memref-to-llvm lowers a copy from strided memory to a call of memrefCopy in the C runtime library, which
// copies one element at a time and which the caller has to link. It could emit loops, or one memcpy for each row.

// RUN: mlir-opt-22 %s --finalize-memref-to-llvm | FileCheck %s --check-prefix=IF-MENDED-REMOVE-LowerStridedCopies

// IF-MENDED-REMOVE-LowerStridedCopies: llvm.call @memrefCopy
func.func @copy(%x: memref<8x4xf32, strided<[32, 1]>>, %y: memref<8x4xf32>) {
  memref.copy %x, %y : memref<8x4xf32, strided<[32, 1]>> to memref<8x4xf32>
  return
}
