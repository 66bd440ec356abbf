//===- TargetAttrs.td - What a decision knows of machines --*- tablegen -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETATTRS
#define LAYOUT_TARGETATTRS

include "layout/Dialect/Layout/IR/LayoutDialect.td"

def Layout_CpuTargetAttr : Layout_Attr<"CpuTarget", "cpu"> {
  let summary = "the figures of a CPU that decide layouts";
  let description = [{
    What the assignment of layouts knows of a machine with linear memory. A
    target stands on the module as `layout.target`, or is given to a pass as an
    option.

    ```mlir
    module attributes {layout.target = #layout.cpu<lanes = 16>} {}
    ```

    Costs are times, 1 being that in which memory moves one byte. What figures
    are where they are not given was measured on a CPU with AVX2
    (`./dev bench --target`).

    * `lanes`: elements of one inner tile, the run that the innermost loop of a
      kernel works on;
    * `line_bytes`: what memory moves at once; a conversion whose two sides
      share runs of at least this many bytes is a plain copy;
    * `strided_percent`: cost of a conversion that moves single elements, in
      percent of a plain copy; of arithmetic whose lanes hold parts of sums, in
      percent of the same on lanes with results of their own; of bytes that are
      summed up along columns whose rows no registers hold;
    * `flops_per_byte`: scalar operations that a kernel does on all lanes in
      one byte;
    * `scalar_percent`: cost of arithmetic without lanes, in percent of the same on
      vectors of 256 bits; longer vectors make it dearer;
    * `mask_percent`: cost of a reduction that must not see padding, in percent
      of the same reduction over as many elements. It ends where the dim does,
      while one over padding that is known to change nothing goes through all
      of it;
    * `assumed_size`: the size that stands for a dynamic one in costs;
    * `assumed_trips`: how often a loop whose bounds are not known is taken to
      run;
    * `vector_bits`: bits of one vector register. Without it they are those of
      the processor that `layout-to-cpu` makes code for, and 256 where no
      processor is named.
  }];
  let parameters = (ins
    "int64_t":$lanes,
    DefaultValuedParameter<"int64_t", "CpuFigures().lineBytes">:$line_bytes,
    DefaultValuedParameter<"int64_t", "120">:$strided_percent,
    DefaultValuedParameter<"int64_t", "5">:$flops_per_byte,
    DefaultValuedParameter<"int64_t", "550">:$scalar_percent,
    DefaultValuedParameter<"int64_t", "100">:$mask_percent,
    DefaultValuedParameter<"int64_t", "1">:$assumed_size,
    DefaultValuedParameter<"int64_t", "8">:$assumed_trips,
    OptionalParameter<"int64_t">:$vector_bits);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// This target for a processor with vectors of so many bits, unless it
    /// states them; null, with an error, where no target may have them.
    CpuTargetAttr
    forVectors(int64_t bits,
               ::llvm::function_ref<::mlir::InFlightDiagnostic()> emitError)
        const;
  }];
}

