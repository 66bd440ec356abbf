//===- Kernel.h - A structured op with what starts and ends it --*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The unit of code generation: one linalg op on tensors (the root), how its
// accumulators start, and the elementwise op that finishes its result.
//
//   %f = linalg.fill ins(%zero) outs(%e)              start: splat of %zero
//   %c = conv ins(%x, %w) outs(%f)                    root
//   %r = linalg.generic relu(%c + %bias) outs(%e2)    finish
//
// All three are seen in the loop dims of the root: the maps of a Stage are
// already rewritten to them, so one tile of the root's iteration space says
// which elements of every operand are needed.
//
// Laws:
//   - every result map of the root is a projected permutation of all parallel
//     dims with more than one position, so one point of the parallel space owns
//     one element per result;
//   - `finish` reads the root's only result, which has no other user.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_KERNEL_H
#define LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_KERNEL_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include <optional>
#include <variant>

namespace mlir::layout {

/// A linalg op whose indexing maps are in the dims of the kernel.
struct Stage {
  linalg::LinalgOp op;
  /// The operands, inputs first.
  SmallVector<Value> operands;
  /// How the dims of each are collapsed; empty where they are not.
  std::vector<SmallVector<ReassociationIndices>> groups;
  /// The map of each, to its collapsed dims.
  SmallVector<AffineMap> maps;
  /// The kernel dim of each of the op's own dims.
  SmallVector<unsigned> dims;

  unsigned numInputs() const;
  /// The type of operand `i`, collapsed where it is a tensor.
  Type getType(unsigned i) const;
  /// Makes one dim of the dims `from` to `to` of operand `i`; the map goes
  /// through it as through `kept`.
  void collapse(unsigned i, unsigned from, unsigned to, unsigned kept);
  /// Whether the element that result `i` had before is looked at.
  bool readsInit(unsigned i) const;
};

struct SplatStart {
  Value scalar;
};
struct TensorStart {
  Value tensor;
};
/// What an accumulator holds before the first step of the reduction: nothing
/// where nobody looks at it, one scalar everywhere, what a tensor has there, or
/// what a stage computes.
using Start = std::variant<std::monostate, SplatStart, TensorStart, Stage>;

struct Kernel {
  Stage root;
  SmallVector<Start> starts; // one per result of the root
  std::optional<Stage> finish;
  unsigned finishOperand = 0;      // where `finish` takes the root's result
  SmallVector<Start> finishStarts; // one per result of `finish`

  SmallVector<utils::IteratorType> iterators;
  SmallVector<int64_t> extents; // kDynamic where unknown
  /// Per dim, the dims of the root that mergeLoops made part of it.
  std::vector<SmallVector<unsigned>> merged;

  /// The stage that writes the results.
  const Stage &last() const { return finish ? *finish : root; }
  const SmallVector<Start> &lastStarts() const {
    return finish ? finishStarts : starts;
  }
  bool isParallel(unsigned dim) const {
    return iterators[dim] == utils::IteratorType::parallel;
  }
  bool hasReduction() const;
  SmallVector<Stage *> stages();
  SmallVector<const Stage *> stages() const;
};

/// The kernel that ends in `op`, where there is one. Changes nothing.
FailureOr<Kernel> matchKernel(linalg::LinalgOp op);

/// Makes one dim of the last dim with more than one position and those behind
/// it, in each tensor of the kernel, and one loop of parallel loops that go
/// through memory in a row in all of them.
void mergeLoops(Kernel &kernel);

/// The op of the root that combines its only result with a next value, where
/// that is all it does to it and the order of the values does not matter but
/// for rounding.
Operation *findCombiner(const Kernel &kernel);

/// The ops of the body that `wanted` needs, in order, and those that do more
/// than give a value, such as assertions.
SmallVector<Operation *> neededOps(Block *body, ArrayRef<Value> wanted,
                                   bool withEffects = true);

/// The tensor in whose memory an op writes all of `value`, without a look at
/// what was there; null where `value` is no such result. Who overwrites all of
/// `value` may as well overwrite that tensor.
Value overwrittenBy(Value value);

/// Whether the body does more than give values.
bool hasEffects(linalg::LinalgOp op);

/// Bits of an element; an index has 64.
unsigned bitsOf(Type type);

/// Extent of a dim for counting; a size that is known at run time only is taken
/// to be large.
double countOf(int64_t extent);

/// Has who asks for sizes of the results of `op`, which has tensors, ask for
/// those of its inits, which are the same: then nobody needs `op` for them.
void askInitsForSizes(RewriterBase &rewriter, linalg::LinalgOp op);

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_KERNEL_H
