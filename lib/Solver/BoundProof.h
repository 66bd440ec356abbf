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
  /// Creates a recorder. A null `writer` disables it.
  BoundProof(const DualBound &dual, ProofWriter *writer);

  void writeMoves();
  /// Writes the drops. `isBound`: keep the moves even if no value was dropped.
  void writeDrops(bool isBound);
  /// Writes the state after the last pass, to which later steps refer.
  void close();
  /// Writes, after `close`, that setup variables with one of these values left
  /// are on because they are required, or off because no consumer requires
  /// them.
  void writeSetupVariables(
      llvm::ArrayRef<llvm::SmallVector<unsigned, 6>> values) const;

private:
  const DualBound &dual;
  ProofWriter *writer;
  /// The costs written so far: moves of all factors of the model per place and
  /// value, and all parts of prices.
  std::vector<Cost> moved, parts;
  size_t numDropped = 0;
  /// The costs before the last moves, and the text position of these.
  std::vector<Cost> movedBefore, partsBefore;
  size_t start = 0;
};

} // namespace mlir::layout

#endif // LAYOUT_LIB_SOLVER_BOUNDPROOF_H
