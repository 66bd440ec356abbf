//===- LayoutAssigner.h - Incremental assignment of a module ----*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Recomputes the assignment of a module while the module changes. The module is
// divided into parts: sets of ops that refer to each other's symbols, e.g. a
// function and its callees. A part that did not change since the last call
// keeps its assignment; the others are recomputed. In a part that is one
// straight function (one block, no tied values, see ControlFlow.h), only
// changed ops are read.
//
//   LayoutAssigner assigner(target);
//   assigner.assign(module);       // computes all parts
//   pin(op);                       // attributes that constrain layouts, ..
//   assigner.assign(module);       // computes the part that has the op
//   for (const auto *part : assigner.getParts())
//     use(part->assignment, part->costs);
//
// Laws:
//  * the result is bitwise that of a new assigner, because each part has its
//    own prices and candidates;
//  * the total cost is that of `layout-solve` on each part alone;
//  * `assign` identifies ops by address and by a 128-bit hash of their
//    contents, which includes MLIR's 64-bit hash of properties. Changes need
//    not be announced;
//  * `assignAnnounced` looks only at changes announced to the listener, e.g. by
//    a rewriter with this listener. It misses other changes, which builds with
//    assertions check;
//  * each part is computed alone, so no weight budget applies to all of them.
//    If the target limits its memory, the whole module is one part, because
//    constants of all functions share the memory;
//  * assignments refer to the module and are valid until the part changes;
//  * memory use is 24 bytes per op that is directly in the body of an op of the
//    module, and about 200 bytes more in straight functions.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ANALYSIS_LAYOUTASSIGNER_H
#define LAYOUT_ANALYSIS_LAYOUTASSIGNER_H

#include "layout/Analysis/Assignment.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::layout {

class ModuleScan;

class LayoutAssigner {
public:
  struct Part {
    Part(TargetInterface target, Objective objective, CostProvider *provider)
        : costs(target, objective, provider) {}

    CostModel costs;
    LayoutAssignment assignment;
  };

  /// Creates an assigner for `target`. `provider`, if not null, sets the
  /// prices; it must outlive the assigner and its prices must not change.
  explicit LayoutAssigner(TargetInterface target,
                          Objective objective = Objective::time,
                          CandidateLimits limits = {},
                          SolveOptions options = {},
                          CostProvider *provider = nullptr);
  LayoutAssigner(LayoutAssigner &&);
  ~LayoutAssigner();

  /// Computes the assignment of `module`, whose functions are temporarily moved
  /// out of it. Fails with a diagnostic if constraints cannot be satisfied or
  /// no assignment within the target's memory is found.
  LogicalResult assign(ModuleOp module);

  /// Computes the assignment after the listener was notified of all changes
  /// since the last call: ops that were inserted, moved, modified or erased.
  /// Changing the type of a result modifies its op.
  LogicalResult assignAnnounced(ModuleOp module);
  RewriterBase::Listener &getListener();

  /// Returns the parts in the order of their first ops.
  ArrayRef<const Part *> getParts() const { return parts; }
  /// Returns the number of parts that the last call recomputed.
  unsigned getNumDecided() const { return numDecided; }
  /// Returns the number of recomputed parts of which only changed ops were
  /// read.
  unsigned getNumUpdated() const { return numUpdated; }

  /// Returns the cost summed over all parts.
  Cost getCost() const { return cost; }
  Cost getLowerBound() const { return lowerBound; }

private:
  struct Known;

  bool assignPart(ModuleOp alone, Program program, Part &part,
                  const Known &known) const;
  std::unique_ptr<Known> decide(ModuleOp module, ArrayRef<Operation *> ops);
  bool decideAgain(ModuleOp module, Known &known);
  LogicalResult decideChanged(ModuleOp module);

  TargetInterface target;
  Objective objective;
  CandidateLimits limits;
  SolveOptions options;
  CostProvider *provider;
  /// Limits the memory as the target does.
  WeightOptions weights;
  /// The attributes of the module, which are visible to its parts.
  DictionaryAttr attrs;
  std::unique_ptr<ModuleScan> scan;
  /// The state of each part, by its first op.
  llvm::DenseMap<Operation *, std::unique_ptr<Known>> known;
  std::vector<const Part *> parts;
  unsigned numDecided = 0, numUpdated = 0;
  Cost cost = 0, lowerBound = 0;
};

} // namespace mlir::layout

#endif // LAYOUT_ANALYSIS_LAYOUTASSIGNER_H
