// Check that the target of an enclosing module decides which layouts an op supports.
// REQUIRES: target-opencl
// RUN: layout-opt %s --pass-pipeline='builtin.module(func.func(layout-verify))'
// RUN: sed 's/layout.target/test.target/' %s | not layout-opt --pass-pipeline='builtin.module(func.func(layout-verify))' 2>&1 | FileCheck %s

// CHECK: cannot run on the layouts of its operands
#b4 = #layout.map<(i, j) -> buffer(j floordiv 4, i, j mod 4)>
#b6 = #layout.map<(i, j) -> buffer(j floordiv 6, i, j mod 6)>
module attributes {layout.target = #layout.opencl} {
  func.func @digits_that_do_not_nest(%x: tensor<3x24xf32, #b4>, %e: tensor<3x24xf32, #b6>) -> tensor<3x24xf32, #b6> {
    %0 = linalg.exp ins(%x : tensor<3x24xf32, #b4>) outs(%e : tensor<3x24xf32, #b6>) -> tensor<3x24xf32, #b6>
    return %0 : tensor<3x24xf32, #b6>
  }
}
