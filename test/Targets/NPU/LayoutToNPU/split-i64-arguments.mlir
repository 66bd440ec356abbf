// RUN: layout-opt %s -split-input-file --npu-legalize-linalg | FileCheck %s
// Check that i64 arguments that are only used as f32 are passed as words, which
// become f32 once.

// CHECK-DAG: #[[LOW:.*]] = affine_map<(d0, d1) -> (d0, d1, 0)>
// CHECK-DAG: #[[HIGH:.*]] = affine_map<(d0, d1) -> (d0, d1, 1)>
// CHECK-LABEL: func.func @mask(
// CHECK-SAME: %[[WORDS:.*]]: tensor<2x5x2xi32> {npu.element = i64}, %{{.*}}: tensor<2x1x5xf32>)
// CHECK-DAG: indexing_maps = [#[[LOW]]
// CHECK-DAG: indexing_maps = [#[[HIGH]]
// CHECK: %[[M:.*]] = tensor.expand_shape %{{.*}} : tensor<2x5xf32> into tensor<2x1x5xf32>
// CHECK-NOT: i64
// CHECK-NOT: sitofp
// CHECK: ins(%[[M]], %{{.*}} : tensor<2x1x5xf32>, tensor<2x1x5xf32>)
// CHECK: return
func.func @mask(%m: tensor<2x5xi64>, %x: tensor<2x1x5xf32>) -> tensor<2x1x5xf32> {
  %w = tensor.expand_shape %m [[0], [1, 2]] output_shape [2, 1, 5] : tensor<2x5xi64> into tensor<2x1x5xi64>
  %e = tensor.empty() : tensor<2x1x5xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j, k)>],
                       iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%w, %x : tensor<2x1x5xi64>, tensor<2x1x5xf32>) outs(%e : tensor<2x1x5xf32>) {
    ^bb0(%a: i64, %b: f32, %o: f32):
      %f = arith.sitofp %a : i64 to f32
      %s = arith.mulf %f, %b : f32
      linalg.yield %s : f32
  } -> tensor<2x1x5xf32>
  return %r : tensor<2x1x5xf32>
}

// -----

// Another use keeps the i64 argument: it is also returned.
// CHECK-LABEL: func.func @returned(
// CHECK-SAME: tensor<5xi64>)
// CHECK: arith.sitofp
func.func @returned(%m: tensor<5xi64>) -> (tensor<5xf32>, tensor<5xi64>) {
  %e = tensor.empty() : tensor<5xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%m : tensor<5xi64>) outs(%e : tensor<5xf32>) {
    ^bb0(%a: i64, %o: f32):
      %f = arith.sitofp %a : i64 to f32
      linalg.yield %f : f32
  } -> tensor<5xf32>
  return %r, %m : tensor<5xf32>, tensor<5xi64>
}

// -----

// Callers keep it, too, because they depend on its type.
// CHECK-LABEL: func.func private @called(
// CHECK-SAME: tensor<5xi64>)
func.func private @called(%m: tensor<5xi64>) -> tensor<5xf32> {
  %e = tensor.empty() : tensor<5xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%m : tensor<5xi64>) outs(%e : tensor<5xf32>) {
    ^bb0(%a: i64, %o: f32):
      %f = arith.sitofp %a : i64 to f32
      linalg.yield %f : f32
  } -> tensor<5xf32>
  return %r : tensor<5xf32>
}
func.func @caller(%m: tensor<5xi64>) -> tensor<5xf32> {
  %r = func.call @called(%m) : (tensor<5xi64>) -> tensor<5xf32>
  return %r : tensor<5xf32>
}

// -----

// A 32-bit word consists of two halves.
// CHECK-LABEL: func.func @words(
// CHECK-DAG: arith.andi
// CHECK-DAG: arith.shrui
// CHECK-DAG: arith.xori
// CHECK: return
func.func @words(%m: tensor<5xi32>) -> tensor<5xf32> {
  %e = tensor.empty() : tensor<5xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%m : tensor<5xi32>) outs(%e : tensor<5xf32>) {
    ^bb0(%a: i32, %o: f32):
      %f = arith.sitofp %a : i32 to f32
      linalg.yield %f : f32
  } -> tensor<5xf32>
  return %r : tensor<5xf32>
}
