// RUN: layout-opt %s --allow-unregistered-dialect --remarks-filter='layout.*' --remark-format=emitRemark \
// RUN:   --layout-solve='target={#layout.cpu<lanes = 4>}' 2>&1 | FileCheck-22 %s

// Check that an op of a dialect that is not loaded keeps its types, with a
// remark.

// CHECK: remark: {{.*}}OpaqueOp{{.*}}foo.bar has no layout rule
// CHECK: "foo.bar"
func.func @unregistered(%a: tensor<5x7xf32>) -> tensor<5x7xf32> {
  %r = "foo.bar"(%a) : (tensor<5x7xf32>) -> tensor<5x7xf32>
  return %r : tensor<5x7xf32>
}
