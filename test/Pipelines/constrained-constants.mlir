// Check that the preparation keeps equal constants of which one has a constraint, and merges those without.

// RUN: layout-opt %s --layout-prepare | FileCheck %s

// CHECK: #[[T:.*]] = #layout.map<(d0, d1) -> buffer(d1, d0)>
// CHECK-LABEL: func.func @main
// CHECK-DAG: %[[A:.*]] = arith.constant dense<2.000000e+00> : tensor<4x8xf32>
// CHECK-DAG: %[[B:.*]] = arith.constant {layout.result_layouts = [#[[T]]]} dense<2.000000e+00> : tensor<4x8xf32>
// CHECK: linalg.add ins(%{{.*}}, %[[A]] :
// CHECK: linalg.sub ins(%{{.*}}, %[[A]] :
// CHECK: linalg.mul ins(%{{.*}}, %[[B]] :
#t = #layout.map<(i, j) -> buffer(j, i)>
func.func @main(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  %a = arith.constant dense<2.0> : tensor<4x8xf32>
  %b = arith.constant {layout.result_layouts = [#t]} dense<2.0> : tensor<4x8xf32>
  %c = arith.constant dense<2.0> : tensor<4x8xf32>
  %e = tensor.empty() : tensor<4x8xf32>
  %0 = linalg.add ins(%x, %a : tensor<4x8xf32>, tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = linalg.sub ins(%x, %c : tensor<4x8xf32>, tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = linalg.mul ins(%x, %b : tensor<4x8xf32>, tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0, %1, %2 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}
