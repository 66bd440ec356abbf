// RUN: layout-opt %s --layout-to-npu --mlir-print-ir-before=layout-materialize -o /dev/null 2>&1 | FileCheck %s

// Check that each window of the first dim accumulates in place into the previous result.
// CHECK-COUNT-4: operand_layouts = [#{{[a-z0-9_]+}}, #{{[a-z0-9_]+}}, #[[SUM:[a-z0-9_]+]]], layout.result_layouts = [#[[SUM]]]
// CHECK-NOT: operand_layouts = [#{{[a-z0-9_]+}}, #{{[a-z0-9_]+}}, #
// CHECK: return
module attributes {layout.target = #layout.npu<chip = #npu.target<"BM1688">>} {
  func.func @main(%x: tensor<2x1x5x5x5xf16>, %w: tensor<1x2x2x2xf16>) -> tensor<2x1x4x4x4xf16> {
    %zero = arith.constant 0.0 : f16
    %empty = tensor.empty() : tensor<2x1x4x4x4xf16>
    %init = linalg.fill ins(%zero : f16) outs(%empty : tensor<2x1x4x4x4xf16>) -> tensor<2x1x4x4x4xf16>
    %r = linalg.depthwise_conv_3d_ncdhw_cdhw {dilations = dense<1> : tensor<3xi64>, strides = dense<1> : tensor<3xi64>}
      ins(%x, %w : tensor<2x1x5x5x5xf16>, tensor<1x2x2x2xf16>) outs(%init : tensor<2x1x4x4x4xf16>) -> tensor<2x1x4x4x4xf16>
    return %r : tensor<2x1x4x4x4xf16>
  }
}
