//===- Contraction.h - Loops that multiply and sum --------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The roles that the loops of an op have in a contraction, for any op that sums
// products:
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

namespace mlir {
namespace layout {

/// The dim that `loop` indexes alone; nothing where it is in no dim or in a
/// sum.
std::optional<unsigned> findDim(AffineMap map, unsigned loop);

/// How a loop takes part in sums of products.
enum class LoopRole {
  Other,
  Output, // output channels: a dim of the weights, or of one operand alone
  Shared, // in all operands
  Summed, // in all operands, and reduced
};

/// The operands that an op multiplies; an accumulator is indexed as the result
/// is, and is none of them.
struct SummedProducts {
  SmallVector<AffineMap> factors;
  /// Operands of `factors` that are read through no window.
  llvm::SmallBitVector isWeight;
  /// Some operand is read through a window.
  bool isWindowed = false;
  SmallVector<LoopRole> roles; // of the loops
};

/// Nothing for ops that sum no products.
std::optional<SummedProducts> findSummedProducts(const LoopsRule &rule);

struct Contraction {
  /// Loops over the channels of the result: those of the weights, or where
  /// there are none, those of all operands. The innermost ones of the result
  /// first, those of size 1 last.
  SmallVector<unsigned> outputLoops;
  /// Loops that all operands and the result have.
  SmallVector<unsigned> shared;
  /// Loops that are summed over and index dims of all operands alone.
  SmallVector<unsigned> summed;
  /// Operands that are weights by their place.
  llvm::SmallBitVector isWeight;
  /// Some operand is read through a window.
  bool isWindowed = false;
};

/// Nothing for ops that sum no products or have no channels. Where there is no
/// window, `mayBeWeight` says which operands are weights.
std::optional<Contraction>
findContraction(const LoopsRule &rule,
                function_ref<bool(unsigned operand)> mayBeWeight);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_ANALYSIS_CONTRACTION_H
