// Check a 1-D convolution with dynamic batch and width after a transposition against a numpy product, for several sizes
// including one and zero.

// REQUIRES: opencl-device, target-opencl
// RUN: layout-opt %s --layout-to-opencl='target={#layout.opencl}' -o %t.mlir
// RUN: %python -c "import numpy as np, sys; r = np.random.default_rng(5); t = sys.argv[1]; np.save(t + '.w.npy', r.standard_normal((1, 12, 1)).astype('f4')); [np.save(t + n, r.standard_normal(s).astype('f4')) for n, s in (('.a.npy', (9, 3, 12)), ('.b.npy', (1, 1, 12)), ('.c.npy', (0, 2, 12)))]" %t
// RUN: layout-run %t.mlir --input=%t.a.npy --input=%t.w.npy --output=%t.a.out.npy
// RUN: layout-run %t.mlir --input=%t.b.npy --input=%t.w.npy --output=%t.b.out.npy
// RUN: layout-run %t.mlir --input=%t.c.npy --input=%t.w.npy --output=%t.c.out.npy
// RUN: %python -c "import numpy as np, sys; t = sys.argv[1]; w = np.load(t + '.w.npy').astype('f8')[0, :, 0]; [np.testing.assert_allclose(np.load(t + n + '.out.npy'), np.einsum('knc,c->nk', np.load(t + n + '.npy'), w)[:, None], rtol=1e-4, atol=1e-5) for n in ('.a', '.b', '.c')]" %t

func.func @main(%x: tensor<?x?x12xf32>, %w: tensor<1x12x1xf32>) -> tensor<?x1x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0.0 : f32
  %width = tensor.dim %x, %c0 : tensor<?x?x12xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?x12xf32>
  %e = tensor.empty(%n, %width) : tensor<?x12x?xf32>
  %t = linalg.transpose ins(%x : tensor<?x?x12xf32>) outs(%e : tensor<?x12x?xf32>) permutation = [1, 2, 0]
  %o = tensor.empty(%n, %width) : tensor<?x1x?xf32>
  %f = linalg.fill ins(%z : f32) outs(%o : tensor<?x1x?xf32>) -> tensor<?x1x?xf32>
  %r = linalg.conv_1d_ncw_fcw {dilations = dense<1> : vector<1xi64>, strides = dense<1> : vector<1xi64>}
    ins(%t, %w : tensor<?x12x?xf32>, tensor<1x12x1xf32>) outs(%f : tensor<?x1x?xf32>) -> tensor<?x1x?xf32>
  return %r : tensor<?x1x?xf32>
}
