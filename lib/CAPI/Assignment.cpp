//===- Assignment.cpp - C API of layout assignment ------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout-c/Assignment.h"
#include "layout/Analysis/ConversionPlan.h"
#include "layout/Dialect/Layout/Transforms/Passes.h"
#include "layout/Pipelines/AssignLayouts.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/CAPI/Utils.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace mlir::layout;

bool layoutAttributeIsATarget(MlirAttribute attr) {
  return isa<TargetInterface>(unwrap(attr));
}

MlirLogicalResult layoutAssign(MlirOperation module, MlirAttribute target) {
  Operation *root = unwrap(module);
  if (!mlirAttributeIsNull(target))
    root->setDiscardableAttr(kTargetAttr, unwrap(target));
  PassManager passes(root->getContext(), root->getName().getStringRef());
  buildAssignLayoutsPipeline(passes);
  return wrap(passes.run(root));
}

bool layoutGetAssignmentCost(MlirOperation module,
                             LayoutAssignmentCost *assignment) {
  std::optional<AssignmentStats> stats = readAssignmentStats(unwrap(module));
  if (stats)
    *assignment = {stats->cost, stats->conversionCost, stats->lowerBound};
  return stats.has_value();
}

MlirLogicalResult layoutForEachConversion(MlirOperation module,
                                          LayoutConversionCallback callback,
                                          void *userData) {
  FailureOr<TargetInterface> target = getTarget(unwrap(module), "");
  if (failed(target))
    return wrap(failure());
  unwrap(module)->walk([&](ConvertOp convert) {
    ConversionPlan plan = ConversionPlan::get(convert, *target);
    callback({wrap(convert.getOperation()), plan.bytesRead, plan.bytesWritten,
              plan.getCost(*target)},
             userData);
  });
  return wrap(success());
}

MlirLogicalResult layoutPrintCost(MlirOperation module, bool asJSON,
                                  MlirStringCallback callback, void *userData) {
  FailureOr<TargetInterface> target = getTarget(unwrap(module), "");
  if (failed(target))
    return wrap(failure());
  mlir::detail::CallbackOstream os(callback, userData);
  printLayoutCost(unwrap(module), *target,
                  asJSON ? CostFormat::json : CostFormat::text, os);
  return wrap(success());
}
