module @mini {
  func.func @main(%x: tensor<?x128x768xf32>, %k: tensor<?x128x768xf32>) -> tensor<?x128x128xf32> {
    %c0 = arith.constant 0 : index
    %batch = tensor.dim %x, %c0 : tensor<?x128x768xf32>
    %c12 = arith.constant 12 : index
    %batch_x_c12 = arith.muli %batch, %c12 : index
    %cst = arith.constant 0.00000000e+00 : f32
    %q_heads = tensor.expand_shape %x [[0], [1], [2, 3]] output_shape [%batch, 128, 12, 64] : tensor<?x128x768xf32> into tensor<?x128x12x64xf32>
    %q_transpose_init = tensor.empty(%batch) : tensor<?x12x128x64xf32>
    %q_transpose = linalg.transpose ins(%q_heads : tensor<?x128x12x64xf32>) outs(%q_transpose_init : tensor<?x12x128x64xf32>) permutation = [0, 2, 1, 3]
    %q_flat = tensor.collapse_shape %q_transpose [[0, 1], [2], [3]] : tensor<?x12x128x64xf32> into tensor<?x128x64xf32>
    %kt_heads = tensor.expand_shape %k [[0], [1], [2, 3]] output_shape [%batch, 128, 12, 64] : tensor<?x128x768xf32> into tensor<?x128x12x64xf32>
    %kt_transpose_init = tensor.empty(%batch) : tensor<?x12x64x128xf32>
    %kt_transpose = linalg.transpose ins(%kt_heads : tensor<?x128x12x64xf32>) outs(%kt_transpose_init : tensor<?x12x64x128xf32>) permutation = [0, 2, 3, 1]
    %kt_flat = tensor.collapse_shape %kt_transpose [[0, 1], [2], [3]] : tensor<?x12x64x128xf32> into tensor<?x64x128xf32>
    %scores_init = tensor.empty(%batch_x_c12) : tensor<?x128x128xf32>
    %scores_fill = linalg.fill ins(%cst : f32) outs(%scores_init : tensor<?x128x128xf32>) -> tensor<?x128x128xf32>
    %scores = linalg.batch_matmul ins(%q_flat, %kt_flat : tensor<?x128x64xf32>, tensor<?x64x128xf32>) outs(%scores_fill : tensor<?x128x128xf32>) -> tensor<?x128x128xf32>
    return %scores : tensor<?x128x128xf32>
  }
}
