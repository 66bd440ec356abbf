//===- TargetAttrs.td - Machine models of targets ----------*- tablegen -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_DIALECT_LAYOUT_IR_TARGETATTRS_TD
#define LAYOUT_DIALECT_LAYOUT_IR_TARGETATTRS_TD

include "layout/Dialect/Layout/IR/LayoutDialect.td"

def Layout_CpuTargetAttr : Layout_Attr<"CpuTarget", "cpu"> {
  let summary = "the machine model of a CPU";
  let description = [{
    The parameters of a machine with linear memory that the choice of layouts
    depends on. The target is the module attribute `layout.target`, or an option
    of a pass.

    ```mlir
    module attributes {layout.target = #layout.cpu<lanes = 16>} {}
    ```

    The unit of cost is the time in which memory moves one byte. The defaults
    were measured on a CPU with AVX2 (`./dev bench --target`).

    * `lanes`: elements of one inner tile, over which the innermost loop of a
      kernel runs;
    * `strided_percent`: a factor of the cost, in percent, of
        - a conversion that moves single bytes, relative to a plain copy;
        - vectorized arithmetic whose lanes are loaded with a stride, or hold
          partial sums, relative to lanes that are contiguous results;
        - the bytes of an op without vectorized loops, and of an operand that is
          only summed, in rows of more elements than the vector registers hold;
    * `flops_per_byte`: scalar operations that a kernel executes on all lanes
      per unit of cost;
    * `scalar_percent`: cost of scalar arithmetic, in percent of the same on
      256-bit vectors; it grows with the width that is computed in one part;
    * `mask_percent`: cost of a reduction that excludes padding, in percent of
      the same reduction over as many elements. It ends at the end of the dim,
      while a reduction over padding with a neutral value includes all of the
      padding;
    * `assumed_size`: the size assumed for dynamic dims in costs;
    * `assumed_trips`: the trip count assumed for loops with unknown bounds.

    The other parameters describe the processor. Costs and the passes of the CPU
    read them here only. `layout-set-target`, the first pass of `layout-to-cpu`
    and `layout-linalg-to-llvm`, sets those that are not stated to the values of
    the processor that code is generated for, by default `x86-64-v3`. Without
    that pass they have the values of `x86-64-v3`, in parentheses:

    * `line_bytes`: cache line size in bytes (64); a conversion is a plain copy
      if both sides share contiguous segments of at least this size. Kernels are
      planned for the power of two below, and for at least 16;
    * `vector_bits`: width of a vector register in bits (256); 0 for a CPU
      without vectors;
    * `vector_registers`: number of vector registers (16);
    * `datapath_bits`: width in bits of the units that compute on vectors, which
      execute wider vectors in parts, as AMD's Zen 4 does (0, the width of a
      register);
    * `two_source_permute_bytes`: smallest element size in bytes for which one
      shuffle selects any elements of two registers; 0 if there is no such
      shuffle (0);
    * `dot_product_bytes`: number of products of an unsigned and a signed byte
      that one instruction adds to each 32-bit lane: 4 for AVX-512 VNNI, 0 if
      there is no such instruction (0);
    * `l1_bytes`, `l2_bytes`: sizes of L1 and L2 of one core in bytes (32 KiB,
      1 MiB);
    * `llc_bytes`: size of the last-level cache in bytes, which all cores share
      (32 MiB);
    * `l1_set_stride`: distance in bytes at which L1 lines share a set (4096);
    * `cores`: number of hardware threads (8).

    ```mlir
    #layout.cpu<lanes = 16, vector_bits = 512, vector_registers = 32,
                l2_bytes = 2097152>
    ```
  }];
  let parameters = (ins
    "int64_t":$lanes,
    OptionalParameter<"std::optional<int64_t>">:$line_bytes,
    DefaultValuedParameter<"int64_t", "120">:$strided_percent,
    DefaultValuedParameter<"int64_t", "5">:$flops_per_byte,
    DefaultValuedParameter<"int64_t", "550">:$scalar_percent,
    DefaultValuedParameter<"int64_t", "100">:$mask_percent,
    DefaultValuedParameter<"int64_t", "1">:$assumed_size,
    DefaultValuedParameter<"int64_t", "8">:$assumed_trips,
    OptionalParameter<"std::optional<int64_t>">:$vector_bits,
    OptionalParameter<"std::optional<int64_t>">:$vector_registers,
    OptionalParameter<"std::optional<int64_t>">:$datapath_bits,
    OptionalParameter<"std::optional<int64_t>">:$two_source_permute_bytes,
    OptionalParameter<"std::optional<int64_t>">:$dot_product_bytes,
    OptionalParameter<"std::optional<int64_t>">:$l1_bytes,
    OptionalParameter<"std::optional<int64_t>">:$l2_bytes,
    OptionalParameter<"std::optional<int64_t>">:$llc_bytes,
    OptionalParameter<"std::optional<int64_t>">:$l1_set_stride,
    OptionalParameter<"std::optional<int64_t>">:$cores);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Returns the parameters of the processor: those that this target states,
    /// and the defaults of CpuModelParams.
    CpuModelParams getParams() const;

    /// Returns this target with parameters of `cpu` added: those that this
    /// target does not state and that differ from the defaults.
    CpuTargetAttr complete(const CpuModelParams &cpu) const;
  }];
}

