//===- NPUAttributes.td - Chips and their memories ---------*- tablegen -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NPU_ATTRIBUTES
#define NPU_ATTRIBUTES

include "layout/Dialect/Layout/IR/LayoutInterfaces.td"
include "layout/Dialect/NPU/IR/NPUDialect.td"

class NPU_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<NPU_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

def NPU_ChipAttr
    : NPU_Attr<"Chip", "target",
               [DeclareAttrInterfaceMethods<NpuTargetInterface>]> {
  let summary = "the figures of an NPU chip";
  let description = [{
    All that layouts, addresses and transfers need to know of a chip: a
    published one by its name, or any figures.

    ```mlir
    #npu.target<"BM1684">
    #npu.target<"BM1684", dma_alignment = 4, max_shape = [65535, 4095, 65535, 65535]>
    #npu.target<npus = 4, bytes_per_npu = 1024, eu_bytes = 128, banks = 8>
    ```

    * `npus`: the cores, each with a memory of its own;
    * `bytes_per_npu`: the bytes of that memory; a local address is
      core * bytes_per_npu + byte, so the product of the two fits 64 bits;
    * `eu_bytes`: what the execution units of one NPU take at once, to which
      aligned layouts round a channel up; a power of two;
    * `banks`, where known: the banks that the memory of a core is divided into
      evenly; the size of a bank follows;
    * `dma_alignment`: what every address that the DMA engine is given is a
      multiple of; 1 if not written, a power of two. An element's own alignment
      is always asked for. Tensors get addresses at such bytes; parts of them
      that begin elsewhere are moved by the cores that hold both sides, or are
      an error;
    * `max_shape`, where known: the most iterations of the loops N, C, H and W
      of one command, by DMA or of execution units; what has more is cut;
    * `max_stride`, where known: the largest stride of a command, in elements;
    * `memories`, where there are more than system and local memory: their
      names and bytes, as in `memories = {l2 = 2097152}`. They are linear;
    * `megahertz`, `dma_bytes_per_cycle`, `dma_start`, `compute_start`: the
      frequency, what the DMA engine moves in a cycle, and the cycles that pass
      while a transfer, or a command of the execution units, is started. Where
      they are not written they are 1000, or what a published chip of these
      figures has, 64, 32 and 8: assumptions, but for the published frequencies.

    Settings after a name replace that chip's. Figures that are exactly those of
    a published chip print as its name:

    | chip    | npus | bytes_per_npu | eu_bytes | banks | bytes per bank | megahertz |
    |---------|-----:|--------------:|---------:|------:|---------------:|----------:|
    | BM1684  |   64 |        524288 |      128 |     8 |          65536 |       550 |
    | BM1684X |   64 |        262144 |       64 |    16 |          16384 |      1000 |
    | BM1688  |   32 |        131072 |       16 |    16 |           8192 |       900 |
    | BM1690  |   64 |        262144 |       64 |    16 |          16384 |      1000 |
  }];
  let parameters = (ins
    "int64_t":$npus,
    "int64_t":$bytesPerNpu,
    "int64_t":$euBytes,
    "std::optional<int64_t>":$banks,
    "int64_t":$dmaAlignment,
    ArrayRefParameter<"int64_t", "of N, C, H and W, or none">:$maxShape,
    "std::optional<int64_t>":$maxStride,
    "int64_t":$megahertz,
    "int64_t":$dmaBytesPerCycle,
    "int64_t":$dmaStart,
    "int64_t":$computeStart,
    "::mlir::DictionaryAttr":$memories);
  let builders = [
    AttrBuilder<(ins "int64_t":$npus, "int64_t":$bytesPerNpu,
                     "int64_t":$euBytes), [{
      ::mlir::layout::ChipClock clock;
      return $_get($_ctxt, npus, bytesPerNpu, euBytes, std::nullopt, 1,
                   ::llvm::ArrayRef<int64_t>(), std::nullopt, clock.megahertz,
                   clock.dmaBytesPerCycle, clock.dmaStart, clock.computeStart,
                   ::mlir::DictionaryAttr::get($_ctxt));
    }]>
  ];
  let extraClassDeclaration = [{
    /// The published chip of that name; null where there is none.
    static ChipAttr getChip(::mlir::MLIRContext *context,
                              ::llvm::StringRef name);
    /// The names of the published chips.
    static ::llvm::SmallVector<::llvm::StringRef> getChipNames();
    /// The name of the published chip with exactly these figures, or empty.
    ::llvm::StringRef getChipName() const;
    ::mlir::layout::ChipClock getClock() const;
    /// The bytes of one bank; nothing where the banks are not known.
    std::optional<int64_t> getBankBytes() const;
    /// The bytes of a memory other than system and local.
    std::optional<int64_t> getMemoryBytes(::llvm::StringRef name) const;
  }];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def NPU_MemoryAttr : NPU_Attr<"Memory", "memory"> {
  let summary = "the memory that a memref is in";
  let description = [{
    The memory space of a memref: `#npu.memory<system>` is linear and shared,
    `#npu.memory<local>` is the memories of all cores together, and any other
    name is a linear memory that the target lists in `memories`.
  }];
  let parameters = (ins StringRefParameter<"system, local or a target's">:$name);
  let extraClassDeclaration = [{
    bool isLocal() const { return getName() == "local"; }
    bool isSystem() const { return getName() == "system"; }
  }];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

#endif // NPU_ATTRIBUTES
