//===- Assignment.h - C API of layout assignment ------------------*- C -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Assigns layouts to all tensors of a module, and reports their cost.
//
//   layoutAssign(module, target);
//   LayoutAssignmentCost assignment;
//   layoutGetAssignmentCost(module, &assignment);
//   // assignment.cost == assignment.lowerBound: no cheaper one exists
//   layoutForEachConversion(module, visit, &userData);
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_C_ASSIGNMENT_H
#define LAYOUT_C_ASSIGNMENT_H

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The total cost of ops and conversions of a module, the cost of the
/// conversions only, and a lower bound of the cost of every assignment. The
/// unit is the time in which memory moves one byte.
struct LayoutAssignmentCost {
  int64_t cost;
  int64_t conversionCost;
  int64_t lowerBound;
};
typedef struct LayoutAssignmentCost LayoutAssignmentCost;

/// A `layout.convert` of a module, and the bytes and cost of one execution. All
/// numbers are 0 if the conversion is a view.
struct LayoutConversion {
  MlirOperation op;
  int64_t bytesRead;
  int64_t bytesWritten;
  int64_t cost;
};
typedef struct LayoutConversion LayoutConversion;

typedef void (*LayoutConversionCallback)(LayoutConversion conversion,
                                         void *userData);

/// Returns true if the attribute is a target: one of this dialect, e.g.
/// `#layout.cpu<lanes = 16>`, or one of another dialect (TargetInterface).
MLIR_CAPI_EXPORTED bool layoutAttributeIsATarget(MlirAttribute attr);

/// Runs the pipeline layout-assign on the module, which chooses layouts,
/// inserts conversions and removes those that need not run. A `target` that is
/// not null replaces the target attribute of the module; otherwise that
/// attribute is used. Fails with a diagnostic if a pass fails, e.g. because
/// there is no target.
MLIR_CAPI_EXPORTED MlirLogicalResult layoutAssign(MlirOperation module,
                                                  MlirAttribute target);

/// Copies the costs that layout-assign has recorded in the module to
/// `*assignment`. Returns false, and changes nothing, if there are none.
MLIR_CAPI_EXPORTED bool
layoutGetAssignmentCost(MlirOperation module, LayoutAssignmentCost *assignment);

/// Calls `callback` for each layout.convert of a module, with its cost for the
/// target of the module. Fails with a diagnostic if the module has no target
/// attribute.
MLIR_CAPI_EXPORTED MlirLogicalResult layoutForEachConversion(
    MlirOperation module, LayoutConversionCallback callback, void *userData);

/// Passes to `callback` the costs of a module as text or JSON: those of its
/// ops, and a table of its conversions with their bytes, costs and reasons.
/// Constants with a layout count as conversions, because a lowering packs them.
/// Fails with a diagnostic if the module has no target attribute.
MLIR_CAPI_EXPORTED MlirLogicalResult
layoutPrintCost(MlirOperation module, bool asJSON, MlirStringCallback callback,
                void *userData);

#ifdef __cplusplus
}
#endif

#endif // LAYOUT_C_ASSIGNMENT_H
