// Check that a contiguous view whose type no longer states this is copied by
// loops.
//
// RUN: layout-opt %s --layout-linalg-to-llvm=emit-kernels=false -o %t.mlir
// RUN: %python -c "import numpy as np, sys; np.save(sys.argv[1], np.arange(2).reshape(1, 2, 1, 1, 1))" %t.x.npy
// RUN: layout-run %t.mlir --input=%t.x.npy --output=%t.y.npy
// RUN: %python -c "import numpy as np, sys; print(np.load(sys.argv[1]).tolist())" %t.y.npy | FileCheck %s
// CHECK: {{\[\[}}0], [1]]

func.func @main(%x: tensor<1x2x1x?x1xindex>) -> tensor<?x?xindex> {
  %y = tensor.cast %x : tensor<1x2x1x?x1xindex> to tensor<1x?x1x1x?xindex>
  %z = tensor.collapse_shape %y [[0, 1, 2], [3, 4]] : tensor<1x?x1x1x?xindex> into tensor<?x?xindex>
  return %z : tensor<?x?xindex>
}
