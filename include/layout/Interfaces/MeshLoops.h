//===- MeshLoops.h - Loops of an op distributed over devices ----*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An op with tensors on a mesh computes on every device the block that the
// device holds: a loop is split over a mesh axis iff the dims that it indexes
// are. So all tensors indexed by a loop are split equally, and the result of a
// reduction over a split loop has partial sums (P4 of docs/spec.md).
//
//   matmul ([i, k], [k, j]) -> [i, j] on [x = 2, y = 2]
//     [[y], []], [[], [x]] -> [[y], [x]]               i over y, j over x
//     [[], [x]], [[x], []] -> partial [[], []] over x  k over x
//
// Tensors in linear memory are replicated on every device.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_INTERFACES_MESHLOOPS_H
#define LAYOUT_INTERFACES_MESHLOOPS_H

#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Interfaces/OpLayoutRule.h"
#include "layout/Support/FailureReason.h"

namespace mlir::layout {

/// Returns true if `type` is a tensor whose layout places it on a mesh of
/// devices.
bool liesOnMesh(Type type);

/// Returns true if `type` is a tensor of partial sums (`#layout.partial`):
/// replicas on devices are summands of an element (P4 of docs/spec.md).
bool isPartial(Type type);

/// Returns the `#layout.mesh` of a type, inside of `#layout.padded` and
/// `#layout.partial` if it has these, or null.
MeshAttr getMeshLayout(RankedTensorType type);

/// Returns `type` replicated on the mesh of `axes`, with its layout as the
/// local one. Returns a type unchanged if it is on a mesh already, or if
/// `#layout.mesh` does not accept its layout as a local one.
RankedTensorType placeOnMesh(RankedTensorType type, const Mesh &axes);

/// Returns the type of the largest block of a tensor on one device, with its
/// local layout and padding, or `type` if it has no `#layout.mesh`.
RankedTensorType getLocalType(RankedTensorType type);

/// Returns true if a conversion only converts the blocks in each device's
/// memory: each device holds the same indices of both tensors, without halos,
/// partial sums or stated values of padding. If a block has fewer indices than
/// the largest one, the positions beyond them are converted, too.
bool convertsBlocks(RankedTensorType from, RankedTensorType to);

/// Returns `rule` with the loop sizes given by the shapes of these types.
LoopsRule withSizesOf(const LoopsRule &rule, TypeRange operands,
                      TypeRange results);

/// Returns true if every device can run the op on the largest block of each
/// tensor, although the last devices hold fewer indices: results do not depend
/// on positions beyond the held indices, and such positions cannot cause an
/// error, e.g. a division by zero. Otherwise the op runs row-major on the
/// indices that the device holds.
bool computesWholeBlocks(Operation *op, const OpLayoutRule &rule,
                         TypeRange operands, TypeRange results);

/// Returns true if the init of result `r` is not a constant, and can be made in
/// any layout at no cost, e.g. by linalg.fill. Then devices can make it as
/// partial sums, of which only one has the initial value.
bool beginsFresh(Operation *op, unsigned r);

/// Returns true if devices may each run some iterations of `loop`: every index
/// that depends on the loop is the loop itself, and the op does not need all
/// iterations at once, as softmax does.
bool canSplit(const LoopsRule &rule, unsigned loop);

/// Checks that every device can run the loops of an op on the blocks of tensors
/// that it holds, i.e. that all tensors split a loop equally. The reason of a
/// failure continues after the op's name.
LogicalResult checkLoopsOnMesh(const LoopsRule &rule, TypeRange operands,
                               TypeRange results, FailureReason refuse = {});

} // namespace mlir::layout

#endif // LAYOUT_INTERFACES_MESHLOOPS_H
