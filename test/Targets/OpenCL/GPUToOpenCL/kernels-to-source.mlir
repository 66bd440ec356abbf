// Check that kernels become readable OpenCL C, with a comment that names their source. Texts of the module only occur
// in comments and names.

// RUN: layout-translate --layout-to-opencl-c %s --kernels=kernels | FileCheck %s
// RUN: layout-opt %s --layout-opencl-kernels-to-source | FileCheck %s --check-prefix=ATTRIBUTE
// RUN: not layout-translate --layout-to-opencl-c %s 2>&1 | FileCheck %s --check-prefix=TWO
// RUN: layout-opt %s --layout-opencl-kernels-to-spirv --layout-opencl-serialize-kernels -o %t.no-source.mlir
// RUN: not layout-translate --layout-to-opencl-c %t.no-source.mlir --kernels=kernels 2>&1 | FileCheck %s --check-prefix=NONE

// ATTRIBUTE: gpu.module @kernels attributes {layout.opencl_source = "#pragma OPENCL EXTENSION
// TWO: error: has 2 kernel modules; select one with --kernels
// NONE: error: has no OpenCL C; run layout-opencl-kernels-to-source on the GPU module first, or pass the GPU module

// CHECK:      #pragma OPENCL EXTENSION cl_khr_fp64 : enable
// CHECK-NEXT: #pragma OPENCL EXTENSION cl_khr_3d_image_writes : enable
// CHECK-NEXT: #pragma OPENCL FP_CONTRACT OFF
// CHECK-EMPTY:
// CHECK-NEXT: __constant sampler_t kPixels =
// CHECK-NEXT:     CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
// CHECK-EMPTY:
// CHECK-NEXT: // computes stem/exp_#error_
// CHECK-NEXT: //   a0: photo, memref<3x6xvector<4xf16>, "image2d">, layout.map = #layout.map<(d0, d1) -> image2d(x = d1 floordiv 4, y = d0, lane = d1 mod 4)>
// CHECK-NEXT: //   a1: f16
// CHECK-NEXT: //   a2: stem/exp_#error?_/, memref<3x6xvector<4xf16>, "image2d">, layout._#error = "*/ __"
// CHECK-NEXT: __kernel __attribute__((reqd_work_group_size(2, 1, 1)))
// CHECK-NEXT: void kernel_exp(
// CHECK-NEXT:     __read_only image2d_t a0,
// CHECK-NEXT:     const float a1,
// CHECK-NEXT:     __write_only image2d_t a2) {
// CHECK-NEXT: const uint v0 = (uint)get_global_id(0);
// CHECK-NEXT: const uint v1 = (uint)get_global_id(1);
// CHECK-NEXT:   const float4 v2 = read_imagef(a0, kPixels, (int2)((int)v0, (int)v1));
// CHECK-NEXT:   write_imagef(a2, (int2)((int)v0, (int)v1), exp(v2) * (float4)(a1));
// CHECK-NEXT: }
// CHECK-EMPTY:
// CHECK-NEXT: __kernel void kernel_flow(
// CHECK-NEXT:     __global const uchar *a0,
// CHECK-NEXT:     __global half *a1,
// CHECK-NEXT:     __write_only image3d_t a2,
// CHECK-NEXT:     __global double *a3,
// CHECK-NEXT:     const ulong a4) {
// CHECK-NEXT:   const ulong v0 = get_local_id(0);
// CHECK-NEXT:   uchar v1 = (uchar)0;
// CHECK-NEXT:   uchar v2 = (uchar)0;
// CHECK-NEXT:   for (uint i0 = 0u; i0 < 8u; i0 += 1u) {
// CHECK-NEXT:     const uchar v3 = a0[i0];
// CHECK-NEXT:     const uchar v4 = v2;
// CHECK-NEXT:     const uchar v5 = (uchar)((uint)v1 * v3);
// CHECK-NEXT:     v1 = v4;
// CHECK-NEXT:     v2 = v5;
// CHECK-NEXT:   }
// CHECK-NEXT:   float v6;
// CHECK-NEXT:   if ((char)v1 < (char)v2) {
// CHECK-NEXT:     const float v7 = vload_half(v0, a1);
// CHECK-NEXT:     const float v8 = isunordered(v7, as_float(0x7fc00001u)) ? v7 + as_float(0x7fc00001u) : fmax(v7, as_float(0x7fc00001u));
// CHECK-NEXT:     v6 = v8;
// CHECK-NEXT:   } else {
// CHECK-NEXT:     v6 = (-INFINITY);
// CHECK-NEXT:   }
// CHECK-NEXT:   ulong v9 = a4;
// CHECK-NEXT:   ulong v10;
// CHECK-NEXT:   for (;;) {
// CHECK-NEXT:     const bool v11 = v9 < 8ul;
// CHECK-NEXT:     v10 = v9;
// CHECK-NEXT:     if (!v11)
// CHECK-NEXT:       break;
// CHECK-NEXT:     v9 = v10 + 1ul;
// CHECK-NEXT:   }
// CHECK-NEXT:   vstore_half(v6, v10, a1);
// CHECK-NEXT:   write_imagei(a2, (int4)((int)v0, 0, 1, 0), convert_int4(as_char4((uchar4)(v2))));
// CHECK-NEXT:   a3[v0] = (double)v6;
// CHECK-NEXT:   barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
// CHECK-NEXT: }

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @exp(%in: memref<3x6xvector<4xf16>, "image2d">, %s: f16, %out: memref<3x6xvector<4xf16>, "image2d">) kernel
        attributes {known_block_size = array<i32: 2, 1, 1>} {
      %x = gpu.global_id x
      %y = gpu.global_id y
      %v = memref.load %in[%y, %x] : memref<3x6xvector<4xf16>, "image2d">
      %e = math.exp %v : vector<4xf16>
      %b = vector.broadcast %s : f16 to vector<4xf16>
      %p = arith.mulf %e, %b : vector<4xf16>
      memref.store %p, %out[%y, %x] : memref<3x6xvector<4xf16>, "image2d">
      gpu.return
    }
    gpu.func @flow(%in: memref<8xi8, "buffer">, %half: memref<8xf16, "buffer">, %volume: memref<2x3x4xvector<4xi8>, "image3d">,
                   %d: memref<8xf64, "buffer">, %n: index) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      %x = gpu.thread_id x
      %zero = arith.constant 0 : i8
      %nan = arith.constant 0x7FC00001 : f32
      %low = arith.constant -1.0e-45 : f32
      %inf = arith.constant 0xFF800000 : f32
      %sum:2 = scf.for %i = %c0 to %c8 step %c1 iter_args(%a = %zero, %b = %zero) -> (i8, i8) {
        %e = memref.load %in[%i] : memref<8xi8, "buffer">
        %p = arith.muli %a, %e : i8
        scf.yield %b, %p : i8, i8
      }
      %less = arith.cmpi slt, %sum#0, %sum#1 : i8
      %f = scf.if %less -> f32 {
        %h = memref.load %half[%x] : memref<8xf16, "buffer">
        %wide = arith.extf %h : f16 to f32
        %m = arith.maximumf %wide, %nan : f32
        scf.yield %m : f32
      } else {
        %q = arith.addf %low, %inf : f32
        scf.yield %q : f32
      }
      %w = scf.while (%t = %n) : (index) -> index {
        %more = arith.cmpi ult, %t, %c8 : index
        scf.condition(%more) %t : index
      } do {
      ^bb0(%t: index):
        %u = arith.addi %t, %c1 : index
        scf.yield %u : index
      }
      %hh = arith.truncf %f : f32 to f16
      memref.store %hh, %half[%w] : memref<8xf16, "buffer">
      %v = vector.broadcast %sum#1 : i8 to vector<4xi8>
      memref.store %v, %volume[%c1, %c0, %x] : memref<2x3x4xvector<4xi8>, "image3d">
      %g = arith.extf %f : f32 to f64
      memref.store %g, %d[%x] : memref<8xf64, "buffer">
      gpu.barrier
      gpu.return
    }
  }
  gpu.module @others {
    gpu.func @nothing() kernel {
      gpu.return
    }
  }
  func.func @main(%s: f16) {
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %in = gpu.alloc () {layout.map = #layout.map<(d0, d1) -> image2d(x = d1 floordiv 4, y = d0, lane = d1 mod 4)>} : memref<3x6xvector<4xf16>, "image2d"> loc("photo")
    %out = gpu.alloc () {"layout.\0A#error" = "*/ \\"} : memref<3x6xvector<4xf16>, "image2d"> loc("stem/exp\0A#error?\3F/")
    gpu.launch_func @kernels::@exp blocks in (%c3, %c3, %c1) threads in (%c1, %c1, %c1)
        args(%in : memref<3x6xvector<4xf16>, "image2d">, %s : f16, %out : memref<3x6xvector<4xf16>, "image2d">) loc("stem/exp\0A#error\\")
    return
  }
}
