//===- CostModel.h - Costs of ops and conversions ---------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What layouts cost on a target, and the plans behind it, each asked of the
// target's model (TargetModel.h) once. Cost 1 is the time in which
// memory moves one byte.
//
//   conversion   the cost of its plan, and 1 for a View, so that of two equal
//                choices the one with fewer ops is taken; under
//                Objective::bytes the bytes read and written
//   op           of ops with loops and of copies dim by dim what the model
//                says; of a view that moves elements its conversion
//
// These are prices of the model; a cost provider (CostProvider.h) may answer
// with others.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ANALYSIS_COSTMODEL_H
#define LAYOUT_ANALYSIS_COSTMODEL_H

#include "layout/Analysis/AssignmentOptions.h"
#include "layout/Analysis/CostProvider.h"
#include "layout/Analysis/TargetModel.h"

namespace mlir {
namespace layout {

/// Layouts of all tensors of an op, one entry per operand and result.
struct OpLayouts {
  SmallVector<LayoutId, 4> operands;
  SmallVector<LayoutId, 2> results;
  bool operator==(const OpLayouts &other) const {
    return operands == other.operands && results == other.results;
  }
};

/// A table of layouts with prices.
class CostModel : public LayoutTable {
public:
  /// `provider`, which outlives the model, is asked for prices under
  /// Objective::time.
  explicit CostModel(TargetInterface target,
                     Objective objective = Objective::time,
                     CostProvider *provider = nullptr)
      : model(TargetModel::get(target)), objective(objective),
        provider(objective == Objective::time ? provider : nullptr) {}

  TargetModel &getModel() const { return *model; }
  Objective getObjective() const { return objective; }

  /// Whether the target has storage for tensors of `type` in `layout`.
  bool isStorable(LayoutId layout, RankedTensorType type);

  /// Kept, as programs make the same conversion many times.
  /// `mayOverwrite`: nobody else needs the source, so that where only the
  /// state of padding changes only the padding is written.
  const ConversionPlan &getPlan(RankedTensorType type, LayoutId from,
                                LayoutId to, bool mayOverwrite = false);
  Cost getConversionCost(RankedTensorType type, LayoutId from, LayoutId to,
                         bool mayOverwrite = false);
  /// The same without the provider: what models add to prices of ops.
  Cost getModeledConversionCost(RankedTensorType type, LayoutId from,
                                LayoutId to, bool mayOverwrite = false);
  Cost getOpCost(Operation *op, const OpLayoutRule &rule,
                 const OpLayouts &layouts);

  /// Whether a conversion between the two touches no byte.
  bool storeAlike(RankedTensorType type, LayoutId from, LayoutId to) {
    return getNormalForm(from, type) == getNormalForm(to, type) &&
           !writesPadding(from, to);
  }

  /// Of a tensor of `type` stored as `layout`, padding included; dynamic sizes
  /// are those that are assumed.
  int64_t getStoredBytes(RankedTensorType type, LayoutId layout);

private:
  using TypeLayout = std::pair<Type, LayoutId>;

  /// Not kept: many are priced, few are made.
  ConversionPlan makePlan(RankedTensorType type, LayoutId from, LayoutId to,
                          bool mayOverwrite, AxesCache *cache = nullptr);
  /// Whether a conversion between layouts that store alike writes padding.
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
  // Of each the second is for sources that may be overwritten.
  llvm::DenseMap<std::pair<Type, std::pair<LayoutId, LayoutId>>, Cost>
      conversionCosts[2], providedCosts[2];
  // Boxed, so that they stay where they are.
  llvm::DenseMap<std::pair<Type, std::pair<LayoutId, LayoutId>>,
                 std::unique_ptr<ConversionPlan>>
      plans[2];
};

} // namespace layout
} // namespace mlir

#endif // LAYOUT_ANALYSIS_COSTMODEL_H
