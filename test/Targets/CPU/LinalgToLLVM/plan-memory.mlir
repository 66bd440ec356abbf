// RUN: layout-opt %s -split-input-file -pass-pipeline="builtin.module(func.func(layout-cpu-plan-memory))" | FileCheck %s

// Check that %a and %c, which are never live together, share the first position;
// %b is live with both.
// CHECK-LABEL: func.func @chain
// CHECK: %[[ARENA:.*]] = memref.alloc() {alignment = 64 : i64, bufferization.manual_deallocation} : memref<128xi8>
// CHECK-DAG: %[[A:.*]] = memref.view %[[ARENA]][%c0{{.*}}][] : memref<128xi8> to memref<16xf32>
// CHECK: %[[B:.*]] = memref.view %[[ARENA]][%c64{{.*}}][] : memref<128xi8> to memref<16xf32>
// CHECK: %[[C:.*]] = memref.view %[[ARENA]][%c0{{.*}}][] : memref<128xi8> to memref<16xf32>
// CHECK: memref.dealloc %[[ARENA]]
// CHECK-NEXT: return
func.func @chain(%x: memref<16xf32>, %y: memref<16xf32>) {
  %a = memref.alloc() : memref<16xf32>
  linalg.copy ins(%x : memref<16xf32>) outs(%a : memref<16xf32>)
  %b = memref.alloc() : memref<16xf32>
  linalg.copy ins(%a : memref<16xf32>) outs(%b : memref<16xf32>)
  %c = memref.alloc() : memref<16xf32>
  linalg.copy ins(%b : memref<16xf32>) outs(%c : memref<16xf32>)
  linalg.copy ins(%c : memref<16xf32>) outs(%y : memref<16xf32>)
  return
}

// -----

// A returned buffer, and one that is returned through a view, stay allocations.
// CHECK-LABEL: func.func @returned
// CHECK-NOT: memref.view
// CHECK-COUNT-2: memref.alloc()
// CHECK-NOT: memref.dealloc
func.func @returned() -> (memref<4xf32>, memref<2x2xf32>) {
  %a = memref.alloc() : memref<4xf32>
  %b = memref.alloc() : memref<4xf32>
  %v = memref.expand_shape %b [[0, 1]] output_shape [2, 2] : memref<4xf32> into memref<2x2xf32>
  return %a, %v : memref<4xf32>, memref<2x2xf32>
}

// -----

// A use inside a loop keeps the buffer live for the whole loop; a dynamic
// buffer is freed after it.
// CHECK-LABEL: func.func @loop
// CHECK: %[[D:.*]] = memref.alloc(%{{.*}}) {bufferization.manual_deallocation}
// CHECK: scf.for
// CHECK: }
// CHECK-NEXT: memref.dealloc %[[D]] {bufferization.manual_deallocation}
func.func @loop(%n: index, %y: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc(%n) : memref<?xf32>
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %a[%i] : memref<?xf32>
    memref.store %v, %y[%c0] : memref<4xf32>
  }
  return
}

// -----

// A loop-carried value is not tracked.
// CHECK-LABEL: func.func @carried
// CHECK-NOT: memref.view
func.func @carried(%n: index, %y: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<4xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%m = %a) -> memref<4xf32> {
    scf.yield %m : memref<4xf32>
  }
  memref.copy %r, %y : memref<4xf32> to memref<4xf32>
  return
}
