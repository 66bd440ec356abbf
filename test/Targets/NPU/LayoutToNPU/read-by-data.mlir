// RUN: layout-opt %s --layout-prepare-for-cores --canonicalize --split-input-file | FileCheck %s
// Rows of a constant at places that data name are a product with ones and zeros;
// run-composed-ops.py has its numbers.

// CHECK-DAG: #[[ONES:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[TABLE:.*]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK-DAG: #[[RESULT:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: func.func @rows
// CHECK: linalg.generic {indexing_maps = [#[[ONES]], #[[TABLE]], #[[RESULT]]], iterator_types = ["parallel", "parallel", "reduction"]}
// CHECK-NOT: tensor.extract
func.func @rows(%ids: tensor<4xi32>) -> tensor<4x3xf32> {
  %t = arith.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %e = tensor.empty() : tensor<4x3xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]}
      ins(%ids : tensor<4xi32>) outs(%e : tensor<4x3xf32>) {
  ^bb0(%id: i32, %o: f32):
    %at = arith.index_cast %id : i32 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %t[%at, %j] : tensor<2x3xf32>
    linalg.yield %v : f32
  } -> tensor<4x3xf32>
  return %r : tensor<4x3xf32>
}

// -----

// A product with zeros is none of the row where there is an infinity, and a
// tensor that is no constant may have some.
// CHECK-LABEL: func.func @infinite
// CHECK: tensor.extract
// CHECK: tensor.extract
func.func @infinite(%ids: tensor<4xi32>, %x: tensor<2xf32>) -> tensor<4xf32> {
  %t = arith.constant dense<[1.0, 0x7F800000]> : tensor<2xf32>
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(a) -> (a)>, affine_map<(a) -> (a)>], iterator_types = ["parallel"]}
      ins(%ids : tensor<4xi32>) outs(%e : tensor<4xf32>) {
  ^bb0(%id: i32, %o: f32):
    %at = arith.index_cast %id : i32 to index
    %v = tensor.extract %t[%at] : tensor<2xf32>
    %w = tensor.extract %x[%at] : tensor<2xf32>
    %s = arith.addf %v, %w : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}
