// 1x1 convolution, 256 to 64 channels, 56x56, blocks of 16. 102.8 MFLOP.
#in  = affine_map<(n, o1, oh, ow, o0, i1, kh, kw, i0) -> (n, i1, oh + kh, ow + kw, i0)>
#w   = affine_map<(n, o1, oh, ow, o0, i1, kh, kw, i0) -> (o1, i1, kh, kw, i0, o0)>
#out = affine_map<(n, o1, oh, ow, o0, i1, kh, kw, i0) -> (n, o1, oh, ow, o0)>
func.func @kernel(%x: tensor<1x16x56x56x16xf32>, %w: tensor<4x16x1x1x16x16xf32>) -> tensor<1x4x56x56x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x4x56x56x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x4x56x56x16xf32>) -> tensor<1x4x56x56x16xf32>
  %r = linalg.generic {indexing_maps = [#in, #w, #out],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel",
                        "reduction", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<1x16x56x56x16xf32>, tensor<4x16x1x1x16x16xf32>)
      outs(%f : tensor<1x4x56x56x16xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  } -> tensor<1x4x56x56x16xf32>
  return %r : tensor<1x4x56x56x16xf32>
}
