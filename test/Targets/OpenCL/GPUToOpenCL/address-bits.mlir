// Check that indices are i32 with layout.address_bits = 32, and that sizes of more bits are an error.

// RUN: split-file %s %t
// RUN: layout-opt %t/kernels.mlir -layout-opencl-narrow-kernel-indices -layout-opencl-kernels-to-spirv | FileCheck %s
// RUN: layout-translate --layout-to-spirv-binary %t/kernels.mlir --kernels=m -o %t/m.spv
// RUN: layout-opt %t/unproven.mlir -layout-opencl-narrow-kernel-indices -verify-diagnostics
// RUN: layout-opt %t/large.mlir -layout-opencl-kernels-to-spirv -verify-diagnostics

// CHECK: spirv.module @__spv__m Physical32 OpenCL
// CHECK-SAME: #spirv.vce<v1.0, [
// CHECK-NOT: Int64
// CHECK: spirv.func @k(%{{.*}}: !spirv.image<{{.*}}>, %{{.*}}: !spirv.ptr<f32, CrossWorkgroup>, %{{.*}}: i32)
// CHECK-NOT: i64
// CHECK: spirv.EntryPoint
// CHECK: spirv.module @__spv__data Physical32
// CHECK-SAME: Int64
// CHECK: spirv.Load {{.*}} : i64
// CHECK: spirv.module @__spv__dynamic Physical32
// CHECK: spirv.func @d({{.*}}: i32)
// CHECK-NOT: i64
// CHECK: spirv.EntryPoint
// CHECK-NOT: spirv.module
// CHECK: gpu.launch_func @m::@k {{.*}} args({{.*}} : i32)
// CHECK: else
// CHECK: gpu.launch_func @m::@k {{.*}} args({{.*}} : i32) {layout.is_refused}
// CHECK: gpu.launch_func @dynamic::@d {{.*}} args({{.*}} : i32)
// CHECK-NEXT: else
// CHECK: gpu.launch_func @dynamic::@d {{.*}} args({{.*}} : i32) {layout.is_refused}

//--- kernels.mlir
module attributes {gpu.container_module} {
gpu.module @m attributes {layout.address_bits = 32 : i64} {
  gpu.func @k(%in: memref<3x4xvector<4xf32>, "image2d">, %b: memref<?xf32, "buffer">, %n: index) kernel {
    %x = gpu.global_id x
    %y = gpu.global_id y
    %c3 = arith.constant 3 : index
    %r = arith.remui %x, %n : index
    %i = arith.muli %r, %c3 : index
    %v = memref.load %in[%y, %r] : memref<3x4xvector<4xf32>, "image2d">
    %e = vector.extract %v[0] : f32 from vector<4xf32>
    memref.store %e, %b[%i] : memref<?xf32, "buffer">
    gpu.return
  }
}
gpu.module @data attributes {layout.address_bits = 32 : i64} {
  gpu.func @k(%b: memref<?xi64, "buffer">) kernel {
    %x = gpu.global_id x
    %v = memref.load %b[%x] : memref<?xi64, "buffer">
    %i = arith.index_cast %x : index to i64
    %s = arith.addi %v, %i : i64
    memref.store %s, %b[%x] : memref<?xi64, "buffer">
    gpu.return
  }
}
gpu.module @dynamic attributes {layout.address_bits = 32 : i64} {
  gpu.func @d(%b: memref<?xf32, "buffer">, %n: index) kernel {
    %x = gpu.global_id x
    %i = arith.muli %x, %n : index
    %v = memref.load %b[%i] : memref<?xf32, "buffer">
    memref.store %v, %b[%x] : memref<?xf32, "buffer">
    gpu.return
  }
}
func.func @main(%in: memref<3x4xvector<4xf32>, "image2d">, %b: memref<?xf32, "buffer">, %i: memref<?xi64, "buffer">, %g: index) {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  gpu.launch_func @m::@k blocks in (%c4, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%in : memref<3x4xvector<4xf32>, "image2d">, %b : memref<?xf32, "buffer">, %c4 : index)
  gpu.launch_func @data::@k blocks in (%c4, %c1, %c1) threads in (%c1, %c1, %c1) args(%i : memref<?xi64, "buffer">)
  gpu.launch_func @dynamic::@d blocks in (%g, %c1, %c1) threads in (%c4, %c1, %c1)
      args(%b : memref<?xf32, "buffer">, %g : index)
  return
}
}

//--- unproven.mlir
module attributes {gpu.container_module} {
gpu.module @m attributes {layout.address_bits = 32 : i64} {
  gpu.func @k(%b: memref<?xi32, "buffer">) kernel {
    %x = gpu.global_id x
    %c3 = arith.constant 3 : index
    %v = memref.load %b[%x] : memref<?xi32, "buffer">
    %i = arith.index_cast %v : i32 to index
    // expected-error @below {{an index of a kernel is not proven to fit into 32 bits, as address_bits = 32 requires}}
    %far = arith.muli %i, %c3 : index
    memref.store %v, %b[%far] : memref<?xi32, "buffer">
    gpu.return
  }
}
func.func @main(%b: memref<?xi32, "buffer">) {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  gpu.launch_func @m::@k blocks in (%c4, %c1, %c1) threads in (%c1, %c1, %c1) args(%b : memref<?xi32, "buffer">)
  return
}
}

//--- large.mlir
gpu.module @m attributes {layout.address_bits = 32 : i64} {
  // expected-error @below {{has argument 0: 'memref<2147483648xi8, "buffer">' has more elements than 32-bit addresses reach; compile for address_bits = 64}}
  gpu.func @k(%b: memref<2147483648xi8, "buffer">) kernel {
    gpu.return
  }
}
