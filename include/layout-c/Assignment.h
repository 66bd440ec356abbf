//===- Assignment.h - C API of the decision -----------------------*- C -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Layouts for all tensors of a module, and what they cost.
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

/// What the ops and conversions of a module cost together, the part of the
/// conversions, and what every assignment costs at least.
struct LayoutAssignmentCost {
  int64_t cost;
  int64_t conversionCost;
  int64_t lowerBound;
};
typedef struct LayoutAssignmentCost LayoutAssignmentCost;

/// A `layout.convert` of a module, and what a run of it moves and costs; all of
/// it is 0 where the conversion is a view.
struct LayoutConversion {
  MlirOperation op;
  int64_t bytesRead;
  int64_t bytesWritten;
  int64_t cost;
};
typedef struct LayoutConversion LayoutConversion;

typedef void (*LayoutConversionCallback)(LayoutConversion conversion,
                                         void *userData);

/// True for what layouts can be decided for: `#layout.cpu<lanes = 16>`, ..
MLIR_CAPI_EXPORTED bool layoutAttributeIsATarget(MlirAttribute attr);

/// Runs the pipeline layout-assign: decides, applies and folds. A null target
/// stands for the one that the module states.
MLIR_CAPI_EXPORTED MlirLogicalResult layoutAssign(MlirOperation module,
                                                  MlirAttribute target);

/// The figures of the assignment of a module; false where it has none.
MLIR_CAPI_EXPORTED bool
layoutGetAssignmentCost(MlirOperation module, LayoutAssignmentCost *assignment);

/// Visits the conversions of a module, priced for the target that it states.
/// Fails, with a diagnostic, where it states none.
MLIR_CAPI_EXPORTED MlirLogicalResult layoutForEachConversion(
    MlirOperation module, LayoutConversionCallback callback, void *userData);

/// Prints the table of conversions with the reason of each, as
/// layout-print-cost does: text, or JSON. Fails like the above.
MLIR_CAPI_EXPORTED MlirLogicalResult
layoutPrintCost(MlirOperation module, bool asJSON, MlirStringCallback callback,
                void *userData);

#ifdef __cplusplus
}
#endif

#endif // LAYOUT_C_ASSIGNMENT_H
