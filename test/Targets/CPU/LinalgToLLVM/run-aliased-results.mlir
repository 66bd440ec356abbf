// Check that a caller may overwrite one result of a call without changing other results or constants.
//
// RUN: layout-opt %s --layout-linalg-to-llvm -o %t.mlir
// RUN: %python -c "import numpy as np, sys; np.save(sys.argv[1], np.arange(4, dtype='i4'))" %t.x.npy
// RUN: layout-run %t.mlir --input=%t.x.npy --output=%t.a.npy --output=%t.b.npy --output=%t.c.npy --output=%t.d.npy --output=%t.e.npy --output=%t.f.npy --output=%t.g.npy
// RUN: %python -c "import numpy as np, sys; [print(np.load(f'{sys.argv[1]}.{k}.npy').ravel().tolist()) for k in 'abcdefg']" %t | FileCheck %s
// CHECK: [7, 2, 4, 6]
// CHECK-NEXT: [0, 2, 4, 6]
// CHECK-NEXT: [0, 2, 4, 6]
// CHECK-NEXT: [7, 5]
// CHECK-NEXT: [5, 5]
// CHECK-NEXT: [7, 8, 16, 24]
// CHECK-NEXT: [0, 8, 16, 24]

func.func private @twice(%x: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>, tensor<2x2xi32>) {
  %y = arith.addi %x, %x : tensor<4xi32>
  %z = arith.addi %x, %x : tensor<4xi32>
  %v = tensor.expand_shape %y [[0, 1]] output_shape [2, 2] : tensor<4xi32> into tensor<2x2xi32>
  return %y, %z, %v : tensor<4xi32>, tensor<4xi32>, tensor<2x2xi32>
}

func.func private @fives() -> tensor<2xi32> {
  %c = arith.constant dense<5> : tensor<2xi32>
  return %c : tensor<2xi32>
}

func.func @main(%x: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>, tensor<2x2xi32>, tensor<2xi32>, tensor<2xi32>,
                                         tensor<4xi32>, tensor<4xi32>) {
  %c0 = arith.constant 0 : index
  %c7 = arith.constant 7 : i32
  %r:3 = call @twice(%x) : (tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>, tensor<2x2xi32>)
  %a = tensor.insert %c7 into %r#0[%c0] : tensor<4xi32>
  %f = call @fives() : () -> tensor<2xi32>
  %d = tensor.insert %c7 into %f[%c0] : tensor<2xi32>
  %e = call @fives() : () -> tensor<2xi32>
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %l:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%p = %x, %q = %x) -> (tensor<4xi32>, tensor<4xi32>) {
    %m = arith.addi %q, %q : tensor<4xi32>
    %n = arith.addi %q, %q : tensor<4xi32>
    scf.yield %m, %n : tensor<4xi32>, tensor<4xi32>
  }
  %g = tensor.insert %c7 into %l#0[%c0] : tensor<4xi32>
  return %a, %r#1, %r#2, %d, %e, %g, %l#1
      : tensor<4xi32>, tensor<4xi32>, tensor<2x2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<4xi32>, tensor<4xi32>
}
