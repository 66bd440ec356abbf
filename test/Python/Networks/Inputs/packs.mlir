func.func @main(%x: tensor<1x20x3x3xf32>, %row: tensor<1x32x1x1xf32>)
    -> (tensor<1x2x3x3x16xf32>, tensor<1x20x3x3xf32>, tensor<1x2x1x1x16xf32>, tensor<2x3x3x16xf32>, tensor<1x2x3x3x16xf32>) {
  %pad = arith.constant 0.0 : f32
  %to = tensor.empty() : tensor<1x2x3x3x16xf32>
  %back = tensor.empty() : tensor<1x20x3x3xf32>
  %pack = linalg.pack %x padding_value(%pad : f32) inner_dims_pos = [1] inner_tiles = [16] into %to : tensor<1x20x3x3xf32> -> tensor<1x2x3x3x16xf32>
  %unpack = linalg.unpack %pack inner_dims_pos = [1] inner_tiles = [16] into %back : tensor<1x2x3x3x16xf32> -> tensor<1x20x3x3xf32>
  %flat = tensor.empty() : tensor<1x2x1x1x16xf32>
  %view = linalg.pack %row inner_dims_pos = [1] inner_tiles = [16] into %flat : tensor<1x32x1x1xf32> -> tensor<1x2x1x1x16xf32>
  %weight = arith.constant dense<2.0> : tensor<32x9xf32>
  %grid = tensor.expand_shape %weight [[0], [1, 2]] output_shape [32, 3, 3] : tensor<32x9xf32> into tensor<32x3x3xf32>
  %packed = tensor.empty() : tensor<2x3x3x16xf32>
  %constant = linalg.pack %grid inner_dims_pos = [0] inner_tiles = [16] into %packed : tensor<32x3x3xf32> -> tensor<2x3x3x16xf32>
  %fill = linalg.fill ins(%pad : f32) outs(%back : tensor<1x20x3x3xf32>) -> tensor<1x20x3x3xf32>
  %filled = linalg.pack %fill padding_value(%pad : f32) inner_dims_pos = [1] inner_tiles = [16] into %to : tensor<1x20x3x3xf32> -> tensor<1x2x3x3x16xf32>
  return %pack, %unpack, %view, %constant, %filled : tensor<1x2x3x3x16xf32>, tensor<1x20x3x3xf32>, tensor<1x2x1x1x16xf32>, tensor<2x3x3x16xf32>, tensor<1x2x3x3x16xf32>
}
