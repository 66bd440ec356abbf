// Check that results that are views are read with their offset and strides, also rows with gaps, and that the memory of
// the input that they alias is not freed.

// RUN: %python -c "import numpy as np; np.save(r'%t.x.npy', np.arange(6, dtype='i4') * 10)"
// RUN: mlir-opt-22 %s --expand-strided-metadata --convert-to-llvm --reconcile-unrealized-casts -o %t.mlir
// RUN: layout-run %t.mlir --input=%t.x.npy --output=%t.y.npy --output=%t.z.npy --repeat=2
// RUN: %python -c "import numpy as np; y, z = np.load(r'%t.y.npy'), np.load(r'%t.z.npy'); assert y.tolist() == [[10, 30], [20, 40]] and z.tolist() == [0, 30], (y, z)"

func.func @main(%a: memref<6xi32>)
    -> (memref<2x2xi32, strided<[1, 2], offset: 1>>, memref<2xi32, strided<[3]>>)
    attributes {llvm.emit_c_interface,
                layout.signature = (tensor<6xi32>) -> (tensor<2x2xi32>, tensor<2xi32>)} {
  %0 = memref.reinterpret_cast %a to offset: [1], sizes: [2, 2], strides: [1, 2]
      : memref<6xi32> to memref<2x2xi32, strided<[1, 2], offset: 1>>
  %1 = memref.reinterpret_cast %a to offset: [0], sizes: [2], strides: [3]
      : memref<6xi32> to memref<2xi32, strided<[3]>>
  return %0, %1 : memref<2x2xi32, strided<[1, 2], offset: 1>>, memref<2xi32, strided<[3]>>
}
