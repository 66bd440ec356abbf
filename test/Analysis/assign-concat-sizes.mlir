// Check that a concatenation does not propagate a layout to inputs whose extent would be too small for it (L2).
//
// RUN: layout-opt %s \
// RUN:   --layout-assign='target={#layout.cpu<lanes = 16>}' \
// RUN:   | FileCheck %s
// CHECK: func @main
// CHECK: tensor.concat
#map0 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map1 = affine_map<(d0, d1, d2, d3) -> (d1)>
module @mini {
  func.func @main(%x0: tensor<1x16x64x64xf32>, %x1: tensor<1x16x4x4xf32>) -> tensor<1x37008x90xf32> {
    %l0_head_weight = arith.constant dense<1.84419692e-01> : tensor<810x16x1x1xf32>
    %cst = arith.constant 0.00000000e+00 : f32
    %l0_head_bias = arith.constant dense<1.12711377e-01> : tensor<810xf32>
    %l1_head_weight = arith.constant dense<2.03009441e-01> : tensor<810x16x1x1xf32>
    %l1_head_bias = arith.constant dense<8.36317912e-02> : tensor<810xf32>
    %l0_head_init = tensor.empty() : tensor<1x810x64x64xf32>
    %l0_head_fill = linalg.fill ins(%cst : f32) outs(%l0_head_init : tensor<1x810x64x64xf32>) -> tensor<1x810x64x64xf32>
    %l0_head = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%x0, %l0_head_weight : tensor<1x16x64x64xf32>, tensor<810x16x1x1xf32>) outs(%l0_head_fill : tensor<1x810x64x64xf32>) -> tensor<1x810x64x64xf32>
    %l0_head_add_init = tensor.empty() : tensor<1x810x64x64xf32>
    %l0_head_add = linalg.generic {indexing_maps = [#map0, #map1, #map0], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%l0_head, %l0_head_bias : tensor<1x810x64x64xf32>, tensor<810xf32>) outs(%l0_head_add_init : tensor<1x810x64x64xf32>) {
      ^bb0(%in0: f32, %in1: f32, %out: f32):
        %t0 = arith.addf %in0, %in1 : f32
        linalg.yield %t0 : f32
    } -> tensor<1x810x64x64xf32>
    %l0_last_init = tensor.empty() : tensor<1x64x64x810xf32>
    %l0_last = linalg.transpose ins(%l0_head_add : tensor<1x810x64x64xf32>) outs(%l0_last_init : tensor<1x64x64x810xf32>) permutation = [0, 2, 3, 1]
    %l0_anchors = tensor.expand_shape %l0_last [[0], [1], [2], [3, 4]] output_shape [1, 64, 64, 9, 90] : tensor<1x64x64x810xf32> into tensor<1x64x64x9x90xf32>
    %l0_flat = tensor.collapse_shape %l0_anchors [[0], [1, 2, 3], [4]] : tensor<1x64x64x9x90xf32> into tensor<1x36864x90xf32>
    %l1_head_init = tensor.empty() : tensor<1x810x4x4xf32>
    %l1_head_fill = linalg.fill ins(%cst : f32) outs(%l1_head_init : tensor<1x810x4x4xf32>) -> tensor<1x810x4x4xf32>
    %l1_head = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%x1, %l1_head_weight : tensor<1x16x4x4xf32>, tensor<810x16x1x1xf32>) outs(%l1_head_fill : tensor<1x810x4x4xf32>) -> tensor<1x810x4x4xf32>
    %l1_head_add_init = tensor.empty() : tensor<1x810x4x4xf32>
    %l1_head_add = linalg.generic {indexing_maps = [#map0, #map1, #map0], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%l1_head, %l1_head_bias : tensor<1x810x4x4xf32>, tensor<810xf32>) outs(%l1_head_add_init : tensor<1x810x4x4xf32>) {
      ^bb0(%in0: f32, %in1: f32, %out: f32):
        %t0 = arith.addf %in0, %in1 : f32
        linalg.yield %t0 : f32
    } -> tensor<1x810x4x4xf32>
    %l1_last_init = tensor.empty() : tensor<1x4x4x810xf32>
    %l1_last = linalg.transpose ins(%l1_head_add : tensor<1x810x4x4xf32>) outs(%l1_last_init : tensor<1x4x4x810xf32>) permutation = [0, 2, 3, 1]
    %l1_anchors = tensor.expand_shape %l1_last [[0], [1], [2], [3, 4]] output_shape [1, 4, 4, 9, 90] : tensor<1x4x4x810xf32> into tensor<1x4x4x9x90xf32>
    %l1_flat = tensor.collapse_shape %l1_anchors [[0], [1, 2, 3], [4]] : tensor<1x4x4x9x90xf32> into tensor<1x144x90xf32>
    %concat = tensor.concat dim(1) %l0_flat, %l1_flat : (tensor<1x36864x90xf32>, tensor<1x144x90xf32>) -> tensor<1x37008x90xf32>
    return %concat : tensor<1x37008x90xf32>
  }
}
