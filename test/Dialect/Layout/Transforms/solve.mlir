// Check that the decision is written on the ops, with remarks that state the
// reasons.
// RUN: layout-opt %s -layout-solve | FileCheck %s
// RUN: layout-opt %s -layout-solve --remarks-filter=layout --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// The certificate proves the decision to a checker that shares no code with the
// solver.
// RUN: layout-opt %s -layout-solve=certificate=%t -o /dev/null && %python -m layout_mlir.certify %t | FileCheck %s --check-prefix=PROOF
// RUN: layout-opt %s -layout-assign=certificate=%t -o /dev/null && %python -m layout_mlir.certify %t | FileCheck %s --check-prefix=PROOF
// RUN: not layout-opt %s -layout-solve=certificate=%t/none -o /dev/null 2>&1 | FileCheck %s --check-prefix=NOFILE
// PROOF: accepted, cost [[COST:[0-9]+]], at least [[COST]]{{$}}
// NOFILE: error: the option 'certificate': cannot write '{{.*}}/none': Not a directory
// The option overrides the module: with one lane there is nothing to tile.
// RUN: layout-opt %s -pass-pipeline='builtin.module(layout-solve{target=#layout.cpu<lanes=1>})' | FileCheck %s --check-prefix=SCALAR

// CHECK-DAG: #[[NCHW:.*]] = #layout.map<(d0, d1, d2, d3) -> buffer(d0, d1, d2, d3)>
// CHECK-DAG: #[[OIHW16O:.*]] = #layout.map<(d0, d1, d2, d3) -> buffer(d0 floordiv 16, d1, d2, d3, d0 mod 16)>
// CHECK-DAG: #[[NCHW16C:.*]] = #layout.map<(d0, d1, d2, d3) -> buffer(d0, d1 floordiv 16, d2, d3, d1 mod 16)>
// CHECK: module attributes {layout.assignment = {conversion_cost = {{[0-9]+}} : i64, cost = [[COST:[0-9]+]] : i64, lower_bound = [[COST]] : i64}
// SCALAR-NOT: layout.result_layouts
// CHECK-LABEL: func @main
// CHECK-NOT: layout.convert
// CHECK: linalg.conv_2d_nchw_fchw
// CHECK-SAME: layout.operand_layouts = [#[[NCHW]], #[[OIHW16O]], #[[NCHW16C]]]
// CHECK-SAME: layout.result_layouts = [#[[NCHW16C]]]
// CHECK: tensor.reshape
// CHECK-NOT: layout.

// REMARK: remark: [Passed] Convert | Category:layout | Function=main
// REMARK-SAME: BytesRead=746496, BytesWritten=746496
// REMARK-SAME: because tensor.reshape keeps its types, and linalg.conv_2d_nchw_fchw tiles its channels for 16 lanes
// REMARK: remark: [Analysis] OpaqueOp | Category:layout | Function=main
// REMARK-SAME: tensor.reshape
// REMARK: remark: [Analysis] Assignment | Category:layout
// REMARK-SAME: Conversions=1
// REMARK-SAME: Gap=0
module attributes {layout.target = #layout.cpu<lanes = 16>} {
func.func @main(%x: tensor<1x64x56x56xf32>, %shape: tensor<1xi32>) -> tensor<186624xf32> {
  %zero = arith.constant 0.0 : f32
  %w = arith.constant dense<1.0> : tensor<64x64x3x3xf32>
  %e = tensor.empty() : tensor<1x64x54x54xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x64x54x54xf32>) -> tensor<1x64x54x54xf32>
  %c = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x64x56x56xf32>, tensor<64x64x3x3xf32>)
      outs(%f : tensor<1x64x54x54xf32>) -> tensor<1x64x54x54xf32>
  %r = tensor.reshape %c(%shape) : (tensor<1x64x54x54xf32>, tensor<1xi32>) -> tensor<186624xf32>
  return %r : tensor<186624xf32>
}
}
