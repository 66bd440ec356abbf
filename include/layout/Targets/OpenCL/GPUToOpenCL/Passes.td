//===- Passes.td - From GPU kernels on images to OpenCL ----*- tablegen -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The passes of the OpenCL backend, in the order of the pipeline.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETS_OPENCL_GPUTOOPENCL_PASSES_TD
#define LAYOUT_TARGETS_OPENCL_GPUTOOPENCL_PASSES_TD

include "mlir/Pass/PassBase.td"

def CountKernelWorkPass : Pass<"layout-opencl-count-kernel-work", "ModuleOp"> {
  let summary = "Count the operations and bytes of each gpu.func";
  let description = [{
    Sets attributes from which the profile of the runtime computes rates
    (`KernelMetadata.h`): `layout.operations`, the element operations of a work-item,
    `layout.bytes`, the bytes of device memory that a work-item loads and stores, and
    `layout.items`, the work-items of a launch that compute. Operations and bytes are
    counted once per execution, and in both sides of a branch. Those of a kernel whose
    results depend on the work-group size are per work-group. A number that is only known
    at launch is omitted. Run it first in the OpenCL backend, before
    `layout-opencl-narrow-kernel-indices`: arithmetic on `index` is not counted, but on
    i32 it is.

    ```mlir
    // before; the first 30 work-items load, arith.mulf and arith.addf vector<4xf32> in
    // 10 iterations, and store the sum
    gpu.func @sum(%a: .., %b: ..) kernel
    // after
    gpu.func @sum(%a: .., %b: ..) kernel attributes {layout.bytes = 176 : i64,
        layout.items = array<i64: 30, -1, -1>, layout.operations = 80 : i64}
    ```
  }];
  let dependentDialects = ["gpu::GPUDialect"];
}

def NarrowKernelIndicesPass : Pass<"layout-opencl-narrow-kernel-indices", "ModuleOp"> {
  let summary = "Narrow kernel indices to 32 bits if they fit";
  let description = [{
    Use it for mobile GPUs, which emulate 64-bit arithmetic. If all launches of a kernel
    have constant sizes, the largest number of work-items becomes the `upper_bound` of
    `gpu.global_id`, and loops with constant bounds get i32 induction variables. Then
    upstream's `arith-int-range-narrowing` narrows the ops whose integer ranges fit 32 bits.
    (It does not narrow ids and induction variables itself.) Other indices remain 64-bit.
    Run it before kernels are printed or converted to SPIR-V.

    ```mlir
    // before
    %id = gpu.global_id x
    %in = memref.load %a[%c0, %id] : memref<1x6xvector<4xf32>, "image2d">
    // after, if the launch has 6 work-items
    %id = gpu.global_id x upper_bound 6
    %n = arith.index_castui %id : index to i32
    %x = arith.index_castui %n : i32 to index
    %in = memref.load %a[%c0, %x] : memref<1x6xvector<4xf32>, "image2d">
    ```

    Loads and stores use an index cast from i32; the backends use the i32 directly if it
    is an image coordinate. Loop-invariant code is hoisted.

    If indices depend on the number of work-groups or on index arguments of a launch, the
    pass derives an upper bound of all indices of the kernel: a formula of these sizes,
    e.g. `4 * g + 2`. It narrows the kernel, and adds a 64-bit copy of it in a separate
    module, `@kernels_wide::@k`. The host computes the bound, as f64 so that it cannot wrap,
    and launches the narrow kernel if the bound is below 2^31 - 2:

    ```mlir
    // before; k computes y / h * h + 2 for y < 4 * g
    gpu.launch_func @kernels::@k blocks in (%c1, %g, %c1) .. args(%h : index)
    // after; the check covers h, too, because it becomes i32
    %bound = ..                                 // f64
    %fits = arith.cmpf olt, %bound, %limit : f64
    scf.if %fits {
      gpu.launch_func @kernels::@k blocks in (%c1, %g, %c1) .. args(%h32 : i32)
    } else {
      gpu.launch_func @kernels_wide::@k blocks in (%c1, %g, %c1) .. args(%h : index)
    }
    ```

    With `layout.address_bits = 32` there is no 64-bit copy: a launch whose sizes are too
    large gets the attribute `layout.is_refused` and fails at run time, and an index that
    is not proven to fit is an error.
  }];
  let dependentDialects = ["arith::ArithDialect", "scf::SCFDialect"];
}

