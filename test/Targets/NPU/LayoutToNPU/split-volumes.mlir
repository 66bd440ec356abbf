// RUN: layout-opt %s --npu-legalize-linalg --canonicalize --split-input-file | FileCheck %s
// Check that 3-D windows become 2-D windows; run-volumes.py checks their results.

// Every second slice is the batch, and the weights are those of one of two taps.
// CHECK-LABEL: func.func @channels(
// CHECK-SAME: %[[X:.*]]: tensor<3x7x6x6xf32>, %[[W:.*]]: tensor<4x3x2x3x3xf32>
// CHECK: tensor.extract_slice %[[X]][0, 0, 0, 0] [3, 3, 6, 6] [1, 2, 1, 1]
// CHECK: tensor.extract_slice %[[W]][0, 0, 0, 0, 0] [4, 3, 1, 3, 3] [1, 1, 1, 1, 1] : tensor<4x3x2x3x3xf32> to tensor<4x3x3x3xf32>
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<3x3x6x6xf32>, tensor<4x3x3x3xf32>)
// CHECK: tensor.extract_slice %[[X]][0, 2, 0, 0] [3, 3, 6, 6] [1, 2, 1, 1]
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<3x3x6x6xf32>, tensor<4x3x3x3xf32>)
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @channels(%x: tensor<3x7x6x6xf32>, %w: tensor<4x3x2x3x3xf32>, %o: tensor<4x3x4x4xf32>) -> tensor<4x3x4x4xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(f, d, h, w, c, k, i, j) -> (c, d * 2 + k * 2, h + i, w + j)>,
                                        affine_map<(f, d, h, w, c, k, i, j) -> (f, c, k, i, j)>,
                                        affine_map<(f, d, h, w, c, k, i, j) -> (f, d, h, w)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<3x7x6x6xf32>, tensor<4x3x2x3x3xf32>) outs(%o : tensor<4x3x4x4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<4x3x4x4xf32>
  return %r : tensor<4x3x4x4xf32>
}

// -----

// More than 64 would be too many ops to unroll.
// CHECK-LABEL: func.func @many(
// CHECK: linalg.conv_3d
func.func @many(%x: tensor<66x4x4xf32>, %w: tensor<65x2x2xf32>, %o: tensor<2x3x3xf32>) -> tensor<2x3x3xf32> {
  %r = linalg.conv_3d ins(%x, %w : tensor<66x4x4xf32>, tensor<65x2x2xf32>) outs(%o : tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
  return %r : tensor<2x3x3xf32>
}
