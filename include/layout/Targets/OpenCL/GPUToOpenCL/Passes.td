//===- Passes.td - From GPU kernels on images to OpenCL ----*- tablegen -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The passes of the OpenCL end, in the order of the pipeline.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_CONVERSION_GPUTOOPENCL_PASSES
#define LAYOUT_CONVERSION_GPUTOOPENCL_PASSES

include "mlir/Pass/PassBase.td"

def CountKernelWorkPass : Pass<"count-kernel-work", "ModuleOp"> {
  let summary = "Counts what the items of kernels compute and move";
  let description = [{
    Puts the attributes of `KernelFacts.h` on each `gpu.func`, which the profile
    of the runtime makes rates of: `layout.operations` on elements of an item,
    as profiles of the CPU count them, `layout.bytes` that its loads and stores
    of the device's memory move, each as often as it runs, and `layout.items`,
    how many items of a launch are not past the end. Both sides of a branch
    count. Of a kernel that sees its group the numbers are those of all items of
    a group. Indices are no operations, therefore it goes before
    `narrow-kernel-indices`.

    A number that depends on what only a launch knows is left out.
  }];
  let dependentDialects = ["gpu::GPUDialect"];
}

def NarrowKernelIndicesPass : Pass<"narrow-kernel-indices", "ModuleOp"> {
  let summary = "Computes the indices of kernels in 32 bits where they fit";
  let description = [{
    Mobile GPUs compute 64 bits in several steps. Where all launches of a kernel
    have constant sizes, its `gpu.global_id` is given their largest number of
    items as its `upper_bound`, and loops with constant bounds get an index of
    32 bits; upstream's `arith-int-range-narrowing` then proves by ranges what
    else fits. It leaves loops and positions as they are, therefore the work
    before. What is not proven stays an index of 64 bits.

    Where indices depend on sizes that only the launch knows, its number of groups
    or arguments, a bound of them follows from the ops of the kernel as a sum of
    products of these sizes. The kernel is computed in 32 bits, and `@kernels_wide::@k`
    in a module of its own in 64; the launch takes the first where the bound is
    below 2^31:

    ```mlir
    // k computes (y / h) * h + 2 for y < 4 * g
    %most = arith.mulf %g, 4.0                   // and h, and 2
    %fits = arith.cmpf olt, %most, 2147483646.0
    scf.if %fits {
      gpu.launch_func @kernels::@k blocks in (%c1, %g, %c1) .. args(%h : i32)
    } else {
      gpu.launch_func @kernels_wide::@k blocks in (%c1, %g, %c1) .. args(%h : index)
    }
    ```

    With `layout.address_bits = 32` there is no kernel of 64 bits: a launch of sizes
    that are too large has `layout.is_refused`, by which a program that gets to it
    fails, and an index that is not proven to fit is an error.

    Loads and stores take the index that a value of 32 bits is cast to, and the
    back ends take the value itself where it is a coordinate of an image. What
    does not change in a loop is computed before it.

    ```mlir
    %id = gpu.global_id x
    %in = memref.load %a[%c0, %id] : memref<1x6xvector<4xf32>, "image2d">
    ```

    of a launch of 6 items becomes

    ```mlir
    %id = gpu.global_id x upper_bound 6
    %n = arith.index_castui %id : index to i32
    %x = arith.index_castui %n : i32 to index
    %in = memref.load %a[%c0, %x] : memref<1x6xvector<4xf32>, "image2d">
    ```
  }];
  let dependentDialects = ["arith::ArithDialect", "scf::SCFDialect"];
}

def ConvertImageKernelsToSourcePass
    : Pass<"convert-image-kernels-to-source", "ModuleOp"> {
  let summary = "Adds OpenCL C of its kernels to every GPU module";
  let description = [{
    Prints the kernels of each GPU module as OpenCL C 1.2, for devices that take
    no SPIR-V, and puts the text into its attribute `layout.opencl_source`. The
    kernels are those that `convert-image-kernels-to-spirv` takes, computed with
    the same operations in the same order: `FP_CONTRACT` is off.

    The kernel `k` is the function `kernel_k`, as names of kernels may be words
    of OpenCL C. A comment above it names what launches it and what its
    arguments hold.

    An op that OpenCL C has no form of is an error.
  }];
  let dependentDialects = [
    "arith::ArithDialect", "math::MathDialect", "vector::VectorDialect"
  ];
}

