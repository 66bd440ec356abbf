// 3x3 maximum pooling of stride 2, 64 channels in blocks of 16, 112x112.
#in  = affine_map<(n, c1, oh, ow, c0, kh, kw) -> (n, c1, oh * 2 + kh, ow * 2 + kw, c0)>
#win = affine_map<(n, c1, oh, ow, c0, kh, kw) -> (kh, kw)>
#out = affine_map<(n, c1, oh, ow, c0, kh, kw) -> (n, c1, oh, ow, c0)>
func.func @kernel(%x: tensor<1x4x114x114x16xf32>) -> tensor<1x4x56x56x16xf32> {
  %low = arith.constant 0xFF800000 : f32
  %window = tensor.empty() : tensor<3x3xf32>
  %e = tensor.empty() : tensor<1x4x56x56x16xf32>
  %f = linalg.fill ins(%low : f32) outs(%e : tensor<1x4x56x56x16xf32>) -> tensor<1x4x56x56x16xf32>
  %r = linalg.generic {indexing_maps = [#in, #win, #out],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel",
                        "reduction", "reduction"]}
      ins(%x, %window : tensor<1x4x114x114x16xf32>, tensor<3x3xf32>)
      outs(%f : tensor<1x4x56x56x16xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %s = arith.maximumf %c, %a : f32
    linalg.yield %s : f32
  } -> tensor<1x4x56x56x16xf32>
  return %r : tensor<1x4x56x56x16xf32>
}
