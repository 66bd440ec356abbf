// RUN: layout-opt %s --npu-legalize-linalg --canonicalize --split-input-file | FileCheck %s
// Check that dynamic scalars become tensors without dims; run-dynamic-scalars.py checks
// their results.

// CHECK-DAG: #[[NONE:.*]] = affine_map<() -> ()>
// CHECK-DAG: #[[COPY:.*]] = affine_map<(d0, d1) -> ()>
// CHECK-LABEL: func.func @splat(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>
// CHECK: %[[N:.*]] = tensor.extract_slice %[[X]][1] [1] [1] : tensor<4xf32> to tensor<f32>
// CHECK: %[[SUM:.*]] = linalg.generic {indexing_maps = [#[[NONE]], #[[NONE]]], iterator_types = []} ins(%[[N]] : tensor<f32>)
// CHECK: arith.addf
// CHECK: linalg.generic {indexing_maps = [#[[COPY]], #{{.*}}], iterator_types = ["parallel", "parallel"]} ins(%[[SUM]] : tensor<f32>)
// CHECK-NOT: tensor.splat
func.func @splat(%x: tensor<4xf32>) -> tensor<4x8xf32> {
  %c1 = arith.constant 1 : index
  %two = arith.constant 2.0 : f32
  %n = tensor.extract %x[%c1] : tensor<4xf32>
  %m = arith.addf %n, %two : f32
  %s = tensor.splat %m : tensor<4x8xf32>
  return %s : tensor<4x8xf32>
}

// -----

// Consecutive constants are one part.
// CHECK-LABEL: func.func @elements(
// CHECK-SAME: %[[X:.*]]: tensor<f32>
// CHECK-DAG: %[[ONES:.*]] = arith.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
// CHECK-DAG: %[[N:.*]] = tensor.expand_shape %[[X]] [] output_shape [1]
// CHECK: %[[ALL:.*]] = tensor.concat dim(0) %[[N]], %[[ONES]], %[[N]]
// CHECK: tensor.expand_shape %[[ALL]] {{\[}}[0, 1]] output_shape [2, 2]
func.func @elements(%x: tensor<f32>) -> tensor<2x2xf32> {
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  %n = tensor.extract %x[] : tensor<f32>
  %r = tensor.from_elements %n, %one, %two, %n : tensor<2x2xf32>
  return %r : tensor<2x2xf32>
}

// -----

// CHECK-LABEL: func.func @insert(
// CHECK-SAME: %[[X:.*]]: tensor<2x3xf32>
// CHECK: %[[N:.*]] = arith.constant dense<7.000000e+00> : tensor<1x1xf32>
// CHECK: tensor.insert_slice %[[N]] into %[[X]][1, 2] [1, 1] [1, 1]
func.func @insert(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = arith.constant 7.0 : f32
  %r = tensor.insert %n into %x[%c1, %c2] : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// -----

// A data-dependent position cannot be that of a slice.
// CHECK-LABEL: func.func @somewhere(
// CHECK: tensor.insert %
func.func @somewhere(%x: tensor<3xf32>, %at: tensor<i32>) -> tensor<3xf32> {
  %n = arith.constant 7.0 : f32
  %i = tensor.extract %at[] : tensor<i32>
  %k = arith.index_cast %i : i32 to index
  %r = tensor.insert %n into %x[%k] : tensor<3xf32>
  return %r : tensor<3xf32>
}

// -----

// CHECK-LABEL: func.func @reshape(
// CHECK-SAME: %[[X:.*]]: tensor<4x6xf32>
// CHECK: %[[FLAT:.*]] = tensor.collapse_shape %[[X]] {{\[}}[0, 1]] : tensor<4x6xf32> into tensor<24xf32>
// CHECK: tensor.expand_shape %[[FLAT]] {{\[}}[0, 1, 2]] output_shape [3, 2, 4]
func.func @reshape(%x: tensor<4x6xf32>) -> tensor<3x2x4xf32> {
  %shape = arith.constant dense<[3, 2, 4]> : tensor<3xi64>
  %r = tensor.reshape %x(%shape) : (tensor<4x6xf32>, tensor<3xi64>) -> tensor<3x2x4xf32>
  return %r : tensor<3x2x4xf32>
}

// -----

// Bodies, fills and pads read them as operands.
// CHECK-LABEL: func.func @bodies(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[N:.*]]: tensor<f32>
// CHECK: linalg.generic {{.*}} ins(%[[X]], %[[N]] : tensor<4xf32>, tensor<f32>)
// CHECK: linalg.generic {{.*}} ins(%[[N]] : tensor<f32>)
// CHECK: %[[ALL:.*]] = linalg.generic {{.*}} ins(%[[N]] : tensor<f32>)
// CHECK: tensor.insert_slice %{{.*}} into %[[ALL]][1] [4] [1] : tensor<4xf32> into tensor<7xf32>
// CHECK-NOT: tensor.extract %
func.func @bodies(%x: tensor<4xf32>, %t: tensor<f32>) -> (tensor<7xf32>, tensor<4xf32>) {
  %n = tensor.extract %t[] : tensor<f32>
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(a) -> (a)>, affine_map<(a) -> (a)>], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.mulf %a, %n : f32
    linalg.yield %m : f32
  } -> tensor<4xf32>
  %f = linalg.fill ins(%n : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %p = tensor.pad %r low[1] high[2] {
  ^bb0(%i: index):
    tensor.yield %n : f32
  } : tensor<4xf32> to tensor<7xf32>
  return %p, %f : tensor<7xf32>, tensor<4xf32>
}
