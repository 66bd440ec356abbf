// Check the host code: objects in memref descriptors, computed sizes, arguments on the stack of the function, one slot
// per kernel.

// RUN: layout-opt %s -convert-gpu-to-opencl-runtime -split-input-file | FileCheck %s

// The runtime for Vulkan has the same functions under other names.
// RUN: layout-opt %s -convert-gpu-to-opencl-runtime=prefix=layoutVk -split-input-file | sed s/layoutVk/layoutCl/g | FileCheck %s
// RUN: layout-opt %s -convert-gpu-to-opencl-runtime=prefix=layoutVk -split-input-file | FileCheck %s --check-prefix=VULKAN
// VULKAN-NOT: layoutCl
// VULKAN: @layoutVkLaunch
// VULKAN-NOT: layoutCl
// RUN: not layout-opt %s -convert-gpu-to-opencl-runtime=prefix=metal -split-input-file 2>&1 | FileCheck %s --check-prefix=PREFIX
// PREFIX: error: has no runtime with the prefix 'metal': use layoutCl or layoutVk

// CHECK-DAG: llvm.mlir.global internal constant @__opencl_words_k(dense<[119734787, 65536]> : tensor<2xi32>) {{.*}} : !llvm.array<2 x i32>
// CHECK-DAG: llvm.mlir.global internal @__opencl_kernel_k.f() {{.*}} : !llvm.ptr
// CHECK-DAG: llvm.mlir.global internal constant @__opencl_name_k.f("f\00")
// Operations, bytes, work-items, any work-groups, may repeat, unknown writes.
// CHECK-DAG: llvm.mlir.global internal constant @__opencl_facts_k.f(dense<[-1, 64, -1, 4, -1, 1, 0, -1]> : tensor<8xi64>)
// CHECK-DAG: llvm.func @layoutClCreateImage(i32, i32, i64, i64, i64) -> !llvm.ptr
// CHECK-DAG: llvm.func @layoutClGetKernel(!llvm.ptr, !llvm.ptr, i64, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> !llvm.ptr
// CHECK-DAG: llvm.func @layoutClLaunch(!llvm.ptr, !llvm.ptr, i32, !llvm.ptr, !llvm.ptr)
// CHECK-NOT: gpu.
// CHECK-LABEL: func.func @main(
// Allocated once, not in the loop.
// CHECK:       llvm.alloca
// CHECK:       scf.for
// CHECK-NOT:     llvm.alloca
// An image2d (1) of CL_HALF_FLOAT (1).
// CHECK:         %[[KIND:.*]] = llvm.mlir.constant(1 : i32)
// CHECK:         %[[CHANNEL:.*]] = llvm.mlir.constant(1 : i32)
// CHECK:         llvm.call @layoutClCreateImage(%[[KIND]], %[[CHANNEL]],
// CHECK:         llvm.call @layoutClGetKernel
// CHECK:         llvm.call @layoutClLaunch
// CHECK:         llvm.call @layoutClRelease
// CHECK:       return {{.*}} : memref<?xf32>
module attributes {gpu.container_module} {
  gpu.binary @k [#gpu.object<#spirv.target_env<#spirv.vce<v1.0, [Kernel], []>, #spirv.resource_limits<>>,
      kernels = <[#gpu.kernel_metadata<"f", (memref<?x4xvector<4xf16>, "image2d">, f16) -> (), metadata = {layout.any_groups, layout.bytes = 64 : i64, layout.items = array<i64: -1, 4, -1>}>]>,
      bin = "\03\02\23\07\00\00\01\00">]
  func.func @main(%n: index, %b: memref<?xf32, "buffer">) -> memref<?xf32, "buffer"> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %h = arith.constant 1.0 : f16
    scf.for %i = %c0 to %n step %c1 {
      %a = gpu.alloc (%n) : memref<?x4xvector<4xf16>, "image2d">
      gpu.launch_func @k::@f blocks in (%n, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : memref<?x4xvector<4xf16>, "image2d">, %h : f16)
      gpu.dealloc %a : memref<?x4xvector<4xf16>, "image2d">
    }
    return %b : memref<?xf32, "buffer">
  }
}

// -----

// The direction of a copy, and the bytes of the elements.

// CHECK-LABEL: func.func @copies
// CHECK: %[[BYTES:.*]] = llvm.mlir.constant(2 : i64)
// CHECK: %[[SIZE:.*]] = llvm.mul %[[BYTES]]
// CHECK: llvm.call @layoutClUpload(%{{.*}}, %{{.*}}, %[[SIZE]])
// CHECK: llvm.call @layoutClDownload
// CHECK: llvm.call @layoutClCopy
func.func @copies(%b: memref<?xi16, "buffer">, %c: memref<?xi16, "buffer">, %h: memref<?xi16>) {
  gpu.memcpy %b, %h : memref<?xi16, "buffer">, memref<?xi16>
  gpu.memcpy %h, %b : memref<?xi16>, memref<?xi16, "buffer">
  gpu.memcpy %b, %c : memref<?xi16, "buffer">, memref<?xi16, "buffer">
  return
}
