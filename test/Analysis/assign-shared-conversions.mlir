// Check the cost of a value with several consumers, or with consumers of
// different sizes.
// RUN: layout-opt %s -split-input-file -layout-solve -layout-materialize | FileCheck %s

// Two returns of an unknown op require the same layout: one conversion.
// CHECK-LABEL: func @one_conversion_for_two
// CHECK: %[[C:.*]] = linalg.conv_2d_nchw_fchw
// CHECK-NEXT: %[[P:.*]] = layout.convert %[[C]]
// CHECK-NOT: layout.convert
// CHECK: call @use(%[[P]])
// CHECK-NOT: layout.convert
// CHECK: return %[[P]]
module attributes {layout.target = #layout.cpu<lanes = 16>} {
func.func private @use(tensor<1x64x54x54xf32>)
func.func @one_conversion_for_two(%x: tensor<1x64x56x56xf32>) -> tensor<1x64x54x54xf32> {
  %zero = arith.constant 0.0 : f32
  %w = arith.constant dense<1.0> : tensor<64x64x3x3xf32>
  %e = tensor.empty() : tensor<1x64x54x54xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x64x54x54xf32>) -> tensor<1x64x54x54xf32>
  %c = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x64x56x56xf32>, tensor<64x64x3x3xf32>)
      outs(%f : tensor<1x64x54x54xf32>) -> tensor<1x64x54x54xf32>
  call @use(%c) : (tensor<1x64x54x54xf32>) -> ()
  return %c : tensor<1x64x54x54xf32>
}
}

// -----

// A large blocked activation is combined with two small row-major ones: the
// small ones are converted.
#big = affine_map<(n, c, h, w) -> (n, c, h, w)>
#small = affine_map<(n, c, h, w) -> (n, c, 0, 0)>
// CHECK-LABEL: func @small_ones_move
// CHECK-SAME: %[[X:.*]]: tensor<1x64x513x513xf32>, %[[S:.*]]: tensor<1x61x1x1xf32>, %[[T:.*]]: tensor<1x61x1x1xf32>
// CHECK-DAG: layout.convert %[[S]]
// CHECK-DAG: layout.convert %[[T]]
// CHECK: linalg.conv_2d_nchw_fchw
// CHECK-NOT: layout.convert
// CHECK: linalg.generic
// CHECK-NOT: layout.convert
// CHECK: linalg.conv_2d_nchw_fchw
// CHECK: layout.convert
// CHECK-NEXT: return
module attributes {layout.target = #layout.cpu<lanes = 16>} {
func.func @small_ones_move(%x: tensor<1x64x513x513xf32>, %s: tensor<1x61x1x1xf32>,
                           %t: tensor<1x61x1x1xf32>) -> tensor<1x64x127x127xf32> {
  %zero = arith.constant 0.0 : f32
  %w0 = arith.constant dense<1.0> : tensor<61x64x3x3xf32>
  %w1 = arith.constant dense<2.0> : tensor<64x61x3x3xf32>
  %e0 = tensor.empty() : tensor<1x61x256x256xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<1x61x256x256xf32>) -> tensor<1x61x256x256xf32>
  %a = linalg.conv_2d_nchw_fchw {strides = dense<2> : vector<2xi64>, dilations = dense<1> : vector<2xi64>}
      ins(%x, %w0 : tensor<1x64x513x513xf32>, tensor<61x64x3x3xf32>)
      outs(%f0 : tensor<1x61x256x256xf32>) -> tensor<1x61x256x256xf32>
  %m = linalg.generic {indexing_maps = [#big, #small, #small, #big],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%a, %s, %t : tensor<1x61x256x256xf32>, tensor<1x61x1x1xf32>, tensor<1x61x1x1xf32>)
      outs(%e0 : tensor<1x61x256x256xf32>) {
  ^bb0(%in: f32, %is: f32, %it: f32, %out: f32):
    %0 = arith.mulf %in, %is : f32
    %1 = arith.addf %0, %it : f32
    linalg.yield %1 : f32
  } -> tensor<1x61x256x256xf32>
  %e1 = tensor.empty() : tensor<1x64x127x127xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<1x64x127x127xf32>) -> tensor<1x64x127x127xf32>
  %b = linalg.conv_2d_nchw_fchw {strides = dense<2> : vector<2xi64>, dilations = dense<1> : vector<2xi64>}
      ins(%m, %w1 : tensor<1x61x256x256xf32>, tensor<64x61x3x3xf32>)
      outs(%f1 : tensor<1x64x127x127xf32>) -> tensor<1x64x127x127xf32>
  return %b : tensor<1x64x127x127xf32>
}
}
