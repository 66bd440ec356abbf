// Check that a tensor of dynamic size without elements is not copied to the device or back.
//
// REQUIRES: opencl-device
// RUN: layout-opt %s --layout-to-opencl='target={#layout.opencl}' -o %t.mlir
// RUN: %python -c "import numpy as np, sys; np.save(sys.argv[1], np.zeros((0, 3, 0, 1), 'i4'))" %t.x.npy
// RUN: layout-run %t.mlir --input=%t.x.npy --output=%t.y.npy --output=%t.z.npy
// RUN: %python -c "import numpy as np, sys; print(*[np.load(f).shape for f in sys.argv[1:]])" %t.y.npy %t.z.npy | FileCheck %s
// CHECK: (0, 3, 0, 1) (0, 3, 0, 1)

func.func @main(%x: tensor<0x?x0x1xi32>) -> (tensor<0x?x0x1xi32>, tensor<?x?x?x1xi32>) {
  %y = tensor.cast %x : tensor<0x?x0x1xi32> to tensor<?x?x?x1xi32>
  %z = arith.addi %y, %y : tensor<?x?x?x1xi32>
  return %x, %z : tensor<0x?x0x1xi32>, tensor<?x?x?x1xi32>
}
