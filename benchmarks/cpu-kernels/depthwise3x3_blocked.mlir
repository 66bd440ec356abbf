// Depthwise 3x3 convolution, 128 channels in blocks of 16, 56x56. 7.2 MFLOP.
#in  = affine_map<(n, c1, oh, ow, c0, kh, kw) -> (n, c1, oh + kh, ow + kw, c0)>
#w   = affine_map<(n, c1, oh, ow, c0, kh, kw) -> (c1, kh, kw, c0)>
#out = affine_map<(n, c1, oh, ow, c0, kh, kw) -> (n, c1, oh, ow, c0)>
func.func @kernel(%x: tensor<1x8x58x58x16xf32>, %w: tensor<8x3x3x16xf32>) -> tensor<1x8x56x56x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x8x56x56x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x8x56x56x16xf32>) -> tensor<1x8x56x56x16xf32>
  %r = linalg.generic {indexing_maps = [#in, #w, #out],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel",
                        "reduction", "reduction"]}
      ins(%x, %w : tensor<1x8x58x58x16xf32>, tensor<8x3x3x16xf32>)
      outs(%f : tensor<1x8x56x56x16xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  } -> tensor<1x8x56x56x16xf32>
  return %r : tensor<1x8x56x56x16xf32>
}
