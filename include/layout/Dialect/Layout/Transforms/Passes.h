//===- Passes.h - Passes of the layout dialect ------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decide, apply, report; each also as a function.
//
//   layout-opt net.mlir -layout-solve -layout-materialize
//     -layout-print-cost
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_DIALECT_LAYOUT_TRANSFORMS_PASSES_H
#define LAYOUT_DIALECT_LAYOUT_TRANSFORMS_PASSES_H

#include "layout/Analysis/AssignmentOptions.h"
#include "layout/Analysis/TargetInterface.h"
#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Support/Cost.h"
#include "layout/Support/Cpu.h"
#include "mlir/Pass/Pass.h"

namespace mlir {
namespace layout {
class CostModel;
class CostProvider;
struct LayoutAssignment;

enum class CostFormat { text, json };
enum class GraphFormat { dot, json };

/// The target that a pass on `op` works for: `option` as an attribute, else
/// `layout.target` on `op` or on an op around it, else the one device of a
/// module's `dlti.target_system_spec` that has an entry `layout.target`. Null
/// where nothing is stated; reports what is stated wrongly.
FailureOr<TargetInterface> findTarget(Operation *op, StringRef option);

/// The same for a pass that needs a target: reports a missing one, too.
FailureOr<TargetInterface> getTarget(Operation *op, StringRef option);

/// Writes the decision on the ops, as `layout-solve` does.
void writeDecision(Operation *root, const LayoutAssignment &assignment,
                   const CostModel &costs);

/// What the ops and conversions of a decision cost together, the part of the
/// conversions, and what every decision costs at least.
struct DecisionFigures {
  Cost cost = 0, conversionCost = 0, lowerBound = 0;
  /// The most that one device has at once, where the target says so.
  std::optional<int64_t> memoryBytes = std::nullopt;
};

/// Those that `writeDecision` left on `root`; nothing where there are none.
std::optional<DecisionFigures> readDecisionFigures(Operation *root);

/// Emits the remarks of a decision.
void emitDecisionRemarks(Operation *root, const LayoutAssignment &assignment,
                         CostModel &costs);

/// Applies and removes the decision on the ops below `root`.
LogicalResult insertLayoutTransforms(Operation *root);

/// Prints the conversions below `root`.
void printLayoutCost(Operation *root, TargetInterface target, CostFormat format,
                     raw_ostream &os);

/// Draws everything below `root`, colored by layout; beyond `maxBoxes`
/// connected ops of one layout are one box, and if these are as many, what is
/// connected without a conversion that moves bytes.
void printLayoutGraph(Operation *root, TargetInterface target,
                      GraphFormat format, raw_ostream &os, unsigned maxBoxes);

/// Prints what each op below `root` asks of layouts, one line an op.
void printLayoutRules(Operation *root, raw_ostream &os);

/// The type with its layout in canonical form; a row-major layout is none.
RankedTensorType getCanonicalType(RankedTensorType type);

/// Reports everything below `root` that is not proven; see `layout-verify`.
LogicalResult verifyLayouts(Operation *root);

/// Makes constants of what is read from globals that nobody changes.
void inlineGlobals(Operation *root);

/// Removes the conversions below `root` that need not run.
LogicalResult foldLayoutTransforms(Operation *root);

/// The patterns of `layout-fold-converts`, beside the folds of the ops.
void populateFoldTransformPatterns(RewritePatternSet &patterns);

#define GEN_PASS_DECL
#include "layout/Dialect/Layout/Transforms/Passes.h.inc"

/// `layout-solve` with prices of `provider`; null is the model of the target.
std::unique_ptr<Pass> createSolvePass(const SolvePassOptions &options,
                                      std::shared_ptr<CostProvider> provider);

#define GEN_PASS_REGISTRATION
#include "layout/Dialect/Layout/Transforms/Passes.h.inc"

} // namespace layout
} // namespace mlir

#endif // LAYOUT_DIALECT_LAYOUT_TRANSFORMS_PASSES_H
