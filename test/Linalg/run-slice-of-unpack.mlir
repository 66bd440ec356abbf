// Check a slice of an untiled dim of an unpack, which upstream would fold into an unpack that its verifier rejects.

// RUN: layout-opt %s --layout-linalg-to-llvm -o %t.mlir
// RUN: %python -c "import numpy as np, sys; t = sys.argv[1]; np.save(f'{t}.x.npy', np.arange(2 * 3 * 4 * 5, dtype='f4').reshape(2, 3, 4, 5)); np.save(f'{t}.y.npy', np.zeros(2, dtype='f4'))" %t
// RUN: layout-run %t.mlir --input=%t.x.npy --input=%t.y.npy --output=%t.a.npy --output=%t.b.npy
// RUN: %python -c "import numpy as np, sys; t = sys.argv[1]; x, a, b = (np.load(f'{t}.{k}.npy') for k in 'xab'); y = x.transpose(2, 1, 0, 3).reshape(4, 3, 10); print(a.shape, (a == y[:3, :3, :9]).all(), b.shape, (b == y[1:4:2, :2, 1:8]).all())" %t | FileCheck %s
// CHECK: (3, 3, 9) True (2, 2, 7) True

// The same slice before other passes.
// RUN: layout-opt %s --layout-prepare-for-canonicalizer --canonicalize | FileCheck %s --check-prefix=IR
// IR-LABEL: func.func @main
// IR: tensor.extract_slice %{{.*}}[0, 0, 0, 0] [2, 3, 3, 5] [1, 1, 1, 1] : tensor<2x3x4x5xf32>
// IR: linalg.unpack {{.*}} : tensor<2x3x3x5xf32> -> tensor<3x3x9xf32>
func.func @main(%x: tensor<2x3x4x5xf32>, %y: tensor<?xf32>) -> (tensor<3x3x9xf32>, tensor<2x?x7xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %y, %c0 : tensor<?xf32>
  %e = tensor.empty() : tensor<4x3x10xf32>
  %u = linalg.unpack %x outer_dims_perm = [2, 1, 0] inner_dims_pos = [2] inner_tiles = [5]
      into %e : tensor<2x3x4x5xf32> -> tensor<4x3x10xf32>
  %a = tensor.extract_slice %u[0, 0, 0] [3, 3, 9] [1, 1, 1] : tensor<4x3x10xf32> to tensor<3x3x9xf32>
  %v = linalg.unpack %x outer_dims_perm = [2, 1, 0] inner_dims_pos = [2] inner_tiles = [5]
      into %e : tensor<2x3x4x5xf32> -> tensor<4x3x10xf32>
  %b = tensor.extract_slice %v[1, 0, 1] [2, %n, 7] [2, 1, 1] : tensor<4x3x10xf32> to tensor<2x?x7xf32>
  return %a, %b : tensor<3x3x9xf32>, tensor<2x?x7xf32>
}