def KernelsToSourcePass
    : Pass<"layout-opencl-kernels-to-source", "ModuleOp"> {
  let summary = "Print the kernels of each gpu.module as OpenCL C";
  let description = [{
    Prints the kernels of each GPU module as OpenCL C 1.2 into its attribute
    `layout.opencl_source`, for devices that do not accept SPIR-V. The pass accepts the
    kernels of `layout-opencl-kernels-to-spirv`, and emits the same operations in the
    same order, with `FP_CONTRACT` off. Run it before `layout-opencl-serialize-kernels`,
    which replaces the GPU modules.

    ```mlir
    %v = memref.load %in[%y, %x] : memref<3x6xvector<4xf16>, "image2d">
    %e = math.exp %v : vector<4xf16>
    %b = vector.broadcast %s : f16 to vector<4xf16>
    %p = arith.mulf %e, %b : vector<4xf16>
    memref.store %p, %out[%y, %x] : memref<3x6xvector<4xf16>, "image2d">
    ```

    becomes

    ```c
    const float4 v2 = read_imagef(a0, kPixels, (int2)((int)v0, (int)v1));
    write_imagef(a2, (int2)((int)v0, (int)v1), exp(v2) * (float4)(a1));
    ```

    The kernel `k` is the function `kernel_k`, because kernel names may be keywords of
    OpenCL C. A comment above the function lists its arguments and the nodes of the
    imported network that launch it. An op that has no form in OpenCL C is an error.
  }];
  let dependentDialects = [
    "arith::ArithDialect", "math::MathDialect", "vector::VectorDialect"
  ];
}

def KernelsToSPIRVPass
    : Pass<"layout-opencl-kernels-to-spirv", "ModuleOp"> {
  let summary = "Convert each gpu.module to a spirv.module for OpenCL";
  let description = [{
    Converts the kernels of each `gpu.module @m` to entry points of a
    `spirv.module @__spv__m Physical64 OpenCL` before it. The GPU module remains, because
    launches refer to it.

    ```mlir
    // before
    %v = memref.load %in[%y, %x] : memref<?x6xvector<4xf32>, "image2d">
    %r = math.tanh %v : vector<4xf32>
    // after
    %v = spirv.ImageRead %in, %at : .., vector<2xi32> -> vector<4xf32>
    %r = spirv.CL.tanh %v : vector<4xf32>
    ```

    Arguments of kernels are scalars, and memrefs whose memory space is the name of a
    storage space. Sizes may be dynamic:

    | memref | becomes |
    |---|---|
    | `memref<?xf32, "buffer">` | a pointer; the memref is linear |
    | `memref<10x6xvector<4xf32>, "image2d">` | an image of 10 rows of 6 pixels |
    | `memref<3x10x6xvector<4xf16>, "image2d_array">` | an array of images |
    | `memref<3x10x6xvector<4xi8>, "image3d">` | a 3-D image |

    A load of an image at a negative coordinate returns zeros, by a sampler in the
    binary. A store must be inside of the image. A kernel that both loads and stores an
    image is an error, because OpenCL 1.2 has no read-write images.

    | attribute of the GPU module | effect |
    |---|---|
    | none | f16 is computed and passed in f32, and rounded when stored, by the image or `vstore_half` |
    | `layout.half_arithmetic` | f16 is computed in f16, with the capability `Float16` |
    | `layout.fma` | a product whose only use is an addition or subtraction is fused with it, also in OpenCL C |
    | `layout.address_bits = 32` | the module is `Physical32`, and index is i32; only 64-bit data remain 64-bit |

    The module states exactly the capabilities that its types and ops require.
  }];
  let dependentDialects = [
    "spirv::SPIRVDialect", "arith::ArithDialect", "math::MathDialect",
    "vector::VectorDialect"
  ];
}

