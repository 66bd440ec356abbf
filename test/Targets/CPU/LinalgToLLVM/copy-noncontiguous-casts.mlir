// Check that a cast that loses a static stride becomes a copy.
// RUN: layout-opt %s --layout-cpu-copy-noncontiguous-casts | FileCheck %s

// CHECK-LABEL: func.func @loses_a_stride
// CHECK-SAME: %[[X:.*]]: memref<8x?xf32
// CHECK: %[[SIZE:.*]] = memref.dim %[[X]], %{{.*}}
// CHECK: %[[COPY:.*]] = memref.alloc(%[[SIZE]]) : memref<8x?xf32>
// CHECK: memref.copy %[[X]], %[[COPY]]
// CHECK: return %[[COPY]]
func.func @loses_a_stride(%x: memref<8x?xf32, strided<[?, 1], offset: ?>>) -> memref<8x?xf32> {
  %0 = memref.cast %x : memref<8x?xf32, strided<[?, 1], offset: ?>> to memref<8x?xf32>
  return %0 : memref<8x?xf32>
}

// Static strides are not products of dynamic sizes.
// CHECK-LABEL: func.func @loses_numbers
// CHECK: memref.copy
func.func @loses_numbers(%x: memref<?x?xf32, strided<[60, 1]>>) -> memref<?x?xf32> {
  %0 = memref.cast %x : memref<?x?xf32, strided<[60, 1]>> to memref<?x?xf32>
  return %0 : memref<?x?xf32>
}

// CHECK-LABEL: func.func @keeps_its_strides
// CHECK-NOT: memref.alloc
func.func @keeps_its_strides(%x: memref<?x4xf32>, %y: memref<?x4xf32, strided<[4, 1]>>)
    -> (memref<?x?xf32>, memref<?x4xf32>, memref<?x4xf32, strided<[?, 1], offset: ?>>) {
  %0 = memref.cast %x : memref<?x4xf32> to memref<?x?xf32>
  %1 = memref.cast %y : memref<?x4xf32, strided<[4, 1]>> to memref<?x4xf32>
  %2 = memref.cast %1 : memref<?x4xf32> to memref<?x4xf32, strided<[?, 1], offset: ?>>
  return %0, %1, %2 : memref<?x?xf32>, memref<?x4xf32>, memref<?x4xf32, strided<[?, 1], offset: ?>>
}
