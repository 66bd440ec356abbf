//===- LayoutAttributes.td - Layout attributes -------------*- tablegen -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_DIALECT_LAYOUT_IR_LAYOUTATTRIBUTES_TD
#define LAYOUT_DIALECT_LAYOUT_IR_LAYOUTATTRIBUTES_TD

include "layout/Dialect/Layout/IR/BlockedAttr.td"
include "layout/Dialect/Layout/IR/ImportAttr.td"
include "layout/Dialect/Layout/IR/LayoutAttrBase.td"
include "layout/Dialect/Layout/IR/MeshAttr.td"
include "layout/Dialect/Layout/IR/NpuScatterAttr.td"
include "layout/Dialect/Layout/IR/PackedDimsAttr.td"
include "layout/Dialect/Layout/IR/RelationsAttr.td"
include "layout/Dialect/Layout/IR/RgbaImageAttr.td"

def Layout_MapAttr : Layout_LayoutAttr<"Map", "map", ["getStatedShape"]> {
  let summary = "the canonical map from logical indices to storage";
  let description = [{
    Every layout resolves to this attribute: named storage coordinates, each a
    sum of digits of the logical indices (`docs/spec.md`, sections 1 and 2).

    ```mlir
    #layout.map<(n, c, h, w) -> buffer(n, c floordiv 16, h, w, c mod 16)>
    #layout.map<(n, h, w, c) -> image2d(x = [c floordiv 4, w], y = [n, h], lane = c mod 4)>
    #layout.map<(i, j) -> buffer(offset = i * 40 + j)>
    ```

    * `x floordiv k` and `x mod k` are digits with extents ceil(x / k) and k;
    * `[a, b]` fuses row-major, and `[a, b] align k` rounds its extent up to a
      multiple of k; the arguments of `buffer(..)` form such a group;
    * `pad(x, lo, hi)` adds `lo` empty positions before x and `hi` after it;
    * `e * s` places a digit with stride s, which is an integer or a product or
      sum of `size(dim)` and `ceil(size, k)`; constants are added in the same
      form;
    * `name = e extent s` states the extent of a coordinate if it is not the one
      that e implies.

    The attribute is built and printed in canonical form, with dims d0, d1, ..:
    equal maps are the same attribute (L5). The predefined spaces are
    `buffer(offset)`, `image2d(x, y, lane)`, `image2d_array(x, y, slice, lane)`,
    `image3d(x, y, z, lane)` and `npu(npu, offset)`. Any other name is a
    user-defined space with the coordinates as written.

    `xor(a, b : 4)` swizzles the lowest bits of its operands. Its extent, a
    power of two, is optional if all operands have the same one. Dims in
    `replicate(..)` are not logical: every index has one storage point for each
    of their values.

    ```mlir
    #layout.map<(i, j) -> buffer(i, xor(i, j : 4))>
    #layout.map<(i, j) replicate(r : 4) -> mesh(device = r, offset = [i, j])>
    ```

    By default the array that holds linear memory has the dense axes of the map
    as its dims. `stored(..)` states other dims that compute the same offset,
    for notations that group digits differently.

    ```mlir
    #layout.map<(n, c) -> buffer(n, [c] align 4)>      // N x C', C' = roundup(C, 4)
    #layout.map<(n, c) -> buffer(n, [c] align 4) stored(n, c floordiv 4, c mod 4)>
    ```
  }];
  let parameters = (ins
    AttrParameter<"::mlir::layout::LayoutMap", "the map">:$map,
    AttrParameter<"::mlir::layout::StoredDims",
                  "dims of the storage that are not those of the map">:$stored);
  let builders = [
    AttrBuilder<(ins "::mlir::layout::LayoutMap":$map),
                [{ return $_get($_ctxt, map, ::mlir::layout::StoredDims()); }]>
  ];
}

def Layout_PaddedAttr : Layout_LayoutAttr<"Padded", "padded",
                                          ["getPadding", "getStatedShape",
                                           "getExampleShape", "withTarget"]> {
  let summary = "a layout with a padding value";
  let description = [{
    In `#layout.padded<#layout.blocked<"NCHW" to "NCHW16c">, zero>` the storage
    points that hold no element are zero, or equal to the given constant (`1.0 :
    f32`). The padding of a layout without this wrapper is unspecified (rules P1
    to P3). The map is that of the wrapped layout.
  }];
  let parameters = (ins
    "::mlir::Attribute":$layout,
    OptionalParameter<"::mlir::TypedAttr", "null for zero">:$value);
}

#endif // LAYOUT_DIALECT_LAYOUT_IR_LAYOUTATTRIBUTES_TD
