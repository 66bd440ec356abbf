//===- ImportAttr.td - Notations of other projects ---------*- tablegen -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_IMPORTATTR
#define LAYOUT_IMPORTATTR

include "layout/Dialect/Layout/IR/LayoutAttrBase.td"

def Layout_ImportAttr : Layout_LayoutAttr<"Import", "import",
    ["getStatedShape", "getExampleShape"]> {
  let summary = "a layout in the notation of XLA, oneDNN, CuTe or Triton";
  let description = [{
    The name of the notation and the text in it:

    * `#layout.import<xla, "{1,0:T(8,128)(2,1)}">`: minor_to_major and tiles.
      Tiles act on the last physical dims, a later tile on the result of the
      earlier ones; `*` fuses a dim with the next faster one. Sizes may be
      dynamic. What is no part of an index map, such as a memory space `S(1)`,
      is refused by name;
    * `#layout.import<onednn, "aBcd16b">`: a tag, also with the names of dims
      (`nChw16c`, `OIhw4i16o4i`), for every size; or a blocking descriptor of
      one padded shape, `strides=[480,160,32,8] blks=[8] idxs=[1]
      padded=[2,24,5,4]`, with `size=` where the storage has another number of
      elements than oneDNN computes;
    * `#layout.import<cute, "Sw<2,0,2> o 0 o (4,4):(4,1)">`: shape and stride
      tuples, the leftmost fastest; the outer modes are the logical dims and
      their sizes those of the tensor. The swizzle may be left out;
    * `#layout.import<triton, "register=[[0,1]] lane=[[0,2],[1,0]] warp=[]
      block=[] : [2,4]">`: for each bit of the storage the logical index that
      it adds by xor, and the shape. The storage space is `linear` with these
      four coordinates, or linear memory for `offset=[..]`. Bases that depend
      on others are replicas.

    A fault in the text is reported at its column. The exact meaning is in
    `docs/spec.md`, section 3.5.
  }];
  let parameters = (ins
    "::mlir::layout::Notation":$notation,
    StringRefParameter<"the text">:$text);
}

#endif // LAYOUT_IMPORTATTR
