//===- CpuModel.h - The model of linear memory ------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   conversion   (read + written) bytes, each at 100 % where runs fill a line
//                of memory and at `strided_percent` where they are single
//                bytes, linear in between; what is gathered has runs of one
//                element
//   op           bytes of the tensors it reads and writes, padding included,
//                + points * ops * 100 / use / flops_per_byte
//                points: iterations, tiled loops rounded up to whole tiles
//                use: percent of the elements of vectors that work; dims that
//                are one run in all tensors fill them together. Where a window
//                slides along the lanes, vectors begin anywhere, and those that
//                end in another line are one more load, of which results that
//                share it wait for half; what is under the window is read by
//                them, too. Where only a reduction can be on lanes, each result
//                ends with steps that combine them, and all counts at
//                strided_percent, half as much again where rows leave the first
//                cache before others read them again; without that either, the
//                bytes count at strided_percent and the arithmetic at
//                scalar_percent, the more the longer vectors are. Bytes that
//                are summed up row after row, and whose rows fill all
//                registers, in however many digits, count at strided_percent. A
//                reduction that has to be masked (see PaddingMasks.h) ends
//                where its dim does, at mask_percent; padding that a result
//                states and the body does not make is written like that of a
//                conversion
//
// Which loop goes on lanes is asked of the loops on stored digits that the
// lowering emits (StoredOp.h), and by the question that kernels ask.
//
// Contractions are offered tiles of the target's lanes for their channel loops,
// each op what padding holds where that saves masks (PaddingStates.h).
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_CPU_CPUMODEL_H
#define LAYOUT_LIB_TARGETS_CPU_CPUMODEL_H

#include "StaticCopyCost.h"
#include "layout/Analysis/Candidates.h"

namespace mlir {
namespace layout {

struct StoredOp;

class CpuModel : public TargetModel {
public:
  explicit CpuModel(CpuTargetAttr target)
      : TargetModel(target.getAssumedSize(), target.getAssumedTrips()),
        target(target.forVectors(
            CpuFigures().vectorBits,
            mlir::detail::getDefaultDiagnosticEmitFn(target.getContext()))) {}

  std::optional<ConversionPlan> countMove(RankedTensorType type, LayoutId from,
                                          LayoutId to,
                                          CostModel &costs) override;
  Cost getCost(const ConversionPlan &plan) const override;
  Cost getLoopsCost(Operation *op, const LoopsRule &rule,
                    const OpLayouts &layouts, CostModel &costs) override;
  void seed(const NodeClass &op, CostModel &costs, Candidates &known,
            AddConfig add) override;
  void carry(const NodeClass &op, Slot slot, LayoutId layout, CostModel &costs,
             Candidates &known, AddConfig add) override;
  void addStates(const Program &program, const CandidateLimits &limits,
                 CostModel &costs, std::vector<Candidates> &all) override;
  void describe(const OpConfig &config, raw_ostream &os) const override;

private:
  /// Adds `config`, unless a plain product that has lanes as it is would have
  /// them on another loop: its second factor would be read element by element,
  /// each row on other pages, which the price of its work does not say. With
  /// lanes on its tokens BERT takes 490 ms in place of 270 on AVX2.
  void addOnLanes(const NodeClass &op, CostModel &costs,
                  const Candidates &known, std::optional<OpConfig> config,
                  AddConfig add) const;

  Cost addLaneSums(Cost work, Operation *op, const LoopsRule &rule, int64_t run,
                   int64_t row) const;
  Cost getTensorBytesCost(
      const StoredOp &stored, Operation *op, const LoopsRule &rule,
      const OpLayouts &layouts, CostModel &costs, std::optional<unsigned> lane,
      llvm::function_ref<void(Cost &, bool slides, bool shares)> fillVectors);

  /// The elements of one vector of results, at most `lanes`.
  int64_t getVectorSize(Operation *op) const;

  /// Null where nothing is known of them.
  const StoredDigits *findDigits(RankedTensorType type, LayoutId layout,
                                 CostModel &costs);

  // Boxed, so that they stay where they are.
  llvm::DenseMap<std::pair<Type, LayoutId>, std::unique_ptr<const StoredDigits>>
      storedDigits;
  CpuTargetAttr target;
};

} // namespace layout
} // namespace mlir

#endif // LAYOUT_LIB_TARGETS_CPU_CPUMODEL_H