def KernelsToVulkanPass
    : Pass<"layout-vulkan-kernels-to-spirv", "ModuleOp"> {
  let summary = "Convert each gpu.module to a spirv.module for Vulkan 1.1";
  let description = [{
    As `layout-opencl-kernels-to-spirv`, but for compute pipelines of Vulkan 1.1, in
    SPIR-V 1.3 with the capability `Shader`. Entry points have no parameters:

    ```mlir
    // before
    %v = memref.load %in[%y, %x] : memref<?x6xvector<4xf32>, "image2d">
    // after: the center of the pixel, at mip level 0
    %v = spirv.ImageSampleExplicitLod %in, %at ["Lod"], %level : .., vector<2xf32>, f32 -> vector<4xf32>
    ```

    | argument number i | becomes |
    |---|---|
    | `memref<?xf32, "buffer">` | a storage buffer at set 0, binding i |
    | an `"image2d"` that the kernel loads from | a combined image sampler at set 0, binding i; its sampler has unnormalized coordinates, nearest filtering and a border of zeros |
    | an `"image2d"` that the kernel stores to | a storage image at set 0, binding i, of format `Rgba32f`, `Rgba16f`, `Rgba32i`, `Rgba16i` or `Rgba8i` |
    | a scalar | a push constant of 4 or 8 bytes, after those of the scalars before it, at a multiple of its size |

    The specialization constants 0, 1 and 2 are the work-group size. `image2d_array` and
    `image3d` are errors, as are more than 128 bytes of scalars or 63 arguments. The
    module states the capabilities in use: f16 in a buffer requires
    `StorageBuffer16BitAccess`, and arithmetic on index `Int64` unless the GPU module has
    `layout.address_bits = 32`, or all indices were proven to fit into 32 bits.
  }];
  let dependentDialects = [
    "spirv::SPIRVDialect", "arith::ArithDialect", "math::MathDialect",
    "vector::VectorDialect"
  ];
}

def SerializeKernelsPass : Pass<"layout-opencl-serialize-kernels", "ModuleOp"> {
  let summary = "Serialize each gpu.module to a gpu.binary with SPIR-V";
  let description = [{
    Serializes each `spirv.module @__spv__m`, changes words of the binary for OpenCL 1.2
    or Vulkan (see `OpenCLSpirvPatcher.h`), and replaces both the `spirv.module` and the
    `gpu.module @m` by `gpu.binary @m`. The kernel table of its object has the types of
    the kernels as GPU functions. The OpenCL C of `layout-opencl-kernels-to-source`, if
    any, is a second object. Run it after `layout-opencl-kernels-to-spirv`.

    ```mlir
    // before
    spirv.module @__spv__m Physical64 OpenCL .. { .. }
    gpu.module @m {
      gpu.func @stated(%a: memref<8xf32, "buffer">, ..) kernel attributes {layout.bytes = 64 : i64, ..} { .. }
    }
    // after
    gpu.binary @m [#gpu.object<.., kernels = <[#gpu.kernel_metadata<"stated",
        (memref<8xf32, "buffer">, ..) -> (), metadata = {layout.bytes = 64 : i64, ..}>]>, bin = "..">]
    ```
  }];
  let dependentDialects = ["gpu::GPUDialect", "spirv::SPIRVDialect"];
}

def ConvertGPUToOpenCLRuntimePass
    : Pass<"convert-gpu-to-opencl-runtime", "ModuleOp"> {
  let summary = "Lower gpu ops of the host to OpenCL runtime calls";
  let description = [{
    Lowers `gpu.alloc`, `gpu.dealloc`, `gpu.memcpy` and `gpu.launch_func` to calls of the
    functions of `layout/Targets/OpenCL/Runtime/OpenCL.h`, and each `gpu.binary` to a
    constant. Run it after `layout-opencl-serialize-kernels`, which makes the `gpu.binary`
    ops, and before the host code is lowered to the LLVM dialect.

    ```mlir
    // before
    %a = gpu.alloc (%n) : memref<?x4xvector<4xf16>, "image2d">
    // after
    %kind = llvm.mlir.constant(1 : i32) : i32       // an image2d
    %channel = llvm.mlir.constant(1 : i32) : i32    // of CL_HALF_FLOAT
    %o = llvm.call @layoutClCreateImage(%kind, %channel, ..)
    ```

    A device memref keeps its sizes and loses its memory space. Its pointer is an object
    of the runtime, which other code must not dereference. Other host ops are left to
    upstream's passes. A `gpu.alloc` with `layout.constant = @data` becomes memory with
    the data of the constant `memref.global @data`. The first run creates it, and it is
    never freed.

    With `prefix=layoutVk`, for kernels of `layout-vulkan-kernels-to-spirv`, the functions
    are those of `layout/Targets/OpenCL/Runtime/Vulkan.h`.

    Ops must be synchronous (without tokens). The OpenCL queue is in order, and the host
    only waits for copies from and to host memory. `gpu.memcpy` copies between a
    contiguous host memref and a buffer of the same number of elements, or between
    buffers.
  }];
  let options = [
    Option<"prefix", "prefix", "std::string", "\"layoutCl\"",
           "The prefix of the runtime's functions: layoutCl for OpenCL, layoutVk for Vulkan">];
  let dependentDialects = ["LLVM::LLVMDialect", "arith::ArithDialect"];
}

#endif // LAYOUT_TARGETS_OPENCL_GPUTOOPENCL_PASSES_TD
