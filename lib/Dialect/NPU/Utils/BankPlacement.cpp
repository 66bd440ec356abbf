//===- BankPlacement.cpp - Placement of blocks in banks -------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Dialect/NPU/Utils/BankPlacement.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <map>
#include <random>

using namespace mlir::npu;

/// The maximum number of blocks whose ends are tried as the place of a block:
/// of the placed blocks that are live at the same time, those at the lowest
/// places. The starts of all banks are tried in any case.
static constexpr size_t kMostEnds = 48;
/// The maximum number of byte ranges of a block, the whole block included, that
/// are tried at the start of a bank.
static constexpr size_t kMostBegins = 4;
/// The maximum number of passes over all blocks that move single blocks to
/// places with fewer conflicts.
static constexpr int kRounds = 8;
/// The maximum number of blocks for which further orders are tried for a lower
/// peak if no avoidable conflict is left.
static constexpr size_t kFew = 1000;
/// The maximum number of random orders, and of blocks placed in all of these
/// orders together.
static constexpr int64_t kRandomOrders = 100, kRandomPlaces = 10000;
/// The maximum number of orders in which the blocks around one conflicting
/// command are placed again, and of blocks placed for all commands together.
static constexpr int kOrdersAround = 12;
static constexpr int64_t kPlacesAround = 20000;

/// The places (start bytes) of the blocks placed so far, and the bank conflicts
/// among them.
struct BankPlacer::Attempt {
  std::vector<int64_t> places;
  std::vector<bool> isPlaced;
  std::vector<int64_t> conflictsOf; // conflicting pairs of each command
  BankConflicts total;
};

BankPlacer::BankPlacer(const std::vector<PlacedBlock> &blocks,
                       const std::vector<BankCommand> &commands,
                       int64_t bankBytes, int64_t banks)
    : blocks(blocks), commands(commands), bankBytes(bankBytes), banks(banks),
      neighbors(findNeighbors(blocks)), commandsOf(blocks.size()) {
  for (auto [c, command] : llvm::enumerate(commands))
    for (const BankUse &use : command.uses) {
      std::vector<size_t> &known = commandsOf[use.block];
      if (known.empty() || known.back() != c)
        known.push_back(c);
    }
}

bool BankPlacer::conflict(const BankUse &a, int64_t placeOfA, const BankUse &b,
                          int64_t placeOfB) const {
  if (a.side == b.side || a.begin >= a.end || b.begin >= b.end)
    return false;
  auto getFirst = [&](const BankUse &use, int64_t place) {
    return (place + use.begin) / bankBytes;
  };
  auto getLast = [&](const BankUse &use, int64_t place) {
    return (place + use.end - 1) / bankBytes;
  };
  return getFirst(a, placeOfA) <= getLast(b, placeOfB) &&
         getFirst(b, placeOfB) <= getLast(a, placeOfA);
}

BankConflicts BankPlacer::count(const std::vector<int64_t> &places) const {
  BankConflicts total;
  for (const BankCommand &command : commands) {
    bool any = false;
    for (size_t i = 0; i < command.uses.size(); ++i)
      for (size_t j = 0; j < i; ++j) {
        const BankUse &a = command.uses[i], &b = command.uses[j];
        if (!conflict(a, places[a.block], b, places[b.block]))
          continue;
        any = true;
        total.bytes += std::min(a.end - a.begin, b.end - b.begin);
      }
    total.commands += any;
    total.cycles += any ? command.cycles : 0;
  }
  return total;
}

