//===- MeshModel.h - Cost model of a mesh of devices ------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The costs of #layout.mesh_target:
//
//   conversion   if only the layout in device memory changes, the device's cost
//                for one block; else the steps of the message plan one after
//                another (ReshardPlan.h), plus the copies of the busiest device
//                (MessageTables.h), at the device's cost for segments of their
//                length
//   op           the device's cost for the largest block
//
// Candidates of ops with loops are all splits: for each axis of the mesh one
// loop, or none. A tensor that is not split is plain, and every device has it.
// Views and per-dim ops follow their neighbors. If devices compute whole blocks
// (computesWholeBlocks), each split is combined with the block layouts that the
// device's model proposes for the op on its blocks (BlockOp.h).
//
// Laws:
//  * a loop can be split if canSplit allows it and it has at least one
//    iteration per device; a reduction loop only if the results start from
//    fresh storage, so that no part has an initial value;
//  * if two axes split a loop, the major one comes first on the mesh.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_MESH_MESHMODEL_H
#define LAYOUT_LIB_TARGETS_MESH_MESHMODEL_H

#include "layout/Analysis/ConfigBuilder.h"
#include "layout/Targets/Mesh/MessageTables.h"
#include <map>

namespace mlir::layout {

class BlockOp;

class MeshModel : public TargetModel {
public:
  explicit MeshModel(MeshTargetAttr target);
  ~MeshModel() override;

  bool canStore(const LayoutMap &map, RankedTensorType type) const override;
  int64_t getStoredBytes(const LayoutMap &map, ArrayRef<int64_t> sizes,
                         int64_t elementBytes) const override;
  std::optional<int64_t> getMemory() const override;
  int64_t getBufferBytes(RankedTensorType from,
                         RankedTensorType to) const override;
  ConversionPlan planMove(RankedTensorType from, RankedTensorType to,
                          AxesCache *cache) const override;
  Cost getCost(const ConversionPlan &plan) const override;
  Cost getLoopsCost(Operation *op, const LoopsRule &rule,
                    const OpLayouts &layouts, CostModel &costs) override;
  Cost getPerDimCost(Operation *op, const PerDimRule &rule,
                     const OpLayouts &layouts, CostModel &costs) override;
  CandidateLimits getLimits(CandidateLimits limits) const override;
  void seed(const NodeClass &op, CostModel &costs, Candidates &known,
            AddConfig add) override;
  void addStates(const Program &program, const CandidateLimits &limits,
                 CostModel &costs, std::vector<Candidates> &all) override;
  void carry(const NodeClass &op, OperandOrResult slot, LayoutId layout,
             CostModel &costs, Candidates &known, AddConfig add) override;
  void describe(const OpConfig &config, raw_ostream &os) const override;

private:
  /// The numbers of the mesh axes that split each dim or loop, the major one
  /// first.
  using Splits = std::vector<std::vector<unsigned>>;

  Cost getTime(const ReshardPlan &plan, const MessageTables &tables) const;
  Cost getLinkCost(int64_t from, int64_t to, int64_t bytes) const;
  /// Returns the layout that splits the dims of a tensor of `type` by `splits`,
  /// and that has partial results of `reduction` along the axes `partial`.
  /// Returns std::nullopt if a split dim is dynamic, some device would have no
  /// elements, or Mesh::check refuses the splits.
  std::optional<LayoutId>
  getLayout(const Splits &splits, RankedTensorType type, CostModel &costs,
            ArrayRef<unsigned> partial = {},
            std::optional<Reduction> reduction = {}) const;
  std::optional<OpConfig> split(const NodeClass &op, const Splits &loops,
                                CostModel &costs) const;
  std::optional<OpConfig> carryView(const NodeClass &op, const ViewRule &view,
                                    bool isResult, LayoutId layout,
                                    CostModel &costs) const;
  std::optional<OpConfig> carryPerDim(const NodeClass &op,
                                      const PerDimRule &rule,
                                      OperandOrResult slot, LayoutId layout,
                                      CostModel &costs) const;
  /// Returns the configuration of a view or per-dim op in which the tensor in
  /// `slot` has `layout`, a split with row-major blocks. Returns std::nullopt
  /// for other ops, if the op cuts a split dim, or if no `#layout.mesh` splits
  /// the other tensors like this one.
  std::optional<OpConfig> carrySplit(const NodeClass &op, OperandOrResult slot,
                                     LayoutId layout, CostModel &costs) const;
  /// Returns the message plan of a conversion between two distributions, valid
  /// until the next call. If there is none, calls `refuse` with the reason and
  /// returns null.
  const ReshardPlan *planMessages(RankedTensorType from, RankedTensorType to,
                                  FailureReason refuse) const;
  ConversionPlan planOnDevice(RankedTensorType from, RankedTensorType to,
                              AxesCache *cache) const;
  std::optional<LayoutId> compose(LayoutId whole, LayoutId own,
                                  RankedTensorType type, RankedTensorType block,
                                  bool wantsSame, CostModel &costs);
  using ForEachLocal = function_ref<void(BlockOp &, AddConfig)>;
  /// Adds configurations of the op whose tensors are distributed as `split`,
  /// one for each configuration of the op on its blocks that `forEachLocal`
  /// passes on from the device's model. Adds none unless all devices compute
  /// whole blocks. After `configsOnBlocks` of them adds no more and marks
  /// `whole` as truncated.
  void proposeOnBlocks(const NodeClass &op, const OpLayouts &split,
                       CostModel &costs, Candidates &whole, AddConfig add,
                       ForEachLocal forEachLocal);
  /// Returns true if `layout` stores the block that a device has of a tensor of
  /// `type` in another order than row-major. The block of a tensor that is not
  /// on the mesh is the whole tensor.
  bool hasLocal(LayoutId layout, RankedTensorType type,
                const CostModel &costs) const;
  Cost priceHeld(Operation *op, const LoopsRule &rule, const OpLayouts &layouts,
                 CostModel &costs);
  /// Returns the cost of `op` on one device with the largest blocks. Includes
  /// conversions to row-major if some devices must compute on a part of their
  /// block.
  Cost priceBlock(Operation *op, const OpLayoutRule &rule,
                  const OpLayouts &layouts, CostModel &costs);

  MeshTargetAttr target;
  Mesh axes;
  /// The cost model of a device, which caches the costs of blocks.
  mutable CostModel device;
  /// The plans of planMessages, by the types of source and result. They are
  /// cleared when they have more than kMostKept messages and copies together,
  /// which numKept counts.
  static constexpr int64_t kMostKept = 1 << 20;
  mutable llvm::DenseMap<std::pair<Type, Type>,
                         std::unique_ptr<const ReshardPlan>>
      plans;
  mutable int64_t numKept = 0;
  /// The maximum number of configurations with block layouts, for each split of
  /// an op.
  mutable unsigned configsOnBlocks = CandidateLimits().configsPerOp;
  /// The BlockOp of each op on a mesh and the layouts of its tensors, kept
  /// while candidates are collected.
  std::map<std::pair<Operation *, std::vector<LayoutId>>,
           std::unique_ptr<BlockOp>>
      blocks;
};

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_MESH_MESHMODEL_H
