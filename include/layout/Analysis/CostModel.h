//===- CostModel.h - Costs of ops and conversions ---------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Computes and caches the costs of layouts on a target, and the plans they are
// derived from, by the target model (TargetModel.h). A cost of 1 is the time in
// which memory moves one byte.
//
//   conversion   the cost of its plan, and 1 for a View, so that among equal
//                choices the one with fewer ops is chosen; under
//                Objective::bytes the bytes read and written
//   op           the model's cost of ops with loops and of dim-by-dim copies; a
//                reshape whose layouts do not make it a view costs as much as
//                a conversion
//
// A cost provider (CostProvider.h) can replace these prices.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ANALYSIS_COSTMODEL_H
#define LAYOUT_ANALYSIS_COSTMODEL_H

#include "layout/Analysis/AssignmentOptions.h"
#include "layout/Analysis/CostProvider.h"
#include "layout/Analysis/TargetModel.h"

namespace mlir::layout {

/// The layouts of all tensors of an op, one per operand and result.
struct OpLayouts {
  SmallVector<LayoutId, 4> operands;
  SmallVector<LayoutId, 2> results;
  bool operator==(const OpLayouts &other) const {
    return operands == other.operands && results == other.results;
  }
};

/// A layout table that also computes and caches the plans and costs of
/// conversions, and the costs of ops, on a target.
class CostModel : public LayoutTable {
public:
  /// Creates a cost model with prices from `provider`, which must outlive the
  /// model, or from the target model if it is null. Objective::bytes ignores
  /// the provider.
  explicit CostModel(TargetInterface target,
                     Objective objective = Objective::time,
                     CostProvider *provider = nullptr)
      : model(TargetModel::get(target)), objective(objective),
        provider(objective == Objective::time ? provider : nullptr) {}

  TargetModel &getModel() const { return *model; }
  Objective getObjective() const { return objective; }

  /// Returns true if the target can store tensors of `type` in `layout`.
  bool isStorable(LayoutId layout, RankedTensorType type);

  /// Returns the cached plan of a conversion. `mayOverwrite` states that the
  /// conversion may overwrite its source (isOverwritable). Without it, a
  /// conversion that only changes the padding value copies all elements. With
  /// it, only padding is written, if the padding is a union of boxes.
  const ConversionPlan &getPlan(RankedTensorType type, LayoutId from,
                                LayoutId to, bool mayOverwrite = false);
  Cost getConversionCost(RankedTensorType type, LayoutId from, LayoutId to,
                         bool mayOverwrite = false);
  /// Returns the cost of a conversion under the target's model, without the
  /// provider. Models add it to the costs of ops that convert or pad tensors.
  Cost getModeledConversionCost(RankedTensorType type, LayoutId from,
                                LayoutId to, bool mayOverwrite = false);
  Cost getOpCost(Operation *op, const OpLayoutRule &rule,
                 const OpLayouts &layouts);

  /// Returns true if a conversion between the two layouts is known to touch no
  /// byte.
  bool haveIdenticalStorage(RankedTensorType type, LayoutId from, LayoutId to) {
    return getNormalForm(from, type) == getNormalForm(to, type) &&
           !writesPadding(from, to);
  }

  /// Returns the bytes of a tensor of `type` stored as `layout`, padding
  /// included. Uses the assumed size for dynamic sizes.
  int64_t getStoredBytes(RankedTensorType type, LayoutId layout);

private:
  using TypeLayout = std::pair<Type, LayoutId>;

  /// Computes a plan without caching it, because most conversions are only
  /// priced and never inserted.
  ConversionPlan makePlan(RankedTensorType type, LayoutId from, LayoutId to,
                          bool mayOverwrite, AxesCache *cache = nullptr);
  /// Returns true if a conversion between layouts with identical storage writes
  /// padding, because `to` states a padding value and `from` states none or
  /// another one.
  bool writesPadding(LayoutId from, LayoutId to) const {
    TypedAttr wanted = getPadding(to);
    return wanted && wanted != getPadding(from);
  }
  Cost price(const ConversionPlan &plan) const;
  Cost provide(Operation *op, const OpLayouts &layouts, Cost modeled);

  std::unique_ptr<TargetModel> model;
  Objective objective;
  CostProvider *provider;
  llvm::DenseMap<TypeLayout, int64_t> storedBytes;
  llvm::DenseMap<TypeLayout, bool> storable;
  AxesCache axes;
  // The second element of each array is for sources that may be overwritten.
  llvm::DenseMap<std::pair<Type, std::pair<LayoutId, LayoutId>>, Cost>
      conversionCosts[2], providedCosts[2];
  // Allocated separately, so that references stay valid.
  llvm::DenseMap<std::pair<Type, std::pair<LayoutId, LayoutId>>,
                 std::unique_ptr<ConversionPlan>>
      plans[2];
};

} // namespace mlir::layout

#endif // LAYOUT_ANALYSIS_COSTMODEL_H
