//===- TargetModel.h - Interface of targets to the assignment ---*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Describes one kind of machine to the assignment of layouts: the layouts it
// can store, its conversions, the costs of ops, and the candidate
// configurations. Analysis depends on targets only through this class, so a new
// kind of machine is a subclass and an attribute that creates it
// (TargetInterface.h). The targets of this project are in lib/Targets.
//
// The defaults model linear memory: a conversion copies boxes of common digits,
// and the candidates of an op follow from the layout of one of its tensors.
//
// Laws:
//  * a price is computed from the plan that is emitted;
//  * results depend on the arguments only.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ANALYSIS_TARGETMODEL_H
#define LAYOUT_ANALYSIS_TARGETMODEL_H

#include "layout/Analysis/ConversionPlan.h"
#include "layout/Analysis/LayoutTable.h"
#include "layout/Analysis/Program.h"
#include "layout/Analysis/TargetInterface.h"

namespace mlir::layout {

class CostModel;
struct CandidateLimits;
struct Candidates;
struct OpConfig;
struct OpLayouts;

class TargetModel {
public:
  explicit TargetModel(int64_t assumedSize = 1, int64_t assumedTrips = 8)
      : assumedSize(assumedSize), assumedTrips(assumedTrips) {}

  /// Creates the model of the machine that `target` describes. For a null
  /// target, creates a model of linear memory that plans conversions but has no
  /// prices.
  static std::unique_ptr<TargetModel> get(TargetInterface target);

  virtual ~TargetModel() = default;

  //===--------------------------------------------------------------------===//
  // Assumptions
  //===--------------------------------------------------------------------===//

  /// Returns the size that is assumed for dynamic sizes in costs, at least 1.
  int64_t getAssumedSize() const { return assumedSize; }

  /// Returns the trip count that is assumed for loops with unknown bounds.
  int64_t getAssumedTrips() const { return assumedTrips; }

  /// Returns `shape` with the assumed size in place of dynamic sizes.
  SmallVector<int64_t> assumeSizes(ArrayRef<int64_t> shape) const;

  //===--------------------------------------------------------------------===//
  // Storage
  //===--------------------------------------------------------------------===//

  /// Returns true if tensors of the logical type `type` can be stored by `map`.
  virtual bool canStore(const LayoutMap &map, RankedTensorType type) const {
    return true;
  }

  /// Returns the bytes that a tensor of the given `sizes` in layout `map`
  /// occupies in one memory, for example that of one device of a mesh.
  virtual int64_t getStoredBytes(const LayoutMap &map, ArrayRef<int64_t> sizes,
                                 int64_t elementBytes) const;

  /// Returns the capacity of one memory in bytes, INT64_MAX if peak memory is
  /// measured but not limited, or std::nullopt if it is neither.
  virtual std::optional<int64_t> getMemory() const { return std::nullopt; }

  /// Returns the scratch bytes of a conversion in one memory, excluding its
  /// source and destination.
  virtual int64_t getBufferBytes(RankedTensorType from,
                                 RankedTensorType to) const {
    return 0;
  }

  /// Returns true if kernels compute one address per element, so that operands
  /// may have unrelated layouts. Otherwise an op iterates over digits of its
  /// indices, into which the layouts of all of its operands must split them.
  virtual bool usesPerElementAddressing() const { return false; }

  /// Returns a layout that stores tensors of `type` as `map` does, and is valid
  /// for every shape, so that it can be propagated to other tensors. `map` may
  /// depend on the sizes of `type`. Returns std::nullopt if there is none, and
  /// in linear memory, where `map` is propagated itself.
  virtual std::optional<LayoutId> generalize(const LayoutMap &map,
                                             RankedTensorType type,
                                             CostModel &costs) const {
    return std::nullopt;
  }

  /// Returns true if an op that copies dim by dim may slice a tensor stored by
  /// `map` at any index, not only between its tiles.
  virtual bool allowsUnalignedSlices(const LayoutMap &map) const {
    return false;
  }

  //===--------------------------------------------------------------------===//
  // Conversions
  //===--------------------------------------------------------------------===//

  /// Plans a conversion between types whose storage is known to differ. With a
  /// `cache`, many plans are computed faster, but may not state why elements
  /// are gathered one by one (`whyNot`).
  virtual ConversionPlan planMove(RankedTensorType from, RankedTensorType to,
                                  AxesCache *cache = nullptr) const;

  /// Plans a conversion between types that store all elements at the same
  /// positions, so that at most padding is written. If the padding is not a
  /// union of boxes, plans a copy of all elements instead.
  ConversionPlan planPadding(RankedTensorType from, RankedTensorType to) const;

  /// Returns the cost of a plan that is not a view. The default is the sum of
  /// the bytes read, the bytes written and the overhead of the plan.
  virtual Cost getCost(const ConversionPlan &plan) const;

  //===--------------------------------------------------------------------===//
  // Ops
  //===--------------------------------------------------------------------===//

  /// Returns the cost of one run of an op with loops.
  virtual Cost getLoopsCost(Operation *op, const LoopsRule &rule,
                            const OpLayouts &layouts, CostModel &costs) = 0;

  /// Returns the cost of one run of an op that copies dim by dim. The default
  /// is the number of bytes read and written.
  virtual Cost getPerDimCost(Operation *op, const PerDimRule &rule,
                             const OpLayouts &layouts, CostModel &costs);

  //===--------------------------------------------------------------------===//
  // Configurations
  //===--------------------------------------------------------------------===//

  using AddConfig = function_ref<void(std::optional<OpConfig>)>;

  /// Returns the limits on candidates that the target uses if `limits` are
  /// requested.
  virtual CandidateLimits getLimits(CandidateLimits limits) const;

  /// Adds the target's candidates of an op with loops by calling `add`. `known`
  /// holds the first configuration, that of the given types or row-major, and
  /// those that were added so far.
  virtual void seed(const NodeClass &op, CostModel &costs, Candidates &known,
                    AddConfig add) {}

  /// Adds, by calling `add`, the configurations that follow from the layout of
  /// the tensor at `slot` of an op. `known` holds the configurations that the
  /// op has so far.
  virtual void carry(const NodeClass &op, OperandOrResult slot, LayoutId layout,
                     CostModel &costs, Candidates &known, AddConfig add);

  /// Adds candidates that depend on those of other ops, e.g. layouts with known
  /// padding. `all` holds the candidates of each node class, to which all other
  /// candidates were added before. The default adds none.
  virtual void addStates(const Program &program, const CandidateLimits &limits,
                         CostModel &costs, std::vector<Candidates> &all) {}

  /// Prints what a configuration of the target does, for remarks.
  virtual void describe(const OpConfig &config, raw_ostream &os) const = 0;

  /// Makes the attribute AttrTy of the layout dialect a target with the model
  /// `Model`, which is constructed from the attribute.
  template <typename Model, typename AttrTy>
  static void attachTo(DialectRegistry &registry);

protected:
  /// Sets the bytes that a plan reads and writes, and its run length, from the
  /// boxes that it copies and fills. For a plan without boxes, counts all
  /// elements, each as one run.
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

} // namespace mlir::layout

#endif // LAYOUT_ANALYSIS_TARGETMODEL_H
