// Check that consecutive convolutions share one layout, so that conversions
// remain at the boundary of the function only.
// RUN: layout-opt %s -split-input-file -layout-solve -layout-materialize | FileCheck %s

// Nothing is converted between the two convolutions, the weights of both are
// blocked, and the result is converted for the return.
// CHECK-DAG: #[[OIHW16I16O:.*]] = #layout.map<(d0, d1, d2, d3) -> buffer(d0 floordiv 16, d1 floordiv 16, d2, d3, d1 mod 16, d0 mod 16)>
// CHECK-DAG: #[[NCHW16C:.*]] = #layout.map<(d0, d1, d2, d3) -> buffer(d0, d1 floordiv 16, d2, d3, d1 mod 16)>
// CHECK-DAG: #[[OIHW16O:.*]] = #layout.map<(d0, d1, d2, d3) -> buffer(d0 floordiv 16, d1, d2, d3, d0 mod 16)>
// CHECK-LABEL: func @chain
// CHECK: linalg.conv_2d_nchw_fchw
// CHECK-SAME: tensor<1x64x56x56xf32>, tensor<64x64x3x3xf32, #[[OIHW16O]]>
// CHECK-NOT: layout.convert
// CHECK: linalg.conv_2d_nchw_fchw
// CHECK-SAME: #[[OIHW16I16O]]
// CHECK: %[[OUT:.*]] = layout.convert
// CHECK-SAME: #[[NCHW16C]]> to tensor<1x64x52x52xf32>
// CHECK-NEXT: return %[[OUT]]
module attributes {layout.target = #layout.cpu<lanes = 16>} {
func.func @chain(%x: tensor<1x64x56x56xf32>) -> tensor<1x64x52x52xf32> {
  %zero = arith.constant 0.0 : f32
  %w0 = arith.constant dense<1.0> : tensor<64x64x3x3xf32>
  %w1 = arith.constant dense<2.0> : tensor<64x64x3x3xf32>
  %e0 = tensor.empty() : tensor<1x64x54x54xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<1x64x54x54xf32>) -> tensor<1x64x54x54xf32>
  %c0 = linalg.conv_2d_nchw_fchw ins(%x, %w0 : tensor<1x64x56x56xf32>, tensor<64x64x3x3xf32>)
      outs(%f0 : tensor<1x64x54x54xf32>) -> tensor<1x64x54x54xf32>
  %r0 = math.absf %c0 : tensor<1x64x54x54xf32>
  %e1 = tensor.empty() : tensor<1x64x52x52xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<1x64x52x52xf32>) -> tensor<1x64x52x52xf32>
  %c1 = linalg.conv_2d_nchw_fchw ins(%r0, %w1 : tensor<1x64x54x54xf32>, tensor<64x64x3x3xf32>)
      outs(%f1 : tensor<1x64x52x52xf32>) -> tensor<1x64x52x52xf32>
  return %c1 : tensor<1x64x52x52xf32>
}
}

// -----

// 61 channels are stored as 64; the dynamic batch is not tiled, and tensor.dim
// accepts its operand in any layout.
// CHECK: #[[NCHW16C:.*]] = #layout.map<(d0, d1, d2, d3) -> buffer(d0, d1 floordiv 16, d2, d3, d1 mod 16)>
// CHECK-LABEL: func @residual_non_divisible_dynamic
// CHECK: %[[A:.*]] = linalg.conv_2d_nchw_fchw
// CHECK-SAME: -> tensor<?x61x56x56xf32, #[[NCHW16C]]>
// CHECK: tensor.dim %[[A]]
// CHECK: %[[B:.*]] = linalg.conv_2d_nchw_fchw
// CHECK: arith.addf %[[A]], %[[B]] : tensor<?x61x56x56xf32, #[[NCHW16C]]>
// CHECK: layout.convert
// CHECK-NOT: layout.convert
module attributes {layout.target = #layout.cpu<lanes = 16>} {
func.func @residual_non_divisible_dynamic(%x: tensor<?x61x58x58xf32>, %n: index) -> tensor<?x61x56x56xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %w0 = arith.constant dense<1.0> : tensor<61x61x3x3xf32>
  %w1 = arith.constant dense<2.0> : tensor<61x61x3x3xf32>
  %e0 = tensor.empty(%n) : tensor<?x61x56x56xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<?x61x56x56xf32>) -> tensor<?x61x56x56xf32>
  %a = linalg.conv_2d_nchw_fchw ins(%x, %w0 : tensor<?x61x58x58xf32>, tensor<61x61x3x3xf32>)
      outs(%f0 : tensor<?x61x56x56xf32>) -> tensor<?x61x56x56xf32>
  %m = tensor.dim %a, %c0 : tensor<?x61x56x56xf32>
  %p = tensor.pad %a low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<?x61x56x56xf32> to tensor<?x61x58x58xf32>
  %e1 = tensor.empty(%m) : tensor<?x61x56x56xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<?x61x56x56xf32>) -> tensor<?x61x56x56xf32>
  %b = linalg.conv_2d_nchw_fchw ins(%p, %w1 : tensor<?x61x58x58xf32>, tensor<61x61x3x3xf32>)
      outs(%f1 : tensor<?x61x56x56xf32>) -> tensor<?x61x56x56xf32>
  %s = arith.addf %a, %b : tensor<?x61x56x56xf32>
  return %s : tensor<?x61x56x56xf32>
}
}

