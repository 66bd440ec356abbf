//===- ControlFlow.h - Equal types through control flow ---------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Control flow forwards a tensor without changing its type, so source and
// destination share one layout. The uses (operands and values) are grouped into
// equivalence classes: a class is a maximal set of uses that control flow
// forces to have one type.
//
//   %r = scf.for %i = .. iter_args(%a = %init) -> tensor<8x8xf32> {
//     %b = ..
//     scf.yield %b : tensor<8x8xf32>
//   }
//     one class: operands %init of scf.for and %b of scf.yield;
//                values %a and %r
//
// For each shared tensor of a parallel loop (scf.forall), the init, the
// argument and the result are in one class. A slice that is inserted into the
// tensor is a part of the class: its layout follows from that of the whole
// tensor.
//
// Classes come from region ops (scf.for, scf.while, scf.if, ..), from branches
// to blocks, and from functions whose callers are all visible: the operands and
// results of all calls, the arguments and the returned values.
//
// Laws:
//  * every operand and value is in at most one class, whose uses have one type;
//  * uses whose type is relied on elsewhere are in no class: those of functions
//    that are public, only declared, or used other than by calls, and values
//    that an op itself creates for a block. A function with the unit attribute
//    `layout.flexible_abi` is treated as if all of its callers were visible.
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

namespace mlir::layout {

/// Marks a public function whose signature may change: it is treated as if all
/// of its callers were visible.
constexpr llvm::StringLiteral kFlexibleABI = "layout.flexible_abi";

/// An operand or a value (a block argument or an op result).
using TensorUse = PointerUnion<OpOperand *, Value>;

Type getType(TensorUse use);

/// A slice that a parallel loop (scf.forall) inserts into the tensor of an
/// equivalence class.
struct InsertedPart {
  OpOperand *operand;
  /// The layout rule of the slice: the tile divisors and the dropped dims, both
  /// of the whole tensor.
  PerDimRule rule;
};

struct TypeEquivalenceClass {
  RankedTensorType type;
  SmallVector<OpOperand *, 2> operands;
  SmallVector<Value, 2> values;
  SmallVector<InsertedPart, 0> parts;
};

struct ControlFlow {
  std::vector<TypeEquivalenceClass> classes;
  /// The index in `classes` of each operand in a class, including the slices
  /// that parallel loops insert. Other operands have no entry.
  DenseMap<OpOperand *, unsigned> classOfOperand;
  /// The index in `classes` of each value in a class. Other values have no
  /// entry.
  DenseMap<Value, unsigned> classOfValue;
};

/// Finds the equivalence classes of all operands and values below `root` that
/// control flow forces to have equal types, in the order of the IR. Leaves out
/// classes with an operand or value whose type is fixed.
ControlFlow findTypeEquivalenceClasses(Operation *root);

/// The number of times each block runs, per run of the program in `root`.
class Frequencies {
public:
  /// Assumes `assumedTrips` iterations for loops with unknown trip counts.
  Frequencies(Operation *root, int64_t assumedTrips);
  ~Frequencies();

  /// Returns the number of ops in `root`, itself included.
  size_t getNumOps() const { return numOps; }

  /// Returns the frequency of `block`, from 1 to 2^32. Branches count as taken.
  int64_t get(Block *block);

private:
  int64_t computeForRegion(Region *region);
  int64_t computeForFunction(Operation *function);

  struct Cache;
  std::unique_ptr<Cache> cache;
  size_t numOps = 0;
};

/// Chooses the blocks in which copies of tensors in other layouts are made. The
/// loops formed by branches are cached per region, so blocks must not change
/// during the lifetime of the object.
class CopyPlacement {
public:
  /// Returns the best block for a copy of `value` that `users` read: the
  /// innermost block that is found to dominate all of them and to run no more
  /// often than the block of `value`.
  Block *find(Value value, ArrayRef<Operation *> users);

  /// Returns the number of loops around a block in its function: loop ops, and
  /// loops that branches between blocks form.
  unsigned getLoopDepth(Block *block);

private:
  /// Returns the number of loops around `block` that branches between the
  /// blocks of its region form.
  unsigned getDepthInRegion(Block *block);

  DenseMap<Region *, DenseMap<Block *, unsigned>> depths;
};

} // namespace mlir::layout

#endif // LAYOUT_ANALYSIS_CONTROLFLOW_H
