//===- PackedDimsAttr.td - Whole and packed dims -----------*- tablegen -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_DIALECT_LAYOUT_IR_PACKEDDIMSATTR_TD
#define LAYOUT_DIALECT_LAYOUT_IR_PACKEDDIMSATTR_TD

include "layout/Dialect/Layout/IR/LayoutAttrBase.td"

def Layout_PackedDimsAttr : Layout_LayoutAttr<"PackedDims", "packed_dims",
                                               ["getExampleShape"]> {
  let summary = "physical dims that are whole or packed logical dims";
  let description = [{
    Lists the physical dims from slowest to fastest, each one a piece of the
    logical dim with the given number:

    * `1`: the remainder of dim 1; at most once, outside its parts;
    * `1 : 4`: a part of 4 positions;
    * `1 : oddeven 4`: a part of 4 positions, even positions before odd ones.

    For a shape, the pieces are resolved from fastest to slowest. A part has its
    stated extent if that divides what is left of the dim. Once per dim, a part
    that is larger than what is left is *clipped* to it, so that nothing is
    padded; an `oddeven` part is clipped only to 1. In the end 1 must be left of
    every dim: a dim that is not named has size 1.

    | layout | shape | stored | offset |
    |---|---|---|---|
    | `[1, 0, 1 : 4]` | 6x8 | 2x6x4 | `d1 % 4 + 4 * d0 + 24 * (d1 / 4)` |
    | `[1, 0, 1 : 4]` | 6x2 | 1x6x2 | `d1 + 2 * d0`, clipped |
    | `[1, 0, 1 : 4]` | 6x6 | | does not apply |
    | `[0 : oddeven 8]` | 8 | 8 | `d0 / 2 + 4 * (d0 % 2)` |
    | `[0, 1, 0 : oddeven 4]` | 8x2 | 2x2x4 | `d0 / 2 % 2 + 2 * (d0 % 2) + ..` |

    A part of index i whose faster parts have v positions is `i / v % extent`;
    `oddeven` reorders that value, not i. If the layout applies, it is a
    bijection onto 0 .. size - 1.

    A dynamic dim may be a whole dim. A layout with parts of it does not apply,
    because divisibility is unknown: make the dim static, or use
    `#layout.blocked`, which pads.

    Errors: a whole dim that is repeated or is inside a part of that dim, an
    extent below 1, an odd extent of `oddeven`; on a shape, a dim that the
    tensor lacks, an extent that does not divide, a second clip of a dim,
    positions that are left (L1).

    Source: the memory layouts of Morello (spec, section 3.2).
  }];
  let parameters = (ins
    ArrayRefParameter<"::mlir::layout::PackedDim", "slowest first">:$dims);
}

#endif // LAYOUT_DIALECT_LAYOUT_IR_PACKEDDIMSATTR_TD
