// Check that an input is passed as a dense array: each stride is the product of
// the inner extents.

// RUN: %python -c "import numpy as np; np.save(r'%t.x.npy', np.zeros((2, 3, 5), 'i4'))"
// RUN: mlir-opt-22 %s --expand-strided-metadata --convert-to-llvm --reconcile-unrealized-casts -o %t.mlir
// RUN: layout-run %t.mlir --input=%t.x.npy --output=%t.y.npy
// RUN: %python -c "import numpy as np; y = np.load(r'%t.y.npy'); assert y.tolist() == [0, 15, 5, 1], y"

func.func @main(%a: memref<?x?x?xi32, strided<[?, ?, ?], offset: ?>>) -> memref<4xindex>
    attributes {llvm.emit_c_interface,
                layout.signature = (tensor<?x?x?xi32>) -> tensor<4xindex>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %base, %offset, %sizes:3, %strides:3 = memref.extract_strided_metadata %a
      : memref<?x?x?xi32, strided<[?, ?, ?], offset: ?>>
      -> memref<i32>, index, index, index, index, index, index, index
  %y = memref.alloc() : memref<4xindex>
  memref.store %offset, %y[%c0] : memref<4xindex>
  memref.store %strides#0, %y[%c1] : memref<4xindex>
  memref.store %strides#1, %y[%c2] : memref<4xindex>
  memref.store %strides#2, %y[%c3] : memref<4xindex>
  return %y : memref<4xindex>
}
