// The canonicalizer folds a slice into linalg.unpack also if the slice cuts a dimension without tiles. The source of
// the unpack keeps its size there, and the op no longer verifies.

// RUN: not mlir-opt-22 %s --canonicalize 2>&1 | FileCheck %s --check-prefix=IF-MENDED-REMOVE-PrepareForCanonicalizer-slice

// IF-MENDED-REMOVE-PrepareForCanonicalizer-slice: error: expected 'tensor<2x3x5xf32>' for the packed domain value, got 'tensor<2x4x5xf32>'
func.func @slice(%x: tensor<2x4x5xf32>, %e: tensor<10x4xf32>) -> tensor<9x3xf32> {
  %u = linalg.unpack %x inner_dims_pos = [0] inner_tiles = [5] into %e : tensor<2x4x5xf32> -> tensor<10x4xf32>
  %r = tensor.extract_slice %u[0, 0] [9, 3] [1, 1] : tensor<10x4xf32> to tensor<9x3xf32>
  return %r : tensor<9x3xf32>
}
