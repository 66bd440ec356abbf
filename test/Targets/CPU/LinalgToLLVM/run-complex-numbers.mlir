// Check complex numbers in a body and as elements: created, multiplied,
// divided, summed, and split into parts.

// RUN: layout-opt %s --layout-to-cpu="target={#layout.cpu<lanes = 16>}" -o %t.mlir
// RUN: %python -c "import numpy as np, sys; t = sys.argv[1]; r = np.random.default_rng(5); [np.save(f'{t}.{k}.npy', r.standard_normal((4, 21)).astype('f4')) for k in 'xy']" %t
// RUN: layout-run %t.mlir --input=%t.x.npy --input=%t.y.npy --output=%t.a.npy --output=%t.b.npy
// RUN: %python -c "import numpy as np, sys; t = sys.argv[1]; x, y, a, b = (np.load(f'{t}.{k}.npy').astype('f8') for k in 'xyab'); z = x + 1j * y; w = (z * z).sum(axis=0); print(np.allclose(a, np.abs(np.exp(z) / (z + (2 - 1j))), rtol=1e-4), np.allclose(b, np.stack([w.real, w.imag]), rtol=1e-4, atol=1e-5))" %t | FileCheck %s
// CHECK: True True

#id = affine_map<(i, j) -> (i, j)>
#column = affine_map<(i, j) -> (j)>
#vector = affine_map<(i) -> (i)>
func.func @main(%x: tensor<4x21xf32>, %y: tensor<4x21xf32>) -> (tensor<4x21xf32>, tensor<2x21xf32>) {
  %shift = complex.constant [2.0 : f32, -1.0 : f32] : complex<f32>
  %e = tensor.empty() : tensor<4x21xf32>
  %a = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<4x21xf32>, tensor<4x21xf32>) outs(%e : tensor<4x21xf32>) {
  ^bb0(%re: f32, %im: f32, %out: f32):
    %z = complex.create %re, %im : complex<f32>
    %exp = complex.exp %z : complex<f32>
    %s = complex.add %z, %shift : complex<f32>
    %q = complex.div %exp, %s : complex<f32>
    %abs = complex.abs %q : complex<f32>
    linalg.yield %abs : f32
  } -> tensor<4x21xf32>

  %ez = tensor.empty() : tensor<4x21xcomplex<f32>>
  %z = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<4x21xf32>, tensor<4x21xf32>) outs(%ez : tensor<4x21xcomplex<f32>>) {
  ^bb0(%re: f32, %im: f32, %out: complex<f32>):
    %0 = complex.create %re, %im : complex<f32>
    linalg.yield %0 : complex<f32>
  } -> tensor<4x21xcomplex<f32>>
  %zero = complex.constant [0.0 : f32, 0.0 : f32] : complex<f32>
  %es = tensor.empty() : tensor<21xcomplex<f32>>
  %fs = linalg.fill ins(%zero : complex<f32>) outs(%es : tensor<21xcomplex<f32>>) -> tensor<21xcomplex<f32>>
  %s = linalg.generic {indexing_maps = [#id, #column], iterator_types = ["reduction", "parallel"]}
      ins(%z : tensor<4x21xcomplex<f32>>) outs(%fs : tensor<21xcomplex<f32>>) {
  ^bb0(%in: complex<f32>, %acc: complex<f32>):
    %0 = complex.mul %in, %in : complex<f32>
    %1 = complex.add %acc, %0 : complex<f32>
    linalg.yield %1 : complex<f32>
  } -> tensor<21xcomplex<f32>>
  %part = tensor.empty() : tensor<21xf32>
  %re, %im = linalg.generic {indexing_maps = [#vector, #vector, #vector], iterator_types = ["parallel"]}
      ins(%s : tensor<21xcomplex<f32>>) outs(%part, %part : tensor<21xf32>, tensor<21xf32>) {
  ^bb0(%in: complex<f32>, %o0: f32, %o1: f32):
    %0 = complex.re %in : complex<f32>
    %1 = complex.im %in : complex<f32>
    linalg.yield %0, %1 : f32, f32
  } -> (tensor<21xf32>, tensor<21xf32>)
  %re1 = tensor.expand_shape %re [[0, 1]] output_shape [1, 21] : tensor<21xf32> into tensor<1x21xf32>
  %im1 = tensor.expand_shape %im [[0, 1]] output_shape [1, 21] : tensor<21xf32> into tensor<1x21xf32>
  %b = tensor.concat dim(0) %re1, %im1 : (tensor<1x21xf32>, tensor<1x21xf32>) -> tensor<2x21xf32>
  return %a, %b : tensor<4x21xf32>, tensor<2x21xf32>
}
