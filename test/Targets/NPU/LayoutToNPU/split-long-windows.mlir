// RUN: layout-opt %s --npu-legalize-linalg --canonicalize --split-input-file | FileCheck %s
// Check that windows with a stride of more than 15 become two steps with strides of at most 15, if a factor of the
// stride divides the window. run-long-windows.py checks the results.

// The rows that no window reads are dropped. Stride 17 has no factor, and a single output has no stride.
// CHECK-DAG: #[[FIRST:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2 * 8 + d4, d3)>
// CHECK-DAG: #[[REST:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2 * 4 + d4, d3 * 17 + d5)>
// CHECK-LABEL: func.func @sum(
// CHECK-SAME: %[[X:.*]]: tensor<2x5x66x36xf32>
// CHECK: %[[READ:.*]] = tensor.extract_slice %[[X]][0, 0, 0, 0] [2, 5, 64, 36] [1, 1, 1, 1]
// CHECK: %[[Z:.*]] = linalg.generic {indexing_maps = [#[[FIRST]], {{.*}}]{{.*}}} ins(%[[READ]], %{{.*}} : tensor<2x5x64x36xf32>, tensor<8xf32>) outs(%{{.*}} : tensor<2x5x8x36xf32>)
// CHECK: linalg.generic {indexing_maps = [#[[REST]], {{.*}}]{{.*}}} ins(%[[Z]], %{{.*}} : tensor<2x5x8x36xf32>, tensor<4x2xf32>) outs(%{{.*}} : tensor<2x5x2x3xf32>)
func.func @sum(%x: tensor<2x5x66x36xf32>, %o: tensor<2x5x2x3xf32>) -> tensor<2x5x2x3xf32> {
  %w = tensor.empty() : tensor<32x2xf32>
  %r = linalg.pooling_nchw_sum {dilations = dense<1> : vector<2xi64>, strides = dense<[32, 17]> : vector<2xi64>}
      ins(%x, %w : tensor<2x5x66x36xf32>, tensor<32x2xf32>) outs(%o : tensor<2x5x2x3xf32>) -> tensor<2x5x2x3xf32>
  return %r : tensor<2x5x2x3xf32>
}

// -----

// CHECK-LABEL: func.func @maximum(
// CHECK: %[[START:.*]] = arith.constant 0xFF800000 : f32
// CHECK: linalg.fill ins(%[[START]] : f32)
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<2x4x4x5xf32>)
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<2x2x2x5xf32>)
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @maximum(%x: tensor<2x32x32x5xf32>, %o: tensor<2x2x2x5xf32>) -> tensor<2x2x2x5xf32> {
  %w = tensor.empty() : tensor<16x16xf32>
  %r = linalg.pooling_nhwc_max {dilations = dense<1> : vector<2xi64>, strides = dense<16> : vector<2xi64>}
      ins(%x, %w : tensor<2x32x32x5xf32>, tensor<16x16xf32>) outs(%o : tensor<2x2x2x5xf32>) -> tensor<2x2x2x5xf32>
  return %r : tensor<2x2x2x5xf32>
}

// -----

// CHECK-LABEL: func.func @supported(
// CHECK: linalg.pooling_nchw_max
// CHECK: linalg.pooling_nchw_max
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @supported(%x: tensor<2x5x30x30xf32>, %o: tensor<2x5x2x2xf32>, %p: tensor<2x5x1x1xf32>)
    -> (tensor<2x5x2x2xf32>, tensor<2x5x1x1xf32>) {
  %z = arith.constant 0xFF800000 : f32
  %f = linalg.fill ins(%z : f32) outs(%o : tensor<2x5x2x2xf32>) -> tensor<2x5x2x2xf32>
  %g = linalg.fill ins(%z : f32) outs(%p : tensor<2x5x1x1xf32>) -> tensor<2x5x1x1xf32>
  %w = tensor.empty() : tensor<15x15xf32>
  %r = linalg.pooling_nchw_max {dilations = dense<1> : vector<2xi64>, strides = dense<15> : vector<2xi64>}
      ins(%x, %w : tensor<2x5x30x30xf32>, tensor<15x15xf32>) outs(%f : tensor<2x5x2x2xf32>) -> tensor<2x5x2x2xf32>
  %s = linalg.pooling_nchw_max {dilations = dense<1> : vector<2xi64>, strides = dense<16> : vector<2xi64>}
      ins(%x, %w : tensor<2x5x30x30xf32>, tensor<15x15xf32>) outs(%g : tensor<2x5x1x1xf32>) -> tensor<2x5x1x1xf32>
  return %r, %s : tensor<2x5x2x2xf32>, tensor<2x5x1x1xf32>
}
