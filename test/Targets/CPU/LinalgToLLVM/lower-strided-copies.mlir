// RUN: layout-opt %s -pass-pipeline="builtin.module(func.func(layout-lower-strided-copies))" | FileCheck %s

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
