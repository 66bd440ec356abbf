// Check that each element type passes through a file and a function unchanged.

// RUN: mlir-opt-22 %s %lower -o %t.mlir
// RUN: %python -c "import numpy as np; r = np.random.default_rng(0); [np.save(r'%t.' + t + '.npy', (r.random((2, 3)) * 200 - 100).astype(t)) for t in 'f2 f4 f8 i1 i2 i4 i8'.split()]"
// RUN: layout-run %t.mlir --input=%t.f2.npy --input=%t.f4.npy --input=%t.f8.npy --input=%t.i1.npy --input=%t.i2.npy --input=%t.i4.npy --input=%t.i8.npy --output=%t.0.npy --output=%t.1.npy --output=%t.2.npy --output=%t.3.npy --output=%t.4.npy --output=%t.5.npy --output=%t.6.npy
// RUN: %python %S/Inputs/same.py %t.f2.npy %t.0.npy %t.f4.npy %t.1.npy %t.f8.npy %t.2.npy %t.i1.npy %t.3.npy %t.i2.npy %t.4.npy %t.i4.npy %t.5.npy %t.i8.npy %t.6.npy

func.func @main(%0: tensor<2x3xf16>, %1: tensor<?x?xf32>, %2: tensor<2x?xf64>, %3: tensor<?x3xi8>,
                %4: tensor<2x3xi16>, %5: tensor<2x3xi32>, %6: tensor<2x3xi64>)
    -> (tensor<2x3xf16>, tensor<?x?xf32>, tensor<2x?xf64>, tensor<?x3xi8>,
        tensor<2x3xi16>, tensor<2x3xi32>, tensor<2x3xi64>)
    attributes {llvm.emit_c_interface, layout.signature =
        (tensor<2x3xf16>, tensor<?x?xf32>, tensor<2x?xf64>, tensor<?x3xi8>,
         tensor<2x3xi16>, tensor<2x3xi32>, tensor<2x3xi64>)
     -> (tensor<2x3xf16>, tensor<?x?xf32>, tensor<2x?xf64>, tensor<?x3xi8>,
         tensor<2x3xi16>, tensor<2x3xi32>, tensor<2x3xi64>)} {
  return %0, %1, %2, %3, %4, %5, %6
    : tensor<2x3xf16>, tensor<?x?xf32>, tensor<2x?xf64>, tensor<?x3xi8>,
      tensor<2x3xi16>, tensor<2x3xi32>, tensor<2x3xi64>
}
