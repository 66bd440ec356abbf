// A layer and the next one, for a grid of 8 cores.
module attributes {layout.target = #tiles.grid<8>} {
  func.func @main(%x: tensor<100x200xf32>, %bias: tensor<300xf32>) -> tensor<100x50xf32> {
    %w0 = arith.constant dense<0.5> : tensor<200x300xf32>
    %w1 = arith.constant dense<0.25> : tensor<300x50xf32>
    %zero = arith.constant 0.0 : f32
    %e0 = tensor.empty() : tensor<100x300xf32>
    %e1 = tensor.empty() : tensor<100x50xf32>
    %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<100x300xf32>) -> tensor<100x300xf32>
    %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<100x50xf32>) -> tensor<100x50xf32>
    %0 = linalg.matmul ins(%x, %w0 : tensor<100x200xf32>, tensor<200x300xf32>)
      outs(%f0 : tensor<100x300xf32>) -> tensor<100x300xf32>
    %1 = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>,
                                          affine_map<(m, n) -> (m, n)>],
                         iterator_types = ["parallel", "parallel"]}
      ins(%0, %bias : tensor<100x300xf32>, tensor<300xf32>) outs(%e0 : tensor<100x300xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %s = arith.addf %a, %b : f32
      %r = arith.maximumf %s, %zero : f32
      linalg.yield %r : f32
    } -> tensor<100x300xf32>
    %2 = linalg.matmul ins(%1, %w1 : tensor<100x300xf32>, tensor<300x50xf32>)
      outs(%f1 : tensor<100x50xf32>) -> tensor<100x50xf32>
    return %2 : tensor<100x50xf32>
  }
}
