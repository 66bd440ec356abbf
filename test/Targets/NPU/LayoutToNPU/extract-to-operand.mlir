// RUN: layout-opt %s -split-input-file -verify-diagnostics --npu-legalize-linalg --canonicalize | FileCheck %s
// Check bodies that read and compute at positions that depend only on loops.

// A resize to twice the rows, by floats.
// CHECK-DAG: #[[MAP:.*]] = affine_map<(d0, d1) -> (d0 floordiv 2, d1)>
// CHECK-DAG: #[[MAP1:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @nearest(
// CHECK-NOT: tensor.extract
// CHECK: linalg.generic {indexing_maps = [#[[MAP]], #[[MAP1]]]{{.*}} ins(%arg0 :
// CHECK-NOT: linalg.index
func.func @nearest(%x: tensor<4x3xf32>) -> tensor<8x3xf32> {
  %two = arith.constant 2.0 : f32
  %e = tensor.empty() : tensor<8x3xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<8x3xf32>) {
    ^bb0(%o: f32):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %n = arith.index_cast %i : index to i64
      %f = arith.sitofp %n : i64 to f32
      %h = arith.divf %f, %two : f32
      %d = math.floor %h : f32
      %m = arith.fptosi %d : f32 to i64
      %k = arith.index_cast %m : i64 to index
      %v = tensor.extract %x[%k, %j] : tensor<4x3xf32>
      linalg.yield %v : f32
  } -> tensor<8x3xf32>
  return %r : tensor<8x3xf32>
}

// -----

// Reflected at both ends: two reversed pieces, and one forward.
// CHECK-DAG: #[[MAP:.*]] = affine_map<(d0) -> (-d0 + 2)>
// CHECK-DAG: #[[MAP2:.*]] = affine_map<(d0) -> (-d0 + 1)>
// CHECK-LABEL: func.func @reflect(
// CHECK: %[[A:.*]] = tensor.extract_slice %arg0[0] [3] [1]
// CHECK: %[[B:.*]] = linalg.generic {indexing_maps = [#[[MAP]]{{.*}} ins(%[[A]] :
// CHECK: %[[C:.*]] = tensor.extract_slice %arg0[1] [5] [1]
// CHECK: %[[D:.*]] = tensor.extract_slice %arg0[3] [2] [1]
// CHECK: %[[E:.*]] = linalg.generic {indexing_maps = [#[[MAP2]]{{.*}} ins(%[[D]] :
// CHECK: tensor.concat dim(0) %[[B]], %[[C]], %[[E]] :
func.func @reflect(%x: tensor<6xf32>) -> tensor<10xf32> {
  %places = arith.constant dense<[2, 1, 0, 1, 2, 3, 4, 5, 4, 3]> : tensor<10xi64>
  %e = tensor.empty() : tensor<10xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%places : tensor<10xi64>) outs(%e : tensor<10xf32>) {
    ^bb0(%a: i64, %o: f32):
      %k = arith.index_cast %a : i64 to index
      %v = tensor.extract %x[%k] : tensor<6xf32>
      linalg.yield %v : f32
  } -> tensor<10xf32>
  return %r : tensor<10xf32>
}

// -----

// Out of bounds: unchanged.
// CHECK-LABEL: func.func @beyond(
// CHECK: tensor.extract %arg0
func.func @beyond(%x: tensor<4xf32>) -> tensor<5xf32> {
  %e = tensor.empty() : tensor<5xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%e : tensor<5xf32>) {
    ^bb0(%o: f32):
      %i = linalg.index 0 : index
      %v = tensor.extract %x[%i] : tensor<4xf32>
      linalg.yield %v : f32
  } -> tensor<5xf32>
  return %r : tensor<5xf32>
}

// -----

// A data-dependent assertion in a body is not checked, with a warning.
// CHECK-LABEL: func.func @checked(
// CHECK-NOT: cf.assert
func.func @checked(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
    ^bb0(%a: f32, %o: f32):
      %p = arith.cmpf one, %a, %zero : f32
      // expected-warning @below {{NPU programs do not check "it is not zero": the result is that of a program without this check}}
      cf.assert %p, "it is not zero"
      %v = arith.divf %one, %a : f32
      linalg.yield %v : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// The warning is also emitted if the op becomes a constant.
// CHECK-LABEL: func.func @checked_constant(
// CHECK: arith.constant dense<1.000000e+00> : tensor<4xf32>
// CHECK-NOT: cf.assert
func.func @checked_constant() -> tensor<4xf32> {
  %one = arith.constant 1.0 : f32
  %three = arith.constant 3 : index
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%e : tensor<4xf32>) {
    ^bb0(%o: f32):
      %i = linalg.index 0 : index
      %p = arith.cmpi ult, %i, %three : index
      // expected-warning @below {{NPU programs do not check "it is below three": the result is that of a program without this check}}
      cf.assert %p, "it is below three"
      linalg.yield %one : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}
