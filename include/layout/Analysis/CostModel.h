//===- CostModel.h - Costs of ops and conversions ---------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Layouts as numbers, and what they cost on a target. The unit of cost is the
// time in which memory moves one byte.
//
//   conversion   ConversionPlan::getCost, and 1 for a View, so that of two
//                equal choices the one with fewer ops is taken
//   op           bytes of the tensors it reads and writes, padding included,
//                + points * ops * 100 / use / flops_per_byte
//                points: iterations, tiled loops rounded up to whole tiles
//                use: percent of the lanes that work; without a loop to put on
//                lanes the bytes count at strided_percent, the arithmetic at
//                scalar_percent
//
// A loop can be put on lanes if it is parallel, is the fastest digit of every
// result, and every operand that is read either does not depend on it or has it
// as its fastest digit too.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ANALYSIS_COSTMODEL_H
#define LAYOUT_ANALYSIS_COSTMODEL_H

#include "layout/Analysis/ConversionPlan.h"
#include "layout/Interfaces/OpLayoutRule.h"
#include "llvm/ADT/DenseMap.h"
#include <unordered_map>

namespace mlir {
namespace layout {

/// The number of a layout in a `CostModel`.
using LayoutId = unsigned;

/// For operands and results that are no ranked tensors, or in whatever layout
/// they come.
constexpr LayoutId kAnyLayout = ~0u;

/// Layouts of all tensors of an op, one entry per operand and result.
struct OpLayouts {
  SmallVector<LayoutId, 4> operands;
  SmallVector<LayoutId, 2> results;
  bool operator==(const OpLayouts &other) const {
    return operands == other.operands && results == other.results;
  }
};

class CostModel {
public:
  explicit CostModel(TargetAttr target) : target(target) {}

  TargetAttr getTarget() const { return target; }

  LayoutId intern(const LayoutMap &map);
  const LayoutMap &getMap(LayoutId layout) const { return maps[layout]; }
  LayoutId getRowMajor(unsigned rank);

  /// The layout that stands for all that store tensors of this type as `map`
  /// does: row-major if that is one of them, otherwise the first that was
  /// asked for. Nothing if the layout is not proven valid for the type.
  std::optional<LayoutId> getRepresentative(const LayoutMap &map,
                                            RankedTensorType type);

  Cost getConversionCost(RankedTensorType type, LayoutId from, LayoutId to);
  Cost getOpCost(Operation *op, const OpLayoutRule &rule,
                 const OpLayouts &layouts);

private:
  struct MapHash {
    size_t operator()(const LayoutMap &map) const { return hash_value(map); }
  };
  struct Storage {
    int64_t bytes;
    LayoutMap special; // on the assumed shape
    SmallVector<int64_t> shape;
  };
  using TypeLayout = std::pair<Type, LayoutId>;

  const Storage &getStorage(RankedTensorType type, LayoutId layout);
  Cost getLoopsCost(Operation *op, const OpLayoutRule &rule,
                    const OpLayouts &layouts);

  TargetAttr target;
  std::vector<LayoutMap> maps;
  std::unordered_map<LayoutMap, LayoutId, MapHash> ids;
  SmallVector<LayoutId> rowMajor;
  llvm::DenseMap<TypeLayout, std::optional<LayoutId>> representatives;
  // Normal forms on a shape -> representative.
  llvm::DenseMap<TypeLayout, LayoutId> normalForms;
  llvm::DenseMap<TypeLayout, std::unique_ptr<Storage>> storages;
  llvm::DenseMap<std::pair<Type, std::pair<LayoutId, LayoutId>>, Cost>
      conversions;
};

} // namespace layout
} // namespace mlir

#endif // LAYOUT_ANALYSIS_COSTMODEL_H
