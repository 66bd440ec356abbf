// Check that among assignments of equal cost the one with fewer conversions in loops is chosen.
//
// RUN: layout-opt %s -split-input-file \
// RUN:   --layout-solve='objective=bytes target={#layout.cpu<lanes = 16>}' \
// RUN:   --layout-materialize --layout-fold-converts | FileCheck %s

// The loop carries the result of the convolution; an image has 8192 bytes.
// CHECK: conversion_cost = 16384 : i64, cost = 16384 : i64, lower_bound = 16384 : i64
// CHECK: func @once
// CHECK: scf.for
// CHECK-NOT: layout.convert
// CHECK: scf.yield
// CHECK: layout.convert
// CHECK: return
func.func @once() -> tensor<1x32x8x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %w = arith.constant dense<0.01> : tensor<32x32x1x1xf32>
  %e = tensor.empty() : tensor<1x32x8x8xf32>
  %x = linalg.fill ins(%zero : f32) outs(%e : tensor<1x32x8x8xf32>) -> tensor<1x32x8x8xf32>
  %r = scf.for %i = %c0 to %c1 step %c1 iter_args(%s = %x) -> tensor<1x32x8x8xf32> {
    %y = linalg.conv_2d_nchw_fchw ins(%s, %w : tensor<1x32x8x8xf32>, tensor<32x32x1x1xf32>)
                                  outs(%x : tensor<1x32x8x8xf32>) -> tensor<1x32x8x8xf32>
    scf.yield %y : tensor<1x32x8x8xf32>
  }
  return %r : tensor<1x32x8x8xf32>
}

// -----

// Of two nested loops, the conversion is in the outer one.
// CHECK: conversion_cost = 16384 : i64, cost = 16384 : i64, lower_bound = 16384 : i64
// CHECK: func @nested
// CHECK: scf.for
// CHECK: scf.for
// CHECK-NOT: layout.convert
// CHECK: scf.yield
// CHECK: layout.convert
// CHECK: func.call @use
// CHECK: return
func.func private @use(tensor<1x32x8x8xf32>)
func.func @nested() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %w = arith.constant dense<0.01> : tensor<32x32x1x1xf32>
  %e = tensor.empty() : tensor<1x32x8x8xf32>
  %x = linalg.fill ins(%zero : f32) outs(%e : tensor<1x32x8x8xf32>) -> tensor<1x32x8x8xf32>
  scf.for %j = %c0 to %c1 step %c1 {
    %r = scf.for %i = %c0 to %c1 step %c1 iter_args(%s = %x) -> tensor<1x32x8x8xf32> {
      %y = linalg.conv_2d_nchw_fchw ins(%s, %w : tensor<1x32x8x8xf32>, tensor<32x32x1x1xf32>)
                                    outs(%x : tensor<1x32x8x8xf32>) -> tensor<1x32x8x8xf32>
      scf.yield %y : tensor<1x32x8x8xf32>
    }
    func.call @use(%r) : (tensor<1x32x8x8xf32>) -> ()
  }
  return
}
