//===- ConversionSummary.cpp - A conversion in numbers --------------------===//
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

using Way = ConversionSummary::Way;

static Way getWay(const ConversionPlan &plan) {
  if (plan.isFree())
    return Way::None;
  if (plan.kind == ConversionPlan::Kind::Padding)
    return Way::Fill;
  if (plan.transfers)
    return Way::Transfers;
  return plan.copy ? Way::Copy : Way::Gather;
}

ConversionSummary ConversionSummary::get(RankedTensorType from,
                                         RankedTensorType to,
                                         TargetInterface target) {
  ConversionPlan plan = ConversionPlan::get(from, to, target);
  ConversionSummary summary{plan.kind,
                            getWay(plan),
                            plan.bytesRead,
                            plan.bytesWritten,
                            0,
                            plan.runBytes,
                            0,
                            plan.getCost(target),
                            ""};
  llvm::raw_string_ostream os(summary.how);
  plan.print(os);
  if (summary.way == Way::None)
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
  int64_t moved = summary.way == Way::Fill ? summary.bytesWritten : elements;
  summary.runs = llvm::divideCeil(moved, std::max<int64_t>(plan.runBytes, 1));
  return summary;
}

StringRef layout::stringify(ConversionSummary::Way way) {
  switch (way) {
  case Way::None:
    return "none";
  case Way::Fill:
    return "fill";
  case Way::Copy:
    return "copy";
  case Way::Gather:
    return "gather";
  case Way::Transfers:
    return "transfers";
  }
  llvm_unreachable("all ways are named");
}
