// Check a copy whose source has a static size that its type does not state; the
// written slice keeps the type with which it was read.

// RUN: layout-opt %s --convert-layout-to-linalg --layout-linalg-to-llvm -o %t.mlir
// RUN: %python -c "import numpy as np, sys; np.save(sys.argv[1], np.arange(6, dtype='i4').reshape(2, 3))" %t.x.npy
// RUN: layout-run %t.mlir --input=%t.x.npy --output=%t.a.npy
// RUN: %python -c "import numpy as np, sys; print(np.load(sys.argv[1]).tolist())" %t.a.npy | FileCheck %s
// CHECK: {{\[}}[0, 1], [3, 4]]

#tiled = #layout.import<xla, "{0,1:T(4)}">
func.func @main(%x: tensor<2x3xi32>) -> tensor<2x?xi32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %s = tensor.extract_slice %x[0, %c0] [2, %c2] [1, 1] : tensor<2x3xi32> to tensor<2x?xi32>
  %t = layout.convert %s : tensor<2x?xi32> to tensor<2x?xi32, #tiled>
  %r = layout.convert %t : tensor<2x?xi32, #tiled> to tensor<2x?xi32>
  return %r : tensor<2x?xi32>
}
