// Check that sizes of loop results are read from their inits, so that compile time does not double with each loop of a
// chain. A loop that may change a size keeps its own.

// RUN: layout-opt %s -layout-cpu-bufferize | FileCheck %s

// CHECK-LABEL: func @chain(
// CHECK-SAME: %[[X:.*]]: memref<?x4xf32>
// CHECK-NOT: memref.dim %{{[0-9]|arg[1-9]}}
// CHECK: memref.dim %[[X]]
// CHECK-NOT: memref.dim %{{[0-9]|arg[1-9]}}
// CHECK: return
func.func @chain(%x: tensor<?x4xf32>, %row: tensor<1x4xf32>, %flag: i1) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?x4xf32>
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%t = %x) -> (tensor<?x4xf32>) {
    %m = tensor.dim %t, %c0 : tensor<?x4xf32>
    %last = arith.subi %m, %c1 : index
    %u = tensor.insert_slice %row into %t[%last, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<?x4xf32>
    scf.yield %u : tensor<?x4xf32>
  }
  %n0 = tensor.dim %0, %c0 : tensor<?x4xf32>
  %1 = scf.if %flag -> (tensor<?x4xf32>) {
    %f = arith.constant 1.0 : f32
    %u = linalg.fill ins(%f : f32) outs(%0 : tensor<?x4xf32>) -> tensor<?x4xf32>
    scf.yield %u : tensor<?x4xf32>
  } else {
    scf.yield %0 : tensor<?x4xf32>
  }
  %n1 = tensor.dim %1, %c0 : tensor<?x4xf32>
  %2 = scf.for %i = %n0 to %n1 step %c1 iter_args(%t = %1) -> (tensor<?x4xf32>) {
    %f = arith.constant 2.0 : f32
    %u = tensor.insert %f into %t[%i, %c0] : tensor<?x4xf32>
    scf.yield %u : tensor<?x4xf32>
  }
  return %2 : tensor<?x4xf32>
}

// CHECK-LABEL: func @swapped(
// CHECK: %[[R:.*]]:2 = scf.for
// CHECK: memref.dim %[[R]]#0
func.func @swapped(%a: tensor<?xf32>, %b: tensor<?xf32>, %n: index) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a, %y = %b) -> (tensor<?xf32>, tensor<?xf32>) {
    scf.yield %y, %x : tensor<?xf32>, tensor<?xf32>
  }
  %d = tensor.dim %r#0, %c0 : tensor<?xf32>
  return %d : index
}
