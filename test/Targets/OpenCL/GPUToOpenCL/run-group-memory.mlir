// Check work-group memory: a variable of the module in SPIR-V, of the kernel in OpenCL
// C.

// RUN: layout-opt %s --layout-opencl-narrow-kernel-indices --layout-opencl-kernels-to-spirv | FileCheck %s --check-prefix=SPIRV
// RUN: layout-translate %s --layout-to-opencl-c | FileCheck %s --check-prefix=SOURCE
// RUN: layout-opt %s --layout-gpu-to-opencl -o %t.ll.mlir
// RUN: %python -c "import numpy as np, sys; np.save(sys.argv[1], np.arange(48, dtype='f4') ** 2)" %t.x.npy
// RUN: %if opencl-device %{ env LAYOUT_OPENCL_SOURCE=0 layout-run %t.ll.mlir --input=%t.x.npy --output=%t.0.npy %}
// RUN: %if opencl-device %{ env LAYOUT_OPENCL_SOURCE=1 layout-run %t.ll.mlir --input=%t.x.npy --output=%t.1.npy %}
// RUN: %if opencl-device %{ %python -c "import numpy as np, sys; x = np.load(sys.argv[1]).reshape(3, 16)[:, ::-1]; [np.testing.assert_array_equal(np.load(y).reshape(3, 16), x) for y in sys.argv[2:]]" %t.x.npy %t.0.npy %t.1.npy %}

// SPIRV: spirv.GlobalVariable @reverse.0 : !spirv.ptr<!spirv.array<16 x f32>, Workgroup>
// SPIRV: spirv.func @reverse
// SPIRV: %[[MEMORY:.*]] = spirv.mlir.addressof @reverse.0
// SPIRV: %[[TO:.*]] = spirv.AccessChain %[[MEMORY]]
// SPIRV: spirv.Store "Workgroup" %[[TO]]
// SPIRV: spirv.ControlBarrier
// SPIRV: %[[FROM:.*]] = spirv.AccessChain %[[MEMORY]]
// SPIRV: spirv.Load "Workgroup" %[[FROM]]

// SOURCE: void kernel_reverse(
// SOURCE: {
// SOURCE-NEXT: __local float g2[16];
// SOURCE: g2[v0] = v2;
// SOURCE: barrier(CLK_LOCAL_MEM_FENCE
// SOURCE: = g2[15u - v0];

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @reverse(%x: memref<48xf32, "buffer">, %y: memref<48xf32, "buffer">)
        workgroup(%shared: memref<16xf32, #gpu.address_space<workgroup>>) kernel {
      %c15 = arith.constant 15 : index
      %c16 = arith.constant 16 : index
      %item = gpu.thread_id x
      %group = gpu.block_id x
      %first = arith.muli %group, %c16 : index
      %at = arith.addi %first, %item : index
      %v = memref.load %x[%at] : memref<48xf32, "buffer">
      memref.store %v, %shared[%item] : memref<16xf32, #gpu.address_space<workgroup>>
      gpu.barrier
      %other = arith.subi %c15, %item : index
      %w = memref.load %shared[%other] : memref<16xf32, #gpu.address_space<workgroup>>
      memref.store %w, %y[%at] : memref<48xf32, "buffer">
      gpu.return
    }
  }
  func.func @main(%x: memref<48xf32>) -> memref<48xf32>
      attributes {llvm.emit_c_interface, layout.signature = (tensor<48xf32>) -> tensor<48xf32>} {
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c16 = arith.constant 16 : index
    %a = gpu.alloc () : memref<48xf32, "buffer">
    %b = gpu.alloc () : memref<48xf32, "buffer">
    gpu.memcpy %a, %x : memref<48xf32, "buffer">, memref<48xf32>
    gpu.launch_func @kernels::@reverse blocks in (%c3, %c1, %c1) threads in (%c16, %c1, %c1)
        args(%a : memref<48xf32, "buffer">, %b : memref<48xf32, "buffer">)
    %y = memref.alloc() : memref<48xf32>
    gpu.memcpy %y, %b : memref<48xf32>, memref<48xf32, "buffer">
    gpu.dealloc %a : memref<48xf32, "buffer">
    gpu.dealloc %b : memref<48xf32, "buffer">
    return %y : memref<48xf32>
  }
}
