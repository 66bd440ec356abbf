// Check concatenation and padding with empty parts: upstream's verifier rejects a slice at the end of the tensor.

// RUN: layout-opt %s --layout-linalg-to-llvm -o %t.plain.mlir
// RUN: layout-opt %s --layout-to-cpu='target={#layout.cpu<lanes = 4>}' -o %t.mlir
// RUN: %python -c "import numpy as np, sys; t = sys.argv[1]; np.save(t + '.x.npy', np.arange(6, dtype='f4').reshape(3, 2)); np.save(t + '.e.npy', np.zeros((3, 0), 'f4'))" %t
// RUN: layout-run %t.plain.mlir --input=%t.x.npy --input=%t.e.npy --output=%t.a.npy --output=%t.b.npy --output=%t.c.npy
// RUN: %python -c "import numpy as np, sys; [print(np.load(f'{sys.argv[1]}.{k}.npy').tolist()) for k in 'abc']" %t | FileCheck %s
// RUN: layout-run %t.mlir --input=%t.x.npy --input=%t.e.npy --output=%t.a.npy --output=%t.b.npy --output=%t.c.npy
// RUN: %python -c "import numpy as np, sys; [print(np.load(f'{sys.argv[1]}.{k}.npy').tolist()) for k in 'abc']" %t | FileCheck %s
// CHECK: {{\[\[}}0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]
// CHECK-NEXT: {{\[\[}}2.0, 2.0], [2.0, 2.0], [2.0, 2.0]]
// CHECK-NEXT: {{\[\[}}], [], []]

func.func @main(%x: tensor<3x2xf32>, %e: tensor<3x0xf32>) -> (tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x0xf32>) {
  %a = tensor.concat dim(1) %e, %x, %e : (tensor<3x0xf32>, tensor<3x2xf32>, tensor<3x0xf32>) -> tensor<3x2xf32>
  %two = arith.constant 2.0 : f32
  %b = tensor.pad %e low[0, 2] high[0, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %two : f32
  } : tensor<3x0xf32> to tensor<3x2xf32>
  %c = tensor.concat dim(1) %e, %e : (tensor<3x0xf32>, tensor<3x0xf32>) -> tensor<3x0xf32>
  return %a, %b, %c : tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x0xf32>
}
