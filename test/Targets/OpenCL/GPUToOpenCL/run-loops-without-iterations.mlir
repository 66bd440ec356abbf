// Check that a loop without iterations returns its inits, also inside of a loop
// with iterations.

// REQUIRES: opencl-device
// RUN: layout-opt %s -layout-gpu-to-opencl -o %t.mlir
// RUN: %python -c "import numpy as np; np.save(r'%t.n.npy', np.array([0, 1, 3, 0], 'i8'))"
// RUN: layout-run %t.mlir --input=%t.n.npy --output=%t.y.npy
// RUN: %python -c "import numpy as np; y = np.load(r'%t.y.npy'); n = np.array([0, 1, 3, 0]); e = np.stack([-128 + n, 7 - 2 * n + 5 * n], 1); assert (y.reshape(4, 2) == e).all(), y"

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @count(%n: memref<4xi64, "buffer">, %y: memref<8xi8, "buffer">) kernel {
      %x = gpu.global_id x
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %least = arith.constant -128 : i8
      %seven = arith.constant 7 : i8
      %one = arith.constant 1 : i8
      %two = arith.constant 2 : i8
      %five = arith.constant 5 : i8
      %trips64 = memref.load %n[%x] : memref<4xi64, "buffer">
      %trips = arith.index_cast %trips64 : i64 to index
      %a:2 = scf.for %i = %c0 to %trips step %c1 iter_args(%p = %least, %q = %seven) -> (i8, i8) {
        %p1 = arith.addi %p, %one : i8
        %q1 = arith.subi %q, %two : i8
        scf.yield %p1, %q1 : i8, i8
      }
      %b = scf.for %i = %c0 to %c1 step %c1 iter_args(%o = %a#1) -> (i8) {
        %r = scf.for %j = %c0 to %trips step %c1 iter_args(%q = %o) -> (i8) {
          %q1 = arith.addi %q, %five : i8
          scf.yield %q1 : i8
        }
        scf.yield %r : i8
      }
      %at = arith.muli %x, %c2 : index
      %next = arith.addi %at, %c1 : index
      memref.store %a#0, %y[%at] : memref<8xi8, "buffer">
      memref.store %b, %y[%next] : memref<8xi8, "buffer">
      gpu.return
    }
  }

  func.func @main(%n: memref<4xi64>) -> memref<8xi8>
      attributes {llvm.emit_c_interface, layout.signature = (tensor<4xi64>) -> tensor<8xi8>} {
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %in = gpu.alloc () : memref<4xi64, "buffer">
    %out = gpu.alloc () : memref<8xi8, "buffer">
    gpu.memcpy %in, %n : memref<4xi64, "buffer">, memref<4xi64>
    gpu.launch_func @kernels::@count blocks in (%c4, %c1, %c1) threads in (%c1, %c1, %c1)
        args(%in : memref<4xi64, "buffer">, %out : memref<8xi8, "buffer">)
    %y = memref.alloc() : memref<8xi8>
    gpu.memcpy %y, %out : memref<8xi8>, memref<8xi8, "buffer">
    gpu.dealloc %in : memref<4xi64, "buffer">
    gpu.dealloc %out : memref<8xi8, "buffer">
    return %y : memref<8xi8>
  }
}
