//===- TargetAttr.td - What a decision knows of the target --*- tablegen -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETATTR
#define LAYOUT_TARGETATTR

include "layout/Dialect/Layout/IR/LayoutDialect.td"

def Layout_TargetAttr : Layout_Attr<"Target", "target"> {
  let summary = "the figures of a target that decide layouts";
  let description = [{
    What the assignment of layouts knows of the machine. It stands on the
    module as `layout.target`, or is given to a pass as an option.

    ```mlir
    module attributes {layout.target = #layout.target<kind = "cpu", lanes = 16>} {}
    ```

    Costs are counted in *units*: the time in which memory moves one byte.

    * `kind`: the storage space that layouts may use; "cpu" is linear memory;
    * `lanes`: elements of one inner tile, the run that the innermost loop of a
      kernel works on;
    * `line_bytes`: what memory moves at once; a conversion whose two sides
      share runs of at least this many bytes is a plain copy;
    * `strided_percent`: cost of a conversion that moves single elements, in
      percent of a plain copy;
    * `flops_per_byte`: scalar operations that a kernel does on all lanes in
      one unit;
    * `scalar_percent`: cost of arithmetic without lanes, in percent;
    * `assumed_size`: the size that stands for a dynamic one in costs;
    * `assumed_trips`: how often a loop whose bounds are not known is taken to
      run.
  }];
  let parameters = (ins
    StringRefParameter<"kind of machine">:$kind,
    "int64_t":$lanes,
    DefaultValuedParameter<"int64_t", "64">:$line_bytes,
    DefaultValuedParameter<"int64_t", "200">:$strided_percent,
    DefaultValuedParameter<"int64_t", "8">:$flops_per_byte,
    DefaultValuedParameter<"int64_t", "400">:$scalar_percent,
    DefaultValuedParameter<"int64_t", "1">:$assumed_size,
    DefaultValuedParameter<"int64_t", "8">:$assumed_trips);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

#endif // LAYOUT_TARGETATTR
