//===- RelationsAttr.td - Axes that split and fuse ---------*- tablegen -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_DIALECT_LAYOUT_IR_RELATIONSATTR_TD
#define LAYOUT_DIALECT_LAYOUT_IR_RELATIONSATTR_TD

include "layout/Dialect/Layout/IR/LayoutAttrBase.td"

def Layout_RelationsAttr : Layout_LayoutAttr<"Relations", "relations",
                                             ["getStatedShape"]> {
  let summary = "named axes with split and fuse relations";
  let description = [{
    Describes the layouts of `#layout.blocked` by relations between named axes
    instead of letters:

    ```mlir
    #layout.relations<(n, c, h, w), split c -> (co, ci : 16), fuse (h, w) -> hw,
                      store (n, co, hw, ci)>
    // NCHW16c to NCHW8c
    #layout.relations<(n, co, h, w, ci : 16), fuse (co, ci) -> c,
                      split c -> (cp, cq : 8), store (n, cp, h, w, cq)>
    ```

    The dims come first. `split c -> (co, cm : 4, ci : 16)` makes parts from
    major to minor: `ci` is `c % 16`, `cm` is `c / 16 % 4`, and `co` is `c / 64`
    with ceil(size / 64) positions. `fuse (h, w) -> hw` is row-major: `hw` is `h
    * size(w) + w`. `store` names the stored dims, slowest first. A dim with an
    extent requires that size of every tensor.

    Axes that are split or fused may be split and fused again. Relations may be
    in any order but must not be cyclic. Each axis is split, fused or stored
    exactly once.

    Errors, each with its column: an unknown axis, a repeated name, an axis that
    is used twice or not at all, an axis made of itself, a part without an
    extent or a first part with one, an extent of 0, extents whose product does
    not fit 64 bits, fewer than two parts.

    Source: the DataLayout RFC of TVM, whose data structure is a list of axis
    relations (spec, section 3.1).
  }];
  let parameters = (ins
    AttrParameter<"::mlir::layout::Relations", "the relations">:$relations);
}

#endif // LAYOUT_DIALECT_LAYOUT_IR_RELATIONSATTR_TD
