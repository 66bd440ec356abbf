// 7x7 convolution of stride 2 on a plain image of 3 channels, 64 blocked output
// channels, 230x230 to 112x112. 236.0 MFLOP.
#in  = affine_map<(n, o1, oh, ow, o0, i, kh, kw) -> (n, i, oh * 2 + kh, ow * 2 + kw)>
#w   = affine_map<(n, o1, oh, ow, o0, i, kh, kw) -> (o1, i, kh, kw, o0)>
#out = affine_map<(n, o1, oh, ow, o0, i, kh, kw) -> (n, o1, oh, ow, o0)>
func.func @kernel(%x: tensor<1x3x230x230xf32>, %w: tensor<4x3x7x7x16xf32>) -> tensor<1x4x112x112x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x4x112x112x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x4x112x112x16xf32>) -> tensor<1x4x112x112x16xf32>
  %r = linalg.generic {indexing_maps = [#in, #w, #out],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel",
                        "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<1x3x230x230xf32>, tensor<4x3x7x7x16xf32>)
      outs(%f : tensor<1x4x112x112x16xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  } -> tensor<1x4x112x112x16xf32>
  return %r : tensor<1x4x112x112x16xf32>
}
