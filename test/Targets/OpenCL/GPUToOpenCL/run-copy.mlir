// Check copies between buffers and images through a private function and a loop on the host.

// REQUIRES: opencl-device
// RUN: %python -c "import numpy as np; np.save(r'%t.x.npy', np.arange(240, dtype='f4').reshape(10, 24))"
// RUN: layout-opt %s -layout-gpu-to-opencl -o %t.mlir
// RUN: layout-run %t.mlir --input=%t.x.npy --output=%t.y.npy --repeat=2 --opencl-profile 2>&1 | FileCheck %s
// RUN: %python -c "import numpy as np; x, y = (np.load(r'%t.' + n + '.npy') for n in 'xy'); assert (y == 4 * x).all()"

// CHECK: total ms launches us each GB/s GFLOP/s kernel
// CHECK-DAG: 4 {{.*}} twice
// CHECK-DAG: 2 {{.*}} to_image
// CHECK-DAG: 2 {{.*}} (upload)

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @to_image(%in: memref<?xf32, "buffer">, %w: index, %out: memref<?x?xvector<4xf32>, "image2d">) kernel {
      %x = gpu.global_id x
      %y = gpu.global_id y
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %zero = arith.constant dense<0.0> : vector<4xf32>
      %row = arith.muli %y, %w : index
      %pixel = arith.addi %row, %x : index
      %first = arith.muli %pixel, %c4 : index
      %v = scf.for %lane = %c0 to %c4 step %c1 iter_args(%acc = %zero) -> (vector<4xf32>) {
        %at = arith.addi %first, %lane : index
        %e = memref.load %in[%at] : memref<?xf32, "buffer">
        %next = vector.insert %e, %acc[%lane] : f32 into vector<4xf32>
        scf.yield %next : vector<4xf32>
      }
      memref.store %v, %out[%y, %x] : memref<?x?xvector<4xf32>, "image2d">
      gpu.return
    }
    gpu.func @twice(%in: memref<?x?xvector<4xf32>, "image2d">, %factor: f32, %out: memref<?x?xvector<4xf32>, "image2d">) kernel {
      %x = gpu.global_id x
      %y = gpu.global_id y
      %v = memref.load %in[%y, %x] : memref<?x?xvector<4xf32>, "image2d">
      %f = vector.broadcast %factor : f32 to vector<4xf32>
      %r = arith.mulf %v, %f : vector<4xf32>
      memref.store %r, %out[%y, %x] : memref<?x?xvector<4xf32>, "image2d">
      gpu.return
    }
    gpu.func @to_buffer(%in: memref<?x?xvector<4xf32>, "image2d">, %w: index, %out: memref<?xf32, "buffer">) kernel {
      %x = gpu.global_id x
      %y = gpu.global_id y
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %row = arith.muli %y, %w : index
      %pixel = arith.addi %row, %x : index
      %first = arith.muli %pixel, %c4 : index
      %v = memref.load %in[%y, %x] : memref<?x?xvector<4xf32>, "image2d">
      scf.for %lane = %c0 to %c4 step %c1 {
        %at = arith.addi %first, %lane : index
        %e = vector.extract %v[%lane] : f32 from vector<4xf32>
        memref.store %e, %out[%at] : memref<?xf32, "buffer">
      }
      gpu.return
    }
  }

  func.func private @double(%from: memref<?x?xvector<4xf32>, "image2d">) -> memref<?x?xvector<4xf32>, "image2d"> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %two = arith.constant 2.0 : f32
    %h = memref.dim %from, %c0 : memref<?x?xvector<4xf32>, "image2d">
    %w = memref.dim %from, %c1 : memref<?x?xvector<4xf32>, "image2d">
    %to = gpu.alloc (%h, %w) : memref<?x?xvector<4xf32>, "image2d">
    gpu.launch_func @kernels::@twice blocks in (%w, %h, %c1) threads in (%c1, %c1, %c1)
        args(%from : memref<?x?xvector<4xf32>, "image2d">, %two : f32, %to : memref<?x?xvector<4xf32>, "image2d">)
    gpu.dealloc %from : memref<?x?xvector<4xf32>, "image2d">
    return %to : memref<?x?xvector<4xf32>, "image2d">
  }

  func.func @main(%x: memref<?x24xf32>) -> memref<?x24xf32>
      attributes {llvm.emit_c_interface, layout.signature = (tensor<?x24xf32>) -> tensor<?x24xf32>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c6 = arith.constant 6 : index
    %c24 = arith.constant 24 : index
    %h = memref.dim %x, %c0 : memref<?x24xf32>
    %n = arith.muli %h, %c24 : index
    %flat = memref.collapse_shape %x [[0, 1]] : memref<?x24xf32> into memref<?xf32>
    %buffer = gpu.alloc (%n) : memref<?xf32, "buffer">
    gpu.memcpy %buffer, %flat : memref<?xf32, "buffer">, memref<?xf32>
    %image = gpu.alloc (%h) : memref<?x6xvector<4xf32>, "image2d">
    %first = memref.cast %image : memref<?x6xvector<4xf32>, "image2d"> to memref<?x?xvector<4xf32>, "image2d">
    gpu.launch_func @kernels::@to_image blocks in (%c6, %h, %c1) threads in (%c1, %c1, %c1)
        args(%buffer : memref<?xf32, "buffer">, %c6 : index, %first : memref<?x?xvector<4xf32>, "image2d">)
    %last = scf.for %i = %c0 to %c2 step %c1 iter_args(%each = %first) -> (memref<?x?xvector<4xf32>, "image2d">) {
      %next = func.call @double(%each) : (memref<?x?xvector<4xf32>, "image2d">) -> memref<?x?xvector<4xf32>, "image2d">
      scf.yield %next : memref<?x?xvector<4xf32>, "image2d">
    }
    %copy = gpu.alloc (%n) : memref<?xf32, "buffer">
    gpu.launch_func @kernels::@to_buffer blocks in (%c6, %h, %c1) threads in (%c1, %c1, %c1)
        args(%last : memref<?x?xvector<4xf32>, "image2d">, %c6 : index, %copy : memref<?xf32, "buffer">)
    gpu.memcpy %buffer, %copy : memref<?xf32, "buffer">, memref<?xf32, "buffer">
    %out = memref.alloc(%h) : memref<?x24xf32>
    %flat_out = memref.collapse_shape %out [[0, 1]] : memref<?x24xf32> into memref<?xf32>
    gpu.memcpy %flat_out, %buffer : memref<?xf32>, memref<?xf32, "buffer">
    gpu.dealloc %last : memref<?x?xvector<4xf32>, "image2d">
    gpu.dealloc %copy : memref<?xf32, "buffer">
    gpu.dealloc %buffer : memref<?xf32, "buffer">
    return %out : memref<?x24xf32>
  }
}
