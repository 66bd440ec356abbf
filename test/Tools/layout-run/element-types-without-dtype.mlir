// Check element types that NumPy lacks as their bits (bf16, f8, f4) or values (i4, i2); i1 and complex are unchanged.

// RUN: mlir-opt-22 %s %lower -o %t.mlir
// RUN: %python %S/Inputs/typed_arrays.py %t
// RUN: layout-run %t.mlir --input=%t.b1.npy --input=%t.u2.npy --input=%t.u2.npy --input=%t.u1.npy --input=%t.i4.npy --input=%t.c8.npy --input=%t.c16.npy --input=%t.u8.npy --input=%t.i8.npy --output=%t.0.npy --output=%t.1.npy --output=%t.2.npy --output=%t.3.npy --output=%t.4.npy --output=%t.5.npy --output=%t.6.npy --output=%t.7.npy --output=%t.8.npy
// RUN: %python %S/Inputs/same.py %t.b1.npy %t.0.npy %t.u2.npy %t.1.npy %t.u2-as-i2.npy %t.2.npy %t.u1.npy %t.3.npy %t.i4.npy %t.4.npy %t.c8.npy %t.5.npy %t.c16.npy %t.6.npy %t.u8-as-i8.npy %t.7.npy %t.i8.npy %t.8.npy

// A file of ml_dtypes has the dtype V2 for bf16 and V1 for the f8 types.
// RUN: layout-run %t.mlir --function=halves --input=%t.v2.npy --input=%t.v1.npy --output=%t.9.npy --output=%t.10.npy
// RUN: %python %S/Inputs/same.py %t.halved.npy %t.9.npy %t.u1.npy %t.10.npy

// Differences are those of the numbers, not of the bits: 1.0 in bf16 is 0x3f80.
// RUN: layout-run %t.mlir %t.mlir --function=halves --compare --input=%t.v2.npy --input=%t.v1.npy | FileCheck %s
// CHECK: result 0 differs by at most 0.000e+00

// RUN: not layout-run %t.mlir --function=nibbles --input=%t.i1.npy 2>&1 | FileCheck %s --check-prefix=RANGE
// RANGE: error: takes 'tensor<2x3xi4>' as input 0, got values that its elements do not have
// RUN: layout-run %t.mlir --function=pairs --input=%t.i2.npy --input=%t.ui2.npy --input=%t.f4.npy --output=%t.11.npy --output=%t.12.npy --output=%t.13.npy
// RUN: %python %S/Inputs/same.py %t.i2.npy %t.11.npy %t.ui2.npy %t.12.npy %t.f4.npy %t.13.npy
// RUN: not layout-run %t.mlir --function=pairs --input=%t.i2.npy --input=%t.u4.npy --input=%t.f4.npy 2>&1 | FileCheck %s --check-prefix=PAIRS
// PAIRS: error: takes 'tensor<2x3xui2>' as input 1, got values that its elements do not have
// RUN: not layout-run %t.mlir --function=pairs --input=%t.i2.npy --input=%t.ui2.npy --input=%t.u16.npy 2>&1 | FileCheck %s --check-prefix=FLOATS
// FLOATS: error: takes 'tensor<2x3xf4E2M1FN>' as input 2, got values that its elements do not have

// Differences of 4-bit floats are those of the numbers: 6 in 0xf is negative.
// RUN: layout-run %t.mlir %t.mlir --function=pairs --compare --input=%t.i2.npy --input=%t.ui2.npy --input=%t.f4.npy | FileCheck %s

// RUN: not layout-run %t.mlir --function=bits --input=%t.badbool.npy 2>&1 | FileCheck %s --check-prefix=BOOL
// BOOL: badbool.npy: has a boolean that is neither 0 nor 1

func.func @main(%0: tensor<2x3xi1>, %1: tensor<2x3xbf16>, %2: tensor<2x3xi16>, %3: tensor<2x3xf8E5M2>, %4: tensor<2x3xi4>,
                %5: tensor<2x3xcomplex<f32>>, %6: tensor<2x3xcomplex<f64>>, %7: tensor<2x3xi64>, %8: tensor<2x3xindex>)
    -> (tensor<2x3xi1>, tensor<2x3xbf16>, tensor<2x3xi16>, tensor<2x3xf8E5M2>, tensor<2x3xi4>,
        tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f64>>, tensor<2x3xi64>, tensor<2x3xindex>)
    attributes {llvm.emit_c_interface, layout.signature =
        (tensor<2x3xi1>, tensor<2x3xbf16>, tensor<2x3xi16>, tensor<2x3xf8E5M2>, tensor<2x3xi4>,
         tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f64>>, tensor<2x3xi64>, tensor<2x3xindex>)
     -> (tensor<2x3xi1>, tensor<2x3xbf16>, tensor<2x3xi16>, tensor<2x3xf8E5M2>, tensor<2x3xi4>,
         tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f64>>, tensor<2x3xi64>, tensor<2x3xindex>)} {
  return %0, %1, %2, %3, %4, %5, %6, %7, %8
    : tensor<2x3xi1>, tensor<2x3xbf16>, tensor<2x3xi16>, tensor<2x3xf8E5M2>, tensor<2x3xi4>,
      tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f64>>, tensor<2x3xi64>, tensor<2x3xindex>
}

func.func @halves(%x: tensor<2x3xbf16>, %y: tensor<2x3xf8E5M2>) -> (tensor<2x3xbf16>, tensor<2x3xf8E5M2>)
    attributes {llvm.emit_c_interface, layout.signature =
        (tensor<2x3xbf16>, tensor<2x3xf8E5M2>) -> (tensor<2x3xbf16>, tensor<2x3xf8E5M2>)} {
  %half = arith.constant 0.5 : bf16
  %init = tensor.empty() : tensor<2x3xbf16>
  %0 = linalg.map ins(%x : tensor<2x3xbf16>) outs(%init : tensor<2x3xbf16>) (%in: bf16, %out: bf16) {
    %1 = arith.mulf %in, %half : bf16
    linalg.yield %1 : bf16
  }
  return %0, %y : tensor<2x3xbf16>, tensor<2x3xf8E5M2>
}

func.func @nibbles(%x: tensor<2x3xi4>) -> tensor<2x3xi4>
    attributes {llvm.emit_c_interface, layout.signature = (tensor<2x3xi4>) -> tensor<2x3xi4>} {
  return %x : tensor<2x3xi4>
}

func.func @pairs(%x: tensor<2x3xi2>, %y: tensor<2x3xi2>, %z: tensor<2x3xf4E2M1FN>)
    -> (tensor<2x3xi2>, tensor<2x3xi2>, tensor<2x3xf4E2M1FN>)
    attributes {llvm.emit_c_interface, layout.signature =
        (tensor<2x3xi2>, tensor<2x3xui2>, tensor<2x3xf4E2M1FN>)
     -> (tensor<2x3xi2>, tensor<2x3xui2>, tensor<2x3xf4E2M1FN>)} {
  return %x, %y, %z : tensor<2x3xi2>, tensor<2x3xi2>, tensor<2x3xf4E2M1FN>
}

func.func @bits(%x: tensor<2x3xi1>) -> tensor<2x3xi1>
    attributes {llvm.emit_c_interface, layout.signature = (tensor<2x3xi1>) -> tensor<2x3xi1>} {
  return %x : tensor<2x3xi1>
}
