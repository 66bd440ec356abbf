// Check OpenMP parallel regions. A region of one loop is run by this project's threads, any other region by LLVM's
// library.

// RUN: split-file %s %t
// RUN: mlir-opt-22 %t/counted.mlir %openmp -o %t/counted.llvm.mlir
// RUN: mlir-opt-22 %t/asserted.mlir %openmp -o %t/asserted.llvm.mlir
// RUN: %python -c "import numpy as np; x = np.ones(256, int); np.save(r'%t/good.npy', x); x[200] = 0; np.save(r'%t/bad.npy', x)"

// Each thread of a region adds 1.
// RUN: layout-run %t/counted.llvm.mlir --input=%t/good.npy --threads=1 --output=%t/1.npy
// RUN: layout-run %t/counted.llvm.mlir --input=%t/good.npy --threads=3 --output=%t/3.npy
// RUN: %python -c "import numpy as np; print(*(np.load(rf'%t/{n}.npy') for n in (1, 3)))" | FileCheck %s --check-prefix=COUNT
// COUNT: 1 3

// A failed assertion on any thread of a loop ends the run.
// RUN: layout-run %t/asserted.llvm.mlir --input=%t/good.npy --threads=4 --repeat=4 --output=%t/y.npy
// RUN: not layout-run %t/asserted.llvm.mlir --input=%t/bad.npy --threads=4 2>&1 | FileCheck %s
// RUN: not layout-run %t/asserted.llvm.mlir --input=%t/bad.npy --threads=1 2>&1 | FileCheck %s
// CHECK: asserted.llvm.mlir:{{[0-9]+}}:{{[0-9]+}}: error: failed: an assertion does not hold: elements must not be zero

//--- counted.mlir
func.func @main(%x: tensor<256xi64>) -> tensor<i64>
    attributes {llvm.emit_c_interface, layout.signature = (tensor<256xi64>) -> tensor<i64>} {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %m = memref.alloc() : memref<i64>
  memref.store %zero, %m[] : memref<i64>
  omp.parallel {
    omp.critical {
      %old = memref.load %m[] : memref<i64>
      %new = arith.addi %old, %one : i64
      memref.store %new, %m[] : memref<i64>
      omp.terminator
    }
    omp.terminator
  }
  %r = bufferization.to_tensor %m restrict : memref<i64> to tensor<i64>
  return %r : tensor<i64>
}

//--- asserted.mlir
func.func @main(%x: tensor<256xi64>) -> tensor<256xi64>
    attributes {llvm.emit_c_interface, layout.signature = (tensor<256xi64>) -> tensor<256xi64>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c256 = arith.constant 256 : index
  %steps = arith.constant 50000 : index
  %zero = arith.constant 0 : i64
  scf.parallel (%i) = (%c0) to (%c256) step (%c1) {
    %v = tensor.extract %x[%i] : tensor<256xi64>
    // Long enough to be shared: 0 stays 0, and an odd number never becomes 0.
    %r = scf.for %k = %c0 to %steps step %c1 iter_args(%s = %v) -> i64 {
      %t = arith.muli %s, %s : i64
      %u = arith.muli %t, %v : i64
      scf.yield %u : i64
    }
    %fits = arith.cmpi ne, %r, %zero : i64
    cf.assert %fits, "elements must not be zero"
    scf.reduce
  }
  return %x : tensor<256xi64>
}
