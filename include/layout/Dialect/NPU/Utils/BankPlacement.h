//===- BankPlacement.h - Blocks in different banks --------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The memory of a core is divided into banks, each of which serves one access
// at a time. What a command uses at once *conflicts* where it lies in one bank:
// the operands of a computation, and in a parallel region what the DMA engine
// touches with what the execution units do.
//
//     banks of 8 bytes, a (4 bytes) and b (4) read by one command:
//       places 0 and 4: a conflict; places 0 and 8: none
//
// Blocks that have places without care (Placement.h) get others, as long as all
// have one: blocks are put one after the other where they add the least cycles,
// in several orders, and then moved one at a time while that helps; at last the
// blocks of a command that need not conflict, and what lives with them, are put
// anew.
//
// Laws:
//  * those of Placement.h, and never more cycles lost than there were, nor as
//    many by more commands;
//  * no placement loses fewer cycles, or by fewer commands, than the bound: a
//    command conflicts for sure whose sides take more banks than there are, or
//    where fixed places say so;
//  * the same blocks get the same places.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_DIALECT_NPU_UTILS_BANKPLACEMENT_H
#define LAYOUT_DIALECT_NPU_UTILS_BANKPLACEMENT_H

#include "layout/Dialect/NPU/Utils/Placement.h"
#include "layout/Support/Cost.h"
#include <tuple>

namespace mlir {
namespace npu {

/// Bytes [begin, end) from the place of a block on, for one side of a command.
struct BankUse {
  size_t block;
  int64_t begin, end;
  unsigned side;
};

/// What is used at once; uses of one side never conflict.
struct BankCommand {
  layout::Cost cycles = 0; // that it loses where any two conflict
  std::vector<BankUse> uses;
};

struct BankConflicts {
  layout::Cost cycles = 0; // that are lost
  int64_t commands = 0;    // that have one
  int64_t bytes = 0;       // of the smaller use of every two that conflict

  BankConflicts &operator+=(const BankConflicts &other) {
    cycles += other.cycles;
    commands += other.commands;
    bytes += other.bytes;
    return *this;
  }
  BankConflicts &operator-=(const BankConflicts &other) {
    cycles -= other.cycles;
    commands -= other.commands;
    bytes -= other.bytes;
    return *this;
  }
  bool operator<(const BankConflicts &other) const {
    return std::tuple(cycles, commands, bytes) <
           std::tuple(other.cycles, other.commands, other.bytes);
  }
};

class BankPlacer {
public:
  BankPlacer(const std::vector<PlacedBlock> &blocks,
             const std::vector<BankCommand> &commands, int64_t bankBytes,
             int64_t banks);

  BankConflicts count(const std::vector<int64_t> &places) const;

  /// The commands that conflict wherever blocks are put, without bytes.
  BankConflicts getBound() const;

  /// The best placement found; `careless` where that is none better.
  Placement improve(const Placement &careless);

private:
  struct Attempt;

  bool isSure(const BankCommand &command) const;
  bool conflict(const BankUse &a, int64_t placeOfA, const BankUse &b,
                int64_t placeOfB) const;
  std::vector<int64_t> getChoices(const Attempt &attempt, size_t block) const;
  BankConflicts price(const Attempt &attempt, size_t block,
                      int64_t place) const;
  void addPairs(Attempt &attempt, size_t block, int sign) const;
  void put(Attempt &attempt, size_t block, int64_t place) const;
  void take(Attempt &attempt, size_t block) const;
  bool putBest(Attempt &attempt, size_t block) const;
  bool placeInOrder(llvm::ArrayRef<size_t> order, Attempt &attempt) const;
  void move(Attempt &attempt) const;
  void repair(Attempt &attempt) const;

  const std::vector<PlacedBlock> &blocks;
  const std::vector<BankCommand> &commands;
  int64_t bankBytes, banks;
  std::vector<std::vector<size_t>> neighbors;
  std::vector<std::vector<size_t>> commandsOf; // of each block, once each
};

} // namespace npu
} // namespace mlir

#endif // LAYOUT_DIALECT_NPU_UTILS_BANKPLACEMENT_H
