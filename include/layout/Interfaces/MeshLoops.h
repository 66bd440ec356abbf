//===- MeshLoops.h - Loops of an op over devices ----------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An op whose tensors lie on a mesh computes on every device what that device
// holds: a loop is split over an axis of the mesh iff the dims that it indexes
// are. So all tensors that a loop indexes are split alike, and a result of a
// reduction whose loop is split has parts of its elements (P4).
//
//   matmul ([i, k], [k, j]) -> [i, j] on [x = 2, y = 2]
//     [[y], []], [[], [x]] -> [[y], [x]]               i over y, j over x
//     [[], [x]], [[x], []] -> partial [[], []] over x  k over x
//
// What is stored in linear memory is whole on every device.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_INTERFACES_MESHLOOPS_H
#define LAYOUT_INTERFACES_MESHLOOPS_H

#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Interfaces/OpLayoutRule.h"
#include "layout/Support/Refusal.h"

namespace mlir {
namespace layout {

/// Whether a tensor lies on a mesh.
bool liesOnMesh(Type type);

/// Whether a tensor holds parts of its elements (P4).
bool isPartial(Type type);

/// The `#layout.mesh` of a type, without what it says of padding and of parts;
/// null for others.
MeshAttr getMeshLayout(RankedTensorType type);

/// `type` on the mesh of `axes`: what is plain, or has a layout in the memory
/// of one device, is whole on every device. What lies on a mesh, and layouts
/// that no `#layout.mesh` has for its local one, stay as they are.
RankedTensorType placeOnMesh(RankedTensorType type, const Mesh &axes);

/// What one device stores of a tensor with a `#layout.mesh`: the shape of the
/// largest block, with the layout and the padding that it has there. Other
/// types are whole.
RankedTensorType getLocalType(RankedTensorType type);

/// Whether a conversion is one of blocks in the memory of each device: both
/// tensors have the same indices there, no halos, and neither has parts nor
/// says what padding holds. What a ragged block has beside its indices goes
/// along.
bool convertsBlocks(RankedTensorType from, RankedTensorType to);

/// `rule` with the sizes of the loops on types of those shapes.
LoopsRule withSizesOf(const LoopsRule &rule, TypeRange operands,
                      TypeRange results);

/// Whether a device can run an op on the largest block of each tensor, although
/// it may hold fewer indices than that: no result that it holds depends on what
/// is beside them, and nothing there stops the op, as a division by zero does.
/// Otherwise the op runs on the indices that the device holds, row-major.
bool computesWholeBlocks(Operation *op, const OpLayoutRule &rule,
                         TypeRange operands, TypeRange results);

/// Whether what result `r` of an op accumulates into was made just for it, and
/// can be made in parts of which one alone has what it begins with.
bool beginsFresh(Operation *op, unsigned r);

/// Whether devices may each run a part of a loop: it indexes dims alone, and
/// the op does not need all of it at once, as softmax does.
bool canSplit(const LoopsRule &rule, unsigned loop);

/// Whether every device can run the loops of an op on what it holds. If not,
/// the reason goes on from the name of the op.
LogicalResult checkLoopsOnMesh(const LoopsRule &rule, TypeRange operands,
                               TypeRange results, Refusal refuse = {});

} // namespace layout
} // namespace mlir

#endif // LAYOUT_INTERFACES_MESHLOOPS_H
