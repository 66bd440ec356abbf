// Check that a large tensor is not converted to match two small ones: those are
// converted.
//
// RUN: layout-opt %s -layout-solve=objective=bytes -layout-materialize | FileCheck %s
// CHECK-LABEL: func @main
// CHECK-DAG: layout.convert %arg1 : tensor<1x64x1x1xf32>
// CHECK-DAG: layout.convert %arg2 : tensor<1x64x1x1xf32>
// CHECK: linalg.conv_2d_nchw_fchw
// CHECK-NOT: layout.convert
// CHECK: linalg.conv_2d_nchw_fchw

#full = affine_map<(n, c, h, w) -> (n, c, h, w)>
#channel = affine_map<(n, c, h, w) -> (n, c, 0, 0)>
module attributes {layout.target = #layout.cpu<lanes = 16>} {
func.func @main(%x: tensor<1x64x256x256xf32>, %scale: tensor<1x64x1x1xf32>, %shift: tensor<1x64x1x1xf32>)
    -> tensor<1x64x256x256xf32> {
  %w = arith.constant dense<0.5> : tensor<64x64x1x1xf32>
  %out = tensor.empty() : tensor<1x64x256x256xf32>
  %a = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x64x256x256xf32>, tensor<64x64x1x1xf32>)
    outs(%out : tensor<1x64x256x256xf32>) -> tensor<1x64x256x256xf32>
  %b = linalg.generic {indexing_maps = [#full, #channel, #channel, #full],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%a, %scale, %shift : tensor<1x64x256x256xf32>, tensor<1x64x1x1xf32>, tensor<1x64x1x1xf32>)
      outs(%out : tensor<1x64x256x256xf32>) {
  ^bb0(%e: f32, %s: f32, %t: f32, %o: f32):
    %0 = arith.mulf %e, %s : f32
    %1 = arith.addf %0, %t : f32
    linalg.yield %1 : f32
  } -> tensor<1x64x256x256xf32>
  %c = linalg.conv_2d_nchw_fchw ins(%b, %w : tensor<1x64x256x256xf32>, tensor<64x64x1x1xf32>)
    outs(%out : tensor<1x64x256x256xf32>) -> tensor<1x64x256x256xf32>
  return %c : tensor<1x64x256x256xf32>
}
}
