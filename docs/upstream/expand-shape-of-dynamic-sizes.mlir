// expand-strided-metadata crashes on a memref.expand_shape with several dynamic sizes in one group.

// RUN: not --crash mlir-opt-22 %s --expand-strided-metadata 2>&1 | FileCheck %s --check-prefix=IF-MENDED-REMOVE-LowerPackPadConcat-reshape

// IF-MENDED-REMOVE-LowerPackPadConcat-reshape: Stack dump
func.func @expand(%x: memref<?xf32>, %n: index, %m: index) -> memref<?x?xf32> {
  %r = memref.expand_shape %x [[0, 1]] output_shape [%n, %m] : memref<?xf32> into memref<?x?xf32>
  return %r : memref<?x?xf32>
}
