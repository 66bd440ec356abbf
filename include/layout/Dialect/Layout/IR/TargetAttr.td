//===- TargetAttr.td - What a decision knows of the target --*- tablegen -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETATTR
#define LAYOUT_TARGETATTR

include "layout/Dialect/Layout/IR/LayoutDialect.td"

def Layout_TargetAttr : Layout_Attr<"Target", "target"> {
  let summary = "the figures of a target that decide layouts";
  let description = [{
    What the assignment of layouts knows of the machine. It stands on the
    module as `layout.target`, or is given to a pass as an option.

    ```mlir
    module attributes {layout.target = #layout.target<kind = "cpu", lanes = 16>} {}
    ```

    Costs are counted in *units*: the time in which memory moves one byte.

    * `kind`: the storage spaces that layouts may use: "cpu" is linear memory,
      "opencl" is linear memory and images of four lanes a pixel, "npu" is
      system memory and the local memories of a chip's units;
    * `lanes`: elements of one inner tile, the run that the innermost loop of a
      kernel works on; 4 for "opencl", those of a pixel; eu_bytes / 4 for
      "npu", the words that a unit works on at once;
    * `line_bytes`: what memory moves at once; a conversion whose two sides
      share runs of at least this many bytes is a plain copy;
    * `strided_percent`: cost of a conversion that moves single elements, in
      percent of a plain copy;
    * `flops_per_byte`: scalar operations that a kernel does on all lanes in
      one unit;
    * `scalar_percent`: cost of arithmetic without lanes, in percent;
    * `mask_percent`: cost of a reduction that must not see padding, in percent
      of the same reduction over as many elements. It ends where the dim does,
      while one over padding that is known to change nothing goes through all
      of it;
    * `assumed_size`: the size that stands for a dynamic one in costs;
    * `assumed_trips`: how often a loop whose bounds are not known is taken to
      run.

    Of a device with images, kind "opencl", further:

    ```mlir
    #layout.target<kind = "opencl", lanes = 4, image2d_max_width = 16384,
                   image2d_max_height = 16384, image_types = [f32, f16]>
    ```

    * `image2d_max_width`, `image2d_max_height`, `image3d_max_width`,
      `image3d_max_height`, `image3d_max_depth` and `image_max_array_size`: the
      largest image of each space, in pixels; without them what OpenCL 1.2
      guarantees;
    * `image_types`: the element types that have a channel type; without it
      those that OpenCL 1.2 guarantees: f32, f16 and integers of 8, 16 and 32
      bits. An integer without a sign stands for all integers of its width;
    * `launch_cost`: units that pass while one more kernel is started;
    * `image_read_percent`, `buffer_read_percent`: what a kernel pays for a byte
      that it reads once more, from a cache, in percent of a unit. Adreno and
      newer Mali read images through a cache that buffers do not have, so the
      first is the smaller one; for old Mali give the larger one.

    Of an NPU, kind "npu", further:

    ```mlir
    #layout.target<kind = "npu", lanes = 32, npu = #npu.target<"BM1684">,
                   launch_cost = 4096>
    ```

    * `npu`: the chip;
    * `launch_cost`: units that pass while one more transfer is started.
  }];
  let parameters = (ins
    StringRefParameter<"kind of machine">:$kind,
    "int64_t":$lanes,
    DefaultValuedParameter<"int64_t", "64">:$line_bytes,
    DefaultValuedParameter<"int64_t", "200">:$strided_percent,
    DefaultValuedParameter<"int64_t", "8">:$flops_per_byte,
    DefaultValuedParameter<"int64_t", "400">:$scalar_percent,
    DefaultValuedParameter<"int64_t", "100">:$mask_percent,
    DefaultValuedParameter<"int64_t", "1">:$assumed_size,
    DefaultValuedParameter<"int64_t", "8">:$assumed_trips,
    DefaultValuedParameter<"int64_t", "TargetAttr::kImage2dSize">:$image2d_max_width,
    DefaultValuedParameter<"int64_t", "TargetAttr::kImage2dSize">:$image2d_max_height,
    DefaultValuedParameter<"int64_t", "TargetAttr::kImage3dSize">:$image3d_max_width,
    DefaultValuedParameter<"int64_t", "TargetAttr::kImage3dSize">:$image3d_max_height,
    DefaultValuedParameter<"int64_t", "TargetAttr::kImage3dSize">:$image3d_max_depth,
    DefaultValuedParameter<"int64_t", "TargetAttr::kImageArraySize">:$image_max_array_size,
    OptionalParameter<"ArrayAttr">:$image_types,
    DefaultValuedParameter<"int64_t", "TargetAttr::kLaunchCost">:$launch_cost,
    DefaultValuedParameter<"int64_t", "TargetAttr::kImageReadPercent">:$image_read_percent,
    DefaultValuedParameter<"int64_t", "TargetAttr::kBufferReadPercent">:$buffer_read_percent,
    OptionalParameter<"::mlir::layout::NpuTargetInterface">:$npu);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    // What OpenCL 1.2 guarantees of a device with images (full profile) ..
    static constexpr int64_t kImage2dSize = 8192;
    static constexpr int64_t kImage3dSize = 2048;
    static constexpr int64_t kImageArraySize = 2048;
    // .. and figures of a mobile GPU: 10 us at 13 GB/s, and caches ten times
    // and two and a half times as fast as memory.
    static constexpr int64_t kLaunchCost = 131072;
    static constexpr int64_t kImageReadPercent = 10;
    static constexpr int64_t kBufferReadPercent = 40;

    /// Whether tensors may be spread over the units of an NPU.
    bool hasUnits() const { return getKind() == "npu"; }
    /// Whether tensors may be stored in images.
    bool hasImages() const { return getKind() == "opencl"; }
    /// Whether images hold elements of this type.
    bool isImageType(Type elementType) const;
  }];
}

#endif // LAYOUT_TARGETATTR
