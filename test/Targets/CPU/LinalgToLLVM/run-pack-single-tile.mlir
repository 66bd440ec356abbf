// Check that a single tile of one dim next to a unit dim is not identical to
// the plain storage: packing and unpacking move elements.
//
// RUN: layout-opt %s --layout-linalg-to-llvm -o %t.mlir
// RUN: %python -c "import numpy as np; np.save(r'%t.x.npy', np.arange(12, dtype='f4').reshape(1, 1, 12)); np.save(r'%t.y.npy', np.arange(1, 6, dtype='f4').reshape(5, 1))"
// RUN: layout-run %t.mlir --input=%t.x.npy --input=%t.y.npy --output=%t.0.npy --output=%t.1.npy
// RUN: %python -c "import numpy as np; assert (np.load(r'%t.0.npy') == [[0], [1]]).all(); assert (np.load(r'%t.1.npy') == [[[1, 2, 3, 4, 5, 0, 0, 0, 0, 0, 0, 0]]]).all()"

func.func @main(%x: tensor<1x1x12xf32>, %y: tensor<5x1xf32>) -> (tensor<2x1xf32>, tensor<1x1x12xf32>) {
  %plain = tensor.empty() : tensor<2x1xf32>
  %unpacked = linalg.unpack %x inner_dims_pos = [0] inner_tiles = [12] into %plain : tensor<1x1x12xf32> -> tensor<2x1xf32>
  %zero = arith.constant 0.0 : f32
  %tiles = tensor.empty() : tensor<1x1x12xf32>
  %packed = linalg.pack %y padding_value(%zero : f32) inner_dims_pos = [0] inner_tiles = [12] into %tiles : tensor<5x1xf32> -> tensor<1x1x12xf32>
  return %unpacked, %packed : tensor<2x1xf32>, tensor<1x1x12xf32>
}
