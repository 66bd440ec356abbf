// Check that kernels become SPIR-V with the required capabilities, and binaries that are valid for OpenCL 1.2.

// RUN: layout-opt %s -layout-opencl-kernels-to-spirv -split-input-file | FileCheck %s

// CHECK-LABEL: spirv.module @__spv__images Physical64 OpenCL
// CHECK-SAME:    requires #spirv.vce<v1.0, [Kernel, Addresses, Int64, ImageBasic], []>
// CHECK: spirv.GlobalVariable @[[$ID:.*]] built_in("GlobalInvocationId")
// CHECK: spirv.func @copy(%[[IN:.*]]: !spirv.image<f32, Dim2D, NoDepth, NonArrayed, SingleSampled, NoSampler, Unknown>, %[[OUT:.*]]: !spirv.image
// CHECK: %[[X32:.*]] = spirv.UConvert {{.*}} : i64 to i32
// CHECK: %[[Y32:.*]] = spirv.UConvert {{.*}} : i64 to i32
// CHECK: %[[HALF:.*]] = spirv.CompositeInsert %[[X32]], %{{.*}}[0 : i32] : i32 into vector<2xi32>
// CHECK: %[[AT:.*]] = spirv.CompositeInsert %[[Y32]], %[[HALF]][1 : i32] : i32 into vector<2xi32>
// CHECK: %[[V:.*]] = spirv.ImageRead %[[IN]], %[[AT]] {{.*}} vector<2xi32> -> vector<4xf32>
// CHECK: %[[R:.*]] = spirv.CL.tanh %[[V]]
// CHECK: spirv.ImageWrite %[[OUT]], %{{.*}}, %[[R]]
// CHECK: spirv.EntryPoint "Kernel" @copy, @[[$ID]]
// CHECK: spirv.ExecutionMode @copy "LocalSize", 8, 4, 1
// The launches still refer to their module.
// CHECK: gpu.module @images
gpu.module @images {
  gpu.func @copy(%in: memref<?x6xvector<4xf32>, "image2d">, %out: memref<10x6xvector<4xf32>, "image2d">) kernel
      attributes {known_block_size = array<i32: 8, 4, 1>} {
    %x = gpu.global_id x
    %y = gpu.global_id y
    %v = memref.load %in[%y, %x] : memref<?x6xvector<4xf32>, "image2d">
    %r = math.tanh %v : vector<4xf32>
    memref.store %r, %out[%y, %x] : memref<10x6xvector<4xf32>, "image2d">
    gpu.return
  }
}

// -----

// f16 is computed in f32, without the capability for its arithmetic.

// CHECK-LABEL: spirv.module @__spv__half
// CHECK-SAME:    [Kernel, Addresses, Int64, Float16Buffer, ImageBasic]
// CHECK-DAG: spirv.func @[[$LOAD:.*]](i64, !spirv.ptr<f16, CrossWorkgroup>) -> f32 "None" attributes {linkage_attributes = #spirv.linkage_attributes<linkage_name = "OpenCL.std/vload_half", linkage_type = <Import>>}
// CHECK-DAG: spirv.func @[[$STORE:.*]](f32, i64, !spirv.ptr<f16, CrossWorkgroup>) "None" attributes {{.*}}"OpenCL.std/vstore_half"
// CHECK: spirv.func @half(%{{.*}}: !spirv.ptr<f16, CrossWorkgroup>, %[[S:.*]]: f32, %[[IMAGE:.*]]: !spirv.image<f32
// CHECK: %[[A:.*]] = spirv.FunctionCall @[[$LOAD]]
// CHECK: %[[M:.*]] = spirv.FMul %[[A]], %[[S]] : f32
// CHECK: spirv.FunctionCall @[[$STORE]](%[[M]]
// CHECK: spirv.ImageWrite %[[IMAGE]]
// CHECK-NOT: FConvert
gpu.module @half {
  gpu.func @half(%in: memref<?xf16, "buffer">, %s: f16, %out: memref<3x4xvector<4xf16>, "image2d">) kernel {
    %x = gpu.global_id x
    %a = memref.load %in[%x] : memref<?xf16, "buffer">
    %m = arith.mulf %a, %s : f16
    memref.store %m, %in[%x] : memref<?xf16, "buffer">
    %v = vector.broadcast %m : f16 to vector<4xf16>
    memref.store %v, %out[%x, %x] : memref<3x4xvector<4xf16>, "image2d">
    gpu.return
  }
}

// -----

// Slices: four coordinates, as the built-in functions require. Integers are read and written as i32.

// CHECK-LABEL: spirv.module @__spv__slices
// CHECK: !spirv.image<i32, Dim2D, NoDepth, Arrayed
// CHECK: spirv.ImageRead {{.*}}, vector<4xi32> -> vector<4xi32>
// CHECK: spirv.SConvert {{.*}} : vector<4xi32> to vector<4xi8>
// CHECK: spirv.ImageWrite {{.*}} : !spirv.image<f32, Dim3D, {{.*}}>, vector<4xi32>, vector<4xf32>
gpu.module @slices {
  gpu.func @slices(%in: memref<2x3x4xvector<4xi8>, "image2d_array">, %out: memref<2x3x4xvector<4xf32>, "image3d">) kernel {
    %x = gpu.global_id x
    %y = gpu.global_id y
    %z = gpu.global_id z
    %v = memref.load %in[%z, %y, %x] : memref<2x3x4xvector<4xi8>, "image2d_array">
    %f = arith.sitofp %v : vector<4xi8> to vector<4xf32>
    memref.store %f, %out[%z, %y, %x] : memref<2x3x4xvector<4xf32>, "image3d">
    gpu.return
  }
}

// -----

// Constructs that consumers of binaries do not support are avoided: variables of inner loops come first, vectors are
// built by insertions, shuffles have one type.

// CHECK-LABEL: spirv.func @shapes
// CHECK-NEXT:    spirv.Variable
// CHECK-NEXT:    spirv.Variable
// CHECK-NEXT:    spirv.Variable
// CHECK-NEXT:    spirv.Variable
// CHECK-NOT:   spirv.Variable
// CHECK:       spirv.Load "CrossWorkgroup" %{{.*}} ["Aligned", 4] : f32
// CHECK-NOT:   spirv.Variable
// CHECK-NOT:   spirv.CompositeConstruct
// CHECK-NOT:   spirv.VectorShuffle
// CHECK:       spirv.ImageWrite
gpu.module @shapes {
  gpu.func @shapes(%b: memref<?xf32, "buffer">, %n: index, %out: memref<3x4xvector<4xf32>, "image2d">) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %e = memref.load %b[%n] : memref<?xf32, "buffer">
    %s = scf.for %i = %c0 to %n step %c1 iter_args(%o = %e) -> (f32) {
      %t = scf.for %j = %c0 to %i step %c1 iter_args(%p = %o) -> (f32) {
        %q = arith.addf %p, %e : f32
        scf.yield %q : f32
      }
      scf.yield %t : f32
    }
    %v = vector.from_elements %e, %s, %s, %e : vector<4xf32>
    %pair = vector.from_elements %s, %e : vector<2xf32>
    %w = vector.insert_strided_slice %pair, %v {offsets = [1], strides = [1]} : vector<2xf32> into vector<4xf32>
    memref.store %w, %out[%c0, %n] : memref<3x4xvector<4xf32>, "image2d">
    gpu.return
  }
}
