// Check strides that are sizes times nested digits: upstream would simplify them as one affine map without termination.
//
// RUN: layout-opt %s --convert-layout-to-linalg --layout-linalg-to-llvm -o %t.mlir
// RUN: %python -c "import numpy as np, sys; np.save(sys.argv[1], np.arange(408, dtype='f4').reshape(51, 8))" %t.x.npy
// RUN: layout-run %t.mlir --input=%t.x.npy --output=%t.y.npy
// RUN: %python -c "import numpy as np, sys; x, y = map(np.load, sys.argv[1:]); print(x.shape, (x == y).all())" %t.x.npy %t.y.npy | FileCheck %s
// CHECK: (51, 8) True

#digits = #layout.map<(a, b) -> buffer(([a] align 2) mod 8, (([a] align 2) floordiv 8) mod 3, ((([a] align 2) floordiv 8) floordiv 3) floordiv 2, (((pad(b, 2, 3)) floordiv 8) floordiv 8) mod 4, ((pad(b, 2, 3)) floordiv 8) mod 8, ((([a] align 2) floordiv 8) floordiv 3) mod 2, (pad(b, 2, 3)) mod 8, (((pad(b, 2, 3)) floordiv 8) floordiv 8) floordiv 4)>
func.func @main(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = layout.convert %x : tensor<?x8xf32> to tensor<?x8xf32, #digits>
  %1 = layout.convert %0 : tensor<?x8xf32, #digits> to tensor<?x8xf32>
  return %1 : tensor<?x8xf32>
}
