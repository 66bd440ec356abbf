// Check that a program is compiled once, run on many inputs, and compared over all of them.

// RUN: rm -rf %t && mkdir -p %t
// RUN: mlir-opt-22 %s %lower -o %t/m.mlir
// RUN: sed 's/0.0/0.5/' %s | mlir-opt-22 %lower -o %t/n.mlir
// RUN: %python -c "import numpy as np, sys; t = sys.argv[1]; [np.save(f'{t}/{k}.npy', np.full((k, 2), -k, 'f4')) for k in range(4)]" %t
// RUN: %python -c "import sys; t = sys.argv[1]; open(t + '/list.txt', 'w').write(''.join(f'\n  {t}/{k}.npy  -> {t}/{k}.out.npy\n' for k in range(4)))" %t
// RUN: layout-run %t/m.mlir --cases=%t/list.txt --repeat=2 | FileCheck %s
// RUN: %python -c "import numpy as np, sys; t = sys.argv[1]; print([np.load(f'{t}/{k}.out.npy').tolist() for k in range(4)])" %t | FileCheck %s --check-prefix=RESULTS
// CHECK: m.mlir: compile {{.*}} over 8 runs
// RESULTS: {{\[\[}}], {{\[\[}}-1.0, -1.0]], {{\[\[}}-2.0, -2.0], [-2.0, -2.0]], {{\[\[}}-3.0, -3.0], [-3.0, -3.0], [-3.0, -3.0]]]

// The differences are the maxima over all cases: relative to the results of case 1, which are the
// smallest.
// RUN: not layout-run %t/m.mlir %t/n.mlir --cases=%t/list.txt --max-rel=0.49 2>&1 | FileCheck %s --check-prefix=WORST
// RUN: layout-run %t/m.mlir %t/n.mlir --cases=%t/list.txt --max-rel=0.5
// WORST: n.mlir: result 0 differs by at most 5.000e-01, relative 5.000e-01
// WORST: result 0 of {{.*}}n.mlir is farther

// Invalid lists, and errors in one of the runs.
// RUN: not layout-run %t/m.mlir --cases=%t/none.txt 2>&1 | FileCheck %s --check-prefix=ABSENT
// RUN: echo "" > %t/empty.txt
// RUN: not layout-run %t/m.mlir --cases=%t/empty.txt 2>&1 | FileCheck %s --check-prefix=EMPTY
// RUN: echo "a.npy -> b.npy -> c.npy" > %t/arrows.txt
// RUN: not layout-run %t/m.mlir --cases=%t/arrows.txt 2>&1 | FileCheck %s --check-prefix=ARROWS
// RUN: echo "%t/1.npy -> %t/a.npy %t/b.npy" > %t/outputs.txt
// RUN: not layout-run %t/m.mlir --cases=%t/outputs.txt 2>&1 | FileCheck %s --check-prefix=OUTPUTS
// RUN: printf '%t/1.npy\n%t/1.npy %t/1.npy\n' > %t/inputs.txt
// RUN: not layout-run %t/m.mlir --cases=%t/inputs.txt 2>&1 | FileCheck %s --check-prefix=INPUTS
// RUN: not layout-run %t/m.mlir --cases=%t/list.txt --input=%t/1.npy 2>&1 | FileCheck %s --check-prefix=BOTH
// ABSENT: none.txt: cannot be read: No such file or directory
// EMPTY: empty.txt: names no run; a line is the inputs of one run, '->' and its outputs
// ARROWS: arrows.txt:1: has a second '->'
// OUTPUTS: m.mlir has 1 results, but {{.*}}outputs.txt:1 names 2
// INPUTS: takes 1 inputs, got 2
// INPUTS: inputs.txt:2: this run failed
// BOTH: --cases names all inputs and outputs; --input and --output are for a single run

func.func @main(%x: tensor<?x2xf32>) -> tensor<?x2xf32>
    attributes {llvm.emit_c_interface, layout.signature = (tensor<?x2xf32>) -> tensor<?x2xf32>} {
  %c = arith.constant dense<0.0> : tensor<1xf32>
  %c0 = arith.constant 0 : index
  %d = tensor.dim %x, %c0 : tensor<?x2xf32>
  %e = tensor.empty(%d) : tensor<?x2xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (0)>, affine_map<(i, j) -> (i, j)>],
    iterator_types = ["parallel", "parallel"]} ins(%x, %c : tensor<?x2xf32>, tensor<1xf32>) outs(%e : tensor<?x2xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<?x2xf32>
  return %y : tensor<?x2xf32>
}
