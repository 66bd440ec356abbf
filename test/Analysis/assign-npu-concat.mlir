// REQUIRES: target-npu
// RUN: layout-opt %s -split-input-file --layout-assign | FileCheck %s
// Check that branches concatenated along channels start at the cores of their position in the result.

module attributes {layout.target = #layout.npu<chip = #npu.target<npus = 4, bytes_per_npu = 16384, eu_bytes = 32>, launch_cost = 256, flops_per_byte = 8>} {
// If the result starts at core 2, channels 6 to 8 of nine start at core 0 and
// need one row; if it starts at core 0, they need two.
// CHECK-DAG: #[[NPU_ALIGNED1:.*]] = #layout.npu_scatter<aligned, start = 2,
// CHECK-DAG: #[[NPU_ALIGNED:.*]] = #layout.npu_scatter<aligned, start = 0,
// CHECK-DAG: #[[NPU_STRIDED:.*]] = #layout.npu_scatter<strided [48, 16, 4, 1], start = 2,
// CHECK-DAG: #[[NPU_STRIDED1:.*]] = #layout.npu_scatter<strided [48, 16, 4, 1], start = 0,
// CHECK-LABEL: func.func @branches
// CHECK: linalg.conv_2d_nchw_fchw {{.*}} -> tensor<1x6x4x4xf32, #[[NPU_ALIGNED1]]>
// CHECK: linalg.conv_2d_nchw_fchw {{.*}} -> tensor<1x3x4x4xf32, #[[NPU_ALIGNED]]>
// CHECK-NOT: layout.convert
// CHECK: tensor.concat
// CHECK-SAME: -> tensor<1x9x4x4xf32, #[[NPU_ALIGNED1]]>
func.func @branches(%x: tensor<1x5x4x4xf32>, %v: tensor<6x5x1x1xf32>, %w: tensor<3x5x1x1xf32>) -> tensor<1x9x4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %ea = tensor.empty() : tensor<1x6x4x4xf32>
  %eb = tensor.empty() : tensor<1x3x4x4xf32>
  %fa = linalg.fill ins(%zero : f32) outs(%ea : tensor<1x6x4x4xf32>) -> tensor<1x6x4x4xf32>
  %fb = linalg.fill ins(%zero : f32) outs(%eb : tensor<1x3x4x4xf32>) -> tensor<1x3x4x4xf32>
  %a = linalg.conv_2d_nchw_fchw ins(%x, %v : tensor<1x5x4x4xf32>, tensor<6x5x1x1xf32>) outs(%fa : tensor<1x6x4x4xf32>) -> tensor<1x6x4x4xf32>
  %b = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x5x4x4xf32>, tensor<3x5x1x1xf32>) outs(%fb : tensor<1x3x4x4xf32>) -> tensor<1x3x4x4xf32>
  %c = tensor.concat dim(1) %a, %b : (tensor<1x6x4x4xf32>, tensor<1x3x4x4xf32>) -> tensor<1x9x4x4xf32>
  %e = tensor.empty() : tensor<1x9x4x4xf32>
  %r = linalg.exp ins(%c : tensor<1x9x4x4xf32>) outs(%e : tensor<1x9x4x4xf32>) -> tensor<1x9x4x4xf32>
  return %r : tensor<1x9x4x4xf32>
}

// CHECK-LABEL: func.func @batches
// CHECK: linalg.conv_2d_nchw_fchw {{.*}} -> tensor<2x6x4x4xf32, #[[NPU_STRIDED]]>
// CHECK: linalg.conv_2d_nchw_fchw {{.*}} -> tensor<2x3x4x4xf32, #[[NPU_STRIDED1]]>
// CHECK-NOT: layout.convert
// CHECK: tensor.concat
func.func @batches(%x: tensor<2x5x4x4xf32>, %v: tensor<6x5x1x1xf32>, %w: tensor<3x5x1x1xf32>) -> tensor<2x9x4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %ea = tensor.empty() : tensor<2x6x4x4xf32>
  %eb = tensor.empty() : tensor<2x3x4x4xf32>
  %fa = linalg.fill ins(%zero : f32) outs(%ea : tensor<2x6x4x4xf32>) -> tensor<2x6x4x4xf32>
  %fb = linalg.fill ins(%zero : f32) outs(%eb : tensor<2x3x4x4xf32>) -> tensor<2x3x4x4xf32>
  %a = linalg.conv_2d_nchw_fchw ins(%x, %v : tensor<2x5x4x4xf32>, tensor<6x5x1x1xf32>) outs(%fa : tensor<2x6x4x4xf32>) -> tensor<2x6x4x4xf32>
  %b = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<2x5x4x4xf32>, tensor<3x5x1x1xf32>) outs(%fb : tensor<2x3x4x4xf32>) -> tensor<2x3x4x4xf32>
  %c = tensor.concat dim(1) %a, %b : (tensor<2x6x4x4xf32>, tensor<2x3x4x4xf32>) -> tensor<2x9x4x4xf32>
  %e = tensor.empty() : tensor<2x9x4x4xf32>
  %r = linalg.exp ins(%c : tensor<2x9x4x4xf32>) outs(%e : tensor<2x9x4x4xf32>) -> tensor<2x9x4x4xf32>
  return %r : tensor<2x9x4x4xf32>
}
}
