//===- MeshAttr.td - Tensors over a mesh of devices --------*- tablegen -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_MESHATTR
#define LAYOUT_MESHATTR

include "layout/Dialect/Layout/IR/LayoutAttrBase.td"

def Layout_MeshAttr : Layout_LayoutAttr<"Mesh", "mesh",
                                        ["getStatedShape", "getExampleShape",
                                         "withTarget"]> {
  let summary = "a tensor that is split over a mesh of devices";
  let description = [{
    First the axes of the mesh, the slowest one first, then for each dim of the
    tensor the axes that split it, from major to minor:

    ```mlir
    #layout.mesh<[x = 4], [[x], []]>                 // rows over 4 devices
    #layout.mesh<[x = 2, y = 4], [[x, y], [], []]>   // dim 0 over all 8
    #layout.mesh<[x = 2, y = 4], [[], [y]]>          // columns over y, a replica for each x
    #layout.mesh<[x = 4], [[x], []], halos = [[1, 2], [0, 0]]>   // 1 row before and 2 after each block, too
    #layout.mesh<[x = 2], [[x], [], [], []], local = #layout.blocked<"NCHW" to "NCHW16c">>
    ```

    Where k devices split a dim of size n, its blocks have b = ceil(n / k)
    indices: index d is on device d floordiv b along the axes of the dim, and is
    index d mod b there. The last devices hold less where k does not divide n.
    An axis that splits nothing has a replica of every element for each of its
    positions. Every device stores a local tensor of the shape of the blocks,
    row-major or as `local` says, a layout in linear memory.

    The map has one coordinate for each axis, with the name and the size of the
    axis, and `offset`, the position in the memory of the device:

    ```mlir
    // #layout.mesh<[x = 4, y = 2], [[x], []]> of 10x4:
    #layout.map<(i, j) replicate(r : 2) -> mesh(x = i floordiv 3 extent 4, y = r, offset = [i mod 3, j])>
    ```

    `halos` says for each dim how many indices before and after its block a
    device holds, too, as far as the tensor has them. The local tensor has room
    for all: index d is d - b * x + before on device x along the dim. A halo is a
    replica of the map; replicas coincide where fewer devices hold an index:

    ```mlir
    // #layout.mesh<[x = 3], [[x]], halos = [[1, 0]]> of 8:
    #layout.map<(i) replicate(r : 2) -> mesh(x = (i + (r) * -1 + 1) floordiv 3 extent 3, offset = r + (i + (r) * -1 + 1) mod 3)>
    ```

    Errors: an axis of size 0 or of the name of another one, an axis that is
    used twice or that there is none of, more than 2^20 devices, a halo of a dim
    that is not split; on a shape, a dim of dynamic size that is split, a halo
    over more than 16 blocks, a local layout that does not apply.
  }];
  let parameters = (ins
    AttrParameter<"::mlir::layout::Mesh", "axes, who splits what, and halos">:$mesh,
    OptionalParameter<"::mlir::layout::LayoutAttrInterface">:$local);
}

def Layout_PartialAttr : Layout_LayoutAttr<"Partial", "partial",
                                           ["getPadding", "getStatedShape",
                                            "getExampleShape", "withTarget"]> {
  let summary = "a layout whose replicas are parts of a sum";
  let description = [{
    `#layout.partial<#layout.mesh<[x = 2, y = 4], [[x], []]>, sum, [y]>`: what
    devices along the axes `[y]` hold are not copies of an element but parts of
    it, which add up to the element (rule P4): what a product of matrices leaves
    whose reduction is split over y. `max` and `min` are the other reductions.
    Each axis is a coordinate of the map that counts replicas. The map is that of
    the wrapped layout.

    Partial sums come from `layout.storage_view`. A `layout.convert` to another
    layout reduces them; no other op reads them.
  }];
  let parameters = (ins
    "::mlir::Attribute":$layout,
    "::mlir::layout::Reduction":$reduction,
    ArrayRefParameter<"::mlir::StringAttr", "the axes of the parts">:$axes);
}

#endif // LAYOUT_MESHATTR
