// Check that unread positions of complex tensors are filled with a complex zero: a product over a padded dim, and a
// copy that computes the element of every position.

// RUN: layout-opt %s --convert-layout-to-linalg --layout-linalg-to-llvm -o %t.mlir
// RUN: %python -c "import numpy as np, sys; t = sys.argv[1]; r = np.random.default_rng(3); [np.save(f'{t}.{k}.npy', (r.integers(-4, 4, s) + 1j * r.integers(-4, 4, s)).astype('c8')) for k, s in (('x', (2, 1, 2, 7)), ('y', (1, 1, 5, 7)))]" %t
// RUN: layout-run %t.mlir --input=%t.x.npy --input=%t.y.npy --output=%t.a.npy --output=%t.b.npy
// RUN: %python -c "import numpy as np, sys; t = sys.argv[1]; x, y, a, b = (np.load(f'{t}.{k}.npy') for k in 'xyab'); print((a == np.einsum('mkip,nkjp->mnij', x, y)).all(), (b == x).all())" %t | FileCheck %s
// CHECK: True True

#lanes = #layout.map<(d0, d1, d2, d3) -> buffer(d0, d1, d2, [d3] align 8)>
#blocked = #layout.map<(d0, d1, d2, d3) -> buffer(d0, d1, d2 floordiv 8, d3, d2 mod 8)>
#swizzled = #layout.map<(d0, d1, d2, d3) -> buffer(d0, d1, d2, xor([d3] align 8, d2 : 8))>
func.func @main(%x: tensor<2x1x2x7xcomplex<f32>>, %y: tensor<1x1x5x7xcomplex<f32>>)
    -> (tensor<2x1x2x5xcomplex<f32>>, tensor<2x1x2x7xcomplex<f32>>) {
  %xl = layout.convert %x : tensor<2x1x2x7xcomplex<f32>> to tensor<2x1x2x7xcomplex<f32>, #lanes>
  %yb = layout.convert %y : tensor<1x1x5x7xcomplex<f32>> to tensor<1x1x5x7xcomplex<f32>, #blocked>
  %e = tensor.empty() : tensor<2x1x2x5xcomplex<f32>>
  %zero = complex.constant [0.0 : f32, 0.0 : f32] : complex<f32>
  %f = linalg.fill ins(%zero : complex<f32>) outs(%e : tensor<2x1x2x5xcomplex<f32>>) -> tensor<2x1x2x5xcomplex<f32>>
  %a = linalg.mmt4d ins(%xl, %yb : tensor<2x1x2x7xcomplex<f32>, #lanes>, tensor<1x1x5x7xcomplex<f32>, #blocked>)
      outs(%f : tensor<2x1x2x5xcomplex<f32>>) -> tensor<2x1x2x5xcomplex<f32>>
  %s = layout.convert %xl : tensor<2x1x2x7xcomplex<f32>, #lanes> to tensor<2x1x2x7xcomplex<f32>, #swizzled>
  %b = layout.convert %s : tensor<2x1x2x7xcomplex<f32>, #swizzled> to tensor<2x1x2x7xcomplex<f32>>
  return %a, %b : tensor<2x1x2x5xcomplex<f32>>, tensor<2x1x2x7xcomplex<f32>>
}
