//===- LayoutConstraints.h - Layouts that attributes state ------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A decision stands on ops as attributes, one layout per tensor. The same
// attributes, where they are there before, are constraints: the decision keeps
// them.
//
//   %r = math.exp %x {layout.operand_layouts = [#t], layout.result_layouts =
//                     [#t]} : tensor<4x8xf32>
//     operand 0 and result 0 are stored as #t; what makes %x and what uses %r
//     is decided, and converted where it differs
//
// Laws:
//  * an entry that is `unit` states nothing; the tensor keeps its type;
//  * a type that has a layout states that, too; of an op that cannot run in the
//    layouts of its types attributes state others, and its tensors are
//    converted from and to the layouts of their types;
//  * the uses of a tie (ControlFlow.h) are stated alike, or not at all;
//  * what others rely on, such as the signature of a public function, is not
//    stated otherwise than it is;
//  * an op with constraints can run on what they state.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ANALYSIS_LAYOUTCONSTRAINTS_H
#define LAYOUT_ANALYSIS_LAYOUTCONSTRAINTS_H

#include "layout/Analysis/ControlFlow.h"
#include "llvm/ADT/MapVector.h"

namespace mlir {
namespace layout {

constexpr llvm::StringLiteral kOperandLayouts = "layout.operand_layouts";
constexpr llvm::StringLiteral kResultLayouts = "layout.result_layouts";
/// One array per block of the op's regions, one entry per argument.
constexpr llvm::StringLiteral kArgumentLayouts = "layout.argument_layouts";

/// Reads such attributes, types by types; each pair of type and layout once.
class StatedTypes {
public:
  /// The types that the array attribute `name` of `op` states for tensors of
  /// these types. Reports what is wrong with it.
  LogicalResult read(Operation *op, StringRef name, Attribute attr,
                     TypeRange types, SmallVectorImpl<Type> &stated);

  /// The same of all arguments of blocks, where `op` has that attribute.
  LogicalResult
  readArguments(Operation *op,
                SmallVectorImpl<std::pair<BlockArgument, Type>> &stated);

private:
  llvm::DenseMap<std::pair<Type, Attribute>, Type> known;
};

/// Reports an op whose own verifier takes these types not, which are those that
/// its attributes state.
LogicalResult checkStatedTypes(Operation *op, TypeRange operands,
                               TypeRange results);

/// An operand or a value, with the type that is stated for it.
struct StatedUse {
  TensorUse use;
  Type type;
};

/// Reports uses of tied values that are stated differently, and uses that are
/// stated otherwise than somebody relies on. With `isComplete`, uses that are
/// not among `uses` are stated to be as they are.
LogicalResult checkUses(Operation *root, ArrayRef<StatedUse> uses,
                        bool isComplete);

struct LayoutConstraints {
  llvm::DenseMap<OpOperand *, RankedTensorType> operands;
  llvm::DenseMap<Value, RankedTensorType> values;

  bool empty() const { return operands.empty() && values.empty(); }
  /// Null where nothing is stated.
  RankedTensorType lookup(OpOperand &operand) const {
    return operands.lookup(&operand);
  }
  RankedTensorType lookup(Value value) const { return values.lookup(value); }
};

/// The constraints of everything below `root`; reports those that cannot hold.
FailureOr<LayoutConstraints> readConstraints(Operation *root);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_ANALYSIS_LAYOUTCONSTRAINTS_H
