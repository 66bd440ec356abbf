// Check that a weight of 147456 bytes is stored in both layouts unless a budget or a price allows only one.
// RUN: layout-opt %s -layout-solve="weight-budget=1000000 certificate=%t" | FileCheck %s --check-prefix=TWO
// RUN: %python -m layout_mlir.certify %t | FileCheck %s --check-prefix=PROOF
// RUN: layout-opt %s -layout-solve="weight-budget=147456 certificate=%t" | FileCheck %s --check-prefix=ONE
// RUN: %python -m layout_mlir.certify %t | FileCheck %s --check-prefix=PROOF
// RUN: layout-opt %s -layout-assign=weight-budget=294911 | FileCheck %s --check-prefix=ONE
// RUN: layout-opt %s -layout-assign=weight-budget=294912 | FileCheck %s --check-prefix=TWO
// A stored byte costs as much as 1000 moved ones, and conversions count a
// thousand times.
// RUN: layout-opt %s -layout-solve=weight-cost=100000 | FileCheck %s --check-prefix=ONE
// RUN: layout-opt %s -layout-assign=weight-cost=1 | FileCheck %s --check-prefix=TWO
// RUN: layout-opt %s -layout-assign=packing-cost=100000 | FileCheck %s --check-prefix=ONE
// RUN: layout-opt %s -layout-solve | FileCheck %s --check-prefix=NONE

// RUN: not layout-opt %s -layout-solve=weight-budget=147455 2>&1 | FileCheck %s --check-prefix=LEAST
// RUN: not layout-opt %s -layout-solve=weight-budget=0 2>&1 | FileCheck %s --check-prefix=LEAST
// RUN: not layout-opt %s -layout-solve=weight-budget=-2 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// LEAST: solve-weights.mlir:{{[0-9]+}}:{{[0-9]+}}: error: the option 'weight-budget': constants need at least 147456 bytes in layouts on which all ops can run, but {{147455|0}} are allowed
// NEGATIVE: solve-weights.mlir:{{[0-9]+}}:{{[0-9]+}}: error: 'weight-budget' must be a number of bytes, at least 0

// TWO: layout.assignment = {conversion_cost = {{[0-9]+}} : i64, cost = [[COST:[0-9]+]] : i64, lower_bound = [[COST]] : i64, weight_bytes = 294912 : i64}
// ONE: layout.assignment = {conversion_cost = {{[0-9]+}} : i64, cost = [[COST:[0-9]+]] : i64, lower_bound = [[COST]] : i64, weight_bytes = 147456 : i64}
// NONE: layout.assignment = {conversion_cost = {{[0-9]+}} : i64, cost = {{[0-9]+}} : i64, lower_bound = {{[0-9]+}} : i64}
// PROOF: accepted, cost [[COST:[0-9]+]], at least [[COST]], within the limit of {{1000000|147456}} bytes{{$}}
module attributes {layout.target = #layout.cpu<lanes = 16>} {
func.func @main(%x: tensor<1x64x56x56xf32>) -> tensor<1x64x54x54xf32> {
  %zero = arith.constant 0.0 : f32
  %w = arith.constant dense<1.5> : tensor<64x64x3x3xf32>
  %e = tensor.empty() : tensor<1x64x54x54xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x64x54x54xf32>) -> tensor<1x64x54x54xf32>
  %c = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x64x56x56xf32>, tensor<64x64x3x3xf32>)
      outs(%f : tensor<1x64x54x54xf32>) -> tensor<1x64x54x54xf32>
  return %c : tensor<1x64x54x54xf32>
}
func.func @weight() -> tensor<64x64x3x3xf32> {
  %w = arith.constant dense<1.5> : tensor<64x64x3x3xf32>
  return %w : tensor<64x64x3x3xf32>
}
}
