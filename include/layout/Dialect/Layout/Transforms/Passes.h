//===- Passes.h - Passes of the layout dialect ------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Declares the passes that assign, apply and report layouts, and the functions
// behind them.
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
#include "mlir/Pass/Pass.h"

namespace mlir::layout {
class CostModel;
class CostProvider;
struct LayoutAssignment;

enum class CostFormat { text, json };
enum class GraphFormat { dot, json };

/// Finds the target of a pass on `op`, or returns a null target if none is
/// stated. Emits an error and fails if the stated attribute is not a target, or
/// if two devices of a module state one. Takes the attribute in `option` if it
/// is not empty. Otherwise searches `op` and then each enclosing op for:
///
///   1. the attribute `layout.target`
///   2. on a module, the entry `layout.target` of the one device of its
///      `dlti.target_system_spec` that has such an entry
FailureOr<TargetInterface> findTarget(Operation *op, StringRef option);

/// Returns the target of a pass on `op` like `findTarget`, but emits an error
/// and fails if there is none.
FailureOr<TargetInterface> getTarget(Operation *op, StringRef option);

/// Writes the chosen layouts as attributes of the ops nested in `root`, and the
/// costs as an attribute of `root`, like `layout-solve`.
void writeDecision(Operation *root, const LayoutAssignment &assignment,
                   const CostModel &costs);

/// Statistics of a decision: the cost of all ops, conversions and stored
/// constants, the cost of the conversions alone, and a lower bound on the cost
/// of any decision.
struct AssignmentStats {
  Cost cost = 0, conversionCost = 0, lowerBound = 0;
  /// The peak of live bytes on one device, or std::nullopt if the target does
  /// not measure it.
  std::optional<int64_t> memoryBytes = std::nullopt;
};

/// Returns the statistics that `writeDecision` left on `root`, or std::nullopt
/// if there are none.
std::optional<AssignmentStats> readAssignmentStats(Operation *root);

/// Emits the remarks of `layout-solve`, if remarks are enabled. They are about
/// conversions with their reasons, ops without a rule, ops that cannot run in
/// the layouts of their types, layouts that were not considered, the total cost
/// and the like.
void emitDecisionRemarks(Operation *root, const LayoutAssignment &assignment,
                         CostModel &costs);

/// Sets the types that the layout attributes of the ops nested in `root`
/// request, inserts layout.convert, and removes the attributes, like
/// `layout-materialize`. Fails, without changing IR, if the attributes are
/// invalid.
LogicalResult insertLayoutTransforms(Operation *root);

/// Prints the cost of each conversion and the cost of all other ops nested in
/// `root`, like `layout-print-cost`.
void printLayoutCost(Operation *root, TargetInterface target, CostFormat format,
                     raw_ostream &os);

/// Prints all ops nested in `root` as a graph of boxes, colored by layout. If
/// there are more than `maxBoxes` boxes, connected ops of one layout share a
/// box. If there are still too many, all ops that are connected without moving
/// bytes share a box. Prints all boxes that then remain, even if they are more.
void printLayoutGraph(Operation *root, TargetInterface target,
                      GraphFormat format, raw_ostream &os, unsigned maxBoxes);

/// Prints a line for `root` and each op nested in it that has tensors or is a
/// function: its layout rule or, if it only forwards tensors, their equivalence
/// classes. Skips the regions of an op with a rule.
void printLayoutRules(Operation *root, raw_ostream &os);

/// Returns `type` with its layout in canonical form; a row-major layout becomes
/// no encoding.
RankedTensorType getCanonicalType(RankedTensorType type);

/// Verifies all layouts and layout rules of the ops nested in `root`, and
/// reports each one that is not proven, like `layout-verify`. Fails if there is
/// one.
LogicalResult verifyLayouts(Operation *root);

/// Folds chains of conversions nested in `root` and repeated conversions. Gives
/// constants, fresh storage and fills the new type instead of a conversion,
/// like `layout-fold-converts`. Fails if the rewriting does not converge.
LogicalResult foldLayoutTransforms(Operation *root);

/// Adds patterns that replace the second of two equal conversions in a block by
/// the first, and give a tensor.empty or a linalg.fill the new type instead of
/// converting it. Chains and conversions of constants are folded by the folder
/// of layout.convert.
void populateFoldTransformPatterns(RewritePatternSet &patterns);

#define GEN_PASS_DECL
#include "layout/Dialect/Layout/Transforms/Passes.h.inc"

/// Creates the pass `layout-solve` with the costs of the price list of its
/// option `costs`, or else of `provider`, or else of the target model.
std::unique_ptr<Pass> createSolvePass(const SolvePassOptions &options,
                                      std::shared_ptr<CostProvider> provider);

#define GEN_PASS_REGISTRATION
#include "layout/Dialect/Layout/Transforms/Passes.h.inc"

} // namespace mlir::layout

#endif // LAYOUT_DIALECT_LAYOUT_TRANSFORMS_PASSES_H
