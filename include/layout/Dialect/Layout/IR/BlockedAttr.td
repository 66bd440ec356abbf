//===- BlockedAttr.td - Axes named by letters --------------*- tablegen -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_DIALECT_LAYOUT_IR_BLOCKEDATTR_TD
#define LAYOUT_DIALECT_LAYOUT_IR_BLOCKEDATTR_TD

include "layout/Dialect/Layout/IR/LayoutAttrBase.td"

def Layout_BlockedAttr : Layout_LayoutAttr<"Blocked", "blocked", ["getStatedShape"]> {
  let summary = "axes named by letters, with split and fused parts";
  let description = [{
    In `#layout.blocked<"NCHW" to "NCHW16c">` an upper-case letter is an axis
    and `16c` is its part of 16 consecutive indices; parts of one letter are
    ordered from major to minor. `[4o4i]` fuses two parts into one stored axis.
    The first string gives the logical order and may itself be blocked. Extents
    are rounded up: 17 channels in `NCHW16c` store 2 x 16.

    Source: the DataLayout RFC of TVM (spec, section 3.1).
  }];
  let parameters = (ins
    StringRefParameter<"the logical axes">:$logical,
    StringRefParameter<"the stored axes, slowest first">:$stored);
}

#endif // LAYOUT_DIALECT_LAYOUT_IR_BLOCKEDATTR_TD
