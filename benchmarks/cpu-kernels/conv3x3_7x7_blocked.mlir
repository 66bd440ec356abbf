// 3x3 convolution on a small image: 512 to 512 channels, 7x7, blocks of 16.
// 231.2 MFLOP.
#in  = affine_map<(n, o1, oh, ow, o0, i1, kh, kw, i0) -> (n, i1, oh + kh, ow + kw, i0)>
#w   = affine_map<(n, o1, oh, ow, o0, i1, kh, kw, i0) -> (o1, i1, kh, kw, i0, o0)>
#out = affine_map<(n, o1, oh, ow, o0, i1, kh, kw, i0) -> (n, o1, oh, ow, o0)>
func.func @kernel(%x: tensor<1x32x9x9x16xf32>, %w: tensor<32x32x3x3x16x16xf32>) -> tensor<1x32x7x7x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x32x7x7x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x32x7x7x16xf32>) -> tensor<1x32x7x7x16xf32>
  %r = linalg.generic {indexing_maps = [#in, #w, #out],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel",
                        "reduction", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<1x32x9x9x16xf32>, tensor<32x32x3x3x16x16xf32>)
      outs(%f : tensor<1x32x7x7x16xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  } -> tensor<1x32x7x7x16xf32>
  return %r : tensor<1x32x7x7x16xf32>
}
