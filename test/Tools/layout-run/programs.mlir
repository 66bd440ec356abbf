// Check a list of programs, each with its own module and arrays: a failing one is reported with its line, and the
// following ones run.

// RUN: rm -rf %t && split-file %s %t
// RUN: layout-opt %t/double.mlir --layout-linalg-to-llvm -o %t/d.mlir
// RUN: layout-opt %t/negate.mlir --layout-linalg-to-llvm -o %t/n.mlir
// RUN: %python -c "import numpy as np, sys; np.save(sys.argv[1] + '/x.npy', np.array([1, 2, 3], 'i4'))" %t
// RUN: echo "%t/d.mlir %t/x.npy -> %t/a.npy" > %t/list.txt
// RUN: echo "%t/absent.mlir %t/x.npy -> %t/b.npy" >> %t/list.txt
// RUN: echo "%t/n.mlir -> %t/b.npy" >> %t/list.txt
// RUN: echo "%t/n.mlir %t/x.npy -> %t/c.npy" >> %t/list.txt
// RUN: not layout-run --programs=%t/list.txt 2>&1 | FileCheck %s --implicit-check-not="program failed"
// CHECK: list.txt:2: this program failed
// CHECK: takes 1 inputs, got 0
// CHECK: list.txt:3: this program failed
// RUN: %python -c "import numpy as np, sys; [print(np.load(f'{sys.argv[1]}/{k}.npy').tolist()) for k in 'ac']" %t | FileCheck %s --check-prefix=RESULT
// RESULT: [2, 4, 6]
// RESULT-NEXT: [-1, -2, -3]

// RUN: not layout-run --programs=%t/list.txt %t/d.mlir 2>&1 | FileCheck %s --check-prefix=BOTH
// BOTH: --programs names the modules; omit other modules
// RUN: not layout-run 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: no module is given
// RUN: echo "-> %t/a.npy" > %t/without.txt
// RUN: not layout-run --programs=%t/without.txt 2>&1 | FileCheck %s --check-prefix=WITHOUT
// WITHOUT: without.txt:1: begins with no module

//--- double.mlir
func.func @main(%x: tensor<3xi32>) -> tensor<3xi32> {
  %y = arith.addi %x, %x : tensor<3xi32>
  return %y : tensor<3xi32>
}
//--- negate.mlir
func.func @main(%x: tensor<3xi32>) -> tensor<3xi32> {
  %zero = arith.constant dense<0> : tensor<3xi32>
  %y = arith.subi %zero, %x : tensor<3xi32>
  return %y : tensor<3xi32>
}