bool BankPlacer::isSure(const BankCommand &command) const {
  // Uses of one side may share banks; uses of two sides may not.
  std::map<unsigned, int64_t> least;
  for (size_t i = 0; i < command.uses.size(); ++i) {
    const BankUse &a = command.uses[i];
    int64_t &side = least[a.side];
    side =
        std::max(side, int64_t(llvm::divideCeil(a.end - a.begin, bankBytes)));
    for (size_t j = 0; j < i; ++j) {
      const BankUse &b = command.uses[j];
      std::optional<int64_t> x = blocks[a.block].place,
                             y = blocks[b.block].place;
      // Two uses of one block that share bytes conflict in every placement.
      bool isFixed = x && y && conflict(a, *x, b, *y);
      bool isSame = a.block == b.block && a.side != b.side && a.begin < b.end &&
                    b.begin < a.end;
      if (isFixed || isSame)
        return true;
    }
  }
  int64_t sum = 0;
  for (auto [side, taken] : least)
    sum += taken;
  return least.size() > 1 && sum > banks;
}

BankConflicts BankPlacer::getBound() const {
  BankConflicts bound;
  for (const BankCommand &command : commands)
    if (isSure(command))
      bound += {command.cycles, 1, 0};
  return bound;
}

/// Returns the start bytes that are tried for `block`, ascending, free of the
/// placed blocks that are live at the same time. Each is the lowest free one
/// from one of these on: byte 0, a byte at which the block or a range of it
/// starts a bank, or the end of such a block.
std::vector<int64_t> BankPlacer::getChoices(const Attempt &attempt,
                                            size_t block) const {
  const PlacedBlock &placed = blocks[block];
  std::vector<size_t> others;
  for (size_t other : neighbors[block])
    if (attempt.isPlaced[other])
      others.push_back(other);
  llvm::sort(others, [&](size_t a, size_t b) {
    return attempt.places[a] < attempt.places[b];
  });
  // The block, or a range of it that a command uses, may begin at the start of
  // a bank.
  std::vector<int64_t> begins{0}, starts{0};
  for (size_t c : commandsOf[block])
    for (const BankUse &use : commands[c].uses)
      if (use.block == block && begins.size() < kMostBegins &&
          !llvm::is_contained(begins, use.begin))
        begins.push_back(use.begin);
  for (int64_t bank = 1; bank < banks; ++bank)
    for (int64_t begin : begins)
      if (begin < bank * bankBytes)
        starts.push_back(bank * bankBytes - begin);
  for (size_t i = 0; i < others.size() && i < kMostEnds; ++i)
    starts.push_back(attempt.places[others[i]] + blocks[others[i]].size);
  llvm::sort(starts);
  std::vector<int64_t> choices;
  for (int64_t start : starts) {
    // The lowest place from `start` on is already in the list.
    if (!choices.empty() && start <= choices.back())
      continue;
    int64_t place = findFreePlace(blocks, block, start, others, attempt.places);
    if (place + placed.size > placed.limit.value_or(banks * bankBytes))
      break;
    choices.push_back(place);
  }
  return choices;
}

/// Returns the bank conflicts that `block` adds if it is at byte `place`: those
/// with the blocks placed so far, and those within `block`. A command that
/// already conflicts adds bytes, but no command and no cycles.
BankConflicts BankPlacer::price(const Attempt &attempt, size_t block,
                                int64_t place) const {
  BankConflicts added;
  for (size_t c : commandsOf[block]) {
    llvm::ArrayRef<BankUse> uses = commands[c].uses;
    bool any = false;
    for (size_t i = 0; i < uses.size(); ++i) {
      const BankUse &a = uses[i];
      if (a.block != block)
        continue;
      for (size_t j = 0; j < uses.size(); ++j) {
        const BankUse &b = uses[j];
        // Count each pair of uses of this block once.
        if (b.block == block ? j >= i : !attempt.isPlaced[b.block])
          continue;
        int64_t other = b.block == block ? place : attempt.places[b.block];
        if (!conflict(a, place, b, other))
          continue;
        any = true;
        added.bytes += std::min(a.end - a.begin, b.end - b.begin);
      }
    }
    if (any && attempt.conflictsOf[c] == 0)
      added += {commands[c].cycles, 1, 0};
  }
  return added;
}

