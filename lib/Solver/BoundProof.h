//===- BoundProof.h - What a dual bound did, as a proof ---------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writes how a dual bound has moved costs, and which values it has dropped. Of
// many moves only their sum is written, and that only before values are dropped
// or the bound is used:
//
//     proof.writeMoves();   // the state by which values are dropped
//     dual.dropValues(..);
//     proof.writeDrops(..); // without any, takes back what was just written
//
// The graph that is solved next is the moved one, unless the bound has prices
// divided or numbers rounded (`keepsSums`): then all that stays of the steps is
// that values are dropped.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_SOLVER_BOUNDPROOF_H
#define LAYOUT_LIB_SOLVER_BOUNDPROOF_H

#include "DualBound.h"
#include "ProofWriter.h"

namespace mlir {
namespace layout {

class BoundProof {
public:
  /// Writes nothing without a writer.
  BoundProof(const DualBound &dual, ProofWriter *writer);

  void writeMoves();
  /// `isBound`: the state is needed, whether or not values were dropped.
  void writeDrops(bool isBound);
  /// After the last pass: the state is what follows is about.
  void close();
  /// After that: switches that have one of these values left are on because
  /// they have to be, or off because nobody asks.
  void
  writeSwitches(llvm::ArrayRef<llvm::SmallVector<unsigned, 6>> values) const;

private:
  const DualBound &dual;
  ProofWriter *writer;
  /// What was written: of all factors of the model per place and value, and of
  /// all parts of prices.
  std::vector<Cost> moved, parts;
  size_t numDropped = 0;
  /// What that was before the last moves, and where these begin.
  std::vector<Cost> movedBefore, partsBefore;
  size_t start = 0;
};

} // namespace layout
} // namespace mlir

#endif // LAYOUT_LIB_SOLVER_BOUNDPROOF_H
