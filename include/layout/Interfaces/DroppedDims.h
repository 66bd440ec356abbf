//===- DroppedDims.h - Layouts of rank-reduced slices -----------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A slice with one index of a dim may drop the dim. The storage of that index
// then has the layout of the whole tensor without the dim:
//
//   stacked filters  tensor<35x64x64x3x3xf32>   (l, o, i, h, w) ->
//                       buffer(l, o floordiv 16, i, h, w, o mod 16)
//   those of layer l tensor<64x64x3x3xf32>      (o, i, h, w) ->
//                       buffer(o floordiv 16, i, h, w, o mod 16)
//
// Laws, where `dropped` marks the dims of the larger tensor that are dropped:
//  * dropDims(map)(i) is map at i with 0 for the dropped dims, each of size 1;
//  * dropDims(insertDims(map)) == map: the dims are inserted outermost, so that
//    each of their indices has a dense block of storage.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_INTERFACES_DROPPEDDIMS_H
#define LAYOUT_INTERFACES_DROPPEDDIMS_H

#include "layout/Algebra/LayoutMap.h"
#include "llvm/ADT/SmallBitVector.h"

namespace mlir::layout {

/// Returns the layout of a tensor without the `dropped` dims, each of size 1,
/// if `map` is its layout with these dims.
LayoutMap dropDims(const LayoutMap &map, const llvm::SmallBitVector &dropped);

/// Returns the layout of a tensor with the `dropped` dims, of any size, if
/// `map` is its layout without them. In storage, these dims are the slowest
/// ones. Returns std::nullopt if the storage has several coordinates or
/// replicas.
std::optional<LayoutMap> insertDims(const LayoutMap &map,
                                    const llvm::SmallBitVector &dropped);

} // namespace mlir::layout

#endif // LAYOUT_INTERFACES_DROPPEDDIMS_H
