// Check that kernels for Vulkan are valid in its environment: each kind of argument and element, integers of images,
// work-group memory, and functions that GLSL.std.450 lacks.

// REQUIRES: spirv-val
// RUN: layout-opt %s -layout-vulkan-kernels-to-spirv -o %t.mlir
// RUN: layout-translate --layout-to-spirv-binary %t.mlir --kernels=m -o %t.spv
// RUN: spirv-val --target-env vulkan1.1 %t.spv
// RUN: spirv-dis %t.spv | FileCheck %s

// CHECK-DAG: OpDecorate %[[GROUP:.*]] BuiltIn WorkgroupSize
// CHECK-DAG: OpDecorate %[[SIDE:.*]] SpecId 2
// CHECK-DAG: OpMemberDecorate %[[BLOCK:.*]] 0 Offset 0
// CHECK: %[[GROUP]] = OpSpecConstantComposite %v3uint %{{.*}} %{{.*}} %[[SIDE]]

gpu.module @m {
  gpu.func @all(%in: memref<?x6xvector<4xf16>, "image2d">, %n: index, %out: memref<10x6xvector<4xf16>, "image2d">,
                %i: i8, %bytes: memref<?xi8, "buffer">, %halves: memref<?xf16, "buffer">, %wide: memref<?xi64, "buffer">,
                %d: memref<?xf64, "buffer">, %s: f16) kernel {
    %x = gpu.global_id x
    %v = memref.load %in[%x, %n] : memref<?x6xvector<4xf16>, "image2d">
    %e = math.erf %v : vector<4xf16>
    memref.store %e, %out[%x, %n] : memref<10x6xvector<4xf16>, "image2d">
    memref.store %i, %bytes[%x] : memref<?xi8, "buffer">
    memref.store %s, %halves[%x] : memref<?xf16, "buffer">
    %w = arith.index_cast %n : index to i64
    %r = arith.remsi %w, %w : i64
    memref.store %r, %wide[%x] : memref<?xi64, "buffer">
    %f = arith.sitofp %w : i64 to f64
    memref.store %f, %d[%x] : memref<?xf64, "buffer">
    gpu.return
  }
  gpu.func @integers(%a: memref<3x4xvector<4xi8>, "image2d">, %b: memref<3x4xvector<4xi16>, "image2d">,
                     %c: memref<3x4xvector<4xi32>, "image2d">, %r: memref<3x4xvector<4xi8>, "image2d">,
                     %t: memref<3x4xvector<4xi32>, "image2d">) kernel {
    %x = gpu.global_id x
    %i = memref.load %a[%x, %x] : memref<3x4xvector<4xi8>, "image2d">
    memref.store %i, %r[%x, %x] : memref<3x4xvector<4xi8>, "image2d">
    %j = memref.load %b[%x, %x] : memref<3x4xvector<4xi16>, "image2d">
    %k = memref.load %c[%x, %x] : memref<3x4xvector<4xi32>, "image2d">
    %l = arith.extsi %j : vector<4xi16> to vector<4xi32>
    %m = arith.addi %k, %l : vector<4xi32>
    memref.store %m, %t[%x, %x] : memref<3x4xvector<4xi32>, "image2d">
    gpu.return
  }
  gpu.func @shared(%in: memref<64xf32, "buffer">, %out: memref<64xf32, "buffer">)
      workgroup(%part : memref<32xvector<4xf32>, #gpu.address_space<workgroup>>) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %x = gpu.thread_id x
    %g = gpu.block_id x
    %c0 = arith.constant 0 : index
    %v = memref.load %in[%g] : memref<64xf32, "buffer">
    %w = vector.broadcast %v : f32 to vector<4xf32>
    memref.store %w, %part[%x] : memref<32xvector<4xf32>, #gpu.address_space<workgroup>>
    gpu.barrier
    %u = memref.load %part[%c0] : memref<32xvector<4xf32>, #gpu.address_space<workgroup>>
    %e = vector.extract %u[1] : f32 from vector<4xf32>
    memref.store %e, %out[%g] : memref<64xf32, "buffer">
    gpu.return
  }
}