/// Adds `sign`, 1 or -1, to the conflict count of a command for each
/// conflicting pair of its uses of which one is a use of `block`.
void BankPlacer::addPairs(Attempt &attempt, size_t block, int sign) const {
  for (size_t c : commandsOf[block])
    for (size_t i = 0; i < commands[c].uses.size(); ++i)
      for (size_t j = 0; j < i; ++j) {
        const BankUse &a = commands[c].uses[i], &b = commands[c].uses[j];
        if ((a.block == block || b.block == block) &&
            attempt.isPlaced[a.block] && attempt.isPlaced[b.block] &&
            conflict(a, attempt.places[a.block], b, attempt.places[b.block]))
          attempt.conflictsOf[c] += sign;
      }
}

void BankPlacer::put(Attempt &attempt, size_t block, int64_t place) const {
  BankConflicts added = price(attempt, block, place);
  attempt.places[block] = place;
  attempt.isPlaced[block] = true;
  attempt.total += added;
  addPairs(attempt, block, 1);
}

void BankPlacer::take(Attempt &attempt, size_t block) const {
  addPairs(attempt, block, -1);
  attempt.isPlaced[block] = false;
  attempt.total -= price(attempt, block, attempt.places[block]);
}

/// Puts the block at the place of getChoices that adds the fewest bank
/// conflicts, of several the lowest. Returns false if there is none.
bool BankPlacer::putBest(Attempt &attempt, size_t block) const {
  std::vector<int64_t> choices = getChoices(attempt, block);
  if (choices.empty())
    return false;
  auto best = llvm::min_element(choices, [&](int64_t a, int64_t b) {
    return price(attempt, block, a) < price(attempt, block, b);
  });
  put(attempt, block, *best);
  return true;
}

bool BankPlacer::placeInOrder(llvm::ArrayRef<size_t> order,
                              Attempt &attempt) const {
  attempt.places.assign(blocks.size(), 0);
  attempt.isPlaced.assign(blocks.size(), false);
  attempt.conflictsOf.assign(commands.size(), 0);
  attempt.total = {};
  for (size_t i = 0; i < blocks.size(); ++i)
    if (blocks[i].place)
      put(attempt, i, *blocks[i].place);
  return llvm::all_of(order, [&](size_t i) { return putBest(attempt, i); });
}

/// Moves the blocks of conflicting commands, one at a time, to places that add
/// fewer conflicts, in at most kRounds passes.
void BankPlacer::move(Attempt &attempt) const {
  bool isMoved = true;
  for (int round = 0; round < kRounds && isMoved; ++round) {
    isMoved = false;
    for (size_t i = 0; i < blocks.size(); ++i) {
      if (blocks[i].place || llvm::none_of(commandsOf[i], [&](size_t c) {
            return attempt.conflictsOf[c] > 0;
          }))
        continue;
      int64_t old = attempt.places[i];
      take(attempt, i);
      int64_t best = old;
      BankConflicts least = price(attempt, i, old);
      for (int64_t place : getChoices(attempt, i))
        if (BankConflicts added = price(attempt, i, place); added < least) {
          least = added;
          best = place;
        }
      put(attempt, i, best);
      isMoved |= best != old;
    }
  }
}

