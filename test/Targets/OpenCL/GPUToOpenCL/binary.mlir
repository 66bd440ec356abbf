// Check that the binary, from GPU modules and from lowered ones, is valid for
// OpenCL 1.2.

// REQUIRES: spirv-val
// RUN: layout-translate --layout-to-spirv-binary %s --kernels=a -o %t.spv
// RUN: spirv-val --target-env opencl1.2 %t.spv
// RUN: spirv-dis %t.spv | FileCheck %s
// RUN: layout-opt %s -layout-opencl-kernels-to-spirv -layout-opencl-serialize-kernels -o %t.mlir
// RUN: layout-translate --layout-to-spirv-binary %t.mlir --kernels=a -o %t.2.spv
// RUN: cmp %t.spv %t.2.spv
// RUN: layout-translate --layout-to-spirv-binary %s --kernels=b -o %t.b.spv
// RUN: spirv-val --target-env opencl1.2 %t.b.spv

// CHECK-DAG: OpCapability Float16Buffer
// CHECK-DAG: OpEntryPoint Kernel %[[F:.*]] "f"
// CHECK-DAG: OpExecutionMode %[[F]] LocalSize 4 1 1
// CHECK: %[[RO:.*]] = OpTypeImage %void 2D 0 0 0 0 Unknown ReadOnly
// CHECK: %[[WO:.*]] = OpTypeImage %void 2D 0 0 0 0 Unknown WriteOnly
// CHECK: OpTypeFunction %void %[[RO]] %{{.*}} %[[WO]]
// CHECK: OpImageSampleExplicitLod %v4float
// CHECK: OpExtInst %float %{{.*}} vload_half
// CHECK: OpExtInst %v4float %{{.*}} exp2
// CHECK: OpImageWrite

gpu.module @a {
  gpu.func @f(%in: memref<3x4xvector<4xf16>, "image2d">, %b: memref<?xf16, "buffer">, %out: memref<3x4xvector<4xi32>, "image2d">) kernel
      attributes {known_block_size = array<i32: 4, 1, 1>} {
    %x = gpu.global_id x
    %v = memref.load %in[%x, %x] : memref<3x4xvector<4xf16>, "image2d">
    %h = memref.load %b[%x] : memref<?xf16, "buffer">
    %e = math.exp2 %v : vector<4xf16>
    %hh = vector.broadcast %h : f16 to vector<4xf16>
    %s = arith.addf %hh, %e : vector<4xf16>
    %i = arith.fptosi %s : vector<4xf16> to vector<4xi32>
    memref.store %i, %out[%x, %x] : memref<3x4xvector<4xi32>, "image2d">
    gpu.return
  }
}
gpu.module @b {
  gpu.func @g(%in: memref<3x4x5xvector<4xi8>, "image2d_array">, %d: memref<?xf64, "buffer">, %n: i16) kernel {
    %x = gpu.global_id x
    %v = memref.load %in[%x, %x, %x] : memref<3x4x5xvector<4xi8>, "image2d_array">
    %e = vector.extract %v[%x] : i8 from vector<4xi8>
    %w = arith.extsi %e : i8 to i16
    %s = arith.addi %w, %n : i16
    %f = arith.sitofp %s : i16 to f64
    memref.store %f, %d[%x] : memref<?xf64, "buffer">
    gpu.return
  }
}
