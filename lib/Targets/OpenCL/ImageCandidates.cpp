//===- ImageCandidates.cpp - Configurations of ops on images --------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ImageCandidates.h"
#include "layout/Targets/OpenCL/KernelLoops.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

using namespace mlir;
using namespace mlir::layout;

/// Returns true if `operand` is the init operand that is tied to `result`.
bool ImageCandidates::sharesStorage(unsigned operand, unsigned result) const {
  auto dest = dyn_cast<DestinationStyleOpInterface>(node.op);
  return dest && dest.isDpsInit(&node.op->getOpOperand(operand)) &&
         dest.getTiedOpResult(&node.op->getOpOperand(operand)) ==
             node.op->getResult(result);
}

/// Returns true if another op also depends on the layout of `slot`, an operand
/// or result. False for constants and fresh storage, which are created in the
/// layout that the op requires.
bool ImageCandidates::isChosenElsewhere(OperandOrResult slot) const {
  return llvm::any_of(node.incidentTensors,
                      [&](const auto &each) { return each.first == slot; });
}

std::optional<Contraction> ImageCandidates::getContraction() const {
  return findContraction(
      rule, [&](unsigned i) { return !isChosenElsewhere({false, i}); });
}

void ImageCandidates::note(OperandOrResult slot, const ImageFit &fit,
                           std::optional<LayoutId> instead) {
  // An init operand has no note, because its result has one.
  for (unsigned r = 0, e = node.op->getNumResults(); r < e; ++r)
    if (!slot.isResult && sharesStorage(slot.index, r))
      return;
  if (llvm::any_of(notes,
                   [&](const StorageNote &note) { return note.slot == slot; }))
    return;
  StorageNote &note = notes.emplace_back();
  note.slot = slot;
  llvm::raw_string_ostream os(note.whatNot);
  describe(fit, builder.getType(slot.isResult, slot.index), os);
  note.instead = instead;
}

std::optional<LayoutId> ImageCandidates::getImage(OperandOrResult slot,
                                                  unsigned dim, ImageRole role,
                                                  ArrayRef<unsigned> summed) {
  RankedTensorType type = builder.getType(slot.isResult, slot.index);
  ImageChoice choice = chooseImage(type, dim, role, summed, target);
  std::optional<LayoutId> image;
  if (choice.map)
    image = costs.intern(*choice.map);
  if (!choice.first)
    note(slot, choice.first, image);
  return image;
}

/// Returns the configuration in which each tensor with a dim that `loop` alone
/// indexes is an image with this dim on the lanes, if such an image fits the
/// target. An operand of a contraction that does not depend on `loop` has the
/// dim of a reduction loop on the lanes. Other tensors are in linear memory.
/// Returns std::nullopt if none is an image, or if the op does not allow these
/// layouts.
std::optional<OpConfig>
ImageCandidates::getForLaneDim(unsigned loop, const Contraction *contraction) {
  bool hasImages = false;
  auto getLayout = [&](bool isResult,
                       unsigned index) -> std::optional<LayoutId> {
    AffineMap map = builder.getMap(isResult, index);
    LayoutId plain =
        costs.getRowMajor(builder.getType(isResult, index).getRank());
    if (!map)
      return plain;
    std::optional<unsigned> dim = findDim(map, loop);
    bool isWeight = !isResult && contraction && contraction->isWeight[index];
    SmallVector<unsigned> summed;
    if (contraction)
      for (unsigned sum : contraction->summed)
        if (std::optional<unsigned> d = findDim(map, sum))
          summed.push_back(*d);
    if (!dim && !map.isFunctionOfDim(loop) && !summed.empty()) {
      dim = summed.front();
      isWeight = false;
    }
    std::optional<LayoutId> image;
    if (dim)
      image = getImage({isResult, index}, *dim,
                       isWeight ? ImageRole::Filter : ImageRole::Activation,
                       isWeight ? ArrayRef<unsigned>(summed)
                                : ArrayRef<unsigned>());
    hasImages |= image.has_value();
    return image.value_or(plain);
  };
  std::optional<OpConfig> config = builder.assign(getLayout);
  return hasImages ? config : std::nullopt;
}

/// Returns `base` with `layout` for `slot`, and for the init or result that
/// shares its storage, or std::nullopt if the op does not allow these layouts.
std::optional<OpConfig> ImageCandidates::replace(const OpConfig &base,
                                                 OperandOrResult slot,
                                                 LayoutId layout) const {
  auto isMeant = [&](OperandOrResult other) {
    if (other == slot)
      return true;
    if (other.isResult == slot.isResult)
      return false;
    return slot.isResult ? sharesStorage(other.index, slot.index)
                         : sharesStorage(slot.index, other.index);
  };
  std::optional<OpConfig> config =
      builder.assign([&](bool isResult, unsigned index) {
        if (isMeant({isResult, index}))
          return std::optional<LayoutId>(layout);
        LayoutId kept =
            isResult ? base.exact.results[index] : base.exact.operands[index];
        return std::optional<LayoutId>(kept);
      });
  if (config)
    config->origin = OpConfig::Origin::Mixed;
  return config;
}

