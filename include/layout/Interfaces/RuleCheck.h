//===- RuleCheck.h - Checks types against the rule of an op -----*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Checks laid-out types against a rule: the loops of a structured op run over
// mixed-radix digits of indices that all of its tensors store, a view has the
// storage of its source (L7), and dims that an op changes are stored whole.
//
//   tensor.pad of dim 1 on (i, j) -> buffer(j floordiv 4, i, j mod 4)
//     changes dim 1, which layout .. divides
//
// All functions depend on the rule and the types only.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_INTERFACES_RULECHECK_H
#define LAYOUT_INTERFACES_RULECHECK_H

#include "layout/Interfaces/OpLayoutRule.h"
#include "layout/Support/FailureReason.h"

namespace mlir::layout {

/// Checks that an op with this rule can run on these types. The reason of a
/// failure continues after the op's name and names the conflict. With
/// `usesPerElementAddressing`, as in kernels on devices with images, each
/// element of each tensor is addressed by the map of the tensor. Stored axes
/// are then not compared under a LoopsRule or PerDimRule; spaces, meshes and
/// views are checked as always.
LogicalResult checkRule(const OpLayoutRule &rule, ArrayRef<Type> operands,
                        ArrayRef<Type> results, FailureReason refuse = {},
                        bool usesPerElementAddressing = false);

/// Checks that `op`, whose rule is `rule`, can run on the types of its operands
/// and results. A LoopsRule that permits every combination of layouts
/// (`runsAnywhere`) is checked as with `usesPerElementAddressing`: its stored
/// axes are not compared, but spaces and meshes are checked.
LogicalResult checkRule(Operation *op, const OpLayoutRule &rule,
                        FailureReason refuse = {},
                        bool usesPerElementAddressing = false);

/// Returns true if `source`, an op that reads no element, such as linalg.fill,
/// can run if its result and its shaped operands all have the given type.
bool canWriteAs(Operation *source, Type type);

} // namespace mlir::layout

#endif // LAYOUT_INTERFACES_RULECHECK_H
