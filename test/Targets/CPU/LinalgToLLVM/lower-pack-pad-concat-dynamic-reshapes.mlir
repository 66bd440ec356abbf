// Check reshapes with several dynamic sizes in one group, on a slice that is
// not contiguous: upstream cannot compute strides for it.
//
// RUN: layout-opt %s --layout-cpu-lower-pack-pad-concat | FileCheck %s
// RUN: layout-opt %s --layout-linalg-to-llvm -o %t.mlir
// RUN: %python -c "import numpy as np; np.save(r'%t.x.npy', np.arange(64, dtype=np.int8).reshape(8, 8))"
// RUN: layout-run %t.mlir --input=%t.x.npy --output=%t.y.npy
// RUN: %python -c "import numpy as np; x = np.load(r'%t.x.npy'); y = np.load(r'%t.y.npy'); print(y.shape, (y == x[1:7, 2:5].reshape(2, 3, 3)).all())" \
// RUN:   | FileCheck %s --check-prefix=SAME
// SAME: (2, 3, 3) True

// CHECK-LABEL: func.func private @split
// CHECK: %[[SHAPE:.*]] = tensor.from_elements
// CHECK: tensor.reshape %{{.*}}(%[[SHAPE]]) : (tensor<?x?xi8>, tensor<3xindex>) -> tensor<?x?x?xi8>
func.func private @split(%x: tensor<8x8xi8>, %a: index, %b: index, %n: index) -> tensor<?x?x?xi8> {
  %ab = arith.muli %a, %b : index
  %s = tensor.extract_slice %x[1, 2] [%ab, %n] [1, 1] : tensor<8x8xi8> to tensor<?x?xi8>
  %e = tensor.expand_shape %s [[0, 1], [2]] output_shape [%a, %b, %n] : tensor<?x?xi8> into tensor<?x?x?xi8>
  return %e : tensor<?x?x?xi8>
}

func.func @main(%x: tensor<8x8xi8>) -> tensor<?x?x?xi8> {
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %r = call @split(%x, %c2, %c3, %c3) : (tensor<8x8xi8>, index, index, index) -> tensor<?x?x?xi8>
  return %r : tensor<?x?x?xi8>
}
