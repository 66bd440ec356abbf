// Check dynamic sizes that become static during the lowering, by a cast, by a
// slice and by another operand: all types are updated consistently.
//
// RUN: layout-opt %s --convert-layout-to-linalg --layout-linalg-to-llvm -o %t.mlir
// RUN: layout-opt %s --layout-to-cpu='target={#layout.cpu<lanes = 3, strided_percent = 100>}' -o %t.laid.mlir
// RUN: %python -c "import numpy as np, sys; t = sys.argv[1]; g = np.random.default_rng(1); np.save(t + '.x.npy', np.arange(6, dtype='i4').reshape(1, 2, 3)); np.save(t + '.y.npy', np.arange(308).reshape(4, 11, 7, 1)); np.save(t + '.v.npy', g.integers(-3, 4, (2, 5)).astype('f4')); np.save(t + '.m.npy', g.integers(-3, 4, (2, 5, 3)).astype('f4'))" %t
// RUN: layout-run %t.mlir --input=%t.x.npy --input=%t.y.npy --input=%t.v.npy --input=%t.m.npy --output=%t.a.npy --output=%t.b.npy --output=%t.c.npy
// RUN: %python -c "import numpy as np, sys; x, y, v, m, a, b, c = (np.load(f'{sys.argv[1]}.{k}.npy') for k in 'xyvmabc'); print((a == x).all(), (b == y).all(), (c == np.einsum('bk,bkn->bn', v, m)).all())" %t | FileCheck %s
// RUN: layout-run %t.laid.mlir --input=%t.x.npy --input=%t.y.npy --input=%t.v.npy --input=%t.m.npy --output=%t.a.npy --output=%t.b.npy --output=%t.c.npy
// RUN: %python -c "import numpy as np, sys; x, y, v, m, a, b, c = (np.load(f'{sys.argv[1]}.{k}.npy') for k in 'xyvmabc'); print((a == x).all(), (b == y).all(), (c == np.einsum('bk,bkn->bn', v, m)).all())" %t | FileCheck %s
// CHECK: True True True

#tiled = #layout.map<(a, b, c) -> buffer(b floordiv 16, a, c, b mod 16)>
#fused = #layout.blocked<"R11r7rN" to "5r5r5nNR">
#rows = #layout.map<(a, b) -> buffer(a floordiv 16, b, a mod 16)>
func.func @main(%x: tensor<1x2x3xi32>, %y: tensor<4x11x7x1xi64>, %v: tensor<2x?xf32>, %m: tensor<2x5x3xf32>) -> (tensor<1x?x?xi32>, tensor<?x11x7x?xi64>, tensor<2x3xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %0 = tensor.cast %x : tensor<1x2x3xi32> to tensor<1x?x?xi32>
  %1 = layout.convert %0 : tensor<1x?x?xi32> to tensor<1x?x?xi32, #tiled>
  %a = layout.convert %1 : tensor<1x?x?xi32, #tiled> to tensor<1x?x?xi32>

  %2 = tensor.extract_slice %y[%c0, 0, 0, %c0] [%c4, 11, 7, %c1] [1, 1, 1, 1] : tensor<4x11x7x1xi64> to tensor<?x11x7x?xi64>
  %3 = layout.convert %2 : tensor<?x11x7x?xi64> to tensor<?x11x7x?xi64, #fused>
  %b = layout.convert %3 : tensor<?x11x7x?xi64, #fused> to tensor<?x11x7x?xi64>

  %4 = layout.convert %v : tensor<2x?xf32> to tensor<2x?xf32, #rows>
  %5 = tensor.empty() : tensor<2x3xf32>
  %zero = arith.constant 0.0 : f32
  %6 = linalg.fill ins(%zero : f32) outs(%5 : tensor<2x3xf32>) -> tensor<2x3xf32>
  %c = linalg.batch_vecmat ins(%4, %m : tensor<2x?xf32, #rows>, tensor<2x5x3xf32>) outs(%6 : tensor<2x3xf32>) -> tensor<2x3xf32>
  return %a, %b, %c : tensor<1x?x?xi32>, tensor<?x11x7x?xi64>, tensor<2x3xf32>
}
