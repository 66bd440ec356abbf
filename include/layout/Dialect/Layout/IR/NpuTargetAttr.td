//===- NpuTargetAttr.td - The figures of an NPU chip --------*- tablegen -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_NPUTARGETATTR
#define LAYOUT_NPUTARGETATTR

include "layout/Dialect/Layout/IR/LayoutDialect.td"

def Layout_NpuTargetAttr : Layout_Attr<"NpuTarget", "npu_target"> {
  let summary = "the figures of an NPU chip";
  let description = [{
    What a layout in the local memory of an NPU needs to know of the chip.

    ```mlir
    #layout.npu_target<npus = 64, bytes_per_npu = 524288, eu_bytes = 128, banks = 8>
    ```

    * `npus`: the units, each with a memory of its own;
    * `bytes_per_npu`: the bytes of that memory; a local address is
      unit * bytes_per_npu + byte, so the product of the two fits 64 bits;
    * `eu_bytes`: what the execution units of one NPU take at once, to which
      aligned layouts round a channel up; a power of two;
    * `banks`, where known: the banks that the memory of a unit is divided into
      evenly.

    | chip    | npus | bytes_per_npu | eu_bytes | banks |
    |---------|-----:|--------------:|---------:|------:|
    | BM1684  |   64 |        524288 |      128 |     8 |
    | BM1684X |   64 |        262144 |       64 |    16 |
    | BM1688  |   32 |        131072 |       16 |    16 |
    | BM1690  |   64 |        262144 |       64 |    16 |
  }];
  let parameters = (ins
    "int64_t":$npus,
    "int64_t":$bytes_per_npu,
    "int64_t":$eu_bytes,
    OptionalParameter<"std::optional<int64_t>">:$banks);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

#endif // LAYOUT_NPUTARGETATTR
