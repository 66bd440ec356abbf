// Check that bufferization treats a kernel as one op: its inputs must not alias its outputs, and overwritten inits are
// not copied.

// RUN: layout-opt %s | layout-opt | FileCheck %s --check-prefix=TEXT
// RUN: layout-opt %s -pass-pipeline="builtin.module(layout-cpu-bufferize,cse,canonicalize)" | FileCheck %s

// TEXT-LABEL: func.func @one_buffer
// TEXT: cpu.kernel ins(%{{.*}} : tensor<4xf32>) outs(%{{.*}} : tensor<4xf32>) {
// TEXT-NEXT: ^bb0(%{{.*}}: memref<4xf32>, %{{.*}}: memref<4xf32>):
// TEXT: } -> tensor<4xf32>
// TEXT-LABEL: func.func @no_input
// TEXT: cpu.kernel outs(%{{.*}} : tensor<?xf32>) {

// The first element is written before it is read for the last one.
// CHECK-LABEL: func.func @one_buffer
// CHECK-SAME: %[[X:.*]]: memref<4xf32>
// CHECK: %[[Y:.*]] = memref.alloc() {{.*}} : memref<4xf32>
// CHECK: memref.load %[[X]]
// CHECK: memref.store %{{.*}}, %[[Y]]
func.func @one_buffer(%x: tensor<4xf32> {bufferization.writable = true}) -> tensor<4xf32> {
  %y = cpu.kernel ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>) {
  ^bb0(%to: memref<4xf32>, %from: memref<4xf32>):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    scf.for %i = %c0 to %c4 step %c1 {
      %at = arith.subi %c3, %i : index
      %v = memref.load %from[%at] : memref<4xf32>
      memref.store %v, %to[%i] : memref<4xf32>
    }
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// The previous contents matter: they are copied if another op reads them.
// CHECK-LABEL: func.func @old_elements
// CHECK-SAME: %[[X:.*]]: memref<4xf32>
// CHECK: %[[Y:.*]] = memref.alloc() {{.*}} : memref<4xf32>
// CHECK: memref.copy %[[X]], %[[Y]]
// CHECK: memref.load %[[Y]]
// CHECK: memref.store %{{.*}}, %[[Y]]
func.func @old_elements(%x: tensor<4xf32> {bufferization.writable = false}) -> tensor<4xf32> {
  %y = cpu.kernel outs(%x : tensor<4xf32>) {
  ^bb0(%to: memref<4xf32>):
    %c0 = arith.constant 0 : index
    %v = memref.load %to[%c0] : memref<4xf32>
    %w = arith.addf %v, %v : f32
    memref.store %w, %to[%c0] : memref<4xf32>
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// A kernel that overwrites a whole slice writes to the slice, which is strided.
// CHECK-LABEL: func.func @into_a_slice
// CHECK: %[[ALL:.*]] = memref.alloc() {{.*}} : memref<2x6xf32>
// CHECK: %[[PART:.*]] = memref.subview %[[ALL]][0, 1] [2, 4] [1, 1]
// CHECK: memref.store %{{.*}}, %[[PART]]
// CHECK-NOT: memref.copy
// CHECK: return %[[ALL]]
func.func @into_a_slice(%v: f32) -> tensor<2x6xf32> {
  %all = tensor.empty() : tensor<2x6xf32>
  %e = tensor.empty() : tensor<2x4xf32>
  %y = cpu.kernel outs(%e : tensor<2x4xf32>) {
  ^bb0(%to: memref<2x4xf32>):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    scf.for %i = %c0 to %c2 step %c1 {
      scf.for %k = %c0 to %c4 step %c1 {
        memref.store %v, %to[%i, %k] : memref<2x4xf32>
      }
    }
  } -> tensor<2x4xf32>
  %r = tensor.insert_slice %y into %all[0, 1] [2, 4] [1, 1] : tensor<2x4xf32> into tensor<2x6xf32>
  return %r : tensor<2x6xf32>
}

// CHECK-LABEL: func.func @no_input
// CHECK: memref.store
func.func @no_input(%v: f32, %n: index) -> tensor<?xf32> {
  %e = tensor.empty(%n) : tensor<?xf32>
  %y = cpu.kernel outs(%e : tensor<?xf32>) {
  ^bb0(%to: memref<?xf32>):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %n step %c1 {
      memref.store %v, %to[%i] : memref<?xf32>
    }
  } -> tensor<?xf32>
  return %y : tensor<?xf32>
}
