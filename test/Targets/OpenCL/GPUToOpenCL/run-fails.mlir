// Check that a failure on the device is an error at the function that ran, with OpenCL's name of the error code.

// RUN: %python -c "import numpy as np; np.save(r'%t.n.npy', np.zeros(8, 'f4'))"
// RUN: split-file %s %t

// No device.
// RUN: layout-opt %t/kernel.mlir -layout-gpu-to-opencl -o %t/kernel.ll.mlir
// RUN: env OCL_ICD_VENDORS=/nowhere not layout-run %t/kernel.ll.mlir --input=%t.n.npy 2>&1 | FileCheck %s --check-prefix=DEVICE
// DEVICE: error: failed: no OpenCL device was found (clGetPlatformIDs returned CL_PLATFORM_NOT_FOUND_KHR); install {{.*}} or correct OCL_ICD_VENDORS, which is '/nowhere'

//--- kernel.mlir
module attributes {gpu.container_module} {
  gpu.module @k {
    gpu.func @add(%b: memref<8xf32, "buffer">) kernel {
      %x = gpu.global_id x
      %v = memref.load %b[%x] : memref<8xf32, "buffer">
      %w = arith.addf %v, %v : f32
      memref.store %w, %b[%x] : memref<8xf32, "buffer">
      gpu.return
    }
  }
  func.func @main(%h: memref<8xf32>)
      attributes {llvm.emit_c_interface, layout.signature = (tensor<8xf32>) -> ()} {
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %b = gpu.alloc () : memref<8xf32, "buffer">
    gpu.memcpy %b, %h : memref<8xf32, "buffer">, memref<8xf32>
    gpu.launch_func @k::@add blocks in (%c8, %c1, %c1) threads in (%c1, %c1, %c1) args(%b : memref<8xf32, "buffer">)
    gpu.memcpy %h, %b : memref<8xf32>, memref<8xf32, "buffer">
    gpu.dealloc %b : memref<8xf32, "buffer">
    return
  }
}
