// The canonicalizer folds an expand_shape of a collapse_shape to the source if both types are equal. Without elements
// equal types do not imply equal sizes: dim 0 of the result is %n, but becomes dim 0 of %x.

// RUN: mlir-opt-22 %s --canonicalize | FileCheck %s --check-prefix=IF-MENDED-REMOVE-PrepareForCanonicalizer-views

// IF-MENDED-REMOVE-PrepareForCanonicalizer-views: func.func @size(%[[X:.*]]: tensor<?x3x0xf32>, %{{.*}}: index)
// IF-MENDED-REMOVE-PrepareForCanonicalizer-views: %[[DIM:.*]] = tensor.dim %[[X]]
// IF-MENDED-REMOVE-PrepareForCanonicalizer-views: return %[[DIM]]
func.func @size(%x: tensor<?x3x0xf32>, %n: index) -> index {
  %c0 = arith.constant 0 : index
  %a = tensor.collapse_shape %x [[0, 1, 2]] : tensor<?x3x0xf32> into tensor<?xf32>
  %r = tensor.expand_shape %a [[0, 1, 2]] output_shape [%n, 3, 0] : tensor<?xf32> into tensor<?x3x0xf32>
  %d = tensor.dim %r, %c0 : tensor<?x3x0xf32>
  return %d : index
}
