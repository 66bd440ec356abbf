// Check that layouts propagate through reshapes instead of being converted for
// them.
// RUN: layout-opt %s --mlir-print-local-scope -layout-solve -layout-materialize | FileCheck %s

// A norm over groups of channels between two convolutions: its reshapes become
// views of the blocked storage.
#full = affine_map<(n, g, c, h, w) -> (n, g, c, h, w)>
// CHECK-LABEL: func @conv_reshape_norm
// CHECK: linalg.conv_2d_nchw_fchw
// CHECK-NOT: layout.convert
// CHECK: tensor.expand_shape
// CHECK-SAME: #layout.map
// CHECK-NOT: layout.convert
// CHECK: tensor.collapse_shape
// CHECK-NOT: layout.convert
// CHECK: linalg.conv_2d_nchw_fchw
// CHECK: layout.convert
// CHECK-NEXT: return
module attributes {layout.target = #layout.cpu<lanes = 16>} {
func.func @conv_reshape_norm(%x: tensor<1x64x56x56xf32>) -> tensor<1x64x52x52xf32> {
  %zero = arith.constant 0.0 : f32
  %w0 = arith.constant dense<1.0> : tensor<64x64x3x3xf32>
  %w1 = arith.constant dense<2.0> : tensor<64x64x3x3xf32>
  %e0 = tensor.empty() : tensor<1x64x54x54xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<1x64x54x54xf32>) -> tensor<1x64x54x54xf32>
  %a = linalg.conv_2d_nchw_fchw ins(%x, %w0 : tensor<1x64x56x56xf32>, tensor<64x64x3x3xf32>)
      outs(%f0 : tensor<1x64x54x54xf32>) -> tensor<1x64x54x54xf32>
  %g = tensor.expand_shape %a [[0], [1, 2], [3], [4]] output_shape [1, 2, 32, 54, 54]
      : tensor<1x64x54x54xf32> into tensor<1x2x32x54x54xf32>
  %eg = tensor.empty() : tensor<1x2x32x54x54xf32>
  %m = linalg.generic {indexing_maps = [#full, #full],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%g : tensor<1x2x32x54x54xf32>) outs(%eg : tensor<1x2x32x54x54xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.mulf %in, %in : f32
    linalg.yield %0 : f32
  } -> tensor<1x2x32x54x54xf32>
  %b = tensor.collapse_shape %m [[0], [1, 2], [3], [4]]
      : tensor<1x2x32x54x54xf32> into tensor<1x64x54x54xf32>
  %e1 = tensor.empty() : tensor<1x64x52x52xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<1x64x52x52xf32>) -> tensor<1x64x52x52xf32>
  %c = linalg.conv_2d_nchw_fchw ins(%b, %w1 : tensor<1x64x54x54xf32>, tensor<64x64x3x3xf32>)
      outs(%f1 : tensor<1x64x52x52xf32>) -> tensor<1x64x52x52xf32>
  return %c : tensor<1x64x52x52xf32>
}
}
