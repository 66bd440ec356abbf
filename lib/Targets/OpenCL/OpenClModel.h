//===- OpenClModel.h - The model of devices with images ---------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   conversion   the start of a kernel, the bytes, and what ImageReads counts
//   op           the bytes, what ImageReads counts and the arithmetic, whole
//                pixels of it; and of an op without summation the start of a
//                kernel where no operand comes as the result is stored: else it
//                is computed where the operand is
//
// Ops are offered the channels of contractions on the lanes of pixels, and
// mixtures of images and linear memory (ImageCandidates.h). Kernels go over
// elements, and see no padding.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_OPENCL_OPENCLMODEL_H
#define LAYOUT_LIB_TARGETS_OPENCL_OPENCLMODEL_H

#include "layout/Analysis/Candidates.h"
#include "layout/Targets/OpenCL/ImageReads.h"

namespace mlir {
namespace layout {

class OpenClModel : public TargetModel {
public:
  explicit OpenClModel(OpenClTargetAttr target)
      : TargetModel(target.getAssumedSize(), target.getAssumedTrips()),
        target(target) {}

  bool canStore(const LayoutMap &map, RankedTensorType type) const override;
  bool findsElements() const override { return true; }
  std::optional<LayoutId> generalize(const LayoutMap &map,
                                     RankedTensorType type,
                                     CostModel &costs) const override;
  /// Kernels find each element of an image by itself.
  bool cutsAnywhere(const LayoutMap &map) const override;
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

protected:
  void countBytes(ConversionPlan &plan, RankedTensorType from,
                  RankedTensorType to) const override;

private:
  OpenClTargetAttr target;
  DenseMap<std::pair<RankedTensorType, LayoutId>, KernelItem> items;
};

} // namespace layout
} // namespace mlir

#endif // LAYOUT_LIB_TARGETS_OPENCL_OPENCLMODEL_H
