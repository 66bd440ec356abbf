module @mini {
  func.func @main(%x: tensor<?x3x20x20xf32>) -> tensor<?x25x33xf32> {
    %c0 = arith.constant 0 : index
    %batch = tensor.dim %x, %c0 : tensor<?x3x20x20xf32>
    %patches_weight = arith.constant dense<1.83599621e-01> : tensor<33x3x4x4xf32>
    %cst = arith.constant 0.00000000e+00 : f32
    %patches_init = tensor.empty(%batch) : tensor<?x33x5x5xf32>
    %patches_fill = linalg.fill ins(%cst : f32) outs(%patches_init : tensor<?x33x5x5xf32>) -> tensor<?x33x5x5xf32>
    %patches = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<4> : vector<2xi64>} ins(%x, %patches_weight : tensor<?x3x20x20xf32>, tensor<33x3x4x4xf32>) outs(%patches_fill : tensor<?x33x5x5xf32>) -> tensor<?x33x5x5xf32>
    %flat = tensor.collapse_shape %patches [[0], [1], [2, 3]] : tensor<?x33x5x5xf32> into tensor<?x33x25xf32>
    %rows_init = tensor.empty(%batch) : tensor<?x25x33xf32>
    %rows = linalg.transpose ins(%flat : tensor<?x33x25xf32>) outs(%rows_init : tensor<?x25x33xf32>) permutation = [0, 2, 1]
    return %rows : tensor<?x25x33xf32>
  }
}
