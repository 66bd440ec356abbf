// Check i8 and i32 in images and buffers: signed, and computed in the width of the type (100 + 100 is -56 in i8). One
// kernel has a 3-D launch.

// REQUIRES: opencl-device
// RUN: %python -c "import numpy as np; np.save(r'%t.x.npy', (np.arange(96) * 3 - 120).astype('i1'))"
// RUN: layout-opt %s -layout-gpu-to-opencl -o %t.mlir
// RUN: layout-run %t.mlir --input=%t.x.npy --output=%t.y.npy
// RUN: %python -c "import numpy as np; x, y = (np.load(r'%t.' + n + '.npy') for n in 'xy'); d = (x + x).astype('i4') * 1000 - 7; assert y.dtype == np.int32 and (y == d).all(), y"

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @to_image(%in: memref<96xi8, "buffer">, %out: memref<6x4xvector<4xi8>, "image2d">) kernel {
      %x = gpu.global_id x
      %y = gpu.global_id y
      %z = gpu.global_id z
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c3 = arith.constant 3 : index
      %c4 = arith.constant 4 : index
      %zero = arith.constant dense<0> : vector<4xi8>
      %plane = arith.muli %z, %c3 : index
      %line = arith.addi %plane, %y : index
      %start = arith.muli %line, %c4 : index
      %pixel = arith.addi %start, %x : index
      %first = arith.muli %pixel, %c4 : index
      %v = scf.for %lane = %c0 to %c4 step %c1 iter_args(%acc = %zero) -> (vector<4xi8>) {
        %at = arith.addi %first, %lane : index
        %e = memref.load %in[%at] : memref<96xi8, "buffer">
        %next = vector.insert %e, %acc[%lane] : i8 into vector<4xi8>
        scf.yield %next : vector<4xi8>
      }
      memref.store %v, %out[%line, %x] : memref<6x4xvector<4xi8>, "image2d">
      gpu.return
    }
    gpu.func @widen(%in: memref<6x4xvector<4xi8>, "image2d">, %out: memref<6x4xvector<4xi32>, "image2d">) kernel {
      %x = gpu.global_id x
      %y = gpu.global_id y
      %z = gpu.global_id z
      %c3 = arith.constant 3 : index
      %plane = arith.muli %z, %c3 : index
      %line = arith.addi %plane, %y : index
      %v = memref.load %in[%line, %x] : memref<6x4xvector<4xi8>, "image2d">
      %d = arith.addi %v, %v : vector<4xi8>
      %w = arith.extsi %d : vector<4xi8> to vector<4xi32>
      memref.store %w, %out[%line, %x] : memref<6x4xvector<4xi32>, "image2d">
      gpu.return
    }
    gpu.func @to_buffer(%in: memref<6x4xvector<4xi32>, "image2d">, %out: memref<96xi32, "buffer">) kernel {
      %x = gpu.global_id x
      %y = gpu.global_id y
      %z = gpu.global_id z
      %c1 = arith.constant 1 : index
      %c3 = arith.constant 3 : index
      %c4 = arith.constant 4 : index
      %thousand = arith.constant dense<1000> : vector<4xi32>
      %seven = arith.constant dense<7> : vector<4xi32>
      %plane = arith.muli %z, %c3 : index
      %line = arith.addi %plane, %y : index
      %start = arith.muli %line, %c4 : index
      %pixel = arith.addi %start, %x : index
      %a = arith.muli %pixel, %c4 : index
      %b = arith.addi %a, %c1 : index
      %c = arith.addi %b, %c1 : index
      %d = arith.addi %c, %c1 : index
      %v = memref.load %in[%line, %x] : memref<6x4xvector<4xi32>, "image2d">
      %m = arith.muli %v, %thousand : vector<4xi32>
      %s = arith.subi %m, %seven : vector<4xi32>
      %e0, %e1, %e2, %e3 = vector.to_elements %s : vector<4xi32>
      memref.store %e0, %out[%a] : memref<96xi32, "buffer">
      memref.store %e1, %out[%b] : memref<96xi32, "buffer">
      memref.store %e2, %out[%c] : memref<96xi32, "buffer">
      memref.store %e3, %out[%d] : memref<96xi32, "buffer">
      gpu.return
    }
  }

  func.func @main(%x: memref<96xi8>) -> memref<96xi32>
      attributes {llvm.emit_c_interface, layout.signature = (tensor<96xi8>) -> tensor<96xi32>} {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %in = gpu.alloc () : memref<96xi8, "buffer">
    %a = gpu.alloc () : memref<6x4xvector<4xi8>, "image2d">
    %b = gpu.alloc () : memref<6x4xvector<4xi32>, "image2d">
    %out = gpu.alloc () : memref<96xi32, "buffer">
    gpu.memcpy %in, %x : memref<96xi8, "buffer">, memref<96xi8>
    gpu.launch_func @kernels::@to_image blocks in (%c2, %c3, %c1) threads in (%c2, %c1, %c2)
        args(%in : memref<96xi8, "buffer">, %a : memref<6x4xvector<4xi8>, "image2d">)
    gpu.launch_func @kernels::@widen blocks in (%c2, %c3, %c1) threads in (%c2, %c1, %c2)
        args(%a : memref<6x4xvector<4xi8>, "image2d">, %b : memref<6x4xvector<4xi32>, "image2d">)
    gpu.launch_func @kernels::@to_buffer blocks in (%c2, %c3, %c1) threads in (%c2, %c1, %c2)
        args(%b : memref<6x4xvector<4xi32>, "image2d">, %out : memref<96xi32, "buffer">)
    %host = memref.alloc() : memref<96xi32>
    gpu.memcpy %host, %out : memref<96xi32>, memref<96xi32, "buffer">
    gpu.dealloc %in : memref<96xi8, "buffer">
    gpu.dealloc %a : memref<6x4xvector<4xi8>, "image2d">
    gpu.dealloc %b : memref<6x4xvector<4xi32>, "image2d">
    gpu.dealloc %out : memref<96xi32, "buffer">
    return %host : memref<96xi32>
  }
}
