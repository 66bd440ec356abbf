// Check errors that need a device; see run-fails.mlir.

// REQUIRES: opencl-device, llvm-spirv
// RUN: %python -c "import numpy as np; np.save(r'%t.n.npy', np.zeros(8, 'f4'))"
// RUN: split-file %s %t
// RUN: layout-opt %t/group.mlir -layout-gpu-to-opencl -o %t/group.ll.mlir
// RUN: layout-opt %t/image.mlir -layout-gpu-to-opencl -o %t/image.ll.mlir

// A device that does not exist.
// RUN: env LAYOUT_OPENCL_DEVICE=abacus not layout-run %t/group.ll.mlir --input=%t.n.npy 2>&1 | FileCheck %s --check-prefix=NAME
// NAME: error: failed: no OpenCL device has a name that contains LAYOUT_OPENCL_DEVICE, 'abacus'; devices are '

// The tool that a device without SPIR-V needs is missing, fails, or produces a binary that the driver rejects. A library
// in front of the driver simulates such a device. An empty cache directory disables the cache.
// RUN: %host_cc -shared -fPIC %S/../Runtime/Inputs/front.c -o %t/front.so -ldl
// RUN: env LD_PRELOAD=%t/front.so IL= EXTENSIONS=cl_khr_fp64 LAYOUT_OPENCL_SOURCE=0 LAYOUT_OPENCL_CACHE= LAYOUT_OPENCL_TRANSLATOR=no-such-tool not layout-run %t/group.ll.mlir --input=%t.n.npy 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: error: failed: building the kernel 'add' failed: the device does not support SPIR-V, and the tool 'no-such-tool' was not found; install it {{.*}} LAYOUT_OPENCL_TRANSLATOR
// RUN: env LD_PRELOAD=%t/front.so IL= EXTENSIONS=cl_khr_fp64 LAYOUT_OPENCL_SOURCE=0 LAYOUT_OPENCL_CACHE= LAYOUT_OPENCL_TRANSLATOR=false not layout-run %t/group.ll.mlir --input=%t.n.npy 2>&1 | FileCheck %s --check-prefix=TOOL
// TOOL: error: failed: building the kernel 'add' failed: the device does not support SPIR-V, and the tool 'false' failed
// RUN: env LD_PRELOAD=%t/front.so IL= EXTENSIONS=cl_khr_fp64 LAYOUT_OPENCL_SOURCE=0 LAYOUT_OPENCL_CACHE= LAYOUT_OPENCL_TRANSLATOR=%S/Inputs/bad-translator not layout-run %t/group.ll.mlir --input=%t.n.npy 2>&1 | FileCheck %s --check-prefix=BUILD
// BUILD: error: failed: building the kernel 'add' for {{.*}} failed: cl{{.*}} returned CL_

// A kernel that depends on its work-group has more work-items than the device supports.
// RUN: not layout-run %t/group.ll.mlir --input=%t.n.npy 2>&1 | FileCheck %s --check-prefix=GROUP
// GROUP: group.ll.mlir:{{.*}}: error: failed: launching the kernel 'add' on a grid of 1048576 x 1 x 1 in groups of 1048576 x 1 x 1 failed: clEnqueueNDRangeKernel returned CL_INVALID_WORK_{{GROUP|ITEM}}_SIZE

// An image beyond the limits.
// RUN: not layout-run %t/image.ll.mlir --input=%t.n.npy 2>&1 | FileCheck %s --check-prefix=LIMIT
// LIMIT: image.ll.mlir:{{.*}}: error: failed: image2d of 1000000 x 760 CL_RGBA pixels of CL_FLOAT is beyond the limit of {{.*}}, {{[0-9]+}} x {{[0-9]+}}; choose another image map, or a buffer

//--- group.mlir
module attributes {gpu.container_module} {
  gpu.module @k {
    gpu.func @add(%b: memref<8xf32, "buffer">) kernel {
      %x = gpu.global_id x
      %v = memref.load %b[%x] : memref<8xf32, "buffer">
      %g = gpu.block_dim x
      %i = arith.index_cast %g : index to i32
      %f = arith.sitofp %i : i32 to f32
      %w = arith.addf %v, %f : f32
      memref.store %w, %b[%x] : memref<8xf32, "buffer">
      gpu.return
    }
  }
  func.func @main(%h: memref<8xf32>)
      attributes {llvm.emit_c_interface, layout.signature = (tensor<8xf32>) -> ()} {
    %c1 = arith.constant 1 : index
    %many = arith.constant 1048576 : index
    %b = gpu.alloc () : memref<8xf32, "buffer">
    gpu.memcpy %b, %h : memref<8xf32, "buffer">, memref<8xf32>
    gpu.launch_func @k::@add blocks in (%c1, %c1, %c1) threads in (%many, %c1, %c1) args(%b : memref<8xf32, "buffer">)
    gpu.memcpy %h, %b : memref<8xf32>, memref<8xf32, "buffer">
    gpu.dealloc %b : memref<8xf32, "buffer">
    return
  }
}

//--- image.mlir
module attributes {gpu.container_module} {
  gpu.module @k {
    gpu.func @zero(%image: memref<760x1000000xvector<4xf32>, "image2d">) kernel {
      %x = gpu.global_id x
      %v = arith.constant dense<0.0> : vector<4xf32>
      memref.store %v, %image[%x, %x] : memref<760x1000000xvector<4xf32>, "image2d">
      gpu.return
    }
  }
  func.func @main(%h: memref<8xf32>)
      attributes {llvm.emit_c_interface, layout.signature = (tensor<8xf32>) -> ()} {
    %c1 = arith.constant 1 : index
    %image = gpu.alloc () : memref<760x1000000xvector<4xf32>, "image2d">
    // Nothing is executed after the first failure, and nothing crashes.
    gpu.launch_func @k::@zero blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
        args(%image : memref<760x1000000xvector<4xf32>, "image2d">)
    gpu.dealloc %image : memref<760x1000000xvector<4xf32>, "image2d">
    return
  }
}
