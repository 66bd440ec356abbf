// Check that kernels become SPIR-V 1.3 for Vulkan 1.1: descriptors, push constants and work-group sizes as
// specialization constants, with the required capabilities only.

// RUN: layout-opt %s -layout-vulkan-kernels-to-spirv -split-input-file | FileCheck %s

// CHECK-LABEL: spirv.module @__spv__images Logical GLSL450
// CHECK-SAME:    requires #spirv.vce<v1.3, [Shader, Float64], []>
// CHECK: spirv.SpecConstant @layout_group_size0 spec_id(0) = 1 : i32
// CHECK: spirv.SpecConstant @layout_group_size2 spec_id(2) = 1 : i32
// CHECK: spirv.SpecConstantComposite @layout_group_size (@layout_group_size0, @layout_group_size1, @layout_group_size2) : vector<3xi32>
// CHECK-DAG: spirv.GlobalVariable @copy.sizes : !spirv.ptr<!spirv.struct<(i32 [0], f64 [8], f32 [16])>, PushConstant>
// CHECK-DAG: spirv.GlobalVariable @copy.argument0 bind(0, 0) : !spirv.ptr<!spirv.sampled_image<!spirv.image<f32, Dim2D, NoDepth, NonArrayed, SingleSampled, NeedSampler, Unknown>>, UniformConstant>
// CHECK-DAG: spirv.GlobalVariable @copy.argument2 bind(0, 2) : !spirv.ptr<!spirv.image<f32, Dim2D, NoDepth, NonArrayed, SingleSampled, NoSampler, Rgba32f>, UniformConstant>
// CHECK-DAG: spirv.GlobalVariable @copy.argument5 bind(0, 5) : !spirv.ptr<!spirv.struct<(!spirv.rtarray<f32, stride=4> [0])>, StorageBuffer>
// CHECK: spirv.func @copy() "None"
// CHECK: %[[CORNER:.*]] = spirv.ConvertSToF %{{.*}} : vector<2xi32> to vector<2xf32>
// CHECK: %[[CENTER:.*]] = spirv.FAdd %[[CORNER]], %{{.*}} : vector<2xf32>
// CHECK: spirv.ImageSampleExplicitLod %{{.*}}, %[[CENTER]] ["Lod"], %{{.*}} : {{.*}} -> vector<4xf32>
// CHECK: spirv.GL.Tanh
// CHECK: spirv.ImageWrite %{{.*}} : !spirv.image<f32, {{.*}}, Rgba32f>, vector<2xi32>, vector<4xf32>
// CHECK: spirv.EntryPoint "GLCompute" @copy
gpu.module @images attributes {layout.address_bits = 32 : i64} {
  gpu.func @copy(%in: memref<?x6xvector<4xf32>, "image2d">, %n: index, %out: memref<10x6xvector<4xf32>, "image2d">,
                 %wide: f64, %s: f32, %sums: memref<?xf32, "buffer">) kernel {
    %x = gpu.global_id x
    %y = gpu.global_id y
    %v = memref.load %in[%y, %x] : memref<?x6xvector<4xf32>, "image2d">
    %r = math.tanh %v : vector<4xf32>
    memref.store %r, %out[%y, %x] : memref<10x6xvector<4xf32>, "image2d">
    memref.store %s, %sums[%n] : memref<?xf32, "buffer">
    gpu.return
  }
}

// -----

// f16 in buffers is converted when it is loaded and stored, so no arithmetic on f16 is required.

// CHECK-LABEL: spirv.module @__spv__half
// CHECK-SAME:    #spirv.vce<v1.3, [Shader, StorageBuffer16BitAccess], []>
// CHECK: spirv.GlobalVariable @half.argument0 {{.*}}!spirv.rtarray<f16, stride=2>
// CHECK: spirv.GlobalVariable @half.argument2 {{.*}}!spirv.image<f32, {{.*}}, Rgba16f>
// CHECK: %[[HALF:.*]] = spirv.Load "StorageBuffer" %{{.*}} : f16
// CHECK: %[[A:.*]] = spirv.FConvert %[[HALF]] : f16 to f32
// CHECK: %[[M:.*]] = spirv.FMul %[[A]], %{{.*}} : f32
// CHECK: %[[R:.*]] = spirv.FConvert %[[M]] : f32 to f16
// CHECK: spirv.Store "StorageBuffer" %{{.*}}, %[[R]] : f16
// CHECK: spirv.ImageWrite
gpu.module @half attributes {layout.address_bits = 32 : i64} {
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

// Bytes are only moved, so no arithmetic on them is required; integers are sampled with a sign.

// CHECK-LABEL: spirv.module @__spv__bytes
// CHECK-SAME:    #spirv.vce<v1.3, [Shader, StorageBuffer8BitAccess], [SPV_KHR_8bit_storage]>
// CHECK: spirv.ImageSampleExplicitLod {{.*}} -> vector<4xsi32>
gpu.module @bytes attributes {layout.address_bits = 32 : i64} {
  gpu.func @bytes(%in: memref<3x4xvector<4xi32>, "image2d">, %a: memref<?xi8, "buffer">, %b: memref<?xi8, "buffer">,
                  %sum: memref<?xi32, "buffer">) kernel {
    %x = gpu.global_id x
    %v = memref.load %in[%x, %x] : memref<3x4xvector<4xi32>, "image2d">
    %e = vector.extract %v[2] : i32 from vector<4xi32>
    memref.store %e, %sum[%x] : memref<?xi32, "buffer">
    %byte = memref.load %a[%x] : memref<?xi8, "buffer">
    memref.store %byte, %b[%x] : memref<?xi8, "buffer">
    gpu.return
  }
}

// -----

// The indices have 32 bits, so that the device need not have 64-bit integers. Without arithmetic on i8, a variable of
// the results of a branch has 32 bits.

// CHECK-LABEL: spirv.module @__spv__branches
// CHECK-SAME:    #spirv.vce<v1.3, [Shader, StorageBuffer8BitAccess], [SPV_KHR_8bit_storage]>
// CHECK: spirv.Variable : !spirv.ptr<i32, Function>
// CHECK: %[[BYTE:.*]] = spirv.Load "StorageBuffer" %{{.*}} : i8
// CHECK: %[[WIDE:.*]] = spirv.SConvert %[[BYTE]] : i8 to i32
// CHECK: spirv.Store "Function" %{{.*}}, %[[WIDE]] : i32
// CHECK: %[[LOADED:.*]] = spirv.Load "Function" %{{.*}} : i32
// CHECK: %[[RESULT:.*]] = spirv.SConvert %[[LOADED]] : i32 to i8
// CHECK: spirv.Store "StorageBuffer" %{{.*}}, %[[RESULT]] : i8
gpu.module @branches {
  gpu.func @choose(%a: memref<64xi8, "buffer">, %b: memref<64xi8, "buffer">, %where: i32) kernel {
    %x = gpu.global_id x
    %at = arith.index_cast %x : index to i32
    %is_first = arith.cmpi slt, %at, %where : i32
    %chosen = scf.if %is_first -> (i8) {
      %v = memref.load %a[%x] : memref<64xi8, "buffer">
      scf.yield %v : i8
    } else {
      %v = memref.load %b[%x] : memref<64xi8, "buffer">
      scf.yield %v : i8
    }
    memref.store %chosen, %a[%x] : memref<64xi8, "buffer">
    gpu.return
  }
}