def ConvertImageKernelsToSPIRVPass
    : Pass<"convert-image-kernels-to-spirv", "ModuleOp"> {
  let summary = "Adds a SPIR-V module for OpenCL to every GPU module";
  let description = [{
    The kernels of each `gpu.module @m` become entry points of a
    `spirv.module @__spv__m Physical64 OpenCL`, put before it; the GPU module
    stays for the launches that name it.

    Arguments of kernels are memrefs whose memory space is the name of a storage
    space, and scalars:

    | memref | becomes |
    |---|---|
    | `memref<?xf32, "buffer">` | a pointer; the memref is linear |
    | `memref<10x6xvector<4xf32>, "image2d">` | an image of 10 rows of 6 pixels |
    | `memref<3x10x6xvector<4xf16>, "image2d_array">` | an array of images |
    | `memref<3x10x6xvector<4xi8>, "image3d">` | a 3-D image |

    Sizes may be dynamic. `memref.load` of an image is `spirv.ImageRead`,
    `memref.store` is `spirv.ImageWrite`. A load at a negative coordinate gives
    zeros, which the binary says by a sampler; a store has to be inside. A kernel either loads or stores an image; one that does both
    is an error, for OpenCL 1.2 has no such image.

    No device is asked for f16 arithmetic: f16 is computed in f32 and rounded
    where it is stored, in images of CL_HALF_FLOAT by the image and in buffers
    by `vstore_half`. A scalar argument of type f16 is passed as f32. In a GPU
    module with `layout.half_arithmetic` f16 stays f16, and the SPIR-V module
    has the capability `Float16`. With `layout.fma` a product that is added
    or subtracted and has no other reader becomes one op with the sum, here and
    in OpenCL C.

    With `layout.address_bits = 32` the module is `Physical32`: an index is an
    i32, and nothing has 64 bits but data that do.

    The capabilities are those of the types and ops in the module, no more.
  }];
  let dependentDialects = [
    "spirv::SPIRVDialect", "arith::ArithDialect", "math::MathDialect",
    "vector::VectorDialect"
  ];
}

def SerializeImageKernelsPass : Pass<"serialize-image-kernels", "ModuleOp"> {
  let summary = "Replaces GPU modules by SPIR-V binaries";
  let description = [{
    Serializes each `spirv.module @__spv__m`, makes the words valid for OpenCL
    1.2 (see `SpirvBinary.h`) and puts `gpu.binary @m` in the place of both
    modules. Its object has a kernel table with the types that the kernels had
    as GPU functions. OpenCL C that `convert-image-kernels-to-source` made is a
    second object.
  }];
  let dependentDialects = ["gpu::GPUDialect", "spirv::SPIRVDialect"];
}

def ConvertGPUToOpenCLRuntimePass
    : Pass<"convert-gpu-to-opencl-runtime", "ModuleOp"> {
  let summary = "Lowers the host's GPU ops to calls of the OpenCL runtime";
  let description = [{
    `gpu.alloc`, `gpu.dealloc`, `gpu.memcpy` and `gpu.launch_func` become calls
    of the functions of `layout/Targets/OpenCL/Runtime/OpenCL.h`; each `gpu.binary` becomes a
    constant. A memref on the device keeps its sizes and loses its memory space:
    its pointer is the runtime's object, which nothing but the runtime may
    follow. Everything else of the host is left to upstream's passes.

    A `gpu.alloc` with `layout.constant = @data` becomes memory with the data of
    the constant `memref.global @data`, filled at the first run and never freed.

    Ops must be synchronous (without tokens): the queue is in order, and only
    copies from and to the host wait. `gpu.memcpy` copies between a contiguous
    host memref and a buffer of as many elements, or between buffers.
  }];
  let dependentDialects = ["LLVM::LLVMDialect", "arith::ArithDialect"];
}

#endif // LAYOUT_CONVERSION_GPUTOOPENCL_PASSES
