module @mini {
  func.func @main(%x: tensor<?x64x10xf32>) -> tensor<?x5x64xf32> {
    %c0 = arith.constant 0 : index
    %batch = tensor.dim %x, %c0 : tensor<?x64x10xf32>
    %c2 = arith.constant 2 : index
    %batch_x_c2 = arith.muli %batch, %c2 : index
    %h = tensor.expand_shape %x [[0], [1], [2, 3]] output_shape [%batch, 64, 2, 5] : tensor<?x64x10xf32> into tensor<?x64x2x5xf32>
    %t_init = tensor.empty(%batch) : tensor<?x2x5x64xf32>
    %t = linalg.transpose ins(%h : tensor<?x64x2x5xf32>) outs(%t_init : tensor<?x2x5x64xf32>) permutation = [0, 2, 3, 1]
    %c = tensor.collapse_shape %t [[0, 1], [2], [3]] : tensor<?x2x5x64xf32> into tensor<?x5x64xf32>
    return %c : tensor<?x5x64xf32>
  }
}
