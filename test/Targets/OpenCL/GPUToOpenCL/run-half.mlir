// Check f16 in an image, a buffer and an argument: computed in f32, stored as f16. The loops are nested and have
// results.

// REQUIRES: opencl-device
// RUN: %python -c "import numpy as np; np.save(r'%t.x.npy', (np.arange(64) / 16 - 2).astype('f2'))"
// RUN: layout-opt %s -layout-gpu-to-opencl -o %t.mlir
// RUN: layout-run %t.mlir --input=%t.x.npy --output=%t.y.npy
// RUN: %python %S/Inputs/half.py %t.x.npy %t.y.npy

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @to_image(%in: memref<64xf16, "buffer">, %out: memref<4x4xvector<4xf16>, "image2d">) kernel {
      %x = gpu.global_id x
      %y = gpu.global_id y
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %row = arith.muli %y, %c4 : index
      %pixel = arith.addi %row, %x : index
      %a = arith.muli %pixel, %c4 : index
      %b = arith.addi %a, %c1 : index
      %c = arith.addi %b, %c1 : index
      %d = arith.addi %c, %c1 : index
      %va = memref.load %in[%a] : memref<64xf16, "buffer">
      %vb = memref.load %in[%b] : memref<64xf16, "buffer">
      %vc = memref.load %in[%c] : memref<64xf16, "buffer">
      %vd = memref.load %in[%d] : memref<64xf16, "buffer">
      %v = vector.from_elements %va, %vb, %vc, %vd : vector<4xf16>
      memref.store %v, %out[%y, %x] : memref<4x4xvector<4xf16>, "image2d">
      gpu.return
    }
    // exp(x * s + 3 * (1, 2, 0.5, -1.5)) if x < 0, otherwise without exp; the first lane is the sum of all
    // lanes.
    gpu.func @compute(%in: memref<4x4xvector<4xf16>, "image2d">, %s: f16, %out: memref<64xf16, "buffer">) kernel {
      %x = gpu.global_id x
      %y = gpu.global_id y
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c3 = arith.constant 3 : index
      %c4 = arith.constant 4 : index
      %zero = arith.constant 0.0 : f16
      %steps = arith.constant dense<[1.0, 2.0, 0.5, -1.5]> : vector<4xf16>
      %v = memref.load %in[%y, %x] : memref<4x4xvector<4xf16>, "image2d">
      %ss = vector.broadcast %s : f16 to vector<4xf16>
      %scaled = arith.mulf %v, %ss : vector<4xf16>
      %sum = scf.for %i = %c0 to %c3 step %c1 iter_args(%outer = %scaled) -> (vector<4xf16>) {
        %inner = scf.for %j = %i to %c2 step %c2 iter_args(%acc = %outer) -> (vector<4xf16>) {
          %next = arith.addf %acc, %steps : vector<4xf16>
          scf.yield %next : vector<4xf16>
        }
        scf.yield %inner : vector<4xf16>
      }
      %more = arith.addf %sum, %steps : vector<4xf16>
      %head = vector.extract %v[0] : f16 from vector<4xf16>
      %is_negative = arith.cmpf olt, %head, %zero : f16
      %r = scf.if %is_negative -> (vector<4xf16>) {
        %e = math.exp %more : vector<4xf16>
        scf.yield %e : vector<4xf16>
      } else {
        scf.yield %more : vector<4xf16>
      }
      %total = vector.reduction <add>, %r : vector<4xf16> into f16
      %wide = arith.extf %total : f16 to f32
      %narrow = arith.truncf %wide : f32 to f16
      %first = vector.insert %narrow, %r[0] : f16 into vector<4xf16>
      %row = arith.muli %y, %c4 : index
      %pixel = arith.addi %row, %x : index
      %a = arith.muli %pixel, %c4 : index
      scf.for %lane = %c0 to %c4 step %c1 {
        %at = arith.addi %a, %lane : index
        %e = vector.extract %first[%lane] : f16 from vector<4xf16>
        memref.store %e, %out[%at] : memref<64xf16, "buffer">
      }
      gpu.return
    }
  }

  func.func @main(%x: memref<64xf16>) -> memref<64xf16>
      attributes {llvm.emit_c_interface, layout.signature = (tensor<64xf16>) -> tensor<64xf16>} {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %s = arith.constant 1.5 : f16
    %buffer = gpu.alloc () : memref<64xf16, "buffer">
    %image = gpu.alloc () : memref<4x4xvector<4xf16>, "image2d">
    gpu.memcpy %buffer, %x : memref<64xf16, "buffer">, memref<64xf16>
    gpu.launch_func @kernels::@to_image blocks in (%c2, %c2, %c1) threads in (%c2, %c2, %c1)
        args(%buffer : memref<64xf16, "buffer">, %image : memref<4x4xvector<4xf16>, "image2d">)
    gpu.launch_func @kernels::@compute blocks in (%c2, %c2, %c1) threads in (%c2, %c2, %c1)
        args(%image : memref<4x4xvector<4xf16>, "image2d">, %s : f16, %buffer : memref<64xf16, "buffer">)
    %out = memref.alloc() : memref<64xf16>
    gpu.memcpy %out, %buffer : memref<64xf16>, memref<64xf16, "buffer">
    gpu.dealloc %image : memref<4x4xvector<4xf16>, "image2d">
    gpu.dealloc %buffer : memref<64xf16, "buffer">
    return %out : memref<64xf16>
  }
}
