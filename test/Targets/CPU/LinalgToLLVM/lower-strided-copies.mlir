// Check that strided copies become loops, and contiguous ones stay.
// RUN: layout-opt %s -pass-pipeline="builtin.module(func.func(layout-cpu-lower-strided-copies))" | FileCheck %s

// CHECK-LABEL: func.func @dense
// CHECK: memref.copy
func.func @dense(%x: memref<4x8xf32>, %y: memref<4x8xf32>) {
  memref.copy %x, %y : memref<4x8xf32> to memref<4x8xf32>
  return
}

// CHECK-LABEL: func.func @strided
// CHECK-NOT: memref.copy
// CHECK: scf.for
// CHECK: scf.for
// CHECK: memref.store
func.func @strided(%x: memref<4x8xf32>, %y: memref<4x8xf32, strided<[16, 1]>>) {
  memref.copy %x, %y : memref<4x8xf32> to memref<4x8xf32, strided<[16, 1]>>
  return
}

// CHECK-LABEL: func.func @onto_itself
// CHECK-NEXT: return
func.func @onto_itself(%x: memref<4x8xf32, strided<[16, 1]>>) {
  memref.copy %x, %x : memref<4x8xf32, strided<[16, 1]>> to memref<4x8xf32, strided<[16, 1]>>
  return
}

// A slice of dynamic sizes checks at run time whether it covers whole rows.
// CHECK-LABEL: func.func @dense_or_not
// CHECK: %[[SOURCE:.*]] = arith.cmpi eq
// CHECK: %[[TARGET:.*]] = arith.cmpi eq
// CHECK: %[[BOTH:.*]] = arith.andi %[[SOURCE]], %[[TARGET]]
// CHECK: scf.if %[[BOTH]]
// CHECK: "llvm.intr.memcpy"
// CHECK: } else {
// CHECK: scf.for
// CHECK: memref.store
func.func @dense_or_not(%x: memref<2x?x8xf32, strided<[?, 8, 1]>>, %y: memref<2x?x8xf32, strided<[?, 8, 1], offset: ?>>) {
  memref.copy %x, %y : memref<2x?x8xf32, strided<[?, 8, 1]>> to memref<2x?x8xf32, strided<[?, 8, 1], offset: ?>>
  return
}

// Strides that state gaps need no check.
// CHECK-LABEL: func.func @dynamic_with_gaps
// CHECK-NOT: scf.if
// CHECK: scf.for
func.func @dynamic_with_gaps(%x: memref<?x8xf32>, %y: memref<?x8xf32, strided<[16, 1]>>) {
  memref.copy %x, %y : memref<?x8xf32> to memref<?x8xf32, strided<[16, 1]>>
  return
}
