// The canonicalizer gives the static sizes of a tensor.cast to the ops that compute its source, also if they lie before
// an assertion that the cast relies on. These ops then access 5 elements of a tensor with %n.

// RUN: mlir-opt-22 %s --canonicalize | FileCheck %s --check-prefix=IF-MENDED-REMOVE-PrepareForCanonicalizer-assertions

// IF-MENDED-REMOVE-PrepareForCanonicalizer-assertions: linalg.generic {{.*}} ins(%{{.*}} : tensor<5xf32>)
// IF-MENDED-REMOVE-PrepareForCanonicalizer-assertions: cf.assert
#id = affine_map<(d0) -> (d0)>
func.func @cast(%x: tensor<?xf32>) -> tensor<5xf32> {
  %c0 = arith.constant 0 : index
  %c5 = arith.constant 5 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%in: f32, %out: f32):
    %a = math.absf %in : f32
    linalg.yield %a : f32
  } -> tensor<?xf32>
  %is = arith.cmpi eq, %n, %c5 : index
  cf.assert %is, "the size is not 5"
  %r = tensor.cast %y : tensor<?xf32> to tensor<5xf32>
  return %r : tensor<5xf32>
}
