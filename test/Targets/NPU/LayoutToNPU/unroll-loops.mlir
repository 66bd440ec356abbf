// Check that loops with a constant trip count are unrolled.
// RUN: layout-opt %s -split-input-file -verify-diagnostics --npu-unroll-loops --canonicalize | FileCheck %s

// CHECK-LABEL: func.func @unroll(
// CHECK-NOT: scf.for
// CHECK: tensor.extract_slice %arg0[0, 0] [1, 4]
// CHECK: tensor.extract_slice %arg0[3, 0] [1, 4]
// CHECK-NOT: tensor.extract_slice
func.func @unroll(%x: tensor<6x4xf32>, %y: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %zero = arith.constant 0 : index
  %three = arith.constant 3 : index
  %six = arith.constant 6 : index
  %r = scf.for %i = %zero to %six step %three iter_args(%c = %y) -> (tensor<1x4xf32>) {
    %row = tensor.extract_slice %x[%i, 0] [1, 4] [1, 1] : tensor<6x4xf32> to tensor<1x4xf32>
    %s = linalg.add ins(%row, %c : tensor<1x4xf32>, tensor<1x4xf32>) outs(%y : tensor<1x4xf32>) -> tensor<1x4xf32>
    scf.yield %s : tensor<1x4xf32>
  }
  return %r : tensor<1x4xf32>
}

// -----

// Loops without iterations, and with a dynamic number of iterations.
// CHECK-LABEL: func.func @others(
// CHECK: scf.for
// CHECK-NOT: scf.for
func.func @others(%x: tensor<4xf32>, %n: index) -> (tensor<4xf32>, tensor<4xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %r = scf.for %i = %one to %zero step %one iter_args(%c = %x) -> (tensor<4xf32>) {
    %s = linalg.add ins(%c, %c : tensor<4xf32>, tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
    scf.yield %s : tensor<4xf32>
  }
  %q = scf.for %i = %zero to %n step %one iter_args(%c = %x) -> (tensor<4xf32>) {
    %s = linalg.add ins(%c, %c : tensor<4xf32>, tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
    scf.yield %s : tensor<4xf32>
  }
  return %r, %q : tensor<4xf32>, tensor<4xf32>
}

// -----

// The inner trip count is constant after the outer loop is unrolled.
// CHECK-LABEL: func.func @triangle(
// CHECK-NOT: scf.for
// CHECK-COUNT-3: linalg.add
// CHECK-NOT: {{scf.for|linalg.add}}
func.func @triangle(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  %r = scf.for %i = %zero to %three step %one iter_args(%c = %x) -> (tensor<4xf32>) {
    %inner = scf.for %j = %zero to %i step %one iter_args(%d = %c) -> (tensor<4xf32>) {
      %s = linalg.add ins(%d, %x : tensor<4xf32>, tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
      scf.yield %s : tensor<4xf32>
    }
    scf.yield %inner : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

func.func @long(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %many = arith.constant 1000000 : index
  // expected-error @below {{'scf.for' has 1000000 iterations of 5 ops, but an NPU program is unrolled, to at most 65536 ops: compile its body as a program, and loop over that}}
  %r = scf.for %i = %zero to %many step %one iter_args(%c = %x) -> (tensor<4xf32>) {
    %s = linalg.add ins(%c, %c : tensor<4xf32>, tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
    scf.yield %s : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
