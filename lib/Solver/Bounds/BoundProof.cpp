//===- BoundProof.cpp - A proof of the steps of a dual bound --------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bounds/BoundProof.h"

using namespace mlir::layout;
using llvm::ArrayRef;

BoundProof::BoundProof(const DualBound &dual, ProofWriter *writer)
    : dual(dual), writer(writer) {
  if (writer && !dual.keepsSums())
    writer->beginTrial();
}

void BoundProof::writeMoves() {
  if (!writer)
    return;
  start = writer->getSize();
  movedBefore = moved;
  partsBefore = parts;
  std::vector<Cost> amounts;
  // Moves of dropped values are not updated: they keep the last amount written.
  auto setAmounts = [&](std::vector<Cost> &known, size_t at, unsigned variable,
                        ArrayRef<Cost> now) {
    known.resize(std::max(known.size(), at + now.size()), 0);
    amounts.assign(now.size(), 0);
    for (auto [value, cost] : llvm::enumerate(now)) {
      if (dual.isDropped(variable, value))
        continue;
      Cost next = cost << dual.getShift();
      amounts[value] = next - known[at + value];
      known[at + value] = next;
    }
    return at + now.size();
  };

  size_t at = 0;
  dual.getSetupCosts().forEachPart([&](unsigned variable, unsigned on,
                                       unsigned consumer, unsigned producer,
                                       ArrayRef<Cost> part) {
    if (producer != SetupCosts::kNone) {
      at = setAmounts(parts, at, producer, part);
    } else {
      // Without a producer, the price is a unary cost of the value `on`.
      Cost both[2] = {0, 0};
      both[on] = part[0];
      producer = variable;
      at = setAmounts(parts, at, variable, both);
    }
    writer->charge(variable, on, consumer, producer, amounts);
  });

  const CoreGraph &model = dual.getModel();
  at = 0;
  for (unsigned f = 0; f < model.getNumFactors(); ++f) {
    ArrayRef<unsigned> scope = model.getScope(f);
    if (scope.size() < 2)
      continue;
    // If the first variable only replaces a missing producer, the factor is a
    // unary cost of the consumer, and no move is written.
    bool isUnary = model.getOriginal(scope[0]) == ~0u;
    for (auto [place, variable] : llvm::enumerate(scope)) {
      at = setAmounts(moved, at, variable, dual.getMovedTo(f, place));
      if (!isUnary)
        writer->move(scope, place, amounts);
    }
  }
}

void BoundProof::writeDrops(bool isBound) {
  if (!writer)
    return;
  ArrayRef<std::pair<unsigned, unsigned>> drops =
      dual.getDrops().drop_front(numDropped);
  if (drops.empty() && !isBound) {
    writer->truncate(start);
    moved = std::move(movedBefore);
    parts = std::move(partsBefore);
    return;
  }
  numDropped += drops.size();
  llvm::SmallVector<unsigned, 8> values;
  for (auto [i, drop] : llvm::enumerate(drops)) {
    // The variable that replaces missing producers is not in the problem of the
    // proof. It loses its only value if a consumer has none left.
    if (dual.getModel().getOriginal(drop.first) == ~0u)
      continue;
    values.push_back(drop.second);
    if (i + 1 < drops.size() && drops[i + 1].first == drop.first)
      continue;
    writer->drop(drop.first, values);
    values.clear();
  }
}

void BoundProof::close() {
  writeMoves();
  writeDrops(/*isBound=*/true);
  if (writer && !dual.keepsSums())
    writer->endTrial();
}

void BoundProof::writeSetupVariables(
    ArrayRef<llvm::SmallVector<unsigned, 6>> values) const {
  const SetupCosts &shared = dual.getSetupCosts();
  for (auto [variable, left] : llvm::enumerate(values)) {
    if (!shared.isSetupVariable(variable) || left.size() != 1)
      continue;
    if (left.front() == shared.getOn(variable))
      writer->drop(variable, {1 - left.front()});
    else
      writer->eliminate({unsigned(variable)});
  }
}
