// Check that a function frees its allocations, and that a private function without allocations is unchanged.

// RUN: layout-opt %s --layout-cpu-free-buffers | FileCheck %s

// CHECK-LABEL: func @main(
// CHECK: %[[M:.*]] = memref.alloc
// CHECK: call @kernel(%[[M]])
// CHECK: call @caller(%[[M]])
// CHECK: memref.dealloc %[[M]]
func.func @main() {
  %m = memref.alloc() : memref<4xi32>
  call @kernel(%m) : (memref<4xi32>) -> ()
  call @caller(%m) : (memref<4xi32>) -> ()
  return
}

// CHECK-LABEL: func private @kernel(
// CHECK: arith.addi
func.func private @kernel(%m: memref<4xi32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i32
  %x = memref.load %m[%c0] : memref<4xi32>
  %y = arith.addi %x, %zero : i32
  memref.store %y, %m[%c0] : memref<4xi32>
  return
}

// CHECK-LABEL: func private @caller(
// CHECK-NOT: arith.addi
// CHECK: return
func.func private @caller(%m: memref<4xi32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i32
  %x = memref.load %m[%c0] : memref<4xi32>
  %y = arith.addi %x, %zero : i32
  memref.store %y, %m[%c0] : memref<4xi32>
  call @kernel(%m) : (memref<4xi32>) -> ()
  return
}
