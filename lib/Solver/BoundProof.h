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

#ifndef LAYOUT_LIB_SOLVER_BOUNDPROOF_H
#define LAYOUT_LIB_SOLVER_BOUNDPROOF_H

#include "DualBound.h"
#include "ProofWriter.h"

namespace mlir::layout {

class BoundProof {
public:
  /// Creates a recorder of the cost moves and dropped values of `dual`. If
  /// `writer` is null, it records nothing.
  BoundProof(const DualBound &dual, ProofWriter *writer);

  void writeMoves();
  /// Writes the values that `dual` dropped since the last call. If there are
  /// none, removes the text of the last `writeMoves`, unless `isBound` says
  /// that the proof uses the bound after these moves.
  void writeDrops(bool isBound);
  /// Writes all moves and drops since the last `writeDrops`. Later steps of the
  /// proof begin with the costs after these moves.
  void close();
  /// Writes the values of setup variables (SetupCosts.h) that have a single
  /// value left in `values`, the values left per variable. Such a variable is
  /// on because a consumer requires it, or off because none does. Must be
  /// called after `close`.
  void writeSetupVariables(
      llvm::ArrayRef<llvm::SmallVector<unsigned, 6>> values) const;

private:
  const DualBound &dual;
  ProofWriter *writer;
  /// The costs that the written moves moved so far, per factor of
  /// `dual.getModel()`, variable of its scope and value (`moved`), and the
  /// written parts of the prices of setup variables (`parts`).
  std::vector<Cost> moved, parts;
  size_t numDropped = 0;
  /// The values of `moved` and `parts` before the last `writeMoves`, and the
  /// length of the proof then (`start`), to undo it.
  std::vector<Cost> movedBefore, partsBefore;
  size_t start = 0;
};

} // namespace mlir::layout

#endif // LAYOUT_LIB_SOLVER_BOUNDPROOF_H
