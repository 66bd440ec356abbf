// Check that the prices of loops with more steps than 64 bits count saturate: a tensor of more bytes is refused by the
// lowering, and a reduction over 2^50 elements is decided.

// RUN: not layout-opt %s --split-input-file --layout-to-cpu='target={#layout.cpu<lanes = 16>}' 2>&1 | FileCheck %s --check-prefix=LARGE
// RUN: layout-opt %s --split-input-file --layout-assign='target={#layout.cpu<lanes = 16>}' | FileCheck %s

// LARGE: whose bytes do not fit 64 bits (L1): the tensor is too large
// CHECK-LABEL: func.func @elements
// CHECK: linalg.exp
func.func @elements(%a: tensor<2147483648x2147483648x2147483648xf32>) -> tensor<2147483648x2147483648x2147483648xf32> {
  %e = tensor.empty() : tensor<2147483648x2147483648x2147483648xf32>
  %r = linalg.exp ins(%a : tensor<2147483648x2147483648x2147483648xf32>)
      outs(%e : tensor<2147483648x2147483648x2147483648xf32>) -> tensor<2147483648x2147483648x2147483648xf32>
  return %r : tensor<2147483648x2147483648x2147483648xf32>
}

// -----

// CHECK-LABEL: func.func @sum
// CHECK: linalg.generic
func.func @sum(%x: tensor<1125899906842624xi64>, %init: tensor<i64>) -> tensor<i64> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%x : tensor<1125899906842624xi64>) outs(%init : tensor<i64>) {
  ^bb0(%a: i64, %b: i64):
    %m = arith.maxsi %a, %b : i64
    linalg.yield %m : i64
  } -> tensor<i64>
  return %r : tensor<i64>
}
