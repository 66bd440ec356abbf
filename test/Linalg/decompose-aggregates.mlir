// RUN: layout-opt %s -layout-prepare-decompose-aggregates | FileCheck %s
// RUN: layout-opt %s -layout-prepare-decompose-aggregates=all | FileCheck %s --check-prefix=ALL

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

// An op whose layouts are stated is decided whole, unless a target needs its
// parts.
#columns = #layout.map<(d0, d1) -> buffer(d1, d0)>
// CHECK-LABEL: func.func @stated
// CHECK: linalg.softmax
// CHECK: linalg.softmax
// ALL-LABEL: func.func @stated
// ALL-NOT: linalg.softmax
// ALL: return
func.func @stated(%x: tensor<4x6xf32, #columns>, %y: tensor<4x6xf32>) -> (tensor<4x6xf32, #columns>, tensor<4x6xf32>) {
  %e = tensor.empty() : tensor<4x6xf32, #columns>
  %r = linalg.softmax dimension(0) ins(%x : tensor<4x6xf32, #columns>) outs(%e : tensor<4x6xf32, #columns>) -> tensor<4x6xf32, #columns>
  %f = tensor.empty() : tensor<4x6xf32>
  %s = linalg.softmax {layout.operand_layouts = [unit, #columns]} dimension(1) ins(%y : tensor<4x6xf32>) outs(%f : tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r, %s : tensor<4x6xf32, #columns>, tensor<4x6xf32>
}
