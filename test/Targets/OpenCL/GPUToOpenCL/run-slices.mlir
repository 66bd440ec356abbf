// Check slices: f32 in a 3-D image, f16 in an array of images, rounded to nearest, also for denormal and infinite
// f16.

// REQUIRES: opencl-device
// RUN: %python -c "import numpy as np; r = np.random.default_rng(1); np.save(r'%t.x.npy', (r.standard_normal(24) * np.array([1, 1e-3, 1e-5, 1e-7, 100, 6e4] * 4)).astype('f4'))"
// RUN: layout-opt %s -layout-gpu-to-opencl -o %t.mlir
// RUN: layout-run %t.mlir --input=%t.x.npy --output=%t.y.npy
// RUN: %python -c "import numpy as np; x, y = (np.load(r'%t.' + n + '.npy') for n in 'xy'); d = np.repeat(x, 4) + np.tile(np.float32([0, 1, 2, 3]), 24); np.testing.assert_array_equal(y, d.astype('f2').astype('f4'))"

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @spread(%in: memref<24xf32, "buffer">, %out: memref<2x3x4xvector<4xf32>, "image3d">) kernel {
      %x = gpu.global_id x
      %y = gpu.global_id y
      %z = gpu.global_id z
      %c3 = arith.constant 3 : index
      %c4 = arith.constant 4 : index
      %lanes = arith.constant dense<[0.0, 1.0, 2.0, 3.0]> : vector<4xf32>
      %plane = arith.muli %z, %c3 : index
      %line = arith.addi %plane, %y : index
      %start = arith.muli %line, %c4 : index
      %at = arith.addi %start, %x : index
      %e = memref.load %in[%at] : memref<24xf32, "buffer">
      %v = vector.broadcast %e : f32 to vector<4xf32>
      %s = arith.addf %v, %lanes : vector<4xf32>
      memref.store %s, %out[%z, %y, %x] : memref<2x3x4xvector<4xf32>, "image3d">
      gpu.return
    }
    gpu.func @round(%in: memref<2x3x4xvector<4xf32>, "image3d">, %out: memref<2x3x4xvector<4xf16>, "image2d_array">) kernel {
      %x = gpu.global_id x
      %y = gpu.global_id y
      %z = gpu.global_id z
      %v = memref.load %in[%z, %y, %x] : memref<2x3x4xvector<4xf32>, "image3d">
      %w = arith.truncf %v : vector<4xf32> to vector<4xf16>
      memref.store %w, %out[%z, %y, %x] : memref<2x3x4xvector<4xf16>, "image2d_array">
      gpu.return
    }
    gpu.func @to_buffer(%in: memref<2x3x4xvector<4xf16>, "image2d_array">, %out: memref<96xf32, "buffer">) kernel {
      %x = gpu.global_id x
      %y = gpu.global_id y
      %z = gpu.global_id z
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c3 = arith.constant 3 : index
      %c4 = arith.constant 4 : index
      %plane = arith.muli %z, %c3 : index
      %line = arith.addi %plane, %y : index
      %start = arith.muli %line, %c4 : index
      %pixel = arith.addi %start, %x : index
      %first = arith.muli %pixel, %c4 : index
      %v = memref.load %in[%z, %y, %x] : memref<2x3x4xvector<4xf16>, "image2d_array">
      %w = arith.extf %v : vector<4xf16> to vector<4xf32>
      scf.for %lane = %c0 to %c4 step %c1 {
        %at = arith.addi %first, %lane : index
        %e = vector.extract %w[%lane] : f32 from vector<4xf32>
        memref.store %e, %out[%at] : memref<96xf32, "buffer">
      }
      gpu.return
    }
  }

  func.func @main(%x: memref<24xf32>) -> memref<96xf32>
      attributes {llvm.emit_c_interface, layout.signature = (tensor<24xf32>) -> tensor<96xf32>} {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %in = gpu.alloc () : memref<24xf32, "buffer">
    %a = gpu.alloc () : memref<2x3x4xvector<4xf32>, "image3d">
    %b = gpu.alloc () : memref<2x3x4xvector<4xf16>, "image2d_array">
    %out = gpu.alloc () : memref<96xf32, "buffer">
    gpu.memcpy %in, %x : memref<24xf32, "buffer">, memref<24xf32>
    gpu.launch_func @kernels::@spread blocks in (%c2, %c3, %c1) threads in (%c2, %c1, %c2)
        args(%in : memref<24xf32, "buffer">, %a : memref<2x3x4xvector<4xf32>, "image3d">)
    gpu.launch_func @kernels::@round blocks in (%c2, %c3, %c1) threads in (%c2, %c1, %c2)
        args(%a : memref<2x3x4xvector<4xf32>, "image3d">, %b : memref<2x3x4xvector<4xf16>, "image2d_array">)
    gpu.launch_func @kernels::@to_buffer blocks in (%c2, %c3, %c1) threads in (%c2, %c1, %c2)
        args(%b : memref<2x3x4xvector<4xf16>, "image2d_array">, %out : memref<96xf32, "buffer">)
    %host = memref.alloc() : memref<96xf32>
    gpu.memcpy %host, %out : memref<96xf32>, memref<96xf32, "buffer">
    gpu.dealloc %in : memref<24xf32, "buffer">
    gpu.dealloc %a : memref<2x3x4xvector<4xf32>, "image3d">
    gpu.dealloc %b : memref<2x3x4xvector<4xf16>, "image2d_array">
    gpu.dealloc %out : memref<96xf32, "buffer">
    return %host : memref<96xf32>
  }
}
