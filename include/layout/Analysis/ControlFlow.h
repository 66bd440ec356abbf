//===- ControlFlow.h - Tensors that pass through control flow ---*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where control flow forwards a tensor, both sides have one type, so they share
// one layout. A tie is a largest set of uses that are tied to each other so:
//
//   %r = scf.for %i = .. iter_args(%a = %init) -> tensor<8x8xf32> {
//     %b = ..
//     scf.yield %b : tensor<8x8xf32>
//   }
//     one tie: operands %init of scf.for and %b of scf.yield;
//               values %a and %r
//
// A loop whose bodies put parts into a tensor that they share (scf.forall) ties
// its uses alike; what is put there is a part of the tie, whose layout follows
// from that of the whole.
//
// Ties come from region ops (scf.for, scf.while, scf.if, ..), from branches to
// blocks, and from calls of functions that nobody else can see: the operands of
// all calls, the arguments, what is returned and what the calls give.
//
// Laws:
//  * every operand and value is in at most one tie, all of one type;
//  * uses whose type somebody outside relies on are in none: functions that are
//    public or only declared, or that are used other than by calls, and values
//    that an op makes for a block itself. A function with the unit attribute
//    `layout.flexible_abi` counts as one whose callers follow.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ANALYSIS_CONTROLFLOW_H
#define LAYOUT_ANALYSIS_CONTROLFLOW_H

#include "layout/Interfaces/OpLayoutRule.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include <memory>
#include <vector>

namespace mlir {
namespace layout {

/// A function with this attribute may change its signature though it is public.
constexpr llvm::StringLiteral kFlexibleABI = "layout.flexible_abi";

/// An operand, or a value: an argument of a block, or a result. The pointers of
/// both are aligned alike.
using TensorUse = PointerUnion<OpOperand *, Value>;

Type getType(TensorUse use);

/// A tensor that becomes a part of the tensors of a tie.
struct TiedPart {
  OpOperand *operand;
  /// How the part lies in the whole.
  PerDimRule rule;
};

struct TiedValues {
  RankedTensorType type;
  SmallVector<OpOperand *, 2> operands;
  SmallVector<Value, 2> values;
  SmallVector<TiedPart, 0> parts;
};

struct ControlFlow {
  std::vector<TiedValues> ties;
  /// Of operands that are uses, and of parts.
  DenseMap<OpOperand *, unsigned> tieOfOperand;
  DenseMap<Value, unsigned> tieOfValue;
};

/// The ties of everything below `root`, in the order of the IR.
ControlFlow findTiedValues(Operation *root);

/// How often blocks run, per run of the program that `root` holds.
class Frequencies {
public:
  /// Loops whose trip count is not known are taken to run `assumedTrips` times.
  Frequencies(Operation *root, int64_t assumedTrips);
  ~Frequencies();

  /// Ops below the root, itself included.
  size_t getNumOps() const { return numOps; }

  /// At least 1, and at most 2^32. A branch counts as often as what it is in.
  int64_t get(Block *block);

private:
  int64_t computeForRegion(Region *region);
  int64_t computeForFunction(Operation *function);

  struct Cache;
  std::unique_ptr<Cache> cache;
  size_t numOps = 0;
};

/// Where copies go. Loops of branches are looked for once per region, so blocks
/// must not change in between.
class Placement {
public:
  /// The block in which a copy of `value` for some of its users is best made:
  /// it dominates all of them, and of those blocks is the innermost that runs
  /// no more often than the block of the value.
  Block *find(Value value, ArrayRef<Operation *> users);

  /// Loops around a block, those of branches included.
  unsigned getLoopDepth(Block *block);

private:
  /// The loops of branches within its region alone.
  unsigned getDepthInRegion(Block *block);

  DenseMap<Region *, DenseMap<Block *, unsigned>> depths;
};

} // namespace layout
} // namespace mlir

#endif // LAYOUT_ANALYSIS_CONTROLFLOW_H