/// Returns true if all tensors of the op must have one type; linalg ops have no
/// such constraint.
bool ImageCandidates::requiresOneType() const {
  return OpTrait::hasElementwiseMappableTraits(node.op);
}

/// Adds variants of `base` with a tensor in linear memory: one for each result
/// in an image, and one for each operand in an image that other ops also use
/// and that is not the init of a result. If there are exactly two such tensors,
/// also adds one variant with both in linear memory. Adds no variant if all
/// tensors of the op must have one type.
void ImageCandidates::addMixed(SmallVectorImpl<OpConfig> &configs,
                               const OpConfig &base) const {
  if (requiresOneType())
    return;
  SmallVector<OperandOrResult> slots;
  for (unsigned i = 0, e = base.exact.operands.size(); i < e; ++i)
    if (base.exact.operands[i] != kAnyLayout && rule.operandMaps[i] &&
        rule.isRead[i] && isChosenElsewhere({false, i}) &&
        isImage(costs.getMap(base.exact.operands[i])) &&
        llvm::none_of(llvm::seq<unsigned>(0, base.exact.results.size()),
                      [&](unsigned r) { return sharesStorage(i, r); }))
      slots.push_back({false, i});
  for (unsigned i = 0, e = base.exact.results.size(); i < e; ++i)
    if (base.exact.results[i] != kAnyLayout &&
        isImage(costs.getMap(base.exact.results[i])))
      slots.push_back({true, i});
  auto plain = [&](OperandOrResult slot) {
    return costs.getRowMajor(
        builder.getType(slot.isResult, slot.index).getRank());
  };
  SmallVector<OpConfig> one;
  for (OperandOrResult slot : slots)
    if (std::optional<OpConfig> config = replace(base, slot, plain(slot)))
      one.push_back(*config);
  llvm::append_range(configs, one);
  if (slots.size() == 2 && one.size() == 2)
    if (std::optional<OpConfig> config =
            replace(one[0], slots[1], plain(slots[1])))
      configs.push_back(*config);
}

SmallVector<OpConfig> ImageCandidates::getSeeds() {
  SmallVector<OpConfig> configs;
  std::optional<Contraction> contraction = getContraction();
  if (!contraction)
    return configs;
  for (unsigned loop : ArrayRef(contraction->outputLoops).take_front(2))
    if (std::optional<OpConfig> config = getForLaneDim(loop, &*contraction)) {
      config->origin = OpConfig::Origin::Lanes;
      configs.push_back(*config);
    }
  if (!configs.empty())
    addMixed(configs, OpConfig(configs.front()));
  return configs;
}

SmallVector<OpConfig> ImageCandidates::carry(ArrayRef<OpConfig> known,
                                             OperandOrResult slot,
                                             LayoutId layout) {
  SmallVector<OpConfig> configs;
  AffineMap map = builder.getMap(slot.isResult, slot.index);
  if (!map)
    return configs;
  auto add = [&](std::optional<OpConfig> config) {
    if (!config)
      return;
    if (config->origin == OpConfig::Origin::AsTyped)
      config->origin = OpConfig::Origin::Carried;
    configs.push_back(*config);
  };
  if (map.isPermutation()) {
    // The layout of one tensor determines those of all others. Each tensor may
    // also be in linear memory.
    add(builder.carry(slot, layout));
    if (!configs.empty() && isImage(costs.getMap(layout)))
      addMixed(configs, OpConfig(configs.front()));
    // An op that reads one tensor may store its result in any layout.
    if (llvm::count(rule.isRead, true) == 1 && !requiresOneType())
      for (const OpConfig &base : known)
        add(replace(base, slot, layout));
    return configs;
  }
  std::optional<unsigned> loop = findLaneLoop(map, costs.getMap(layout));
  if (loop && rule.loops[*loop].iterator == utils::IteratorType::parallel &&
      findDim(map, *loop)) {
    std::optional<Contraction> contraction = getContraction();
    if (std::optional<OpConfig> config =
            getForLaneDim(*loop, contraction ? &*contraction : nullptr)) {
      config = replace(*config, slot, layout);
      if (config)
        config->origin = OpConfig::Origin::Carried;
      add(config);
    }
  }
  // Also change the layout of this tensor alone.
  for (const OpConfig &base : known)
    add(replace(base, slot, layout));
  return configs;
}

LayoutId layout::generalizeImage(LayoutId special, RankedTensorType type,
                                 CostModel &costs) {
  std::optional<unsigned> laneDim = findLaneDim(costs.getMap(special));
  if (!laneDim)
    return special;
  LayoutId wanted = costs.getNormalForm(special, type);
  LayoutId general = special;
  findImageForm(type.getRank(), *laneDim, ImageRole::Activation, {},
                [&](const LayoutMap &form) {
                  LayoutId id = costs.intern(form);
                  if (costs.getNormalForm(id, type) != wanted)
                    return false;
                  general = id;
                  return true;
                });
  return general;
}
