//===- ElementLoops.h - The loops of a reduction in a kernel ----*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the element emitter knows of one linalg op while it emits its loops: an
// *item* for each element of the result that the kernel computes at once, with
// the indices of all loops at the point that is emitted, and what is summed up
// so far.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_OPENCL_LAYOUTTOGPU_ELEMENTLOOPS_H
#define LAYOUT_LIB_TARGETS_OPENCL_LAYOUTTOGPU_ELEMENTLOOPS_H

#include "ElementEmitter.h"

namespace mlir {
namespace layout {

/// The loops of one reduction, while they are emitted.
struct ElementEmitter::Loops {
  /// One element of the result.
  struct Item {
    SmallVector<IndexExpr> indices; // of all loops; outside of steps the turn
    SmallVector<Value> operands;    // that are read so far
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

} // namespace layout
} // namespace mlir

#endif // LAYOUT_LIB_TARGETS_OPENCL_LAYOUTTOGPU_ELEMENTLOOPS_H
