//===- Kernel.h - A structured op with its start and finish -----*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Models the unit of code generation: one linalg op on tensors (the root), the
// initial values of its accumulators, and an elementwise op on its result.
//
//   %f = linalg.fill ins(%zero) outs(%e)              start: splat of %zero
//   %c = conv ins(%x, %w) outs(%f)                    root
//   %r = linalg.generic relu(%c + %bias) outs(%e2)    finish
//
// The maps of all three stages are in the loop dims of the root, so that a tile
// of the root's iteration space determines the elements of operands.
//
// Laws:
//   - every result map of the root is a projected permutation of all parallel
//     dims with more than one position, so that one point of the parallel space
//     owns one element per result;
//   - `finish` reads the root's only result, which has no other user.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_KERNELS_KERNEL_H
#define LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_KERNELS_KERNEL_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include <optional>
#include <variant>

namespace mlir::layout {

/// One linalg op of a kernel. Its indexing maps are rewritten to the dims of
/// the kernel, i.e. to the loops of the kernel's root.
struct Stage {
  linalg::LinalgOp op;
  /// The operands, inputs first.
  SmallVector<Value> operands;
  /// The reassociation that collapses each operand, empty for an operand that
  /// is not collapsed.
  std::vector<SmallVector<ReassociationIndices>> groups;
  /// The indexing map of each operand, from the kernel dims (the loops of the
  /// kernel) to the dims of the operand, collapsed according to `groups`.
  SmallVector<AffineMap> maps;
  /// The dim of the kernel that each loop of `op` became.
  SmallVector<unsigned> dims;

  unsigned numInputs() const;
  /// Returns the type of operand `i`, collapsed if it is a tensor.
  Type getType(unsigned i) const;
  /// Collapses dims `from` to `to` (inclusive) of operand `i` into one dim,
  /// whose subscript is that of dim `kept`. The other subscripts are dropped;
  /// they are always 0, or their loop is merged into that of `kept`.
  void collapse(unsigned i, unsigned from, unsigned to, unsigned kept);
  /// Returns true if the op reads the init element that an element of result
  /// `i` replaces, as every op with a reduction does.
  bool readsInit(unsigned i) const;
};

struct SplatStart {
  Value scalar;
};
struct TensorStart {
  Value tensor;
};
/// The initial value of an accumulator: unspecified (monostate) if it is never
/// read, one scalar for all elements, the elements of a tensor, or the results
/// of a producer that is computed in the kernel.
using Start = std::variant<std::monostate, SplatStart, TensorStart, Stage>;

struct Kernel {
  Stage root;
  SmallVector<Start> starts; // one per result of the root
  std::optional<Stage> finish;
  unsigned finishOperand = 0; // operand of `finish` that is the root's result
  SmallVector<Start> finishStarts; // one per result of `finish`

  SmallVector<utils::IteratorType> iterators;
  SmallVector<int64_t> extents; // kDynamic if unknown
  /// For each kernel dim, the other loops of the root that were merged into it
  /// to a longer loop.
  std::vector<SmallVector<unsigned>> merged;

  /// Returns the stage that writes the results: `finish` if there is one, else
  /// `root`.
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

/// Returns the kernel whose last stage is `op`. Fails if `op` is not on tensors
/// or is a transposing copy, or if results are not indexed by exactly the
/// parallel loops. Also fails if a tensor has an encoding or elements that are
/// not numbers, or if a map has symbols. Does not modify IR.
FailureOr<Kernel> matchKernel(linalg::LinalgOp op);

/// Collapses trailing unit dims in each tensor of the kernel (1x64x1x1 ->
/// 1x64), and merges parallel loops that are contiguous in all tensors that
/// they index (14x14 pixels -> 196). Does not merge a static loop with a
/// dynamic one. Merges no loops if a body reads loop indices, or if a tensor
/// may be part of a larger one.
void mergeLoops(Kernel &kernel);

/// Returns the op, such as arith.addf, that combines the only accumulator of
/// the root with the next value. Returns nullptr if the root has several
/// results, if the accumulator is an index, if the body does more with it, or
/// if the order of values matters beyond rounding.
Operation *findCombiner(const Kernel &kernel);

/// Returns the ops of `body` that `wanted` depends on, directly or not, in
/// program order. With `withEffects`, includes ops with side effects, such as
/// assertions, and what they depend on.
SmallVector<Operation *> neededOps(Block *body, ArrayRef<Value> wanted,
                                   bool withEffects = true);

/// Returns the init of the linalg op that defines `value` if the op overwrites
/// it entirely without reading it, else null. An op that overwrites all of
/// `value` may overwrite that init instead.
Value overwrittenBy(Value value);

/// Returns true if an op in the body of `op` has side effects.
bool hasEffects(linalg::LinalgOp op);

/// Returns the number of bits of an element; an index has 64.
unsigned bitsOf(Type type);

/// Returns the extent of a dim for estimates. A dynamic extent counts as 60.
double countOf(int64_t extent);

/// Replaces tensor.dim of the results of `op` by tensor.dim of its inits, so
/// that these uses do not keep `op` alive.
void replaceDimOfResults(RewriterBase &rewriter, linalg::LinalgOp op);

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_KERNELS_KERNEL_H
