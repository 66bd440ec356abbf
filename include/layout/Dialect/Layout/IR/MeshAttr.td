//===- MeshAttr.td - Tensors sharded over a mesh -----------*- tablegen -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_DIALECT_LAYOUT_IR_MESHATTR_TD
#define LAYOUT_DIALECT_LAYOUT_IR_MESHATTR_TD

include "layout/Dialect/Layout/IR/LayoutAttrBase.td"

def Layout_MeshAttr : Layout_LayoutAttr<"Mesh", "mesh",
                                        ["getStatedShape", "getExampleShape",
                                         "withTarget"]> {
  let summary = "a tensor that is sharded over a mesh of devices";
  let description = [{
    Lists the axes of the mesh, slowest first, then for each dim of the tensor
    the axes that split it, from major to minor:

    ```mlir
    #layout.mesh<[x = 4], [[x], []]>                 // rows over 4 devices
    #layout.mesh<[x = 2, y = 4], [[x, y], [], []]>   // dim 0 over all 8
    #layout.mesh<[x = 2, y = 4], [[], [y]]>          // columns over y, a replica for each x
    #layout.mesh<[x = 4], [[x], []], halos = [[1, 2], [0, 0]]>   // 1 row before and 2 after each block, too
    #layout.mesh<[x = 2], [[x], [], [], []], local = #layout.blocked<"NCHW" to "NCHW16c">>
    ```

    If k devices split a dim of size n, its blocks have b = ceil(n / k) indices:
    index d is index d mod b on device d floordiv b along the axes of the dim.
    The last devices hold fewer if k does not divide n. An axis that splits no
    dim has a replica of every element at each of its positions. Every device
    stores a local tensor of the block shape, row-major or in the layout `local`
    of linear memory.

    The map has one coordinate per axis, with the name and the size of the axis,
    and `offset`, the position in the memory of the device:

    ```mlir
    // #layout.mesh<[x = 4, y = 2], [[x], []]> of 10x4:
    #layout.map<(i, j) replicate(r : 2) -> mesh(x = i floordiv 3 extent 4, y = r, offset = [i mod 3, j])>
    ```

    `halos` gives for each dim the number of indices before and after its block
    that a device also holds, clipped to the tensor. The local tensor includes
    them: index d is d - b * x + before on device x along the dim. A halo is a
    replica of the map; replicas coincide if fewer devices hold an index:

    ```mlir
    // #layout.mesh<[x = 3], [[x]], halos = [[1, 0]]> of 8:
    #layout.map<(i) replicate(r : 2) -> mesh(x = (i + (r) * -1 + 1) floordiv 3 extent 3, offset = r + (i + (r) * -1 + 1) mod 3)>
    ```

    Errors: an axis of size 0, a repeated or unknown axis, an axis that is used
    twice, more than 2^20 devices, a halo of a dim that is not split; on a
    shape, a split dim of dynamic size, a halo over more than 16 blocks, a local
    layout that does not apply.
  }];
  let parameters = (ins
    AttrParameter<"::mlir::layout::Mesh", "the axes, splits and halos">:$mesh,
    OptionalParameter<"::mlir::layout::LayoutAttrInterface">:$local);
}

def Layout_PartialAttr : Layout_LayoutAttr<"Partial", "partial",
                                           ["getPadding", "getStatedShape",
                                            "getExampleShape", "withTarget"]> {
  let summary = "a layout whose replicas are partial sums";
  let description = [{
    In `#layout.partial<#layout.mesh<[x = 2, y = 4], [[x], []]>, sum, [y]>`
    devices along the axes `[y]` hold partial sums of an element, not copies of
    it (rule P4), e.g. the result of a matmul whose reduction is split over y.
    `max` and `min` are the other reductions. Each axis is a coordinate of the
    map that counts replicas. The map is that of the wrapped layout.

    `layout.storage_view` creates partial sums. A `layout.convert` to another
    layout reduces them; no other op reads them.
  }];
  let parameters = (ins
    "::mlir::Attribute":$layout,
    "::mlir::layout::Reduction":$reduction,
    ArrayRefParameter<"::mlir::StringAttr", "the axes of the parts">:$axes);
}

#endif // LAYOUT_DIALECT_LAYOUT_IR_MESHATTR_TD