// -----

// The concatenation of a skip connection: 64 and 64 channels meet at a tile
// boundary, so the interior needs no conversion.
// CHECK-DAG: #[[NCHW16C:.*]] = #layout.map<(d0, d1, d2, d3) -> buffer(d0, d1 floordiv 16, d2, d3, d1 mod 16)>
// CHECK-DAG: #[[OIHW16I16O:.*]] = #layout.map<(d0, d1, d2, d3) -> buffer(d0 floordiv 16, d1 floordiv 16, d2, d3, d1 mod 16, d0 mod 16)>
// CHECK-LABEL: func @unet
// CHECK: linalg.conv_2d_nchw_fchw
// CHECK-NOT: layout.convert
// CHECK: tensor.concat dim(1)
// CHECK-SAME: #[[NCHW16C]]
// CHECK-NOT: layout.convert
// CHECK: linalg.conv_2d_nchw_fchw
// CHECK-SAME: #[[OIHW16I16O]]
// CHECK: layout.convert
// CHECK-NEXT: return
module attributes {layout.target = #layout.cpu<lanes = 16>} {
func.func @unet(%x: tensor<1x3x58x58xf32>) -> tensor<1x64x52x52xf32> {
  %zero = arith.constant 0.0 : f32
  %w0 = arith.constant dense<1.0> : tensor<64x3x3x3xf32>
  %w1 = arith.constant dense<2.0> : tensor<64x64x3x3xf32>
  %w2 = arith.constant dense<3.0> : tensor<64x128x3x3xf32>
  %e0 = tensor.empty() : tensor<1x64x56x56xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<1x64x56x56xf32>) -> tensor<1x64x56x56xf32>
  %a = linalg.conv_2d_nchw_fchw ins(%x, %w0 : tensor<1x3x58x58xf32>, tensor<64x3x3x3xf32>)
      outs(%f0 : tensor<1x64x56x56xf32>) -> tensor<1x64x56x56xf32>
  %e1 = tensor.empty() : tensor<1x64x54x54xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<1x64x54x54xf32>) -> tensor<1x64x54x54xf32>
  %b = linalg.conv_2d_nchw_fchw ins(%a, %w1 : tensor<1x64x56x56xf32>, tensor<64x64x3x3xf32>)
      outs(%f1 : tensor<1x64x54x54xf32>) -> tensor<1x64x54x54xf32>
  %skip = tensor.extract_slice %a[0, 0, 1, 1] [1, 64, 54, 54] [1, 1, 1, 1]
      : tensor<1x64x56x56xf32> to tensor<1x64x54x54xf32>
  %cat = tensor.concat dim(1) %b, %skip
      : (tensor<1x64x54x54xf32>, tensor<1x64x54x54xf32>) -> tensor<1x128x54x54xf32>
  %e2 = tensor.empty() : tensor<1x64x52x52xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<1x64x52x52xf32>) -> tensor<1x64x52x52xf32>
  %c = linalg.conv_2d_nchw_fchw ins(%cat, %w2 : tensor<1x128x54x54xf32>, tensor<64x128x3x3xf32>)
      outs(%f2 : tensor<1x64x52x52xf32>) -> tensor<1x64x52x52xf32>
  return %c : tensor<1x64x52x52xf32>
}
}
