//===- LayoutConstraints.h - Layouts stated by attributes -------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An assignment is written to the ops as attributes with one layout per tensor.
// If the attributes exist before the assignment, they are constraints that it
// must satisfy.
//
//   %r = math.exp %x {layout.operand_layouts = [#t], layout.result_layouts =
//                     [#t]} : tensor<4x8xf32>
//     operand 0 and result 0 are stored as #t; the layouts of the producer of
//     %x and of the users of %r are chosen, with conversions if they differ
//
// Laws:
//  * an entry `unit` is not a constraint; the tensor keeps its type;
//  * a type with a layout is a constraint, too. If an op cannot run in the
//    layouts of its types, attributes may state others, and its tensors are
//    converted from and to the layouts of their types;
//  * uses that control flow forces to have one type (ControlFlow.h) have equal
//    constraints or none;
//  * a type that others rely on, e.g. in the signature of a public function,
//    cannot be changed by a constraint;
//  * an op with constraints can run in the stated layouts.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ANALYSIS_LAYOUTCONSTRAINTS_H
#define LAYOUT_ANALYSIS_LAYOUTCONSTRAINTS_H

#include "layout/Analysis/ControlFlow.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::layout {

constexpr llvm::StringLiteral kOperandLayouts = "layout.operand_layouts";
constexpr llvm::StringLiteral kResultLayouts = "layout.result_layouts";
/// Holds, as an attribute of an op with regions, the layouts of block
/// arguments: an array per block, with a layout, or `unit` if it is not fixed,
/// for each argument.
constexpr llvm::StringLiteral kArgumentLayouts = "layout.argument_layouts";

/// Reads the layouts that attributes state for tensors, as tensor types. Caches
/// the type that each type gets by each layout.
class StatedTypes {
public:
  /// Sets `stated` to the types that `attr`, the array attribute `name` of
  /// `op`, states for tensors of the given types. An entry `unit` keeps the
  /// given type. Emits an error and fails if `attr` is not an array with an
  /// entry per type, or if an entry is invalid.
  LogicalResult read(Operation *op, StringRef name, Attribute attr,
                     TypeRange types, SmallVectorImpl<Type> &stated);

  /// Appends the types of all block arguments of `op`, those with a stated
  /// layout in this layout. Appends no type if `op` has no attribute
  /// kArgumentLayouts. Emits an error and fails if the attribute is invalid.
  LogicalResult
  readArguments(Operation *op,
                SmallVectorImpl<std::pair<BlockArgument, Type>> &stated);

private:
  llvm::DenseMap<std::pair<Type, Attribute>, Type> known;
};

/// Emits an error and fails if the verifier of `op` rejects the given types,
/// which its attributes state. Accepts ops without results, and ops whose
/// layout rule does not relate their tensors.
LogicalResult checkStatedTypes(Operation *op, TypeRange operands,
                               TypeRange results);

/// An operand or a value, with the type stated for it.
struct StatedUse {
  TensorUse use;
  Type type;
};

/// Emits an error and fails if control flow forces uses with different stated
/// types to have one type, or if another type is stated for a use whose type
/// cannot change. If `isComplete` is set, uses not in `uses` count as stated by
/// their types.
LogicalResult checkUses(Operation *root, ArrayRef<StatedUse> uses,
                        bool isComplete);

struct LayoutConstraints {
  llvm::DenseMap<OpOperand *, RankedTensorType> operands;
  llvm::DenseMap<Value, RankedTensorType> values;

  bool empty() const { return operands.empty() && values.empty(); }
  /// Returns the stated type, or a null type if there is none.
  RankedTensorType lookup(OpOperand &operand) const {
    return operands.lookup(&operand);
  }
  RankedTensorType lookup(Value value) const { return values.lookup(value); }
};

/// Returns all constraints below `root`. Emits an error and fails if one cannot
/// be satisfied.
FailureOr<LayoutConstraints> readConstraints(Operation *root);

} // namespace mlir::layout

#endif // LAYOUT_ANALYSIS_LAYOUTCONSTRAINTS_H
