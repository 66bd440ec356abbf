// RUN: layout-opt %s -split-input-file -pass-pipeline="builtin.module(func.func(layout-cpu-plan-memory{arena=false}))" | FileCheck %s

// Each buffer is freed after its last use.
// CHECK-LABEL: func.func @one_after_the_other
// CHECK: %[[A:.*]] = memref.alloc() {bufferization.manual_deallocation} : memref<32xf32>
// CHECK: memref.store %{{.*}}, %[[A]]
// CHECK-NEXT: memref.dealloc %[[A]] {bufferization.manual_deallocation}
// CHECK: %[[B:.*]] = memref.alloc
// CHECK: memref.store %{{.*}}, %[[B]]
// CHECK-NEXT: memref.dealloc %[[B]]
func.func @one_after_the_other(%v: f32, %i: index) {
  %a = memref.alloc() : memref<32xf32>
  memref.store %v, %a[%i] : memref<32xf32>
  %b = memref.alloc() : memref<32xf32>
  memref.store %v, %b[%i] : memref<32xf32>
  return
}

// -----

// In a loop as well, with a use of the outer buffer at the end of the loop. An op that borrows a buffer does not free
// it.
// CHECK-LABEL: func.func @loop
// CHECK: %[[A:.*]] = memref.alloc() {{.*}} : memref<32xf32>
// CHECK: scf.for
// CHECK:   %[[B:.*]] = memref.alloc(%{{.*}}) {{.*}} : memref<?xf32>
// CHECK:   call @borrow(%[[B]])
// CHECK-NEXT: memref.dealloc %[[B]]
// CHECK:   memref.store %{{.*}}, %[[A]]
// CHECK: }
// CHECK-NEXT: memref.dealloc %[[A]]
func.func private @borrow(memref<?xf32>)
func.func @loop(%v: f32, %i: index, %n: index) {
  %zero = arith.constant 0 : index
  %a = memref.alloc() : memref<32xf32>
  scf.for %k = %zero to %n step %n {
    %b = memref.alloc(%n) : memref<?xf32>
    func.call @borrow(%b) {layout.borrows} : (memref<?xf32>) -> ()
    memref.store %v, %a[%i] : memref<32xf32>
  }
  return
}

// -----

// Buffers that are returned or captured are left to buffer deallocation.
// CHECK-LABEL: func.func @kept
// CHECK-NOT: memref.dealloc
func.func private @keep(memref<32xf32>)
func.func @kept() -> memref<32xf32> {
  %a = memref.alloc() : memref<32xf32>
  %b = memref.alloc() : memref<32xf32>
  call @keep(%b) : (memref<32xf32>) -> ()
  return %a : memref<32xf32>
}
