//===- ConversionSummary.cpp - Statistics of a conversion -----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Analysis/ConversionSummary.h"
#include "layout/Analysis/TargetModel.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::layout;

ConversionSummary ConversionSummary::get(RankedTensorType from,
                                         RankedTensorType to,
                                         TargetInterface target) {
  return get(ConversionPlan::get(from, to, target), to, target);
}

ConversionSummary ConversionSummary::get(const ConversionPlan &plan,
                                         RankedTensorType to,
                                         TargetInterface target) {
  ConversionSummary summary{plan};
  summary.cost = plan.getCost(target);
  llvm::raw_string_ostream os(summary.how);
  plan.print(os);
  if (plan.isFree())
    return summary;

  LayoutMap dest = *getLayoutMap(to);
  SmallVector<int64_t> sizes =
      TargetModel::get(target)->assumeSizes(to.getShape());
  int64_t elementBytes = layout::getElementBytes(to.getElementType());
  int64_t elements = elementBytes;
  for (int64_t size : dest.getBox(sizes))
    elements = scaleCost(elements, size);
  if (getPadding(to))
    summary.paddingBytes =
        getStorageBytes(dest, sizes, elementBytes) - elements;
  bool isFill = plan.getMethod() == ConversionPlan::Method::Fill;
  int64_t moved = isFill ? plan.bytesWritten : elements;
  summary.runs = llvm::divideCeil(moved, std::max<int64_t>(plan.runBytes, 1));
  return summary;
}
