// Check that an elementwise op outside of linalg gets one layout for its operand and its result.

// REQUIRES: target-opencl
// RUN: layout-opt %s --layout-solve='target={#layout.opencl}' --layout-materialize --layout-fold-converts | FileCheck %s

// CHECK: [[C:%.+]] = tensor.collapse_shape {{.*}} into [[TYPE:tensor<.*>]]
// CHECK: math.cos {{%.+}} : [[OWN:tensor<.*>]]
// CHECK: math.sin {{%.+}} : [[OWN]]
#map1 = affine_map<(d0, d1, d2, d3) -> (d0, d1, 0, d3)>
#map2 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
func.func @kernel(%x: tensor<1x64x1xf32>, %y: tensor<1x1x1024xf32>) -> (tensor<1x1024x128xf32>, tensor<1x1024x128xf32>) {
  %cst = arith.constant 0.0 : f32
  %z = arith.constant dense<0.0> : tensor<1x1024x2x64xf32>
  %3 = tensor.empty() : tensor<1x64x1024xf32>
  %4 = linalg.fill ins(%cst : f32) outs(%3 : tensor<1x64x1024xf32>) -> tensor<1x64x1024xf32>
  %5 = linalg.batch_matmul ins(%x, %y : tensor<1x64x1xf32>, tensor<1x1x1024xf32>) outs(%4 : tensor<1x64x1024xf32>) -> tensor<1x64x1024xf32>
  %6 = tensor.empty() : tensor<1x1024x64xf32>
  %t = linalg.transpose ins(%5 : tensor<1x64x1024xf32>) outs(%6 : tensor<1x1024x64xf32>) permutation = [0, 2, 1]
  %x2 = tensor.expand_shape %t [[0], [1, 2], [3]] output_shape [1, 1024, 1, 64] : tensor<1x1024x64xf32> into tensor<1x1024x1x64xf32>
  %7 = tensor.empty() : tensor<1x1024x2x64xf32>
  %8 = linalg.generic {indexing_maps = [#map1, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x2, %z : tensor<1x1024x1x64xf32>, tensor<1x1024x2x64xf32>) outs(%7 : tensor<1x1024x2x64xf32>) {
  ^bb0(%in: f32, %i: f32, %out: f32):
    %s = arith.addf %in, %i : f32
    linalg.yield %s : f32
  } -> tensor<1x1024x2x64xf32>
  %c = tensor.collapse_shape %8 [[0], [1], [2, 3]] : tensor<1x1024x2x64xf32> into tensor<1x1024x128xf32>
  %9 = math.cos %c : tensor<1x1024x128xf32>
  %10 = math.sin %c : tensor<1x1024x128xf32>
  return %9, %10 : tensor<1x1024x128xf32>, tensor<1x1024x128xf32>
}
