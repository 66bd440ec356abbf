//===- OpenClModel.h - Cost model of devices with images --------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The costs of #layout.opencl. `reads` is the cost that ImageReads counts.
//
//   conversion   launch + bytes + reads
//   op           bytes + reads + points * ops / flops_per_byte
//                + launch, if the op has no reduction and no operand is stored
//                like the result: else it is fused into the operand's producer
//
// `points` covers whole pixels. Candidates have the channels of contractions on
// the lanes of pixels, or mix images and linear memory (ImageCandidates.h).
// Kernels iterate over elements and skip padding.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_OPENCL_OPENCLMODEL_H
#define LAYOUT_LIB_TARGETS_OPENCL_OPENCLMODEL_H

#include "layout/Analysis/Candidates.h"
#include "layout/Targets/OpenCL/ImageReads.h"

namespace mlir::layout {

class OpenClModel : public TargetModel {
public:
  explicit OpenClModel(OpenClTargetAttr target)
      : TargetModel(target.getAssumedSize(), target.getAssumedTrips()),
        target(target) {}

  bool canStore(const LayoutMap &map, RankedTensorType type) const override;
  bool usesPerElementAddressing() const override { return true; }
  std::optional<LayoutId> generalize(const LayoutMap &map,
                                     RankedTensorType type,
                                     CostModel &costs) const override;
  /// Returns true for images, false for buffers. Kernels compute the address of
  /// each element of an image by itself, so that a slice may begin inside of a
  /// pixel.
  bool allowsUnalignedSlices(const LayoutMap &map) const override;
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

protected:
  void countBytes(ConversionPlan &plan, RankedTensorType from,
                  RankedTensorType to) const override;

private:
  OpenClTargetAttr target;
  DenseMap<std::pair<RankedTensorType, LayoutId>, KernelItem> items;
};

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_OPENCL_OPENCLMODEL_H
