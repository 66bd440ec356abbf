//===- ImportAttr.td - Notations of other projects ---------*- tablegen -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_DIALECT_LAYOUT_IR_IMPORTATTR_TD
#define LAYOUT_DIALECT_LAYOUT_IR_IMPORTATTR_TD

include "layout/Dialect/Layout/IR/LayoutAttrBase.td"

def Layout_ImportAttr : Layout_LayoutAttr<"Import", "import",
    ["getStatedShape", "getExampleShape"]> {
  let summary = "a layout in the notation of XLA, oneDNN, CuTe or Triton";
  let description = [{
    Consists of the name of a notation and a text in it:

    * `#layout.import<xla, "{1,0:T(8,128)(2,1)}">`: minor_to_major and tiles.
      Tiles apply to the last physical dims, each one to the result of the one
      before; `*` fuses a dim with the next faster one. Sizes may be dynamic.
      Parts that do not belong to an index map, e.g. a memory space `S(1)`, are
      rejected by name;
    * `#layout.import<onednn, "aBcd16b">`: a tag for any shape, also with dim
      names (`nChw16c`, `OIhw4i16o4i`); or a blocking descriptor of one padded
      shape, `strides=[480,160,32,8] blks=[8] idxs=[1] padded=[2,24,5,4]`, with
      `size=` if the number of elements of the storage differs from the one that
      oneDNN computes;
    * `#layout.import<cute, "Sw<2,0,2> o 0 o (4,4):(4,1)">`: shape and stride
      tuples, leftmost fastest. The outer modes are the logical dims with the
      sizes of the tensor. The swizzle is optional;
    * `#layout.import<triton, "register=[[0,1]] lane=[[0,2],[1,0]] warp=[]
      block=[] : [2,4]">`: the shape, and for each bit of the storage coordinate
      the logical index that it contributes by xor. The storage space is
      `linear` with these four coordinates, or linear memory for `offset=[..]`.
      Linearly dependent bases are replicas.

    An error in the text is reported at its column. `docs/spec.md`, section 3.5,
    defines the exact meaning.
  }];
  let parameters = (ins
    "::mlir::layout::Notation":$notation,
    StringRefParameter<"the text">:$text);
}

#endif // LAYOUT_DIALECT_LAYOUT_IR_IMPORTATTR_TD
