//===- NpuBanks.cpp - Bank conflicts --------------------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NpuMemory.h"
#include <algorithm>

using namespace mlir::npu;

/// Calls `fn` with the number of every bank that `bytes` bytes of a core touch;
/// banks are numbered over all cores.
template <typename Fn>
static void forEachBank(const SimulatedChip &chip, int64_t core, int64_t byte,
                        int64_t bytes, const Fn &fn) {
  int64_t bankBytes = chip.bytesPerNpu / chip.banks;
  for (int64_t bank = byte / bankBytes; bank <= (byte + bytes - 1) / bankBytes;
       ++bank)
    fn(size_t(core * chip.banks + std::min(bank, chip.banks - 1)));
}

/// Returns true if two operands of a command use one bank of one core. Operands
/// that begin at the same byte count as one. Returns false if the banks of the
/// chip are not known.
bool Simulator::shareBank(
    const std::vector<const std::vector<Run> *> &operands) const {
  if (!chip.banks)
    return false;
  auto isSame = [](const std::vector<Run> &a, const std::vector<Run> &b) {
    return !a.empty() && !b.empty() && a[0].memory == b[0].memory &&
           a[0].byte == b[0].byte;
  };
  std::vector<size_t> takenBy(chip.npus * chip.banks, 0); // operand number + 1
  bool isShared = false;
  for (size_t i = 0; i < operands.size(); ++i) {
    size_t first = i;
    for (size_t j = 0; j < i && first == i; ++j)
      if (isSame(*operands[i], *operands[j]))
        first = j;
    for (const Run &run : *operands[i])
      if (run.core >= 0)
        forEachBank(chip, run.core, run.byte, run.bytes, [&](size_t bank) {
          isShared |= takenBy[bank] && takenBy[bank] != first + 1;
          takenBy[bank] = first + 1;
        });
  }
  return isShared;
}

/// Returns true if both engines used one bank in the parallel region that ends.
/// Returns false if the banks of the chip are not known.
bool Simulator::sharesRegionBank() const {
  if (!chip.banks)
    return false;
  constexpr uint8_t byDMA = 1, byCompute = 2;
  std::vector<uint8_t> engines(chip.npus * chip.banks, 0);
  for (const RegionRun &run : touched)
    if (run.core >= 0)
      forEachBank(chip, run.core, run.byte, run.bytes, [&](size_t bank) {
        engines[bank] |= run.engine == Engine::DMA ? byDMA : byCompute;
      });
  return std::any_of(engines.begin(), engines.end(),
                     [](uint8_t both) { return both == (byDMA | byCompute); });
}
