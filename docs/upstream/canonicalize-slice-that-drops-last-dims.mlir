// The canonicalizer takes the first dimensions of size 1 to be those that a slice drops. It changes the sizes of a slice
// that drops the last one, which then has other elements.

// RUN: mlir-opt-22 %s --canonicalize | FileCheck %s --check-prefix=IF-MENDED-REMOVE-PrepareForCanonicalizer-dropped-dims

// IF-MENDED-REMOVE-PrepareForCanonicalizer-dropped-dims: tensor.extract_slice %{{.*}}[0, 0, 0] [1, 1, 3]
func.func @slice(%x: tensor<2x3x5xf32>) -> tensor<1x3xf32> {
  %c0 = arith.constant 0 : index
  %s = tensor.extract_slice %x[0, 0, %c0] [1, 3, 1] [1, 1, 1] : tensor<2x3x5xf32> to tensor<1x3xf32>
  return %s : tensor<1x3xf32>
}
