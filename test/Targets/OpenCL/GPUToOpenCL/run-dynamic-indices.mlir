// Check that the 64-bit kernel runs if sizes exceed 32 bits, and that there is none with 32-bit addresses.

// REQUIRES: opencl-device
// RUN: layout-opt %s --layout-gpu-to-opencl -o %t.mlir
// RUN: %python %S/Inputs/dynamic_indices.py %t.mlir %t 64
// RUN: sed 's/gpu.module @kernels {/gpu.module @kernels attributes {layout.address_bits = 32 : i64} {/' %s > %t.narrow.mlir
// RUN: layout-opt %t.narrow.mlir --layout-gpu-to-opencl -o %t.32.mlir
// RUN: %python %S/Inputs/dynamic_indices.py %t.32.mlir %t 32

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @k(%n: index, %first: index, %out: memref<40xi64, "buffer">) kernel {
      %c4 = arith.constant 4 : index
      %c40 = arith.constant 40 : index
      %c0 = arith.constant 0 : index
      %x = gpu.global_id x
      %far = arith.muli %x, %n : index
      %back = arith.divui %far, %n : index
      %more = arith.addi %back, %first : index
      %at = arith.subi %more, %first : index
      %below = arith.subi %back, %c4 : index
      %clamped = arith.maxsi %below, %c0 : index
      %rest = arith.remui %far, %n : index
      %ten = arith.muli %clamped, %c40 : index
      %sum = arith.addi %ten, %rest : index
      %value = arith.index_cast %sum : index to i64
      memref.store %value, %out[%at] : memref<40xi64, "buffer">
      gpu.return
    }
  }
  func.func @main(%s: memref<3xi64>) -> memref<40xi64>
      attributes {llvm.emit_c_interface, layout.signature = (tensor<3xi64>) -> tensor<40xi64>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c8 = arith.constant 8 : index
    %s0 = memref.load %s[%c0] : memref<3xi64>
    %s1 = memref.load %s[%c1] : memref<3xi64>
    %s2 = memref.load %s[%c2] : memref<3xi64>
    %n = arith.index_cast %s0 : i64 to index
    %first = arith.index_cast %s1 : i64 to index
    %groups = arith.index_cast %s2 : i64 to index
    %out = gpu.alloc () : memref<40xi64, "buffer">
    gpu.launch_func @kernels::@k blocks in (%groups, %c1, %c1) threads in (%c8, %c1, %c1)
        args(%n : index, %first : index, %out : memref<40xi64, "buffer">)
    %host = memref.alloc() : memref<40xi64>
    gpu.memcpy %host, %out : memref<40xi64>, memref<40xi64, "buffer">
    gpu.dealloc %out : memref<40xi64, "buffer">
    return %host : memref<40xi64>
  }
}
