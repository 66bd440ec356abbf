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
// that a further kind of machine is one more class and an attribute that makes
// it (TargetInterface.h). Those of this project are in lib/Targets.
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
#include "layout/Analysis/TargetInterface.h"

namespace mlir {
namespace layout {

class CostModel;
struct CandidateLimits;
struct Candidates;
struct OpConfig;
struct OpLayouts;

class TargetModel {
public:
  explicit TargetModel(int64_t assumedSize = 1, int64_t assumedTrips = 8)
      : assumedSize(assumedSize), assumedTrips(assumedTrips) {}

  /// The model of the machine that `target` describes; null is linear memory
  /// without figures: it has plans, and no prices.
  static std::unique_ptr<TargetModel> get(TargetInterface target);

  virtual ~TargetModel() = default;

  //===--------------------------------------------------------------------===//
  // What is not known
  //===--------------------------------------------------------------------===//

  /// The size that stands for a dynamic one in costs, at least 1.
  int64_t getAssumedSize() const { return assumedSize; }

  /// How often a loop whose bounds are not known is taken to run.
  int64_t getAssumedTrips() const { return assumedTrips; }

  /// `shape` with the assumed size for dynamic ones.
  SmallVector<int64_t> assumeSizes(ArrayRef<int64_t> shape) const;

  //===--------------------------------------------------------------------===//
  // Storage
  //===--------------------------------------------------------------------===//

  /// Whether there is storage for tensors of `type`, which is logical, by
  /// `map`.
  virtual bool canStore(const LayoutMap &map, RankedTensorType type) const {
    return true;
  }

  /// What one memory takes of a tensor of these sizes, in bytes.
  virtual int64_t getStoredBytes(const LayoutMap &map, ArrayRef<int64_t> sizes,
                                 int64_t elementBytes) const;

  /// The bytes of one memory, where all that is alive is to fit into it.
  virtual std::optional<int64_t> getMemory() const { return std::nullopt; }

  /// The bytes that one memory takes for a conversion, beside both tensors.
  virtual int64_t getBufferBytes(RankedTensorType from,
                                 RankedTensorType to) const {
    return 0;
  }

  /// Whether an op finds each element by its index, whatever its tensors have
  /// in common; else its loops run on stored digits, which its tensors share.
  virtual bool findsElements() const { return false; }

  /// A layout for every shape that stores tensors of `type` as `map` does,
  /// which may have the sizes of `type` in it: it can be carried further.
  /// Nothing for a layout that is not the target's own.
  virtual std::optional<LayoutId> generalize(const LayoutMap &map,
                                             RankedTensorType type,
                                             CostModel &costs) const {
    return std::nullopt;
  }

  /// Whether an op that copies dim by dim may cut `map` anywhere, not only
  /// between its tiles.
  virtual bool cutsAnywhere(const LayoutMap &map) const { return false; }

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

  /// The cost of a plan that is not free: its bytes, and what comes on top.
  virtual Cost getCost(const ConversionPlan &plan) const;

  //===--------------------------------------------------------------------===//
  // Ops
  //===--------------------------------------------------------------------===//

  /// Of one run of an op with loops.
  virtual Cost getLoopsCost(Operation *op, const LoopsRule &rule,
                            const OpLayouts &layouts, CostModel &costs) = 0;

  /// Of one run of an op that copies dim by dim: the bytes that it reads and
  /// writes.
  virtual Cost getPerDimCost(Operation *op, const PerDimRule &rule,
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
  virtual void seed(const NodeClass &op, CostModel &costs, Candidates &known,
                    AddConfig add) {}

  /// What the layout of one tensor of an op offers beside `known`.
  virtual void carry(const NodeClass &op, Slot slot, LayoutId layout,
                     CostModel &costs, Candidates &known, AddConfig add);

  /// What can be offered once the layouts of all ops are known.
  virtual void addStates(const Program &program, const CandidateLimits &limits,
                         CostModel &costs, std::vector<Candidates> &all) {}

  /// What a configuration of the target's own does, for remarks.
  virtual void describe(const OpConfig &config, raw_ostream &os) const = 0;

  /// Makes attributes of type AttrTy, of the layout dialect, targets: each has
  /// a `Model` that is made of it.
  template <typename Model, typename AttrTy>
  static void attachTo(DialectRegistry &registry);

protected:
  /// Fills in what the boxes and fills of a plan amount to.
  virtual void countBytes(ConversionPlan &plan, RankedTensorType from,
                          RankedTensorType to) const;

private:
  int64_t assumedSize, assumedTrips;
};

template <typename Model, typename AttrTy>
void TargetModel::attachTo(DialectRegistry &registry) {
  struct Creator : TargetInterface::ExternalModel<Creator, AttrTy> {
    std::unique_ptr<TargetModel> createModel(Attribute target) const {
      return std::make_unique<Model>(cast<AttrTy>(target));
    }
  };
  registry.addExtension(+[](MLIRContext *context, LayoutDialect *) {
    AttrTy::template attachInterface<Creator>(*context);
  });
}

} // namespace layout
} // namespace mlir

#endif // LAYOUT_ANALYSIS_TARGETMODEL_H
