// RUN: layout-opt %s --layout-prepare-fold-broadcasts --split-input-file | FileCheck %s

// The weights of an imported product stay a constant, with one more dim.
// CHECK-LABEL: func.func @constant(
// CHECK: %[[W:.*]] = arith.constant dense<{{.*}}> : tensor<1x2x3xf32>
// CHECK-NOT: linalg.generic
// CHECK: linalg.batch_matmul ins(%{{.*}}, %[[W]] :
func.func @constant(%x: tensor<1x4x2xf32>, %init: tensor<1x4x3xf32>) -> tensor<1x4x3xf32> {
  %w = arith.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %e = tensor.empty() : tensor<1x2x3xf32>
  %b = linalg.generic {indexing_maps = [affine_map<(b, k, n) -> (k, n)>, affine_map<(b, k, n) -> (b, k, n)>],
      iterator_types = ["parallel", "parallel", "parallel"]} ins(%w : tensor<2x3xf32>) outs(%e : tensor<1x2x3xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<1x2x3xf32>
  %r = linalg.batch_matmul ins(%x, %b : tensor<1x4x2xf32>, tensor<1x2x3xf32>) outs(%init : tensor<1x4x3xf32>) -> tensor<1x4x3xf32>
  return %r : tensor<1x4x3xf32>
}

// -----

// CHECK-LABEL: func.func @view(
// CHECK-SAME: %[[W:.*]]: tensor<?x3xf32>
// CHECK: %[[VIEW:.*]] = tensor.expand_shape %[[W]] {{\[}}[0, 1, 2], [3, 4]] {{.*}} : tensor<?x3xf32> into tensor<1x?x1x3x1xf32>
// CHECK: return %[[VIEW]]
func.func @view(%w: tensor<?x3xf32>, %e: tensor<1x?x1x3x1xf32>) -> tensor<1x?x1x3x1xf32> {
  %b = linalg.broadcast ins(%w : tensor<?x3xf32>) outs(%e : tensor<1x?x1x3x1xf32>) dimensions = [0, 2, 4]
  return %b : tensor<1x?x1x3x1xf32>
}

// -----

// A scalar is viewed, too.
// CHECK-LABEL: func.func @scalar(
// CHECK: tensor.expand_shape %{{.*}} [] {{.*}} : tensor<f32> into tensor<1x1xf32>
func.func @scalar(%w: tensor<f32>, %e: tensor<1x1xf32>) -> tensor<1x1xf32> {
  %b = linalg.broadcast ins(%w : tensor<f32>) outs(%e : tensor<1x1xf32>) dimensions = [0, 1]
  return %b : tensor<1x1xf32>
}

// -----

// CHECK: #[[$X:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
// CHECK: #[[$W:.*]] = affine_map<(d0, d1, d2, d3) -> (d3, d2)>
// CHECK-LABEL: func.func @repeated(
// CHECK-SAME: %{{.*}}: tensor<5x4x2xf32>, %[[W:[^:]*]]: tensor<2x3xf32>
// CHECK-NOT: linalg.broadcast
// CHECK: linalg.generic {indexing_maps = [#[[$X]], #[[$W]], #{{.*}}], {{.*}} ins(%{{.*}}, %[[W]] :
func.func @repeated(%x: tensor<5x4x2xf32>, %w: tensor<2x3xf32>, %init: tensor<5x4x3xf32>) -> tensor<5x4x3xf32> {
  %e = tensor.empty() : tensor<5x2x3xf32>
  %b = linalg.broadcast ins(%w : tensor<2x3xf32>) outs(%e : tensor<5x2x3xf32>) dimensions = [0]
  %r = linalg.batch_matmul ins(%x, %b : tensor<5x4x2xf32>, tensor<5x2x3xf32>) outs(%init : tensor<5x4x3xf32>) -> tensor<5x4x3xf32>
  return %r : tensor<5x4x3xf32>
}

// -----

// Broadcasts stay if an elementwise op reads them, if the op is not a
// contraction, if they transpose, or if their source is computed.
// CHECK-LABEL: func.func @stay(
// CHECK-COUNT-2: linalg.broadcast
// CHECK: linalg.generic
// CHECK: linalg.generic
// CHECK-NOT: tensor.expand_shape
func.func @stay(%w: tensor<3xf32>, %x: tensor<1x3xf32>, %y: tensor<5x3xf32>, %z: tensor<3x2xf32>, %e: tensor<1x2x3xf32>)
    -> (tensor<1x3xf32>, tensor<5x3xf32>, tensor<5x1xf32>, tensor<1x2x3xf32>, tensor<1x3xf32>) {
  %0 = linalg.broadcast ins(%w : tensor<3xf32>) outs(%x : tensor<1x3xf32>) dimensions = [0]
  %1 = linalg.exp ins(%0 : tensor<1x3xf32>) outs(%x : tensor<1x3xf32>) -> tensor<1x3xf32>
  %2 = linalg.broadcast ins(%w : tensor<3xf32>) outs(%y : tensor<5x3xf32>) dimensions = [0]
  %3 = tensor.empty() : tensor<3x1xf32>
  %4 = linalg.broadcast ins(%w : tensor<3xf32>) outs(%y : tensor<5x3xf32>) dimensions = [0]
  %init = tensor.empty() : tensor<5x1xf32>
  %5 = linalg.matmul ins(%4, %3 : tensor<5x3xf32>, tensor<3x1xf32>) outs(%init : tensor<5x1xf32>) -> tensor<5x1xf32>
  %6 = linalg.generic {indexing_maps = [affine_map<(b, i, j) -> (j, i)>, affine_map<(b, i, j) -> (b, i, j)>],
      iterator_types = ["parallel", "parallel", "parallel"]} ins(%z : tensor<3x2xf32>) outs(%e : tensor<1x2x3xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<1x2x3xf32>
  %7 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%w : tensor<3xf32>) outs(%x : tensor<1x3xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %a : f32
    linalg.yield %s : f32
  } -> tensor<1x3xf32>
  return %1, %2, %5, %6, %7 : tensor<1x3xf32>, tensor<5x3xf32>, tensor<5x1xf32>, tensor<1x2x3xf32>, tensor<1x3xf32>
}
