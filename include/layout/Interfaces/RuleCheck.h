//===- RuleCheck.h - Whether types meet the rule of an op -------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Holds laid-out types against a rule: the loops of a structured op run over
// digits that all its tensors store, a view has the storage of its source (L7),
// what an op changes is stored whole.
//
//   tensor.pad of dim 1 on (i, j) -> buffer(j floordiv 4, i, j mod 4)
//     changes dim 1, which layout .. divides
//
// A pure function of the rule and the types.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_INTERFACES_RULECHECK_H
#define LAYOUT_INTERFACES_RULECHECK_H

#include "layout/Interfaces/OpLayoutRule.h"
#include "layout/Support/Refusal.h"

namespace mlir {
namespace layout {

/// Whether an op with this rule can run on these types. If not, the reason goes
/// on from the name of the op, and names what stands against what. What
/// `findsElements` finds each element of each tensor by its own map, and asks
/// nothing of the digits that are stored; so do the kernels of a device with
/// images.
LogicalResult checkRule(const OpLayoutRule &rule, ArrayRef<Type> operands,
                        ArrayRef<Type> results, Refusal refuse = {},
                        bool findsElements = false);

/// Checks whether `op`, whose rule is `rule`, can run on the types of its
/// operands and results. Also finds each element by its own map if `rule` is a
/// LoopsRule that runs anywhere.
LogicalResult checkRule(Operation *op, const OpLayoutRule &rule,
                        Refusal refuse = {}, bool findsElements = false);

/// Whether `source`, which only writes its one result, can write it as `type`.
bool canWriteAs(Operation *source, Type type);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_INTERFACES_RULECHECK_H
