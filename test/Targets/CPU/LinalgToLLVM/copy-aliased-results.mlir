// RUN: layout-opt %s --layout-cpu-copy-aliased-results --split-input-file | FileCheck %s
// Check that a result is copied if it may alias another result on some path, and only then: loop-carried tensors that
// pass through a branch stay.

// CHECK-LABEL: func @carried
// CHECK-NOT: alloc_tensor
func.func @carried(%x: tensor<4xf32>, %n: index, %c: i1) -> (tensor<4xf32>, tensor<4xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %f = arith.constant 1.0 : f32
  %k = arith.constant 1 : i32
  %a = tensor.empty() : tensor<4xf32>
  %b = tensor.empty() : tensor<4xi32>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %a, %q = %b) -> (tensor<4xf32>, tensor<4xi32>) {
    %s:2 = scf.if %c -> (tensor<4xf32>, tensor<4xi32>) {
      %v = tensor.insert %f into %p[%i] : tensor<4xf32>
      %w = tensor.insert %k into %q[%i] : tensor<4xi32>
      scf.yield %v, %w : tensor<4xf32>, tensor<4xi32>
    } else {
      scf.yield %p, %q : tensor<4xf32>, tensor<4xi32>
    }
    scf.yield %s#0, %s#1 : tensor<4xf32>, tensor<4xi32>
  }
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xi32>
}

// -----

// One branch yields one tensor twice, and both have one init.
// CHECK-LABEL: func @shared
// CHECK: %[[R:.*]]:2 = scf.for
// CHECK: %[[S:.*]]:2 = scf.if
// CHECK: %[[C:.*]] = bufferization.alloc_tensor() copy(%[[S]]#1)
// CHECK: scf.yield %[[S]]#0, %[[C]]
// CHECK: %[[D:.*]] = bufferization.alloc_tensor() copy(%[[R]]#1)
// CHECK: return %[[R]]#0, %[[D]]
func.func @shared(%x: tensor<4xf32>, %n: index, %c: i1) -> (tensor<4xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %x, %q = %x) -> (tensor<4xf32>, tensor<4xf32>) {
    %s:2 = scf.if %c -> (tensor<4xf32>, tensor<4xf32>) {
      scf.yield %p, %p : tensor<4xf32>, tensor<4xf32>
    } else {
      scf.yield %p, %q : tensor<4xf32>, tensor<4xf32>
    }
    scf.yield %s#0, %s#1 : tensor<4xf32>, tensor<4xf32>
  }
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// A constant that is returned on one path.
// CHECK-LABEL: func @constant
// CHECK: bufferization.alloc_tensor() copy
func.func @constant(%x: tensor<2xf32>, %c: i1) -> tensor<2xf32> {
  %k = arith.constant dense<1.0> : tensor<2xf32>
  %s = scf.if %c -> (tensor<2xf32>) {
    scf.yield %x : tensor<2xf32>
  } else {
    scf.yield %k : tensor<2xf32>
  }
  return %s : tensor<2xf32>
}
