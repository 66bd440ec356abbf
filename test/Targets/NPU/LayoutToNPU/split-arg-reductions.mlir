// RUN: layout-opt %s --npu-legalize-linalg --canonicalize --split-input-file | FileCheck %s
// A reduction that yields an extreme element and its index becomes one of elements
// and one of the indices of equal elements; run-index-results.py compares with numpy.

// The first largest element, or the first NaN.
// CHECK-LABEL: func.func @first(
// CHECK-SAME: %[[X:.*]]: tensor<2x10x5xf32>
// CHECK: %[[TOP:.*]] = linalg.generic {{.*}} ins(%[[X]] : tensor<2x10x5xf32>) outs(%{{.*}} : tensor<2x5xf32>)
// CHECK: arith.maximumf
// CHECK: ins(%[[TOP]] : tensor<2x5xf32>) outs(%{{.*}} : tensor<2x10x5xf32>)
// CHECK: arith.cmpf ueq
// CHECK: arith.minimumf
// CHECK: return %[[TOP]]
func.func @first(%x: tensor<2x10x5xf32>) -> (tensor<2x5xf32>, tensor<2x5xi64>) {
  %worst = arith.constant 0xFF800000 : f32
  %none = arith.constant 0 : i64
  %e = tensor.empty() : tensor<2x5xf32>
  %f = linalg.fill ins(%worst : f32) outs(%e : tensor<2x5xf32>) -> tensor<2x5xf32>
  %g = tensor.empty() : tensor<2x5xi64>
  %h = linalg.fill ins(%none : i64) outs(%g : tensor<2x5xi64>) -> tensor<2x5xi64>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(a, b, c) -> (a, b, c)>, affine_map<(a, b, c) -> (a, c)>, affine_map<(a, b, c) -> (a, c)>],
                         iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x : tensor<2x10x5xf32>) outs(%f, %h : tensor<2x5xf32>, tensor<2x5xi64>) {
  ^bb0(%a: f32, %best: f32, %place: i64):
    %greater = arith.cmpf ogt, %a, %best : f32
    %nan = arith.cmpf une, %a, %a : f32
    %number = arith.cmpf oeq, %best, %best : f32
    %both = arith.andi %nan, %number : i1
    %is = arith.ori %greater, %both : i1
    %i = linalg.index 1 : index
    %j = arith.index_cast %i : index to i64
    %s = arith.select %is, %a, %best : f32
    %t = arith.select %is, %j, %place : i64
    linalg.yield %s, %t : f32, i64
  } -> (tensor<2x5xf32>, tensor<2x5xi64>)
  return %r#0, %r#1 : tensor<2x5xf32>, tensor<2x5xi64>
}

// -----

// The last smallest element: a maximum of indices from -1 on.
// CHECK-LABEL: func.func @last(
// CHECK-DAG: arith.constant -1.000000e+00 : f32
// CHECK-NOT: linalg.index
// CHECK: return
func.func @last(%x: tensor<2x10x5xf32>) -> (tensor<2x5xf32>, tensor<2x5xi32>) {
  %worst = arith.constant 0x7F800000 : f32
  %none = arith.constant 3 : i32
  %e = tensor.empty() : tensor<2x5xf32>
  %f = linalg.fill ins(%worst : f32) outs(%e : tensor<2x5xf32>) -> tensor<2x5xf32>
  %g = tensor.empty() : tensor<2x5xi32>
  %h = linalg.fill ins(%none : i32) outs(%g : tensor<2x5xi32>) -> tensor<2x5xi32>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(a, b, c) -> (a, b, c)>, affine_map<(a, b, c) -> (a, c)>, affine_map<(a, b, c) -> (a, c)>],
                         iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x : tensor<2x10x5xf32>) outs(%f, %h : tensor<2x5xf32>, tensor<2x5xi32>) {
  ^bb0(%a: f32, %best: f32, %place: i32):
    %less = arith.cmpf oge, %best, %a : f32
    %nan = arith.cmpf une, %a, %a : f32
    %is = arith.ori %nan, %less : i1
    %i = linalg.index 1 : index
    %j = arith.index_cast %i : index to i32
    %s = arith.select %is, %a, %best : f32
    %t = arith.select %is, %j, %place : i32
    linalg.yield %s, %t : f32, i32
  } -> (tensor<2x5xf32>, tensor<2x5xi32>)
  return %r#0, %r#1 : tensor<2x5xf32>, tensor<2x5xi32>
}

// -----

