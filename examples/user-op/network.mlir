// Two convolutions with an op of another project between them.
module attributes {layout.target = #layout.cpu<lanes = 16>} {
  func.func @main(%x: tensor<1x64x3x3xf32>, %gate: tensor<1x64xf32>) -> tensor<1x64x3x3xf32> {
    %w = arith.constant dense<0.5> : tensor<64x64x1x1xf32>
    %zero = arith.constant 0.0 : f32
    %empty = tensor.empty() : tensor<1x64x3x3xf32>
    %out = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x64x3x3xf32>) -> tensor<1x64x3x3xf32>
    %a = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x64x3x3xf32>, tensor<64x64x1x1xf32>)
      outs(%out : tensor<1x64x3x3xf32>) -> tensor<1x64x3x3xf32>
    %b = "user.gate"(%a, %gate) : (tensor<1x64x3x3xf32>, tensor<1x64xf32>) -> tensor<1x64x3x3xf32>
    %c = linalg.conv_2d_nchw_fchw ins(%b, %w : tensor<1x64x3x3xf32>, tensor<64x64x1x1xf32>)
      outs(%out : tensor<1x64x3x3xf32>) -> tensor<1x64x3x3xf32>
    return %c : tensor<1x64x3x3xf32>
  }
}
