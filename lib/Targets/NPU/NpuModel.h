//===- NpuModel.h - The model of the cores of an NPU ------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   conversion   the start of its transfers, and the bytes, on the way that
//                it takes (NpuMove.h)
//   op           by the clock of the engines (EngineTimes.h): the words that
//                all cores walk, empty ones included, once for each index that
//                is summed over, and what is loaded for it. An op that is not
//                in local memory counts as many times as makes any other
//                choice better
//
// Ops are offered one loop spread over the cores (NpuCandidates.h).
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_NPU_NPUMODEL_H
#define LAYOUT_LIB_TARGETS_NPU_NPUMODEL_H

#include "layout/Analysis/Candidates.h"
#include "layout/Targets/NPU/NpuLayouts.h"
#include "layout/Targets/NPU/NpuMove.h"

namespace mlir {
namespace layout {

/// What an op that cannot run on cores costs more than one that does.
constexpr int64_t kNotOnCores = 1 << 20;

/// The move of a tensor, with the transfers of a chip; nothing on other chips,
/// and where no way is found.
std::optional<NpuMove> getNpuMove(const LayoutMap &from, const LayoutMap &to,
                                  ArrayRef<int64_t> shape, int64_t elementBytes,
                                  NpuTargetAttr target);

class NpuModel : public TargetModel {
public:
  explicit NpuModel(NpuTargetAttr target)
      : TargetModel(target.getAssumedSize(), target.getAssumedTrips()),
        target(target), times(getNpuTimes(target)) {}

  bool findsElements() const override { return true; }
  ConversionPlan planMove(RankedTensorType from, RankedTensorType to,
                          AxesCache *cache) const override;
  Cost getLoopsCost(Operation *op, const LoopsRule &rule,
                    const OpLayouts &layouts, CostModel &costs) override;
  Cost getPerDimCost(Operation *op, const PerDimRule &rule,
                     const OpLayouts &layouts, CostModel &costs) override;
  CandidateLimits getLimits(CandidateLimits limits) const override;
  void seed(const NodeClass &op, CostModel &costs, Candidates &known,
            AddConfig add) override;
  void carry(const NodeClass &op, Slot slot, LayoutId layout, CostModel &costs,
             Candidates &known, AddConfig add) override;
  void describe(const OpConfig &config, raw_ostream &os) const override;

private:
  int64_t getIssuedWords(RankedTensorType type, LayoutId layout,
                         const CostModel &costs) const;
  Cost getLoadCost(RankedTensorType type, const NpuLoad &load) const;

  NpuTargetAttr target;
  EngineTimes times;
};

} // namespace layout
} // namespace mlir

#endif // LAYOUT_LIB_TARGETS_NPU_NPUMODEL_H
