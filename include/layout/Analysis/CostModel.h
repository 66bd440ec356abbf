//===- CostModel.h - Costs of ops and conversions ---------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What layouts cost on a target. The unit of cost is the time in which memory
// moves one byte.
//
//   conversion   ConversionPlan::getCost, and 1 for a View, so that of two
//                equal choices the one with fewer ops is taken; under
//                Objective::bytes the bytes read and written
//   op           bytes of the tensors it reads and writes, padding included,
//                + points * ops * 100 / use / flops_per_byte
//                points: iterations, tiled loops rounded up to whole tiles
//                use: percent of the lanes that work; without a loop to put on
//                lanes the bytes count at strided_percent, the arithmetic at
//                scalar_percent. A reduction that has to be masked (see
//                PaddingMasks.h) ends where its dim does, at mask_percent;
//                padding that a result states and the body does not make is
//                written like that of a conversion
//
// On a target with images: of a conversion the start of a kernel, the bytes and
// what KernelReads counts; of an op the bytes, what KernelReads counts and the
// arithmetic, whole pixels of it, and of an op without summation the start of a
// kernel where no operand comes as the result is stored: else it is computed
// where the operand is.
//
// On a target with units: of a conversion the start of its transfers and the
// bytes; of an op the words that all units walk, empty ones included, once for
// each index that is summed over, and what is loaded for it. An op that is not
// in local memory counts as many times as makes any other choice better.
//
// A loop can be put on lanes if it is parallel, is the fastest digit of every
// result, and every operand that is read either does not depend on it or has it
// as its fastest digit too.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ANALYSIS_COSTMODEL_H
#define LAYOUT_ANALYSIS_COSTMODEL_H

#include "layout/Analysis/AssignmentOptions.h"
#include "layout/Analysis/ConversionPlan.h"
#include "layout/Analysis/LayoutTable.h"
#include "layout/Interfaces/OpLayoutRule.h"

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

/// What an op that cannot run on units costs more than one that does.
constexpr int64_t kNotOnUnits = 1 << 20;

struct StoredDigits;

/// A table of layouts with prices.
class CostModel : public LayoutTable {
public:
  explicit CostModel(TargetAttr target, Objective objective = Objective::time)
      : target(target), objective(objective) {}

  TargetAttr getTarget() const { return target; }
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
  Cost getOpCost(Operation *op, const OpLayoutRule &rule,
                 const OpLayouts &layouts);

private:
  struct Storage {
    int64_t bytes;
    LayoutMap special; // on the assumed shape
    SmallVector<int64_t> shape;
  };
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
  /// Null where nothing is known of them.
  const StoredDigits *findDigits(RankedTensorType type, LayoutId layout);
  const Storage &getStorage(RankedTensorType type, LayoutId layout);
  Cost getLoopsCost(Operation *op, const OpLayoutRule &rule,
                    const OpLayouts &layouts);
  Cost getKernelCost(Operation *op, const OpLayoutRule &rule,
                     const OpLayouts &layouts);
  Cost getCopyCost(Operation *op, const OpLayoutRule &rule,
                   const OpLayouts &layouts);
  int64_t getIssuedWords(RankedTensorType type, LayoutId layout);
  Cost getUnitsCost(Operation *op, const OpLayoutRule &rule,
                    const OpLayouts &layouts);
  std::optional<Cost> getMoveCost(const LayoutMap &from, const LayoutMap &to,
                                  ArrayRef<int64_t> sizes,
                                  int64_t elementBytes);
  Cost getTransfersCost(Operation *op, const OpLayoutRule &rule,
                        const OpLayouts &layouts);
  bool isFusable(Operation *op, const OpLayoutRule &rule,
                 const OpLayouts &layouts);

  TargetAttr target;
  Objective objective;
  llvm::DenseMap<TypeLayout, std::unique_ptr<Storage>> storages;
  llvm::DenseMap<TypeLayout, bool> storable;
  AxesCache axes;
  // Boxed, so that they stay where they are, by a pointer that asks for no
  // definition.
  llvm::DenseMap<TypeLayout, std::shared_ptr<const StoredDigits>> storedDigits;
  // Of each the second is for sources that may be overwritten.
  llvm::DenseMap<std::pair<Type, std::pair<LayoutId, LayoutId>>, Cost>
      conversionCosts[2];
  // Boxed, so that they stay where they are.
  llvm::DenseMap<std::pair<Type, std::pair<LayoutId, LayoutId>>,
                 std::unique_ptr<ConversionPlan>>
      plans[2];
};

} // namespace layout
} // namespace mlir

#endif // LAYOUT_ANALYSIS_COSTMODEL_H