def Layout_OpenClTargetAttr : Layout_Attr<"OpenClTarget", "opencl"> {
  let summary = "the figures of an OpenCL device with images";
  let description = [{
    What the assignment of layouts knows of a device with linear memory and
    images of four lanes a pixel. Without figures it is what OpenCL 1.2
    guarantees, at the prices of a mobile GPU.

    ```mlir
    #layout.opencl
    #layout.opencl<image2d_max_width = 16384, image2d_max_height = 16384,
                   image_types = [f32, f16]>
    ```

    * `image2d_max_width`, `image2d_max_height`, `image3d_max_width`,
      `image3d_max_height`, `image3d_max_depth` and `image_max_array_size`: the
      largest image of each space, in pixels; without them what OpenCL 1.2
      guarantees;
    * `image_types`: the element types that have a channel type; without it
      those that OpenCL 1.2 guarantees: f32, f16 and integers of 8, 16 and 32
      bits. An integer without a sign stands for all integers of its width;
    * `launch_cost`: the cost (see `#layout.cpu`) of the time that passes while one more kernel
      is started;
    * `image_read_percent`, `buffer_read_percent`: what a kernel pays for a byte
      that it reads once more, from a cache, in percent of one from memory. Adreno and
      newer Mali read images through a cache that buffers do not have, so the
      first is the smaller one; for old Mali give the larger one;
    * `item_pixels`: the most pixels that a work item computes for which its registers
      suffice;
    * `fewest_items`: as many work items as keep the device busy; items of several
      pixels are not so large that there are fewer;
    * `group_items`, `split_reads`: where there are fewer, and an item reads more than
      `split_reads` times, up to `group_items` items of a group share the sum;
    * `assumed_size`: the size that stands for a dynamic one in costs, where the
      pixels of an item are chosen, and where an image has to fit; the program
      checks the true size when it makes the image;
    * `flops_per_byte`, `assumed_trips`: as of `#layout.cpu`;
    * `half_arithmetic`: what a program computes in f16 is computed in f16, on
      devices with `cl_khr_fp16` alone, and sums in f32; without it all of f16
      is computed in f32 and rounded where it is stored;
    * `fma`: a product that is added is one `fma`, which rounds once;
    * `image_fallback`: where an image of dynamic sizes is beyond the limits, the
      program runs kernels on buffers, not an error;
    * `address_bits`: 64, or 32 for kernels in SPIR-V with 32-bit addresses, which
      need no integers of 64 bits.
  }];
  let parameters = (ins
    DefaultValuedParameter<"int64_t", "OpenClTargetAttr::kImage2dSize">:$image2d_max_width,
    DefaultValuedParameter<"int64_t", "OpenClTargetAttr::kImage2dSize">:$image2d_max_height,
    DefaultValuedParameter<"int64_t", "OpenClTargetAttr::kImage3dSize">:$image3d_max_width,
    DefaultValuedParameter<"int64_t", "OpenClTargetAttr::kImage3dSize">:$image3d_max_height,
    DefaultValuedParameter<"int64_t", "OpenClTargetAttr::kImage3dSize">:$image3d_max_depth,
    DefaultValuedParameter<"int64_t", "OpenClTargetAttr::kImageArraySize">:$image_max_array_size,
    OptionalParameter<"ArrayAttr">:$image_types,
    DefaultValuedParameter<"int64_t", "OpenClTargetAttr::kLaunchCost">:$launch_cost,
    DefaultValuedParameter<"int64_t", "10">:$image_read_percent,
    DefaultValuedParameter<"int64_t", "40">:$buffer_read_percent,
    DefaultValuedParameter<"int64_t", "OpenClTargetAttr::kItemPixels">:$item_pixels,
    DefaultValuedParameter<"int64_t", "OpenClTargetAttr::kFewestItems">:$fewest_items,
    DefaultValuedParameter<"int64_t", "OpenClTargetAttr::kGroupItems">:$group_items,
    DefaultValuedParameter<"int64_t", "OpenClTargetAttr::kSplitReads">:$split_reads,
    DefaultValuedParameter<"int64_t", "8">:$flops_per_byte,
    DefaultValuedParameter<"int64_t", "1">:$assumed_size,
    DefaultValuedParameter<"int64_t", "8">:$assumed_trips,
    DefaultValuedParameter<"bool", "false">:$half_arithmetic,
    DefaultValuedParameter<"bool", "false">:$fma,
    DefaultValuedParameter<"bool", "false">:$image_fallback,
    DefaultValuedParameter<"int64_t", "64">:$address_bits);
  let assemblyFormat = "(`<` struct(params)^ `>`)?";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    // What OpenCL 1.2 guarantees of a device with images (full profile) ..
    static constexpr int64_t kImage2dSize = 8192;
    static constexpr int64_t kImage3dSize = 2048;
    static constexpr int64_t kImageArraySize = 2048;
    // .. and 10 us at the 13 GB/s of a mobile GPU, whose caches are ten times
    // and two and a half times as fast as memory.
    static constexpr int64_t kLaunchCost = 131072;
    // The sums and the data of 8 pixels, with what is read of a filter, are 80
    // of the registers of 32 bits that an item has on all common GPUs of phones
    // without halving the items in flight, of which a thousand fill them.
    static constexpr int64_t kItemPixels = 8;
    static constexpr int64_t kFewestItems = 1024;
    // All devices of phones have groups of 32 items. To meet costs these about
    // as much time as some ten reads.
    static constexpr int64_t kGroupItems = 32;
    static constexpr int64_t kSplitReads = 128;

    /// Whether images hold elements of this type.
    bool isImageType(Type elementType) const;
  }];
}

