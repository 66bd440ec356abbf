//===- LayoutAssigner.h - Decisions for a module that changes ---*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decides for a module again and again while it changes. The module falls into
// parts: ops that name each other's symbols, as a function and those that it
// calls. A part that is what it was at the call before keeps its decision;
// the others are decided anew. Of a part that is one straight function, of one
// block in which nothing is tied (ControlFlow.h), only ops that have changed
// are read.
//
//   LayoutAssigner assigner(target);
//   assigner.assign(module);       // decides for all
//   pin(op);                       // attributes that constrain layouts, ..
//   assigner.assign(module);       // decides for the part that has the op
//   for (const auto *part : assigner.getParts())
//     use(part->assignment, part->costs);
//
// Laws:
//  * the answer is that of a new assigner, bit by bit: each part has its own
//    prices and candidates;
//  * it costs as much as `layout-solve` decides for the parts by themselves;
//  * `assign` tells ops apart by address and by a hash of what they consist of,
//    of 128 bits, in which MLIR's hash of properties has 64, so changes need
//    not be announced;
//  * `assignAnnounced` looks at nothing but what the listener was told, as a
//    rewriter tells it that has this listener. A change that was not announced
//    is not seen, which builds with assertions check;
//  * each part is decided alone, so no budget of weights holds for all of them.
//    Where the target limits what its memory holds, all is one part, since
//    constants of all functions are in it;
//  * assignments point into the module: one is valid until the part changes;
//  * kept are 24 bytes for each op that is directly in the body of an op of the
//    module, and in straight functions about 200 more.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ANALYSIS_LAYOUTASSIGNER_H
#define LAYOUT_ANALYSIS_LAYOUTASSIGNER_H

#include "layout/Analysis/Assignment.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir {
namespace layout {

class ModuleScan;

class LayoutAssigner {
public:
  struct Part {
    Part(TargetInterface target, Objective objective, CostProvider *provider)
        : costs(target, objective, provider) {}

    CostModel costs;
    LayoutAssignment assignment;
  };

  /// `provider`, which outlives the assigner, has the prices, where it is not
  /// null; its answers do not change.
  explicit LayoutAssigner(TargetInterface target,
                          Objective objective = Objective::time,
                          CandidateLimits limits = {},
                          SolveOptions options = {},
                          CostProvider *provider = nullptr);
  LayoutAssigner(LayoutAssigner &&);
  ~LayoutAssigner();

  /// Decides for everything in `module`, which takes its functions out and puts
  /// them back. Fails, with a diagnostic, where constraints cannot hold or
  /// nothing is found that the target's memory holds.
  LogicalResult assign(ModuleOp module);

  /// The same, where the listener was told of all that has changed since the
  /// last call: of ops that were put into the module or into another place,
  /// modified, or erased. Who changes the type of a result modifies its op.
  LogicalResult assignAnnounced(ModuleOp module);
  RewriterBase::Listener &getListener();

  /// In the order of their first ops.
  ArrayRef<const Part *> getParts() const { return parts; }
  /// How many of them the last call decided.
  unsigned getNumDecided() const { return numDecided; }
  /// Of how many of these only ops that have changed were read.
  unsigned getNumUpdated() const { return numUpdated; }

  /// Of all parts.
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
  /// Of the target's memory.
  WeightOptions weights;
  /// Of the module: parts see them.
  DictionaryAttr attrs;
  std::unique_ptr<ModuleScan> scan;
  /// Of the parts, by the first op.
  llvm::DenseMap<Operation *, std::unique_ptr<Known>> known;
  std::vector<const Part *> parts;
  unsigned numDecided = 0, numUpdated = 0;
  Cost cost = 0, lowerBound = 0;
};

} // namespace layout
} // namespace mlir

#endif // LAYOUT_ANALYSIS_LAYOUTASSIGNER_H
