// 3x3 convolution, 64 to 64 channels, 56x56, stride 1, padded input.
// Layout: channels in blocks of 16 on both sides. 231.2 MFLOP.
#in  = affine_map<(n, o1, oh, ow, o0, i1, kh, kw, i0) -> (n, i1, oh + kh, ow + kw, i0)>
#w   = affine_map<(n, o1, oh, ow, o0, i1, kh, kw, i0) -> (o1, i1, kh, kw, i0, o0)>
#out = affine_map<(n, o1, oh, ow, o0, i1, kh, kw, i0) -> (n, o1, oh, ow, o0)>
func.func @kernel(%x: tensor<1x4x58x58x16xf32>, %w: tensor<4x4x3x3x16x16xf32>) -> tensor<1x4x56x56x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x4x56x56x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x4x56x56x16xf32>) -> tensor<1x4x56x56x16xf32>
  %r = linalg.generic {indexing_maps = [#in, #w, #out],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel",
                        "reduction", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<1x4x58x58x16xf32>, tensor<4x4x3x3x16x16xf32>)
      outs(%f : tensor<1x4x56x56x16xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  } -> tensor<1x4x56x56x16xf32>
  return %r : tensor<1x4x56x56x16xf32>
}
