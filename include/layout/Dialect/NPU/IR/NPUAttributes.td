//===- NPUAttributes.td - Chips and their memories ---------*- tablegen -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_DIALECT_NPU_IR_NPUATTRIBUTES_TD
#define LAYOUT_DIALECT_NPU_IR_NPUATTRIBUTES_TD

include "layout/Dialect/Layout/IR/LayoutInterfaces.td"
include "layout/Dialect/NPU/IR/NPUDialect.td"

class NPU_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<NPU_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

def NPU_ChipAttr
    : NPU_Attr<"Chip", "target",
               [DeclareAttrInterfaceMethods<NpuTargetInterface>]> {
  let summary = "the machine model of an NPU chip";
  let description = [{
    The parameters of a chip that layouts, addresses and transfers depend on: a published chip by
    its name, or any others.

    ```mlir
    #npu.target<"BM1684">
    #npu.target<"BM1684", dma_alignment = 4, max_shape = [65535, 4095, 65535, 65535]>
    #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128, banks = 8>
    ```

    * `npus`: the number of cores, each with its own memory;
    * `bytes_per_npu`: the bytes of that memory; a local address is core * bytes_per_npu + byte,
      so the product of both must fit 64 bits;
    * `eu_bytes`: the bytes that the execution units of a core process at once, and the alignment
      of channels in the aligned layout; a power of two;
    * `banks`, optional: the number of banks of equal size in the memory of a core;
    * `dma_alignment`: the alignment in bytes of every address of the DMA engine, a power of two;
      1 by default. Addresses are also aligned to the element. Tensors get aligned addresses;
      unaligned parts of them are moved by the cores that hold both sides, or are an error;
    * `max_shape`, optional: the maximum iterations of the loops N, C, H and W of a command, by
      DMA or execution units; longer loops are split. On any chip, transfers have at most 65535 of
      each, and the execution units 65535, 4095, 65535 and 65535;
    * `max_stride`, optional: the largest stride of a command, in elements;
    * `max_compute_stride`: the largest N and C stride of a command of the execution units, in
      elements, also of a loop with one iteration. The default is that of the published chip with
      the same parameters, or 262143;
    * `memories`, optional: the names and bytes of memories other than system and local memory,
      e.g. `memories = {l2 = 2097152}`. They are linear;
    * `megahertz`: the frequency. The default is that of the published chip with the same
      parameters, or 1000;
    * `clock`, optional: parameters of [ChipClock.h](../../include/layout/Support/ChipClock.h), e.g.
      `clock = {s2l_start = 200, exp = 90}`. The defaults are those of the published chip with the
      same parameters, or of the first column there.

    Settings after a name override those of that chip. Parameters that are exactly those of a
    published chip print as its name. A chip has the kernel API of the published one with the same
    `npus`, `bytes_per_npu` and `eu_bytes`, or OKKernel:

    | chip    | npus | bytes_per_npu | eu_bytes | banks | bytes per bank | max_compute_stride | megahertz | kernel API |
    |---------|-----:|--------------:|---------:|------:|---------------:|-------------------:|----------:|------------|
    | BM1684  |   64 |        524288 |      128 |     8 |          65536 |             524287 |       550 | OKKernel   |
    | BM1684X |   64 |        262144 |       64 |    16 |          16384 |             262143 |      1000 | TPU-KERNEL |
    | BM1688  |   32 |        131072 |       16 |    16 |           8192 |             262143 |       900 | TPU-KERNEL |
    | BM1690  |   64 |        262144 |       64 |    16 |          16384 |             262143 |      1000 | TPU-KERNEL |
  }];
  let parameters = (ins
    "int64_t":$npus,
    "int64_t":$bytesPerNpu,
    "int64_t":$euBytes,
    "std::optional<int64_t>":$banks,
    "int64_t":$dmaAlignment,
    ArrayRefParameter<"int64_t", "of N, C, H and W, or empty">:$maxShape,
    "std::optional<int64_t>":$maxStride,
    "int64_t":$maxComputeStride,
    "int64_t":$megahertz,
    "::mlir::DictionaryAttr":$clockParams,
    "::mlir::DictionaryAttr":$memories);
  let builders = [
    AttrBuilder<(ins "int64_t":$npus, "int64_t":$bytesPerNpu,
                     "int64_t":$euBytes), [{
      auto none = ::mlir::DictionaryAttr::get($_ctxt);
      return $_get($_ctxt, npus, bytesPerNpu, euBytes, std::nullopt, 1,
                   ::llvm::ArrayRef<int64_t>(), std::nullopt,
                   kUsualComputeStride, ::mlir::layout::ChipClock().megahertz,
                   none, none);
    }]>
  ];
  let extraClassDeclaration = [{
    /// The default of `max_compute_stride`, in elements, which every published
    /// chip supports.
    static constexpr int64_t kUsualComputeStride = (1 << 18) - 1;
    /// Returns the published chip with the given name, or null if there is
    /// none.
    static ChipAttr getChip(::mlir::MLIRContext *context,
                              ::llvm::StringRef name);
    /// Returns the names of the published chips.
    static ::llvm::SmallVector<::llvm::StringRef> getChipNames();
    /// Returns the name of the published chip with exactly these parameters, or
    /// an empty string.
    ::llvm::StringRef getChipName() const;
    /// Returns the clock of the published chip with the same parameters, with
    /// the parameters that the attribute states.
    ::mlir::layout::ChipClock getClock() const;
    /// Returns the bytes of one bank, or std::nullopt if the banks are unknown.
    std::optional<int64_t> getBankBytes() const;
    /// Returns the bytes of a memory other than system and local memory, or
    /// std::nullopt if the chip has none with that name.
    std::optional<int64_t> getMemoryBytes(::llvm::StringRef name) const;
  }];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def NPU_MemoryAttr : NPU_Attr<"Memory", "memory"> {
  let summary = "the memory that a memref is in";
  let description = [{
    The memory space of a memref: `#npu.memory<system>` is linear and shared, `#npu.memory<local>`
    is the memories of all cores together, and any other name is a linear memory that the target
    lists in `memories`.
  }];
  let parameters = (ins StringRefParameter<"system, local or of the chip">:$name);
  let extraClassDeclaration = [{
    bool isLocal() const { return getName() == "local"; }
    bool isSystem() const { return getName() == "system"; }
  }];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

#endif // LAYOUT_DIALECT_NPU_IR_NPUATTRIBUTES_TD
