// Check that an op that does not support the layouts of its types runs in others, with conversions of its tensors.
// RUN: layout-opt %s --split-input-file --layout-assign | FileCheck %s
// RUN: layout-opt %s --split-input-file --layout-solve --remarks-filter=layout --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// A second decision keeps everything that the first one chose.
// RUN: layout-opt %s --split-input-file --layout-solve -o %t.mlir
// RUN: layout-opt %t.mlir --split-input-file --layout-solve | diff %t.mlir -

// REMARK: remark: [Passed] Convert | Category:layout | Function=pad_in_front
// REMARK: remark: [Analysis] StatedLayouts | Category:layout | Function=pad_in_front
// REMARK-SAME: tensor.pad cannot run in the layouts that its types state, so its tensors are converted: it changes dim 0, which layout {{.*}} divides

// CHECK: #[[AB16A:.*]] = #layout.map<(d0, d1) -> buffer(d0 floordiv 16, d1, d0 mod 16)>
// CHECK-LABEL: func @pad_in_front
// CHECK: %[[P:.*]] = layout.convert %{{.*}} : tensor<30x8xf32, #{{[a-z0-9]+}}> to tensor<30x8xf32>
// CHECK: %[[Q:.*]] = tensor.pad %[[P]] low[2, 0] high[0, 0]
// CHECK: tensor<30x8xf32> to tensor<32x8xf32>
// CHECK: %[[R:.*]] = layout.convert %[[Q]] : tensor<32x8xf32> to tensor<32x8xf32, #[[AB16A]]>
// CHECK: return %[[R]]
#blocks = #layout.blocked<"AB" to "AB16a">
module attributes {layout.target = #layout.cpu<lanes = 16>} {
func.func @pad_in_front(%x: tensor<30x8xf32, #blocks>) -> tensor<32x8xf32, #blocks> {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[2, 0] high[0, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<30x8xf32, #blocks> to tensor<32x8xf32, #blocks>
  return %p : tensor<32x8xf32, #blocks>
}
}
