//===- NpuScatterAttr.td - Channels over the cores of an NPU -*- tablegen -*-=//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_DIALECT_LAYOUT_IR_NPUSCATTERATTR_TD
#define LAYOUT_DIALECT_LAYOUT_IR_NPUSCATTERATTR_TD

include "layout/Dialect/Layout/IR/LayoutAttrBase.td"

def Layout_NpuScatterAttr
    : Layout_LayoutAttr<"NpuScatter", "npu_scatter",
                        ["getStatedShape", "withTarget"],
                        [DeclareAttrInterfaceMethods<MemRefLayoutAttrInterface,
                             ["isIdentity", "verifyLayout",
                              "getStridesAndOffset"]>]> {
  let summary = "channels scattered over the cores of an NPU";
  let description = [{
    Stores a tensor (N, C, H, W) in the local memories of an NPU with X cores:
    channel c is in core (start + c) mod X, in row (start + c) floordiv X of
    that core.

    ```mlir
    #layout.npu_scatter<aligned, start = 2>
    #layout.npu_scatter<compact, start = 0, pack = n4>
    #layout.npu_scatter<matrix 15, start = 0>
    #layout.npu_scatter<strided [120, 56, 16, 2], start = 1, offset = 64>
    #layout.npu_scatter<matrix 64, start = 0, axes = "NNM">
    #layout.npu_scatter<continuous>
    ```

    | mode | strides of W, H, C, N | address |
    |---|---|---|
    | `aligned` | 1, W, H * W rounded up to `eu_bytes`, that * rows | a multiple of `eu_bytes` |
    | `compact` | 1, W, H * W, that * rows | a multiple of 4 |
    | `matrix w` | N x M as aligned (N, ceil(M / w), 1, w), 1 <= w <= M | a multiple of `eu_bytes` |
    | `strided [n, c, h, w]` | as given | a multiple of the storage unit |
    | `continuous` | row-major in system memory, not scattered | |

    * `start`: the core of channel 0. The number of rows is ceil((start + C) /
      X), so the stride of N depends on it;
    * `pack`: the indices of the first axis that share a storage unit; strides
      count storage units. `n4` is for 8-bit elements, `n2` for 16-bit elements,
      `ic2` for 32-bit compact weights (I, O, KH, KW) and for bytes that become
      those;
    * `offset`: the byte offset of the tensor in each core, 0 by default. Its
      address is start * `bytes_per_npu` + offset;
    * `axes`: the axis of each dim of the tensor, one letter of N, C, H, W (of a
      matrix: N and its columns M), unless the tensor has just these dims in
      this order: `"CNHW"` for weights O, I, KH, KW that are stored as (I, O,
      KH, KW), `"C"` for a bias, `"NNM"` for a matrix whose rows are the first
      two dims. Dims with the same letter are fused row-major; an axis without a
      dim has size 1;
    * `target`: the chip, an `#npu.target`. A layout without one parses but does
      not apply to a tensor; passes may add it.

    Every core needs offset + U * ceil(N / P) * S bytes, at most
    `bytes_per_npu`, for a storage unit of U bytes that P indices of N share,
    and a stride S of N. The map has the coordinates `npu` and `offset`, the
    latter in elements within one core. Elements are integers and floats of
    whole bytes, and vectors of those.

    It is also the layout of a memref in local memory (the `npu` dialect). Such
    a memref is not strided; its affine map has unknown strides.

    Source: the tensor layouts of OKKernel (spec, section 3.4).
  }];
  let parameters = (ins
    "::mlir::layout::NpuMode":$mode,
    "int64_t":$width,
    ArrayRefParameter<"int64_t", "of N, C, H, W if strided">:$strides,
    "int64_t":$start,
    "::mlir::layout::NpuPack":$pack,
    "int64_t":$offset,
    StringRefParameter<"the axis of each dim, or empty">:$axes,
    OptionalParameter<"::mlir::layout::NpuTargetInterface">:$target);
  let extraClassDeclaration = [{
    /// Returns the parameters except `target`, as the struct that
    /// layout/Algebra expands to a map for a chip and a shape.
    ::mlir::layout::NpuScatter getScatter() const;
  }];
}

#endif // LAYOUT_DIALECT_LAYOUT_IR_NPUSCATTERATTR_TD
