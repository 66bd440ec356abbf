// Check the errors of the lowering of host code.
// RUN: layout-opt %s -convert-gpu-to-opencl-runtime -split-input-file -verify-diagnostics

func.func @f(%h: memref<3x4xvector<4xf32>>, %i: memref<3x4xvector<4xf32>, "image2d">) {
  // expected-error @+1 {{copies an image, but only kernels convert between images and buffers}}
  gpu.memcpy %h, %i : memref<3x4xvector<4xf32>>, memref<3x4xvector<4xf32>, "image2d">
  return
}

// -----

func.func @f(%h: memref<12xf32, strided<[2]>>, %b: memref<12xf32, "buffer">) {
  // expected-error @+1 {{copies host memory of type 'memref<12xf32, strided<[2]>>', which is not contiguous; copy it to a plain memref first}}
  gpu.memcpy %b, %h : memref<12xf32, "buffer">, memref<12xf32, strided<[2]>>
  return
}

// -----

func.func @f(%h: memref<12xf32>, %b: memref<12xf32>) {
  // expected-error @+1 {{copies between host memory; use memref.copy}}
  gpu.memcpy %b, %h : memref<12xf32>, memref<12xf32>
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'memref<12xf32, "npu">' is not memory of an OpenCL device}}
  %a = gpu.alloc () : memref<12xf32, "npu">
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{is asynchronous, but commands of the OpenCL queue run in order; write it without tokens}}
  %t = gpu.wait async
  return
}

// -----

func.func @f(%b: memref<12xf32, "buffer">, %i: index) -> f32 {
  // expected-error @+1 {{accesses memory of the device on the host; use gpu.alloc, gpu.dealloc, gpu.memcpy and kernels}}
  %v = memref.load %b[%i] : memref<12xf32, "buffer">
  return %v : f32
}

// -----

module attributes {gpu.container_module} {
  // expected-error @+1 {{remains; run layout-opencl-kernels-to-spirv and layout-opencl-serialize-kernels first}}
  gpu.module @k {
    gpu.func @f() kernel { gpu.return }
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.binary @k [#gpu.object<#spirv.target_env<#spirv.vce<v1.0, [Kernel], []>, #spirv.resource_limits<>>,
      kernels = <[#gpu.kernel_metadata<"f", (memref<12xf32, "buffer">) -> ()>]>, bin = "\03\02\23\07">]
  func.func @f(%b: memref<12xf16, "buffer">, %n: index) {
    // expected-error @+1 {{passes 'memref<12xf16, "buffer">' as argument 0 of 'f', which takes 'memref<12xf32, "buffer">'}}
    gpu.launch_func @k::@f blocks in (%n, %n, %n) threads in (%n, %n, %n) args(%b : memref<12xf16, "buffer">)
    return
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.binary @k [#gpu.object<#spirv.target_env<#spirv.vce<v1.0, [Kernel], []>, #spirv.resource_limits<>>,
      kernels = <[#gpu.kernel_metadata<"f", (memref<12xf32, "buffer">) -> ()>]>, bin = "\03\02\23\07">]
  func.func @f(%b: memref<12xf32>, %n: index) {
    // expected-error @+1 {{passes 'memref<12xf32>' as argument 0 of 'f', which takes 'memref<12xf32, "buffer">'}}
    gpu.launch_func @k::@f blocks in (%n, %n, %n) threads in (%n, %n, %n) args(%b : memref<12xf32>)
    return
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.binary @k [#gpu.object<#spirv.target_env<#spirv.vce<v1.0, [Kernel], []>, #spirv.resource_limits<>>,
      kernels = <[#gpu.kernel_metadata<"f", (index, index) -> ()>]>, bin = "\03\02\23\07">]
  func.func @f(%n: index) {
    // expected-error @+1 {{passes 1 arguments to 'f', which takes 2}}
    gpu.launch_func @k::@f blocks in (%n, %n, %n) threads in (%n, %n, %n) args(%n : index)
    return
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.binary @k [#gpu.object<#spirv.target_env<#spirv.vce<v1.0, [Kernel], []>, #spirv.resource_limits<>>,
      kernels = <[#gpu.kernel_metadata<"f", () -> ()>]>, bin = "\03\02\23\07">]
  func.func @f(%n: index) {
    // expected-error @+1 {{launches 'g', which 'k' does not have}}
    gpu.launch_func @k::@g blocks in (%n, %n, %n) threads in (%n, %n, %n)
    return
  }
}

// -----

memref.global "private" @data : memref<8xf32> = dense<1.0>
func.func @f() {
  // expected-error @+1 {{'s layout.constant names @data, which is not a constant memref.global}}
  %a = gpu.alloc () {layout.constant = @data} : memref<8xf32, "buffer">
  return
}

// -----

memref.global "private" constant @data : memref<8xf32> = dense<1.0>
func.func @f() {
  // expected-error @+1 {{of type 'memref<1x1xvector<4xf32>, "image2d">' cannot hold the data of @data, of type 'memref<8xf32>'}}
  %a = gpu.alloc () {layout.constant = @data} : memref<1x1xvector<4xf32>, "image2d">
  return
}

// -----

memref.global "private" constant @data : memref<8xf32> = dense<1.0>
func.func @f() {
  %a = gpu.alloc () {layout.constant = @data} : memref<8xf32, "buffer">
  // expected-error @+1 {{frees memory of a constant, which must live as long as the program}}
  gpu.dealloc %a : memref<8xf32, "buffer">
  return
}

// -----

func.func @f() -> memref<4x?xf32> {
  %c = arith.constant -5 : index
  // expected-error @+1 {{has a size of -5, but sizes must not be negative; correct the computation of the size}}
  %m = memref.alloc(%c) : memref<4x?xf32>
  return %m : memref<4x?xf32>
}
