// Check that a matmul keeps its lanes on the columns of the second operand, although the argmax after it prefers rows.
//
// RUN: layout-opt %s -layout-solve | FileCheck %s
// CHECK: linalg.matmul ins(%{{.*}}, %{{.*}} : tensor<128x768xf32>, tensor<768x3072xf32>)

#rows = affine_map<(t, c) -> (t, c)>
#each = affine_map<(t, c) -> (t)>
module attributes {layout.target = #layout.cpu<lanes = 16>} {
func.func @main(%x: tensor<128x768xf32>, %w: tensor<768x3072xf32>, %m: tensor<128xf32>, %p: tensor<128xi64>) -> (tensor<128xf32>, tensor<128xi64>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<128x3072xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<128x3072xf32>) -> tensor<128x3072xf32>
  %y = linalg.matmul ins(%x, %w : tensor<128x768xf32>, tensor<768x3072xf32>) outs(%f : tensor<128x3072xf32>) -> tensor<128x3072xf32>
  %r:2 = linalg.generic {indexing_maps = [#rows, #each, #each], iterator_types = ["parallel", "reduction"]}
      ins(%y : tensor<128x3072xf32>) outs(%m, %p : tensor<128xf32>, tensor<128xi64>) {
  ^bb0(%a: f32, %best: f32, %place: i64):
    %0 = linalg.index 1 : index
    %1 = arith.index_cast %0 : index to i64
    %2 = arith.cmpf ogt, %a, %best : f32
    %3 = arith.select %2, %a, %best : f32
    %4 = arith.select %2, %1, %place : i64
    linalg.yield %3, %4 : f32, i64
  } -> (tensor<128xf32>, tensor<128xi64>)
  return %r#0, %r#1 : tensor<128xf32>, tensor<128xi64>
}
}
