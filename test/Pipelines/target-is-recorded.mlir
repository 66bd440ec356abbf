// Check that the assignment records its target on the module, from which later passes read it, and that the lowerings
// remove it.

// REQUIRES: target-npu, target-opencl
// RUN: layout-opt %s --layout-assign='target={#layout.cpu<lanes = 16>}' | FileCheck %s --check-prefix=RECORDED
// RUN: layout-opt %s --layout-assign='target={#layout.cpu<lanes = 16>}' | layout-opt --layout-print-cost -o %t.mlir | FileCheck %s --check-prefix=COST
// RUN: layout-opt %s --layout-assign='target={#layout.cpu<lanes = 16>}' --convert-layout-to-linalg | FileCheck %s --check-prefix=RECORDED
// RUN: layout-opt %s --layout-assign='target={#layout.cpu<lanes = 16>}' --convert-layout-to-linalg --layout-linalg-to-llvm | FileCheck %s --check-prefix=LOWERED
// RUN: layout-opt %s --layout-to-cpu='target={#layout.cpu<lanes = 16>}' | FileCheck %s --check-prefix=LOWERED
// RUN: layout-opt %s --layout-to-upstream='target={#layout.cpu<lanes = 16>}' | FileCheck %s --check-prefix=LOWERED
// RUN: layout-opt %s --layout-to-opencl='target={#layout.opencl} kernels-only' | FileCheck %s --check-prefix=LOWERED
// RUN: layout-opt %s --layout-to-npu='target={#layout.npu<chip = #npu.target<"BM1684">>}' | FileCheck %s --check-prefix=LOWERED

// RECORDED: module attributes {layout.assignment = {{{.*}}}, layout.target = #layout.cpu<lanes = 16>}
// COST: conversions
// LOWERED: module
// LOWERED-NOT: layout.target
func.func @f(%x: tensor<1x16x8x8xf32>, %w: tensor<16x16x3x3xf32>) -> tensor<1x16x6x6xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x16x6x6xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<1x16x6x6xf32>) -> tensor<1x16x6x6xf32>
  %y = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x16x8x8xf32>, tensor<16x16x3x3xf32>) outs(%i : tensor<1x16x6x6xf32>) -> tensor<1x16x6x6xf32>
  return %y : tensor<1x16x6x6xf32>
}