// An init that may be the best one keeps its index.
// CHECK-LABEL: func.func @start(
// CHECK-DAG: %[[LOW:.*]] = arith.constant 0.49999997 : f32
// CHECK-DAG: %[[HIGH:.*]] = arith.constant 0.50000006 : f32
// CHECK-DAG: %[[NONE:.*]] = arith.constant 7.700000e+01 : f32
// CHECK: %[[LESS:.*]] = arith.cmpf olt, %{{.*}}, %[[HIGH]] : f32
// CHECK: arith.select %[[LESS]], %[[NONE]], %
// CHECK: arith.cmpf ogt, %{{.*}}, %[[LOW]] : f32
func.func @start(%x: tensor<2x10x5xf32>) -> (tensor<2x5xf32>, tensor<2x5xi64>) {
  %worst = arith.constant 0.5 : f32
  %none = arith.constant 77 : i64
  %e = tensor.empty() : tensor<2x5xf32>
  %f = linalg.fill ins(%worst : f32) outs(%e : tensor<2x5xf32>) -> tensor<2x5xf32>
  %g = tensor.empty() : tensor<2x5xi64>
  %h = linalg.fill ins(%none : i64) outs(%g : tensor<2x5xi64>) -> tensor<2x5xi64>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(a, b, c) -> (a, b, c)>, affine_map<(a, b, c) -> (a, c)>, affine_map<(a, b, c) -> (a, c)>],
                         iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x : tensor<2x10x5xf32>) outs(%f, %h : tensor<2x5xf32>, tensor<2x5xi64>) {
  ^bb0(%a: f32, %best: f32, %place: i64):
    %is = arith.cmpf olt, %a, %best : f32
    %i = linalg.index 1 : index
    %j = arith.index_cast %i : index to i64
    %s = arith.select %is, %a, %best : f32
    %t = arith.select %is, %j, %place : i64
    linalg.yield %s, %t : f32, i64
  } -> (tensor<2x5xf32>, tensor<2x5xi64>)
  return %r#0, %r#1 : tensor<2x5xf32>, tensor<2x5xi64>
}

// -----

// As tosa.argmax compares.
// CHECK-LABEL: func.func @unordered(
// CHECK: arith.maximumf
// CHECK-NOT: linalg.index
func.func @unordered(%x: tensor<2x10x5xf32>) -> (tensor<2x5xf32>, tensor<2x5xi64>) {
  %worst = arith.constant 0xFF800000 : f32
  %none = arith.constant 0 : i64
  %e = tensor.empty() : tensor<2x5xf32>
  %f = linalg.fill ins(%worst : f32) outs(%e : tensor<2x5xf32>) -> tensor<2x5xf32>
  %g = tensor.empty() : tensor<2x5xi64>
  %h = linalg.fill ins(%none : i64) outs(%g : tensor<2x5xi64>) -> tensor<2x5xi64>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(a, b, c) -> (a, b, c)>, affine_map<(a, b, c) -> (a, c)>, affine_map<(a, b, c) -> (a, c)>],
                         iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x : tensor<2x10x5xf32>) outs(%f, %h : tensor<2x5xf32>, tensor<2x5xi64>) {
  ^bb0(%a: f32, %best: f32, %place: i64):
    %greater = arith.cmpf ugt, %a, %best : f32
    %number = arith.cmpf ord, %best, %best : f32
    %is = arith.andi %greater, %number : i1
    %i = linalg.index 1 : index
    %j = arith.index_cast %i : index to i64
    %s = arith.select %is, %a, %best : f32
    %t = arith.select %is, %j, %place : i64
    linalg.yield %s, %t : f32, i64
  } -> (tensor<2x5xf32>, tensor<2x5xi64>)
  return %r#0, %r#1 : tensor<2x5xf32>, tensor<2x5xi64>
}

// -----

// An element that is selected by another condition: not rewritten.
// CHECK-LABEL: func.func @unequal(
// CHECK: linalg.index 1
func.func @unequal(%x: tensor<2x10x5xf32>) -> (tensor<2x5xf32>, tensor<2x5xi64>) {
  %worst = arith.constant 0xFF800000 : f32
  %none = arith.constant 0 : i64
  %e = tensor.empty() : tensor<2x5xf32>
  %f = linalg.fill ins(%worst : f32) outs(%e : tensor<2x5xf32>) -> tensor<2x5xf32>
  %g = tensor.empty() : tensor<2x5xi64>
  %h = linalg.fill ins(%none : i64) outs(%g : tensor<2x5xi64>) -> tensor<2x5xi64>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(a, b, c) -> (a, b, c)>, affine_map<(a, b, c) -> (a, c)>, affine_map<(a, b, c) -> (a, c)>],
                         iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x : tensor<2x10x5xf32>) outs(%f, %h : tensor<2x5xf32>, tensor<2x5xi64>) {
  ^bb0(%a: f32, %best: f32, %place: i64):
    %is = arith.cmpf one, %a, %best : f32
    %i = linalg.index 1 : index
    %j = arith.index_cast %i : index to i64
    %s = arith.select %is, %a, %best : f32
    %t = arith.select %is, %j, %place : i64
    linalg.yield %s, %t : f32, i64
  } -> (tensor<2x5xf32>, tensor<2x5xi64>)
  return %r#0, %r#1 : tensor<2x5xf32>, tensor<2x5xi64>
}
