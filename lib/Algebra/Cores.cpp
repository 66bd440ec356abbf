//===- Cores.cpp - Cores, channels and banks of an NPU --------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Algebra/Cores.h"
#include "Views/CheckedViews.h"
#include "layout/Algebra/Box.h"
#include "layout/Algebra/Evaluator.h"
#include "layout/Algebra/Proof.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <map>
#include <set>

using namespace mlir::layout;
using llvm::ArrayRef;
using llvm::Twine;

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

std::optional<LocalAddress> mlir::layout::splitAddress(const ChipParams &params,
                                                       int64_t address) {
  if (address < 0 || address / params.bytesPerNpu >= params.npus)
    return std::nullopt;
  return LocalAddress{address / params.bytesPerNpu,
                      address % params.bytesPerNpu};
}

std::optional<int64_t> mlir::layout::joinAddress(const ChipParams &params,
                                                 const LocalAddress &address) {
  if (address.core < 0 || address.core >= params.npus || address.byte < 0 ||
      address.byte >= params.bytesPerNpu)
    return std::nullopt;
  return address.core * params.bytesPerNpu + address.byte;
}

//===----------------------------------------------------------------------===//
// Channels
//===----------------------------------------------------------------------===//

/// Returns coordinate `npu` without its mod, i.e. the channel, or std::nullopt
/// if it is not a single digit of stride 1. A constant is one channel, except
/// with one core: there it may be what is left of `channel mod 1`, and the
/// result is std::nullopt.
static std::optional<IndexExpr> getChannel(const Coordinate &npu) {
  IndexExpr channel = npu.value;
  if (channel.terms.empty() && !npu.extent.isConstantEqual(1))
    return channel;
  if (channel.terms.size() != 1 ||
      !channel.terms.front().stride.isConstantEqual(1))
    return std::nullopt;
  channel.terms.front().digit.modulus = 0;
  return channel;
}

std::optional<llvm::SmallVector<int64_t>>
mlir::layout::countChannels(const LayoutMap &map, Sizes sizes,
                            FailureReason error) {
  if (!checkMap(map, error))
    return std::nullopt;
  LayoutMap special = map.specialize(sizes);
  const Coordinate *npu =
      llvm::find_if(special.getCoordinates(), [](const Coordinate &coordinate) {
        return coordinate.name == "npu";
      });
  if (npu == special.getCoordinates().end())
    return error("layout " + map.str() +
                 " is not spread over cores: it has no coordinate 'npu'");
  std::optional<IndexExpr> channel = getChannel(*npu);
  if (!channel)
    return error("the coordinate 'npu' of " + map.str() +
                 " is not a single digit, whose values would be the channels: "
                 "count the elements of each core by `forward`");
  llvm::SmallVector<int64_t> box = special.getBox(sizes), walked(box.size(), 1);
  channel->walkDims([&](unsigned d) { walked[d] = box[d]; });
  std::optional<int64_t> points = countIndices(walked),
                         numCores = npu->extent.getConstant();
  std::optional<Evaluator> evaluator =
      Evaluator::compile({*channel, npu->value}, walked);
  if (!points || std::max(*points, numCores.value_or(0)) > kMaxPoints ||
      !numCores || !evaluator)
    return error("the channels of " + map.str() +
                 " cannot be counted: the dims that are spread over the cores "
                 "must have static sizes and at most " +
                 Twine(kMaxPoints) + " indices");
  llvm::SmallVector<int64_t> counts(std::max<int64_t>(*numCores, 0), 0);
  if (llvm::is_contained(box, 0))
    return counts;
  std::set<std::pair<int64_t, int64_t>> found; // core, channel
  forEachIndex(walked, [&](ArrayRef<int64_t> index) {
    int64_t values[2];
    evaluator->evaluate(index.data(), values);
    found.insert({values[1], values[0]});
    return true;
  });
  for (auto [core, number] : found) {
    if (core < 0 || core >= *numCores)
      return error("core " + Twine(core) + " of layout " + map.str() +
                   " is outside the extent " + Twine(*numCores) +
                   " of its coordinate (L2)");
    ++counts[core];
  }
  return counts;
}

//===----------------------------------------------------------------------===//
// Banks
//===----------------------------------------------------------------------===//

static bool checkBanks(const Banks &banks, int64_t elementBytes,
                       FailureReason error) {
  if (std::min({banks.count, banks.stripeBytes, banks.wordBytes}) < 1 ||
      banks.stripeBytes % banks.wordBytes != 0) {
    error(Twine(banks.count) + " banks in stripes of " +
          Twine(banks.stripeBytes) + " bytes with words of " +
          Twine(banks.wordBytes) +
          ": all must be at least 1, and a stripe must consist of whole words");
    return false;
  }
  if (elementBytes >= 1)
    return true;
  error("an element must have at least one byte");
  return false;
}

std::optional<BankUse>
mlir::layout::getBankUse(const LayoutMap &map, Sizes sizes,
                         ArrayRef<llvm::SmallVector<int64_t>> indices,
                         int64_t elementBytes, const Banks &banks,
                         FailureReason error) {
  if (!checkMap(map, error) || !checkBanks(banks, elementBytes, error))
    return std::nullopt;
  if (map.getCoordinates().empty())
    return error("a layout without coordinates has no offsets");
  LayoutMap special = map.specialize(sizes);
  BankUse use;
  // The words accessed in each bank. The key is the memory, which all
  // coordinates but the last identify, and the bank in it.
  std::map<std::pair<llvm::SmallVector<int64_t>, int64_t>, std::set<int64_t>>
      words;
  for (ArrayRef<int64_t> index : indices) {
    std::optional<llvm::SmallVector<int64_t>> point =
        special.forward(index, sizes);
    int64_t begin, end;
    if (!point || llvm::MulOverflow(point->back(), elementBytes, begin) ||
        llvm::AddOverflow(begin, elementBytes, end))
      return error("the byte of an element does not fit 64 bits (L1)");
    point->pop_back();
    auto getBank = [&](int64_t word) {
      return llvm::mod(word / (banks.stripeBytes / banks.wordBytes),
                       banks.count);
    };
    if (begin < 0)
      return error("an element is below byte 0 of its memory (L2)");
    int64_t first = begin / banks.wordBytes, last = (end - 1) / banks.wordBytes;
    use.banks.push_back(getBank(first));
    for (int64_t word = first; word <= last; ++word) {
      std::set<int64_t> &ofBank = words[{*point, getBank(word)}];
      ofBank.insert(word);
      use.cycles = std::max<int64_t>(use.cycles, ofBank.size());
    }
  }
  return use;
}
