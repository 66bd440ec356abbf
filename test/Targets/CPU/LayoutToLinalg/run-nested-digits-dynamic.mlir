// Check that each element is stored where the map defines for a fused value of a digit of a fused value, both of
// dynamic sizes.
//
// RUN: layout-opt %s --convert-layout-to-linalg --layout-linalg-to-llvm -o %t.mlir
// RUN: %python -c "import numpy as np, sys; np.save(sys.argv[1], np.arange(140, dtype='i4').reshape(4, 5, 7))" %t.x.npy
// RUN: layout-run %t.mlir --input=%t.x.npy --output=%t.y.npy
// RUN: %python -c "import numpy as np, sys; x, y = map(np.load, sys.argv[1:]); a, b, c = np.indices(x.shape); inner = a * 5 + b; f = inner // 3 * 7 + c; print(y.shape, (y[f %% 4, inner %% 3, f // 4] == x).all())" %t.x.npy %t.y.npy | FileCheck %s
// CHECK: (4, 3, 13) True

#deep = #layout.map<(a, b, c) -> buffer([[a, b] floordiv 3, c] mod 4, [a, b] mod 3, [[a, b] floordiv 3, c] floordiv 4)>
func.func @main(%x: tensor<4x?x?xi32>) -> tensor<4x3x?xi32> {
  %0 = layout.convert %x : tensor<4x?x?xi32> to tensor<4x?x?xi32, #deep>
  %1 = layout.storage_view %0 : tensor<4x?x?xi32, #deep> to tensor<4x3x?xi32>
  return %1 : tensor<4x3x?xi32>
}
