//===- NpuModel.h - Cost model of the cores of an NPU -----------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   conversion   the time of the method that TensorMovePlan.h chooses
//   op           the time of its commands (CommandTimes.h) and of its loads. The
//                cost of an op that is not in local memory is scaled to be above
//                all others
//
// NpuTimes.h has the unit of these times.
//
// NpuCandidates.h has the candidate configurations.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_NPU_NPUMODEL_H
#define LAYOUT_LIB_TARGETS_NPU_NPUMODEL_H

#include "layout/Analysis/Candidates.h"
#include "layout/Targets/NPU/NpuLayouts.h"
#include "layout/Targets/NPU/TensorMovePlan.h"

namespace mlir::layout {

/// The factor by which the cost of an op that cannot run on cores is scaled.
constexpr int64_t kNotOnCores = 1 << 20;

/// Returns how to move a tensor of `shape` between two maps, with the number of
/// commands and bytes. Returns std::nullopt if it cannot be moved, or if `chip`
/// is not a `#npu.target`.
std::optional<TensorMovePlan>
getNpuMove(const LayoutMap &from, const LayoutMap &to, ArrayRef<int64_t> shape,
           int64_t elementBytes, NpuTargetInterface chip,
           const NpuTimes &times);

class NpuModel : public TargetModel {
public:
  explicit NpuModel(NpuTargetAttr target)
      : TargetModel(target.getAssumedSize(), target.getAssumedTrips()),
        target(target), times(target) {}

  bool usesPerElementAddressing() const override { return true; }
  ConversionPlan planMove(RankedTensorType from, RankedTensorType to,
                          AxesCache *cache) const override;
  Cost getCost(const ConversionPlan &plan) const override;
  Cost getLoopsCost(Operation *op, const LoopsRule &rule,
                    const OpLayouts &layouts, CostModel &costs) override;
  Cost getPerDimCost(Operation *op, const PerDimRule &rule,
                     const OpLayouts &layouts, CostModel &costs) override;
  CandidateLimits getLimits(CandidateLimits limits) const override;
  void seed(const NodeClass &op, CostModel &costs, Candidates &known,
            AddConfig add) override;
  void carry(const NodeClass &op, OperandOrResult slot, LayoutId layout,
             CostModel &costs, Candidates &known, AddConfig add) override;
  void describe(const OpConfig &config, raw_ostream &os) const override;

private:
  npu::CommandTime getUnmatchedTime(const LoopsRule &rule,
                                    ArrayRef<int64_t> ranges,
                                    const ChipClock::Planes &planes) const;
  std::optional<npu::CommandTime>
  getCommandTime(Operation *op, const LoopsRule &rule, ArrayRef<int64_t> ranges,
                 const OpLayouts &layouts, const CostModel &costs);
  Cost getLoadCost(RankedTensorType type, const NpuLoad &load) const;

  NpuTargetAttr target;
  NpuTimes times;
};

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_NPU_NPUMODEL_H
