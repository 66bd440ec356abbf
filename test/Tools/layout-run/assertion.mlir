// Check that a failed assertion ends the run with an error at the function while the process continues, so that the
// first failing case of many is named.

// RUN: mlir-opt-22 %s %lower -o %t.mlir
// RUN: %python -c "import numpy as np; np.save(r'%t.good.npy', np.array(2)); np.save(r'%t.bad.npy', np.array(3))"
// RUN: layout-run %t.mlir --input=%t.good.npy --output=%t.y.npy
// RUN: echo %t.good.npy > %t.cases
// RUN: echo %t.bad.npy >> %t.cases
// RUN: not layout-run %t.mlir --cases=%t.cases 2>&1 | FileCheck %s
// CHECK: assertion.mlir.tmp.mlir:{{[0-9]+}}:{{[0-9]+}}: error: failed: an assertion does not hold: index must be smaller than dim size
// CHECK: error: {{.*}}.cases:2: this run failed

func.func @main(%i: tensor<i64>) -> tensor<i64>
    attributes {llvm.emit_c_interface, layout.signature = (tensor<i64>) -> tensor<i64>} {
  %three = arith.constant 3 : i64
  %value = tensor.extract %i[] : tensor<i64>
  %fits = arith.cmpi slt, %value, %three : i64
  cf.assert %fits, "index must be smaller than dim size"
  return %i : tensor<i64>
}
