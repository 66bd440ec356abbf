//===- ElementLoops.h - Loops of a reduction in a kernel --------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The state of the element emitter while it emits the loops of a linalg op. An
// *item* is an element of the result that the kernel computes, with its loop
// indices at the emitted point and its accumulators.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_OPENCL_LAYOUTTOGPU_ELEMENTLOOPS_H
#define LAYOUT_LIB_TARGETS_OPENCL_LAYOUTTOGPU_ELEMENTLOOPS_H

#include "ElementEmitter.h"

namespace mlir::layout {

/// The state of the loops of a linalg op while they are emitted: the op, the
/// plan of its loops, and the elements of its result that the kernel computes.
struct ElementEmitter::Loops {
  /// An element of the result that the kernel computes: its loop indices at the
  /// emitted point, its operands and its accumulators.
  struct Item {
    SmallVector<IndexExpr> indices; // by loop; the iteration if stepped
    SmallVector<Value> operands;    // null if not yet read
    SmallVector<Value> accumulators;
    Value valid;
  };
  linalg::LinalgOp op;
  KernelLoops plan;
  SmallVector<Item> items;

  void setIndex(unsigned loop, const IndexExpr &index) {
    for (Item &item : items)
      item.indices[loop] = index;
  }
  SmallVector<Value> getAccumulators() const {
    SmallVector<Value> all;
    for (const Item &item : items)
      llvm::append_range(all, item.accumulators);
    return all;
  }
  void setAccumulators(ValueRange all) {
    for (Item &item : items) {
      size_t count = item.accumulators.size();
      item.accumulators = llvm::to_vector(all.take_front(count));
      all = all.drop_front(count);
    }
  }
};

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_OPENCL_LAYOUTTOGPU_ELEMENTLOOPS_H
