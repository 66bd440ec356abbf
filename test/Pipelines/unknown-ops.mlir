// On the roads to devices an op that nothing is known of is an error where it stands.

// RUN: not layout-opt %s --allow-unregistered-dialect --layout-to-opencl='target={#layout.target<kind = "opencl", lanes = 4>}' 2>&1 | FileCheck %s
// RUN: not layout-opt %s --allow-unregistered-dialect --layout-to-npu='target={#layout.target<kind = "npu", lanes = 32, npu = #npu.target<"BM1684">>}' 2>&1 | FileCheck %s

// CHECK-NOT: Stack dump
// CHECK: unregistered-ops.mlir:[[#@LINE+2]]:8: error: 'foo.reg' is of no registered dialect, so nothing is known of what it computes: lower it to linalg on tensors before, or leave it out
func.func @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = "foo.reg"() ({
  ^bb0(%a: tensor<4x8xf32>):
    %q = "foo.op"(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    "foo.ret"(%q) : (tensor<4x8xf32>) -> ()
  }) : () -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
