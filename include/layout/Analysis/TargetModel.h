//===- TargetModel.h - What a decision asks of a target ---------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All that the assignment of layouts knows of one kind of machine: what it can
// store, how it carries out conversions, what ops cost, and which
// configurations it offers. Analysis asks these questions and no other ones, so
// that a further kind of machine is one more class.
//
//   kind of machine   class         storage
//   linear memory     CpuModel      buffers
//   OpenCL device     OpenClModel   buffers, images of four lanes a pixel
//   NPU               NpuModel      system memory, local memories of its units
//
// The defaults are those of linear memory: a conversion copies boxes of common
// digits, an op is offered what follows from the layout of one of its tensors.
//
// Laws:
//  * a price is that of the plan which is emitted;
//  * answers depend on nothing but the arguments.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ANALYSIS_TARGETMODEL_H
#define LAYOUT_ANALYSIS_TARGETMODEL_H

#include "layout/Analysis/ConversionPlan.h"
#include "layout/Analysis/LayoutTable.h"
#include "layout/Analysis/Program.h"

namespace mlir {
namespace layout {

class CostModel;
struct CandidateLimits;
struct Candidates;
struct OpConfig;
struct OpLayouts;

class TargetModel {
public:
  /// The model of the machine that `target` describes; null is linear memory
  /// without figures: it has plans, and no prices.
  static std::unique_ptr<TargetModel> get(TargetAttr target);

  explicit TargetModel(TargetAttr target) : target(target) {}
  virtual ~TargetModel() = default;

  TargetAttr getTarget() const { return target; }

  //===--------------------------------------------------------------------===//
  // Storage
  //===--------------------------------------------------------------------===//

  /// Whether there is storage for tensors of `type`, which is logical, by
  /// `map`.
  virtual bool canStore(const LayoutMap &map, RankedTensorType type) const {
    return true;
  }

  /// Whether an op finds each element by its index, whatever its tensors have
  /// in common; else its loops run on stored digits, which its tensors share.
  virtual bool findsElements() const { return false; }

  //===--------------------------------------------------------------------===//
  // Conversions
  //===--------------------------------------------------------------------===//

  /// Between types that are known to store differently. Who prices many has a
  /// cache, and no explanation of a gather.
  virtual ConversionPlan planMove(RankedTensorType from, RankedTensorType to,
                                  AxesCache *cache = nullptr) const;

  /// Between types that are known to store alike.
  ConversionPlan planPadding(RankedTensorType from, RankedTensorType to) const;

  /// The figures of `planMove` between layouts of `type` without the plan, for
  /// the thousands of conversions that are weighed and not made; nothing where
  /// a plan has to tell.
  virtual std::optional<ConversionPlan> countMove(RankedTensorType type,
                                                  LayoutId from, LayoutId to,
                                                  CostModel &costs) {
    return std::nullopt;
  }

  /// The cost of a plan that is not free.
  virtual Cost getCost(const ConversionPlan &plan) const = 0;

  //===--------------------------------------------------------------------===//
  // Ops
  //===--------------------------------------------------------------------===//

  /// Of one run of an op with loops.
  virtual Cost getLoopsCost(Operation *op, const OpLayoutRule &rule,
                            const OpLayouts &layouts, CostModel &costs) = 0;

  /// Of one run of an op that copies dim by dim: the bytes that it reads and
  /// writes.
  virtual Cost getPerDimCost(Operation *op, const OpLayoutRule &rule,
                             const OpLayouts &layouts, CostModel &costs);

  //===--------------------------------------------------------------------===//
  // Configurations
  //===--------------------------------------------------------------------===//

  using AddConfig = function_ref<void(std::optional<OpConfig>)>;

  /// How many configurations and layouts a program may have at most, where
  /// `limits` is asked for.
  virtual CandidateLimits getLimits(CandidateLimits limits) const;

  /// What an op with loops is offered by itself. `known`, which has its types
  /// as they are, grows with each that is added.
  virtual void seed(const UnitClass &op, CostModel &costs, Candidates &known,
                    AddConfig add) {}

  /// What the layout of one tensor of an op offers beside `known`.
  virtual void carry(const UnitClass &op, Slot slot, LayoutId layout,
                     CostModel &costs, Candidates &known, AddConfig add);

  /// What can be offered once the layouts of all ops are known.
  virtual void addStates(const Program &program, const CandidateLimits &limits,
                         CostModel &costs, std::vector<Candidates> &all) {}

  /// What a configuration of the target's own does, for remarks.
  virtual void describe(const OpConfig &config, raw_ostream &os) const = 0;

protected:
  /// Fills in what the boxes and fills of a plan amount to.
  virtual void countBytes(ConversionPlan &plan, RankedTensorType from,
                          RankedTensorType to) const;

  /// The sizes of `type`, dynamic ones as they are assumed.
  SmallVector<int64_t> getSizes(RankedTensorType type) const;

  TargetAttr target;
};

} // namespace layout
} // namespace mlir

#endif // LAYOUT_ANALYSIS_TARGETMODEL_H
