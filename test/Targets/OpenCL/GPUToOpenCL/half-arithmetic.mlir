// Check that f16 is half in memory, images, functions and constants with layout.half_arithmetic.

// RUN: split-file %s %t
// RUN: layout-opt %t/halves.mlir -layout-opencl-kernels-to-spirv | FileCheck %s --check-prefix=SPIRV
// RUN: layout-translate --layout-to-opencl-c %t/halves.mlir | FileCheck %s --check-prefix=SOURCE
// RUN: layout-translate --layout-to-opencl-c %t/floats.mlir | FileCheck %s --check-prefix=FLOATS

// SPIRV: requires #spirv.vce<v1.0, [{{.*}}Float16
// SPIRV-LABEL: spirv.func @k
// SPIRV-SAME: !spirv.ptr<f16, CrossWorkgroup>
// SPIRV-SAME: f32
// SPIRV: spirv.FConvert %{{.*}} : f32 to f16
// SPIRV: spirv.ImageRead {{.*}} -> vector<4xf16>
// SPIRV: spirv.Load "CrossWorkgroup" {{.*}} : f16
// SPIRV: spirv.CL.fma {{.*}} : vector<4xf16>
// SPIRV: spirv.ImageWrite {{.*}}vector<4xf16>
// SPIRV: spirv.Store "CrossWorkgroup" {{.*}} : f16

// SOURCE: #pragma OPENCL EXTENSION cl_khr_fp16 : enable
// SOURCE: __kernel void kernel_k(
// SOURCE-NEXT: __read_only image2d_t a0,
// SOURCE-NEXT: __global half *a1,
// SOURCE-NEXT: const float a2,
// SOURCE-NEXT: __write_only image2d_t a3)
// SOURCE: const half4 [[V:v[0-9]+]] = read_imageh(a0, kPixels,
// SOURCE: const half [[H:v[0-9]+]] = a1[v0];
// SOURCE: write_imageh(a3, {{.*}} fma([[V]], (half4)([[H]]), (half4)((half)a2)));
// SOURCE: a1[v0] = fma({{.*}}, 1.5h, as_half((ushort)0xfe00)) - (-(half)INFINITY)

// FLOATS-NOT: cl_khr_fp16

//--- halves.mlir
gpu.module @m attributes {layout.half_arithmetic, layout.fma} {
  gpu.func @k(%in: memref<3x4xvector<4xf16>, "image2d">, %b: memref<?xf16, "buffer">, %s: f16,
              %out: memref<3x4xvector<4xf16>, "image2d">) kernel {
    %x = gpu.global_id x
    %c = arith.constant 1.5 : f16
    %nan = arith.constant 0x7E00 : f16
    %inf = arith.constant 0xFC00 : f16
    %v = memref.load %in[%x, %x] : memref<3x4xvector<4xf16>, "image2d">
    %h = memref.load %b[%x] : memref<?xf16, "buffer">
    %hh = vector.broadcast %h : f16 to vector<4xf16>
    %ss = vector.broadcast %s : f16 to vector<4xf16>
    %p = arith.mulf %v, %hh : vector<4xf16>
    %q = arith.addf %ss, %p : vector<4xf16>
    memref.store %q, %out[%x, %x] : memref<3x4xvector<4xf16>, "image2d">
    %d = arith.mulf %h, %c : f16
    %e = arith.subf %d, %nan : f16
    %f = arith.subf %e, %inf : f16
    memref.store %f, %b[%x] : memref<?xf16, "buffer">
    gpu.return
  }
}

//--- floats.mlir
gpu.module @m attributes {layout.half_arithmetic} {
  gpu.func @k(%b: memref<?xf32, "buffer">) kernel {
    %x = gpu.global_id x
    %h = memref.load %b[%x] : memref<?xf32, "buffer">
    %d = arith.addf %h, %h : f32
    memref.store %d, %b[%x] : memref<?xf32, "buffer">
    gpu.return
  }
}
