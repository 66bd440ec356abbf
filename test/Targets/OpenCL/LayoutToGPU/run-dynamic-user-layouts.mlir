// Check that an op on tensors in a user-defined layout keeps the layout when
// its dynamic size becomes static.
//
// REQUIRES: opencl-device
// RUN: layout-opt %s --layout-to-opencl='target={#layout.opencl}' -o %t.mlir
// RUN: %python -c "import numpy as np, sys; np.save(sys.argv[1], np.arange(6, dtype='i4').reshape(2, 3)); np.save(sys.argv[2], np.arange(12, dtype='i4').reshape(3, 4))" %t.x.npy %t.y.npy
// RUN: layout-run %t.mlir --input=%t.x.npy --input=%t.y.npy --output=%t.z.npy
// RUN: %python -c "import numpy as np, sys; x, y, z = map(np.load, sys.argv[1:]); print((z == 2 * x @ y).all())" %t.x.npy %t.y.npy %t.z.npy | FileCheck %s
// CHECK: True

#cols = #layout.map<(a, b) -> buffer(b, a)>
#id = affine_map<(i, j) -> (i, j)>
func.func @main(%x: tensor<2x?xi32>, %y: tensor<3x4xi32>) -> tensor<2x4xi32> {
  %c1 = arith.constant 1 : index
  %0 = layout.convert %x : tensor<2x?xi32> to tensor<2x?xi32, #cols>
  %n = tensor.dim %0, %c1 : tensor<2x?xi32, #cols>
  %e = tensor.empty(%n) : tensor<2x?xi32, #cols>
  %1 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%0, %0 : tensor<2x?xi32, #cols>, tensor<2x?xi32, #cols>) outs(%e : tensor<2x?xi32, #cols>) {
  ^bb0(%a: i32, %b: i32, %o: i32):
    %s = arith.addi %a, %b : i32
    linalg.yield %s : i32
  } -> tensor<2x?xi32, #cols>
  %z = tensor.empty() : tensor<2x4xi32>
  %c0 = arith.constant 0 : i32
  %f = linalg.fill ins(%c0 : i32) outs(%z : tensor<2x4xi32>) -> tensor<2x4xi32>
  %r = linalg.matmul ins(%1, %y : tensor<2x?xi32, #cols>, tensor<3x4xi32>) outs(%f : tensor<2x4xi32>) -> tensor<2x4xi32>
  return %r : tensor<2x4xi32>
}