def Layout_NpuTargetAttr : Layout_Attr<"NpuTarget", "npu"> {
  let summary = "the figures of an NPU that decide layouts";
  let description = [{
    What the assignment of layouts knows of a machine with system memory and the
    local memories of a chip's cores.

    ```mlir
    #layout.npu<chip = #npu.target<"BM1684">, launch_cost = 4096>
    ```

    * `chip`: its cores and their memories;
    * `launch_cost`, `flops_per_byte`: as of `#layout.cpu`, of one more transfer and of all
      lanes; where one is not stated it is that of the chip's clock (docs/npu.md);
    * `assumed_size`, `assumed_trips`: as of `#layout.cpu`.
  }];
  let parameters = (ins
    "::mlir::layout::NpuTargetInterface":$chip,
    DefaultValuedParameter<"int64_t", "kFigureOfChip">:$launch_cost,
    DefaultValuedParameter<"int64_t", "kFigureOfChip">:$flops_per_byte,
    DefaultValuedParameter<"int64_t", "1">:$assumed_size,
    DefaultValuedParameter<"int64_t", "8">:$assumed_trips);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The words of 4 bytes that the execution units of a core take at once.
    int64_t getLanes() const;
  }];
}

def Layout_MeshAxes : AttrParameter<"::mlir::layout::Mesh", "axes of a mesh"> {
  let parser = "::mlir::layout::parseMeshAxes($_parser)";
  let printer = "::mlir::layout::printMeshAxes($_printer, $_self)";
}

def Layout_MeshTargetAttr : Layout_Attr<"MeshTarget", "mesh_target"> {
  let summary = "the figures of a mesh of devices that decide who computes what";
  let description = [{
    What the assignment of layouts knows of devices that send each other messages,
    each with memory of its own (docs/mesh.md).

    ```mlir
    #layout.mesh_target<axes = [x = 2, y = 4], device = #layout.cpu<lanes = 16>,
                        byte_cost = [20, 5], message_cost = [200000, 50000]>
    ```

    * `axes`: those of the mesh, the slowest one first, with their sizes;
    * `device`: what ops cost on one device, a `#layout.cpu`;
    * `byte_cost`, `message_cost`: for each axis the cost (see `#layout.cpu`) of a byte
      that goes over a link along it, and of a message; by default 10 and 100000,
      which are links of 1 GB/s and 10 us where memory has 10 GB/s. A message that goes
      along several axes costs as along the dearest of them;
    * `memory`: bytes of a device, a limit of all that is alive on it at any point:
      arguments, constants, what ops compute, copies and buffers of messages.
  }];
  let parameters = (ins
    Layout_MeshAxes:$axes,
    "::mlir::Attribute":$device,
    OptionalParameter<"::mlir::ArrayAttr">:$byte_cost,
    OptionalParameter<"::mlir::ArrayAttr">:$message_cost,
    DefaultValuedParameter<"int64_t", "MeshTargetAttr::kAnyMemory">:$memory);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    static constexpr int64_t kByteCost = 10;
    static constexpr int64_t kMessageCost = 100000;
    static constexpr int64_t kAnyMemory = INT64_MAX;

    /// Of a byte, and of a message, along an axis.
    int64_t getByteCostAlong(unsigned axis) const;
    int64_t getMessageCostAlong(unsigned axis) const;
    CpuTargetAttr getDeviceTarget() const;
  }];
}

#endif // LAYOUT_TARGETATTRS