def Layout_OpenClTargetAttr : Layout_Attr<"OpenClTarget", "opencl"> {
  let summary = "the machine model of an OpenCL device with images";
  let description = [{
    The parameters of a device with linear memory and images of four channel
    components per pixel that the choice of layouts depends on. The defaults are
    the limits that OpenCL 1.2 guarantees and the costs of a mobile GPU.

    ```mlir
    #layout.opencl
    #layout.opencl<image2d_max_width = 16384, image2d_max_height = 16384,
                   image_types = [f32, f16]>
    ```

    * `image2d_max_width`, `image2d_max_height`, `image3d_max_width`,
      `image3d_max_height`, `image3d_max_depth` and `image_max_array_size`: the
      largest image of each space, in pixels;
    * `image_types`: the element types that have a channel type. The default is
      f32, f16 and integers of 8, 16 and 32 bits, as OpenCL 1.2 guarantees. A
      signless integer covers all integers of its width;
    * `launch_cost`: the cost (see `#layout.cpu`) of launching a kernel;
    * `image_read_percent`, `buffer_read_percent`: the cost of a repeated read
      of a byte, from a cache, in percent of a read from memory. On Adreno and
      newer Mali images have a cache that buffers lack, so the first is smaller;
      for older Mali use the larger value for both;
    * `item_pixels`: the maximum number of pixels per work-item that fit its
      registers;
    * `fewest_items`: the number of work-items that keep the device busy;
      work-items get several pixels only if at least this many remain;
    * `group_items`, `split_reads`: if there are fewer work-items and each reads
      more than `split_reads` times, up to `group_items` work-items of a
      work-group share a sum;
    * `assumed_size`: the size assumed for dynamic dims in costs, when the
      pixels per work-item are chosen, and when an image must fit; the program
      checks the real size when it creates the image;
    * `flops_per_byte`, `assumed_trips`: see `#layout.cpu`;
    * `half_arithmetic`: compute f16 ops in f16, which requires `cl_khr_fp16`,
      and sums in f32. By default f16 ops are computed in f32 and rounded when
      stored;
    * `fma`: contract a product and a sum to one `fma`, which rounds once;
    * `image_fallback`: if an image of dynamic sizes exceeds the limits, run
      kernels on buffers instead of reporting an error;
    * `address_bits`: 64, or 32 for SPIR-V kernels with 32-bit addresses, which
      need no 64-bit integers.
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
    // The limits that OpenCL 1.2 guarantees for a device with images (full
    // profile).
    static constexpr int64_t kImage2dSize = 8192;
    static constexpr int64_t kImage3dSize = 2048;
    static constexpr int64_t kImageArraySize = 2048;
    // A launch takes 10 us, in which a mobile GPU moves this many bytes at 13
    // GB/s. Its caches are 10 times (images) and 2.5 times (buffers) as fast as
    // memory.
    static constexpr int64_t kLaunchCost = 131072;
    // The sums and the data of 8 pixels and the filter values use 80 32-bit
    // registers. All common phone GPUs have as many per work-item without
    // halving the work-items in flight, of which about a thousand fill the GPU.
    static constexpr int64_t kItemPixels = 8;
    static constexpr int64_t kFewestItems = 1024;
    // All phone GPUs have work-groups of 32 work-items. Combining their sums
    // costs about as much as ten reads.
    static constexpr int64_t kGroupItems = 32;
    static constexpr int64_t kSplitReads = 128;

    /// Returns true if images support elements of this type.
    bool isImageType(Type elementType) const;
  }];
}

