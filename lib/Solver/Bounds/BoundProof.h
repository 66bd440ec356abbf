//===- BoundProof.h - A proof of the steps of a dual bound ------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Records how a dual bound moved costs and which values it dropped. Moves are
// accumulated and written only before values are dropped or the bound is used:
//
//     proof.writeMoves();   // the state by which values are dropped
//     dual.dropValues(..);
//     proof.writeDrops(..); // if none are dropped, undoes writeMoves
//
// The graph that is solved next has the moved costs, unless prices were divided
// or numbers rounded (`keepsSums`). Then only the dropped values remain.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_SOLVER_BOUNDS_BOUNDPROOF_H
#define LAYOUT_LIB_SOLVER_BOUNDS_BOUNDPROOF_H

#include "Bounds/DualBound.h"
#include "Bounds/ProofWriter.h"

namespace mlir::layout {

class BoundProof {
public:
  /// Creates a recorder of how the lower bound `dual` moves costs between
  /// factors and variables, and of the values that it drops. If `writer` is
  /// null, it records nothing.
  BoundProof(const DualBound &dual, ProofWriter *writer);

  void writeMoves();
  /// Writes the values that the bound dropped since the last call. If there are
  /// none, removes the moves of costs that `writeMoves` wrote last, unless
  /// `isBound` says that the proof uses the bound after these moves.
  void writeDrops(bool isBound);
  /// Writes the moves of costs and the dropped values since the last
  /// `writeDrops`, and ends the recording. Later steps of the proof begin with
  /// the costs after these moves, or with the original ones if moves do not
  /// preserve the cost of every assignment exactly.
  void close();
  /// Writes the values of those setup variables, i.e. copies of tensors that
  /// are on or off, for which `values`, the values left per variable, has a
  /// single one. Such a variable is on because a consumer requires it, or off
  /// because none does. Must be called after `close`.
  void writeSetupVariables(
      llvm::ArrayRef<llvm::SmallVector<unsigned, 6>> values) const;

private:
  const DualBound &dual;
  ProofWriter *writer;
  /// The amounts that the written moves have moved so far: from each factor of
  /// several variables to each value of these (`moved`), and from the price of
  /// each shared copy to each of its consumers (`parts`).
  std::vector<Cost> moved, parts;
  size_t numDropped = 0;
  /// The amounts moved before the last `writeMoves`, and the length of the
  /// proof in bytes then (`start`), by which the call is undone.
  std::vector<Cost> movedBefore, partsBefore;
  size_t start = 0;
};

} // namespace mlir::layout

#endif // LAYOUT_LIB_SOLVER_BOUNDS_BOUNDPROOF_H
