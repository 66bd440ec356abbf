// RUN: layout-opt %s -layout-cpu-decompose-aggregates | FileCheck %s

// Softmax becomes a maximum, a sum of exponentials and a division.
// CHECK-LABEL: func.func @softmax
// CHECK-NOT: linalg.softmax
// CHECK: arith.maxnumf
// CHECK: math.exp
// CHECK: arith.divf {{.*}} fastmath<arcp>
func.func @softmax(%x: tensor<5x7xf32>) -> tensor<5x7xf32> {
  %e = tensor.empty() : tensor<5x7xf32>
  %r = linalg.softmax dimension(1) ins(%x : tensor<5x7xf32>) outs(%e : tensor<5x7xf32>) -> tensor<5x7xf32>
  return %r : tensor<5x7xf32>
}

// A relayout is not an aggregate.
// CHECK-LABEL: func.func @pack
// CHECK: linalg.pack
func.func @pack(%x: tensor<16xf32>) -> tensor<2x8xf32> {
  %e = tensor.empty() : tensor<2x8xf32>
  %r = linalg.pack %x inner_dims_pos = [0] inner_tiles = [8] into %e : tensor<16xf32> -> tensor<2x8xf32>
  return %r : tensor<2x8xf32>
}
