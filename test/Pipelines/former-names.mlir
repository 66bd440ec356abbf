// Passes answer to the names that they had, with their options, and say so.

// RUN: layout-opt %s --layout-propagate='target={#layout.cpu<lanes = 8>}' --layout-insert-transforms --layout-fold-transforms > %t.former
// RUN: layout-opt %s --layout-solve='target={#layout.cpu<lanes = 8>}' --layout-materialize --layout-fold-converts > %t.now
// RUN: diff %t.former %t.now
// RUN: layout-opt --help | FileCheck %s --check-prefix=HELP
// RUN: not layout-opt %s --layout-propagate=strategy=greedy 2>&1 | FileCheck %s --check-prefix=OPTION

// HELP-DAG: --layout-fold-transforms {{.*}}Former name of `layout-fold-converts`
// HELP-DAG: --layout-insert-transforms {{.*}}Former name of `layout-materialize`
// HELP-DAG: --layout-prepare-for-units {{.*}}Former name of `layout-prepare-for-cores`
// HELP-DAG: --layout-propagate {{.*}}Former name of `layout-solve`
// HELP-DAG: --layout-split-for-units {{.*}}Former name of `layout-split-for-cores`
// OPTION: no such option strategy
func.func @f(%x: tensor<1x16x8x8xf32>, %w: tensor<16x16x3x3xf32>) -> tensor<1x16x6x6xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x16x6x6xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<1x16x6x6xf32>) -> tensor<1x16x6x6xf32>
  %y = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x16x8x8xf32>, tensor<16x16x3x3xf32>) outs(%i : tensor<1x16x6x6xf32>) -> tensor<1x16x6x6xf32>
  return %y : tensor<1x16x6x6xf32>
}
