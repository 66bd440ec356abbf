//===- Contraction.h - Loop roles of contractions ---------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Classifies the loops of any op that sums products:
//
//   conv (n f oh ow | c kh kw)      output channels f, summed c; operand 1 is
//                                   the weights
//   depthwise (n c oh ow | kh kw)   output channels c
//   batched matmul (b m n | k)      output channels n and m, shared b, summed k
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ANALYSIS_CONTRACTION_H
#define LAYOUT_ANALYSIS_CONTRACTION_H

#include "layout/Interfaces/OpLayoutRule.h"

namespace mlir::layout {

/// Returns the only dim that `loop` indexes by itself, or std::nullopt if it
/// indexes none or several, or is part of a sum.
std::optional<unsigned> findDim(AffineMap map, unsigned loop);

/// The role of a loop in a sum of products.
enum class LoopRole {
  Other,
  Output, // output channels: a dim of the weights, or of one operand
  Shared, // in all operands
  Summed, // in all operands, and reduced
};

/// The operands that an op multiplies. Operands with the indexing map of a
/// result, such as accumulators, are not included.
struct SummedProducts {
  SmallVector<AffineMap> factors;
  /// The operands of the op that are multiplied and not read through a window,
  /// an index such as `oh + kh`.
  llvm::SmallBitVector isWeight;
  /// True if an operand is read through a window, e.g. at index `oh + kh`.
  bool isWindowed = false;
  SmallVector<LoopRole> roles; // of the loops
};

/// Finds the operands that an op multiplies and the roles of its loops, or
/// std::nullopt if it has no reduction loop, or fewer than two such operands.
std::optional<SummedProducts> findSummedProducts(const LoopsRule &rule);

struct Contraction {
  /// Loops over the output channels: those that index the result and only one
  /// of the multiplied operands, which is the weights if there is a window.
  /// With a window but without such loops, e.g. in a depthwise convolution,
  /// those that index the result and all of these operands. Innermost loops of
  /// the result come first, loops of size 1 last.
  SmallVector<unsigned> outputLoops;
  /// Loops that index the result and all multiplied operands, e.g. batches.
  SmallVector<unsigned> shared;
  /// Reduction loops that index a dim of each multiplied operand by themselves.
  SmallVector<unsigned> summed;
  /// The operands of the op that are weights: those that are multiplied and not
  /// read through a window. Without a window, only those of them that
  /// `mayBeWeight` selects.
  llvm::SmallBitVector isWeight;
  /// True if an operand is read through a window, e.g. at index `oh + kh`.
  bool isWindowed = false;
};

/// Finds the loops of a contraction by their roles, or std::nullopt if the op
/// does not sum products or has no output loops. Without a window,
/// `mayBeWeight` selects the operands that are weights.
std::optional<Contraction>
findContraction(const LoopsRule &rule,
                function_ref<bool(unsigned operand)> mayBeWeight);

} // namespace mlir::layout

#endif // LAYOUT_ANALYSIS_CONTRACTION_H
