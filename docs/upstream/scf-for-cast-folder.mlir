// ForOpTensorCastFolder gives a loop-carried tensor the static shape that it has before the first iteration, although
// an iteration may yield a larger one. Here the first iteration yields two elements, which the pattern casts to one.
//
// include/layout/Pipelines/AddCanonicalizer.h switches the pattern off by its name. The second run fails if the name no longer
// matches, the first one if upstream has mended the pattern.

// RUN: mlir-opt-22 %s --pass-pipeline='builtin.module(canonicalize)' | FileCheck %s --check-prefix=IF-MENDED-REMOVE-AddCanonicalizer
// RUN: mlir-opt-22 %s --pass-pipeline='builtin.module(canonicalize{disable-patterns="(anonymous namespace)::ForOpTensorCastFolder"})' | FileCheck %s --check-prefix=NAME-IN-AddCanonicalizer
// RUN: FileCheck %s --check-prefix=SOURCE --input-file=%layout_src_root/include/layout/Pipelines/AddCanonicalizer.h

// IF-MENDED-REMOVE-AddCanonicalizer: tensor.cast %{{.*}} : tensor<?xf32> to tensor<1xf32>
// IF-MENDED-REMOVE-AddCanonicalizer: scf.yield %{{.*}} : tensor<1xf32>

// NAME-IN-AddCanonicalizer: scf.for {{.*}} -> (tensor<?xf32>)
// NAME-IN-AddCanonicalizer: scf.yield %{{.*}} : tensor<?xf32>

// SOURCE: "(anonymous namespace)::ForOpTensorCastFolder"
func.func @grow(%n: index, %x: tensor<1xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %start = tensor.cast %x : tensor<1xf32> to tensor<?xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %start) -> tensor<?xf32> {
    %twice = tensor.concat dim(0) %t, %t : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    scf.yield %twice : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}
