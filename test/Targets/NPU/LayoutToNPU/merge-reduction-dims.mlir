// RUN: layout-opt %s -split-input-file --npu-legalize-linalg | FileCheck %s
// Check that a product with several reduction dims is reshaped to one; a factor in which these are not adjacent is
// transposed first.

#x = affine_map<(a, n, k, l) -> (k, a, l)>
#w = affine_map<(a, n, k, l) -> (l, n, k)>
#y = affine_map<(a, n, k, l) -> (a, n)>

// CHECK-LABEL: func.func @both
// CHECK-SAME: (%[[X:.*]]: tensor<3x5x7xf32>, %[[W:.*]]: tensor<7x9x3xf32>
// CHECK: %[[TX:.*]] = linalg.transpose ins(%[[X]] : tensor<3x5x7xf32>) {{.*}} permutation = [1, 0, 2]
// CHECK: %[[TW:.*]] = linalg.transpose ins(%[[W]] : tensor<7x9x3xf32>) {{.*}} permutation = [1, 2, 0]
// CHECK-DAG: %[[CX:.*]] = tensor.collapse_shape %[[TX]] {{\[\[}}0], [1, 2]] : tensor<5x3x7xf32> into tensor<5x21xf32>
// CHECK-DAG: %[[CW:.*]] = tensor.collapse_shape %[[TW]] {{\[\[}}0], [1, 2]] : tensor<9x3x7xf32> into tensor<9x21xf32>
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]} ins(%[[CX]], %[[CW]] : tensor<5x21xf32>, tensor<9x21xf32>)
func.func @both(%x: tensor<3x5x7xf32>, %w: tensor<7x9x3xf32>, %y: tensor<5x9xf32>) -> tensor<5x9xf32> {
  %r = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : tensor<3x5x7xf32>, tensor<7x9x3xf32>) outs(%y : tensor<5x9xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %o, %p : f32
      linalg.yield %s : f32
  } -> tensor<5x9xf32>
  return %r : tensor<5x9xf32>
}

// -----

// The constant follows the order of the other factor, because it is transposed at compile time.

#w = affine_map<(a, n, k, l) -> (l, k, n)>
#x = affine_map<(a, n, k, l) -> (a, k, l)>
#y = affine_map<(a, n, k, l) -> (a, n)>

// CHECK-LABEL: func.func @constant
// CHECK-SAME: (%[[X:.*]]: tensor<5x2x2xf32>
// CHECK: %[[W:.*]] = arith.constant dense
// CHECK: linalg.transpose ins(%[[W]] : tensor<2x2x1xf32>) {{.*}} permutation = [2, 1, 0]
// CHECK-NOT: linalg.transpose
// CHECK: tensor.collapse_shape %[[X]]
func.func @constant(%x: tensor<5x2x2xf32>, %y: tensor<5x1xf32>) -> tensor<5x1xf32> {
  %w = arith.constant dense<[[[1.0], [2.0]], [[3.0], [4.0]]]> : tensor<2x2x1xf32>
  %r = linalg.generic {indexing_maps = [#w, #x, #y], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%w, %x : tensor<2x2x1xf32>, tensor<5x2x2xf32>) outs(%y : tensor<5x1xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %o, %p : f32
      linalg.yield %s : f32
  } -> tensor<5x1xf32>
  return %r : tensor<5x1xf32>
}
