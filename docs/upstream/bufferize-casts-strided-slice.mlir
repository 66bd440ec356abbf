// With identity layouts at function boundaries, one-shot-bufferize casts a slice of rows 32 elements apart to contiguous
// memory, because the first stride of memref<8x?xf32> is not a number that could contradict: a caller reads the rows as
// if they were %n elements apart.

// RUN: mlir-opt-22 %s --one-shot-bufferize='bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map' | FileCheck %s --check-prefix=IF-MENDED-REMOVE-CopyNoncontiguousCasts

// IF-MENDED-REMOVE-CopyNoncontiguousCasts: memref.cast %{{.*}} : memref<8x?xf32, strided<[32, 1]>> to memref<8x?xf32>
func.func @columns(%x: tensor<8x32xf32>, %n: index) -> tensor<8x?xf32> {
  %s = tensor.extract_slice %x[0, 0] [8, %n] [1, 1] : tensor<8x32xf32> to tensor<8x?xf32>
  return %s : tensor<8x?xf32>
}
