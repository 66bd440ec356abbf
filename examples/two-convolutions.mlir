// Two convolutions on NCHW tensors, as a frontend produces them.
func.func @main(%image: tensor<1x64x30x30xf32>) -> tensor<1x128x26x26xf32> {
  %zero = arith.constant 0.0 : f32
  %w1 = arith.constant dense<0.5> : tensor<64x64x3x3xf32>
  %e1 = tensor.empty() : tensor<1x64x28x28xf32>
  %i1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<1x64x28x28xf32>) -> tensor<1x64x28x28xf32>
  %c1 = linalg.conv_2d_nchw_fchw ins(%image, %w1 : tensor<1x64x30x30xf32>, tensor<64x64x3x3xf32>)
                                 outs(%i1 : tensor<1x64x28x28xf32>) -> tensor<1x64x28x28xf32>
  %w2 = arith.constant dense<0.25> : tensor<128x64x3x3xf32>
  %e2 = tensor.empty() : tensor<1x128x26x26xf32>
  %i2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<1x128x26x26xf32>) -> tensor<1x128x26x26xf32>
  %c2 = linalg.conv_2d_nchw_fchw ins(%c1, %w2 : tensor<1x64x28x28xf32>, tensor<128x64x3x3xf32>)
                                 outs(%i2 : tensor<1x128x26x26xf32>) -> tensor<1x128x26x26xf32>
  return %c2 : tensor<1x128x26x26xf32>
}
