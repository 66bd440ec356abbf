// Check that several modules run alternately and are compared with the first one.

// RUN: split-file %s %t
// RUN: %python -c "import numpy as np; np.save(r'%t/x.npy', np.array([1, -4, 2], 'f4')); np.save(r'%t/nan.npy', np.array([1, np.nan, 2], 'f4')); np.save(r'%t/zero.npy', np.zeros(3, 'f4'))"
// RUN: mlir-opt-22 %t/a.mlir %lower -o %t/a.ll.mlir
// RUN: mlir-opt-22 %t/b.mlir %lower -o %t/b.ll.mlir
// RUN: mlir-opt-22 %t/wide.mlir %lower -o %t/wide.ll.mlir

// b adds 0.25 to an array whose largest element is 4.
// RUN: layout-run %t/a.ll.mlir %t/b.ll.mlir --input=%t/x.npy --compare --repeat=4 --json=%t/out.json | FileCheck %s
// RUN: FileCheck %s --check-prefix=JSON --input-file=%t/out.json
// RUN: layout-run %t/a.ll.mlir %t/a.ll.mlir %t/b.ll.mlir --input=%t/x.npy --max-rel=0.0625
// RUN: not layout-run %t/a.ll.mlir %t/a.ll.mlir %t/b.ll.mlir --input=%t/x.npy --max-rel=0.0624 2>&1 | FileCheck %s --check-prefix=EXCEEDED

// A NaN exceeds any limit, also if both arrays have it, and so does any difference from an array of zeros.
// RUN: not layout-run %t/a.ll.mlir %t/a.ll.mlir --input=%t/nan.npy --max-rel=1e30 --json=%t/nan.json 2>&1 | FileCheck %s --check-prefix=NAN
// RUN: FileCheck %s --check-prefix=NAN-JSON --input-file=%t/nan.json
// RUN: layout-run %t/a.ll.mlir %t/a.ll.mlir --input=%t/zero.npy --max-rel=0
// RUN: not layout-run %t/a.ll.mlir %t/b.ll.mlir --input=%t/zero.npy --max-rel=1e30 2>&1 | FileCheck %s --check-prefix=INF

// RUN: not layout-run %t/a.ll.mlir %t/wide.ll.mlir --input=%t/x.npy --compare 2>&1 | FileCheck %s --check-prefix=TYPE

// CHECK: a.ll.mlir: compile {{.*}} over 4 runs{{$}}
// CHECK-NEXT: b.ll.mlir: compile {{.*}} over 4 runs, speedup {{[0-9.]+}}{{$}}
// CHECK-NEXT: b.ll.mlir: result 0 differs by at most 2.500e-01, relative 6.250e-02
// JSON: "differences":[{"max_abs":0,"max_rel":0}]{{.*}}a.ll.mlir{{.*}}"speedup":1,"threads":1}
// JSON: "differences":[{"max_abs":0.25,"max_rel":0.0625}]{{.*}}b.ll.mlir
// EXCEEDED-NOT: result 0 of {{.*}}a.ll.mlir is farther
// EXCEEDED: error: result 0 of {{.*}}b.ll.mlir is farther from that of {{.*}}a.ll.mlir than --max-rel allows
// NAN: differs by at most nan, relative nan
// NAN: is farther
// NAN-JSON: {"max_abs":null,"max_rel":null}
// INF: differs by at most 2.500e-01, relative inf
// TYPE: error: result 0 of {{.*}}wide.ll.mlir is tensor<3xf64>, but that of {{.*}}a.ll.mlir is tensor<3xf32>

//--- a.mlir
func.func @main(%x: tensor<?xf32>) -> tensor<?xf32>
    attributes {llvm.emit_c_interface, layout.signature = (tensor<?xf32>) -> tensor<?xf32>} {
  return %x : tensor<?xf32>
}

//--- b.mlir
func.func @main(%x: tensor<?xf32>) -> tensor<?xf32>
    attributes {llvm.emit_c_interface, layout.signature = (tensor<?xf32>) -> tensor<?xf32>} {
  %quarter = arith.constant 0.25 : f32
  %y = linalg.map ins(%x : tensor<?xf32>) outs(%x : tensor<?xf32>)
    (%in: f32, %out: f32) {
      %sum = arith.addf %in, %quarter : f32
      linalg.yield %sum : f32
    }
  return %y : tensor<?xf32>
}

//--- wide.mlir
func.func @main(%x: tensor<?xf32>) -> tensor<3xf64>
    attributes {llvm.emit_c_interface, layout.signature = (tensor<?xf32>) -> tensor<3xf64>} {
  %y = arith.constant dense<1.0> : tensor<3xf64>
  return %y : tensor<3xf64>
}
