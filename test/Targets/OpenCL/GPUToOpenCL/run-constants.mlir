// Check that constants in an image and a buffer are copied to the device once, not in each of three runs: only the
// input is.

// REQUIRES: opencl-device
// RUN: %python -c "import numpy as np; np.save(r'%t.x.npy', np.arange(8, dtype='f4'))"
// RUN: layout-opt %s -layout-gpu-to-opencl -o %t.mlir
// RUN: layout-run %t.mlir --input=%t.x.npy --output=%t.y.npy --repeat=3 --opencl-profile 2>&1 | FileCheck %s
// RUN: %python -c "import numpy as np; y = np.load(r'%t.y.npy'); assert (y == np.arange(8) * 0.5 + [1, 2, 3, 4, 5, 6, 7, 8]).all(), y"

// CHECK-DAG: 4 {{.*}} (upload)
// CHECK-DAG: 3 {{.*}} scale_and_add

module attributes {gpu.container_module} {
  gpu.module @k {
    gpu.func @scale_and_add(%x: memref<8xf32, "buffer">, %s: memref<8xf32, "buffer">, %p: memref<2x1xvector<4xf32>, "image2d">, %y: memref<8xf32, "buffer">) kernel {
      %i = gpu.global_id x
      %c0 = arith.constant 0 : index
      %c4 = arith.constant 4 : index
      %a = memref.load %x[%i] : memref<8xf32, "buffer">
      %b = memref.load %s[%i] : memref<8xf32, "buffer">
      %row = arith.divui %i, %c4 : index
      %lane = arith.remui %i, %c4 : index
      %v = memref.load %p[%row, %c0] : memref<2x1xvector<4xf32>, "image2d">
      %c = vector.extract %v[%lane] : f32 from vector<4xf32>
      %ab = arith.mulf %a, %b : f32
      %r = arith.addf %ab, %c : f32
      memref.store %r, %y[%i] : memref<8xf32, "buffer">
      gpu.return
    }
  }
  memref.global "private" constant @half : memref<8xf32> = dense<0.5>
  memref.global "private" constant @pixels : memref<2x1x4xf32> = dense<[[[1.0, 2.0, 3.0, 4.0]], [[5.0, 6.0, 7.0, 8.0]]]>
  func.func @main(%h: memref<8xf32>) -> memref<8xf32>
      attributes {llvm.emit_c_interface, layout.signature = (tensor<8xf32>) -> tensor<8xf32>} {
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %s = gpu.alloc () {layout.constant = @half} : memref<8xf32, "buffer">
    %p = gpu.alloc () {layout.constant = @pixels} : memref<2x1xvector<4xf32>, "image2d">
    %x = gpu.alloc () : memref<8xf32, "buffer">
    %y = gpu.alloc () : memref<8xf32, "buffer">
    gpu.memcpy %x, %h : memref<8xf32, "buffer">, memref<8xf32>
    gpu.launch_func @k::@scale_and_add blocks in (%c1, %c1, %c1) threads in (%c8, %c1, %c1)
        args(%x : memref<8xf32, "buffer">, %s : memref<8xf32, "buffer">, %p : memref<2x1xvector<4xf32>, "image2d">, %y : memref<8xf32, "buffer">)
    %out = memref.alloc() : memref<8xf32>
    gpu.memcpy %out, %y : memref<8xf32>, memref<8xf32, "buffer">
    gpu.dealloc %x : memref<8xf32, "buffer">
    gpu.dealloc %y : memref<8xf32, "buffer">
    return %out : memref<8xf32>
  }
}
