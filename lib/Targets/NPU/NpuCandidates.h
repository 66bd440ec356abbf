//===- NpuCandidates.h - Candidate configurations of ops --------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds candidate configurations of an op on a target with cores. Every core
// computes the part of the result that it holds, so all tensors spread one
// loop, the *channel*, over the cores in the same way. Two kinds of operands
// lack the channel. An operand of a contraction is spread by a summed loop and
// broadcast over the network; any other operand is in system memory and loaded
// into all cores.
//
//   conv (n f oh ow | c kh kw)   data    aligned, channel c, or 4N
//                                filter  compact, channel f
//                                result  aligned, channel f
//   add (n c h w), bias (c)      all by c, from the same start core
//
// Ops with a rule per dim are transfers, so their tensors may have different
// layouts.
//
// Law: all local tensors of a configuration, including the copies of loaded
// operands, fit a core together.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_NPU_NPUCANDIDATES_H
#define LAYOUT_LIB_TARGETS_NPU_NPUCANDIDATES_H

#include "layout/Analysis/ConfigBuilder.h"
#include "layout/Analysis/Contraction.h"
#include "layout/Analysis/TargetModel.h"
#include "layout/Targets/NPU/NpuLayouts.h"

namespace mlir::layout {

class NpuCandidates {
public:
  NpuCandidates(const NodeClass &node, CostModel &costs,
                NpuTargetInterface chip)
      : node(node), builder(node, costs), costs(costs), chip(chip) {}

  SmallVector<OpConfig> getSeeds();

  /// Returns true if the f32 operand number `operand` is in local memory in
  /// every seed configuration, in a layout for which isDequantizedInPlace
  /// holds. Returns false if there is no seed configuration.
  bool acceptsInt8Operand(unsigned operand);

  /// Returns the bytes of a core that the smallest configuration found so far
  /// needs, whether it fits or not, or std::nullopt if none was found.
  std::optional<int64_t> getLeastBytes() const { return leastBytes; }

  /// Returns configurations of the op in which the operand or result `slot` has
  /// `layout`. In some of a contraction, `slot` has another layout from the
  /// same start core on. Some are variants of those in `known`, the ones so
  /// far. The list is empty if there are none.
  SmallVector<OpConfig> carry(ArrayRef<OpConfig> known, OperandOrResult slot,
                              LayoutId layout);

private:
  using Choice =
      function_ref<NpuScatterAttr(OperandOrResult, RankedTensorType)>;

  std::optional<int64_t> countLoads(const OpConfig &config) const;
  std::optional<OpConfig> assign(Choice choose, OpConfig::Origin origin) const;
  std::optional<OpConfig> getForChannel(unsigned loop,
                                        const Contraction &contraction,
                                        NpuForm form,
                                        NpuScatterAttr made = {}) const;
  std::optional<OpConfig> getFollowing(OperandOrResult slot,
                                       NpuScatterAttr layout,
                                       OpConfig::Origin origin) const;
  void carryLoops(ArrayRef<OpConfig> known, OperandOrResult slot,
                  LayoutId layout, NpuScatterAttr attr,
                  TargetModel::AddConfig add) const;
  std::string alongWindow(OperandOrResult slot, std::string axes) const;
  void addFollowing(OperandOrResult slot,
                    SmallVectorImpl<OpConfig> &configs) const;
  bool takesRowsOf(const NpuForm &form, StringRef axes) const;
  std::optional<OpConfig>
  getTransfer(OperandOrResult slot, NpuScatterAttr layout, bool isAlone) const;
  std::optional<OpConfig> getInPlace(NpuScatterAttr whole) const;
  std::optional<NpuScatterAttr> getWhole(unsigned part,
                                         NpuScatterAttr layout) const;
  std::optional<OpConfig> getView(OperandOrResult slot,
                                  NpuScatterAttr layout) const;
  std::optional<OpConfig> replace(const OpConfig &base, OperandOrResult slot,
                                  LayoutId layout) const;
  std::optional<Contraction> getContraction() const;
  std::optional<unsigned> findChannel(const OpConfig &config) const;
  bool resultLiesAs(const OpConfig &config, NpuMode mode) const;
  bool isCommandOfBytes(const OpConfig &config) const;
  bool isCommandsOfElements(const OpConfig &config) const;
  NpuScatterAttr getScatter(LayoutId layout) const {
    return dyn_cast_if_present<NpuScatterAttr>(costs.getSpelling(layout));
  }
  bool isMatrix(const OpConfig &config) const;
  bool sumsAlong(const OpConfig &config,
                 llvm::function_ref<char(NpuScatterAttr)> getAxis) const;
  bool sumsOverCores(const OpConfig &config) const;
  bool isCommandOfMatrices(const OpConfig &config,
                           const Contraction &contraction) const;
  void keepPreferred(SmallVectorImpl<OpConfig> &configs,
                     ArrayRef<OpConfig> known,
                     const std::optional<Contraction> &contraction) const;
  bool isDest(unsigned operand) const;
  bool isKept(unsigned init) const;
  bool isSameMemory(OperandOrResult a, OperandOrResult b) const;
  bool canCut(StringRef axes, NpuScatterAttr layout) const;
  bool isBroadcast(unsigned operand, const Contraction &contraction,
                   unsigned channel) const;

  const NodeClass &node;
  ConfigBuilder builder;
  CostModel &costs;
  NpuTargetInterface chip;
  mutable std::optional<int64_t> leastBytes;
};

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_NPU_NPUCANDIDATES_H
