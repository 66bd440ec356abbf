// Check that Winograd's transforms are loops over small products, and that the convolution keeps its results.
//
// DEFINE: %{target} = '{#layout.cpu<lanes = 16>}'
// RUN: layout-opt %s --layout-linalg-to-llvm -o %t.0.mlir
// RUN: layout-opt %s --layout-to-cpu=target=%{target} -o %t.1.mlir
// RUN: %python -c "import numpy as np; r = np.random.default_rng(0); np.save(r'%t.x.npy', r.random((2, 10, 10, 5), 'f4')); np.save(r'%t.w.npy', r.random((2, 3, 3, 5), 'f4'))"
// RUN: layout-run %t.0.mlir %t.1.mlir --input=%t.x.npy --input=%t.w.npy --output=%t.y.npy --max-rel=1e-6
// RUN: %python -c "import numpy as np; x, w, y = (np.load(r'%t.' + n + '.npy') for n in 'xwy'); \
// RUN:   v = np.lib.stride_tricks.sliding_window_view(x, (3, 3), axis=(1, 2)); \
// RUN:   np.testing.assert_allclose(y, np.einsum('nhwcij,fijc->nhwf', v, w), rtol=1e-5)"

func.func @main(%x: tensor<2x10x10x5xf32>, %w: tensor<2x3x3x5xf32>) -> tensor<2x8x8x2xf32> {
  %e0 = tensor.empty() : tensor<6x6x5x2xf32>
  %f = linalg.winograd_filter_transform fmr(F_4_3) ins(%w : tensor<2x3x3x5xf32>) outs(%e0 : tensor<6x6x5x2xf32>) -> tensor<6x6x5x2xf32>
  %e1 = tensor.empty() : tensor<6x6x2x2x2x5xf32>
  %i = linalg.winograd_input_transform fmr(F_4_3) ins(%x : tensor<2x10x10x5xf32>) outs(%e1 : tensor<6x6x2x2x2x5xf32>) -> tensor<6x6x2x2x2x5xf32>
  %c0 = tensor.collapse_shape %f [[0, 1], [2], [3]] : tensor<6x6x5x2xf32> into tensor<36x5x2xf32>
  %c1 = tensor.collapse_shape %i [[0, 1], [2, 3, 4], [5]] : tensor<6x6x2x2x2x5xf32> into tensor<36x8x5xf32>
  %z = arith.constant 0.0 : f32
  %e2 = tensor.empty() : tensor<36x8x2xf32>
  %f2 = linalg.fill ins(%z : f32) outs(%e2 : tensor<36x8x2xf32>) -> tensor<36x8x2xf32>
  %m = linalg.batch_matmul ins(%c1, %c0 : tensor<36x8x5xf32>, tensor<36x5x2xf32>) outs(%f2 : tensor<36x8x2xf32>) -> tensor<36x8x2xf32>
  %v = tensor.expand_shape %m [[0, 1], [2, 3, 4], [5]] output_shape [6, 6, 2, 2, 2, 2] : tensor<36x8x2xf32> into tensor<6x6x2x2x2x2xf32>
  %e3 = tensor.empty() : tensor<2x8x8x2xf32>
  %f3 = linalg.fill ins(%z : f32) outs(%e3 : tensor<2x8x8x2xf32>) -> tensor<2x8x8x2xf32>
  %r = linalg.winograd_output_transform fmr(F_4_3) ins(%v : tensor<6x6x2x2x2x2xf32>) outs(%f3 : tensor<2x8x8x2xf32>) -> tensor<2x8x8x2xf32>
  return %r : tensor<2x8x8x2xf32>
}
