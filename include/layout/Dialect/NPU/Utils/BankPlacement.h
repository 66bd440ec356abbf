//===- BankPlacement.h - Placement of blocks in banks -----------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The memory of a core is divided into banks, each of which serves one access
// at a time. Two simultaneous uses *conflict* if they touch the same bank:
// operands of one computation, and, in a parallel region, accesses of the DMA
// engine and of the execution units.
//
//     banks of 8 bytes, a (4 bytes) and b (4) read by one command:
//       places 0 and 4: a conflict; places 0 and 8: none
//
// BankPlacer improves a conflict-unaware placement (AddressPlacement.h) by
// local search:
//
//  1. place all blocks in several orders, each where it adds the fewest cycles;
//  2. move single blocks as long as that reduces conflicts;
//  3. place the blocks of each avoidable conflict again, and then the blocks
//     that are live at the same time.
//
// Laws:
//  * the laws of AddressPlacement.h hold; the lost cycles never increase, nor,
//    for equal cycles, the conflicting commands;
//  * no placement is below the bound: a command surely conflicts if its sides
//    span more banks than exist, or if fixed places conflict;
//  * the result is deterministic.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_DIALECT_NPU_UTILS_BANKPLACEMENT_H
#define LAYOUT_DIALECT_NPU_UTILS_BANKPLACEMENT_H

#include "layout/Dialect/NPU/Utils/AddressPlacement.h"
#include "layout/Support/Cost.h"
#include <tuple>

namespace mlir::npu {

/// The bytes [begin, end) of a block, relative to its place, that a command
/// accesses. Accesses with different `side`, e.g. those of two operands, are
/// simultaneous.
struct BankUse {
  size_t block;
  int64_t begin, end;
  unsigned side;
};

/// A computation or a parallel region with the bytes that it accesses at the
/// same time. Only uses of different sides can conflict.
struct BankCommand {
  layout::Cost cycles = 0; // lost if any two uses conflict
  std::vector<BankUse> uses;
};

/// The bank conflicts of a placement. Placements are compared by cycles first,
/// then by commands, then by bytes.
struct BankConflicts {
  layout::Cost cycles = 0; // lost cycles
  int64_t commands = 0;    // conflicting commands
  int64_t bytes = 0;       // sum of the smaller use of each conflicting pair

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

/// Searches for places of `blocks` with fewer bank conflicts of `commands`, in
/// a core memory of `banks` banks with `bankBytes` bytes each.
class BankPlacer {
public:
  BankPlacer(const std::vector<PlacedBlock> &blocks,
             const std::vector<BankCommand> &commands, int64_t bankBytes,
             int64_t banks);

  /// Counts the conflicts of blocks at `places`.
  BankConflicts count(const std::vector<int64_t> &places) const;

  /// Returns a lower bound: the number of commands that are proven to conflict
  /// in every placement, and their cycles. `bytes` is 0.
  BankConflicts getBound() const;

  /// Returns the placement with the fewest conflicts that is found, or
  /// `careless`, a placement that ignores banks, if none is better. Of
  /// placements with equal conflicts, the one with the lower peak is better.
  AddressPlacement improve(const AddressPlacement &careless);

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
  std::vector<std::vector<size_t>> commandsOf; // the commands of each block
};

} // namespace mlir::npu

#endif // LAYOUT_DIALECT_NPU_UTILS_BANKPLACEMENT_H