def Layout_NpuTargetAttr : Layout_Attr<"NpuTarget", "npu"> {
  let summary = "the machine model of an NPU";
  let description = [{
    The parameters of a machine with system memory and local memories of the
    cores of a chip that the choice of layouts depends on.

    ```mlir
    #layout.npu<chip = #npu.target<"BM1684">, launch_cost = 4096>
    ```

    * `chip`: the cores and their memories;
    * `launch_cost`, `flops_per_byte`: the cost (see `#layout.cpu`) of a
      transfer, and the operations of all lanes per unit of cost; the defaults
      follow the clock of the chip (docs/npu.md);
    * `assumed_size`, `assumed_trips`: see `#layout.cpu`.
  }];
  let parameters = (ins
    "::mlir::layout::NpuTargetInterface":$chip,
    DefaultValuedParameter<"int64_t", "kFromChip">:$launch_cost,
    DefaultValuedParameter<"int64_t", "kFromChip">:$flops_per_byte,
    DefaultValuedParameter<"int64_t", "1">:$assumed_size,
    DefaultValuedParameter<"int64_t", "8">:$assumed_trips);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Returns the number of 4-byte words that the execution units of a core
    /// process at once.
    int64_t getLanes() const;
  }];
}

def Layout_MeshAxes : AttrParameter<"::mlir::layout::Mesh", "axes of a mesh"> {
  let parser = "::mlir::layout::parseMeshAxes($_parser)";
  let printer = "::mlir::layout::printMeshAxes($_printer, $_self)";
}

def Layout_MeshTargetAttr : Layout_Attr<"MeshTarget", "mesh_target"> {
  let summary = "the machine model of a mesh of devices";
  let description = [{
    The parameters of devices that exchange messages, each with its own memory,
    that the choice of layouts depends on (docs/mesh.md).

    ```mlir
    #layout.mesh_target<axes = [x = 2, y = 4], device = #layout.cpu<lanes = 16>,
                        byte_cost = [20, 5], message_cost = [200000, 50000]>
    ```

    * `axes`: the axes of the mesh with their sizes, slowest first;
    * `device`: the machine model of one device, a `#layout.cpu`;
    * `byte_cost`, `message_cost`: for each axis the cost (see `#layout.cpu`) of
      a byte and of a message over a link along it. The defaults of 10 and
      100000 are links of 1 GB/s and 10 us if memory has 10 GB/s. A message
      along several axes has the largest cost among them;
    * `memory`: the bytes of a device, a limit on everything that is live on it
      at any point: arguments, constants, results of ops, copies and message
      buffers. Unlimited by default.
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

    /// Returns the cost of sending a byte over a link along an axis of the
    /// mesh.
    int64_t getByteCostAlong(unsigned axis) const;
    /// Returns the cost of sending a message over a link along an axis of the
    /// mesh, without its bytes.
    int64_t getMessageCostAlong(unsigned axis) const;
    CpuTargetAttr getDeviceTarget() const;
  }];
}

#endif // LAYOUT_DIALECT_LAYOUT_IR_TARGETATTRS_TD