/// For each command with an avoidable conflict, costliest first, removes its
/// blocks and those that are live at the same time. Places them again, the
/// blocks of the command first, and keeps the result if it has fewer conflicts.
/// A block that finds no place goes first in the next order.
void BankPlacer::repair(Attempt &attempt) const {
  std::vector<size_t> costly;
  for (auto [c, command] : llvm::enumerate(commands))
    if (!isSure(command))
      costly.push_back(c);
  llvm::stable_sort(costly, [&](size_t a, size_t b) {
    return commands[a].cycles > commands[b].cycles;
  });
  int64_t left = kPlacesAround;
  bool isBetter = true;
  while (std::exchange(isBetter, false))
    for (size_t c : costly) {
      if (attempt.conflictsOf[c] == 0)
        continue;
      std::vector<size_t> order;
      auto add = [&](size_t block) {
        if (!blocks[block].place && !llvm::is_contained(order, block))
          order.push_back(block);
      };
      for (const BankUse &use : commands[c].uses)
        add(use.block);
      auto isLarger = [&](size_t a, size_t b) {
        return blocks[a].size > blocks[b].size;
      };
      llvm::stable_sort(order, isLarger);
      size_t used = order.size();
      for (size_t i = 0; i < used; ++i)
        for (size_t other : neighbors[order[i]])
          add(other);
      std::stable_sort(order.begin() + used, order.end(), isLarger);
      Attempt trial = attempt;
      for (int i = 0; i < kOrdersAround && left > 0; ++i) {
        for (size_t block : order)
          if (trial.isPlaced[block])
            take(trial, block);
        auto homeless = llvm::find_if(order, [&](size_t block) {
          --left;
          return !putBest(trial, block);
        });
        if (homeless != order.end()) {
          std::rotate(order.begin(), homeless, std::next(homeless));
          continue;
        }
        move(trial);
        if (trial.total < attempt.total) {
          attempt = trial;
          isBetter = true;
        }
        break;
      }
    }
}

AddressPlacement BankPlacer::improve(const AddressPlacement &careless) {
  BankConflicts bound = getBound();
  AddressPlacement best = careless;
  BankConflicts least = count(careless.places);
  Attempt attempt;
  auto keep = [&] {
    move(attempt);
    int64_t peak = 0;
    for (auto [block, place] : llvm::zip_equal(blocks, attempt.places))
      peak = std::max(peak, place + block.size);
    bool isBetter =
        attempt.total < least || (!(least < attempt.total) && peak < best.peak);
    if (!isBetter)
      return;
    best.places = attempt.places;
    best.peak = peak;
    least = attempt.total;
  };
  auto isDone = [&] {
    return least.cycles <= bound.cycles && least.commands <= bound.commands;
  };
  if (isDone())
    return best;
  // Place all blocks in program order, by decreasing size, and by decreasing
  // lost cycles.
  std::vector<size_t> order;
  for (size_t i = 0; i < blocks.size(); ++i)
    if (!blocks[i].place)
      order.push_back(i);
  auto attemptOrder = [&] {
    // Search for a lower peak only among few blocks.
    if ((order.size() <= kFew || !isDone()) && placeInOrder(order, attempt))
      keep();
  };
  attemptOrder();
  llvm::stable_sort(order, [&](size_t a, size_t b) {
    return blocks[a].size > blocks[b].size;
  });
  attemptOrder();
  std::vector<layout::Cost> lost(blocks.size());
  for (size_t i : order)
    for (size_t c : commandsOf[i])
      lost[i] += commands[c].cycles;
  llvm::stable_sort(order,
                    [&](size_t a, size_t b) { return lost[a] > lost[b]; });
  attemptOrder();
  // Start from the given places.
  auto start = [&](const std::vector<int64_t> &places) {
    placeInOrder({}, attempt);
    for (size_t i : order)
      put(attempt, i, places[i]);
  };
  if (order.size() <= kFew || !isDone()) {
    start(careless.places);
    keep();
  }
  int64_t work = std::max<int64_t>(order.size(), 1);
  for (const PlacedBlock &block : blocks) // each byte range adds work
    work += block.owned ? int64_t(block.owned->size()) / 4 : 0;
  int64_t orders = std::min<int64_t>(kRandomOrders, kRandomPlaces / work);
  // Place all blocks in random orders.
  std::mt19937 random(1);
  for (int64_t i = 0; i < orders && !isDone(); ++i) {
    std::shuffle(order.begin(), order.end(), random);
    attemptOrder();
  }
  // Repair the avoidable conflicts.
  if (!isDone()) {
    start(best.places);
    repair(attempt);
    keep();
  }
  return best;
}
