// Check a loop-carried tensor whose size changes in each iteration and differs
// from that of a cast before the loop.
//
// RUN: layout-opt %s --layout-linalg-to-llvm -o %t.mlir
// RUN: %python -c "import numpy as np, sys; np.save(sys.argv[1], np.arange(2, dtype='i4'))" %t.x.npy
// RUN: layout-run %t.mlir --input=%t.x.npy --output=%t.y.npy
// RUN: %python -c "import numpy as np, sys; print(np.load(sys.argv[1]).tolist())" %t.y.npy | FileCheck %s
// CHECK: [0, 1, 0, 1, 0, 1, 0, 1]

func.func @main(%x: tensor<2xi32>) -> tensor<?xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %start = tensor.cast %x : tensor<2xi32> to tensor<?xi32>
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%t = %start) -> (tensor<?xi32>) {
    %s = tensor.cast %x : tensor<2xi32> to tensor<?xi32>
    %n = tensor.concat dim(0) %t, %s : (tensor<?xi32>, tensor<?xi32>) -> tensor<?xi32>
    scf.yield %n : tensor<?xi32>
  }
  return %r : tensor<?xi32>
}
