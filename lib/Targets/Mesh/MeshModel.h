//===- MeshModel.h - The model of devices that send messages ----*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   conversion   of blocks in the memory of each device what that costs the
//                model of the device; else the messages of its plan
//                (ReshardPlan.h), turn by turn, and what the busiest device
//                copies (MessageTables.h), in runs, as its model has it
//   op           what it costs the model of the device on the largest block
//
// Ops with loops are offered every way to split them: for each axis of the mesh
// one loop, or none. What is not split at all is a plain tensor, which every
// device has. Views and ops per dim follow their neighbors. With each split go
// the layouts of blocks that the model of the device offers for the op on its
// blocks (BlockOp.h), where all devices have as much.
//
// Laws:
//  * a loop is split that indexes dims alone and has as many iterations as
//    devices; one that reduces only where the results start from fresh storage,
//    so that no part has anything of its own;
//  * where two axes split one loop, the major one comes first on the mesh.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_MESH_MESHMODEL_H
#define LAYOUT_LIB_TARGETS_MESH_MESHMODEL_H

#include "layout/Analysis/ConfigBuilder.h"
#include "layout/Analysis/MessageTables.h"
#include <map>

namespace mlir {
namespace layout {

class BlockOp;

/// What an op costs more on tensors whose blocks a device cannot hold: more
/// than other ops and messages, and little enough that a million of it add up.
constexpr Cost kDoesNotFit = kInfiniteCost >> 20;

class MeshModel : public TargetModel {
public:
  explicit MeshModel(MeshTargetAttr target);
  ~MeshModel() override;

  bool canStore(const LayoutMap &map, RankedTensorType type) const override;
  int64_t getStoredBytes(const LayoutMap &map, ArrayRef<int64_t> sizes,
                         int64_t elementBytes) const override;
  std::optional<int64_t> getMemory() const override;
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
  void carry(const NodeClass &op, Slot slot, LayoutId layout, CostModel &costs,
             Candidates &known, AddConfig add) override;
  void describe(const OpConfig &config, raw_ostream &os) const override;

private:
  /// By dim, or loop, the axes that split it.
  using Splits = std::vector<std::vector<unsigned>>;

  Cost getTime(const ReshardPlan &plan, const MessageTables &tables) const;
  Cost getLinkCost(int64_t from, int64_t to, int64_t bytes) const;
  /// The number of the layout that splits a tensor of `type` so, with parts
  /// along `partial`; nothing where a device would have nothing.
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
                                      const PerDimRule &rule, Slot slot,
                                      LayoutId layout, CostModel &costs) const;
  /// Kept; null where there is none.
  const ReshardPlan *planMessages(RankedTensorType from, RankedTensorType to,
                                  Refusal refuse) const;
  ConversionPlan planOnDevice(RankedTensorType from, RankedTensorType to,
                              AxesCache *cache) const;
  std::optional<LayoutId> compose(LayoutId whole, LayoutId own,
                                  RankedTensorType type, RankedTensorType block,
                                  CostModel &costs);
  using AskDevice = function_ref<void(BlockOp &, AddConfig)>;
  /// Offers what the device does with the op where `split` is how its tensors
  /// are distributed and all devices have as much of them.
  void offerOnBlocks(const NodeClass &op, const OpLayouts &split,
                     CostModel &costs, AddConfig add, AskDevice ask);
  /// What one run of `op` costs a device.
  Cost priceBlock(Operation *op, const OpLayoutRule &rule,
                  const OpLayouts &layouts, CostModel &costs);

  MeshTargetAttr target;
  Mesh axes;
  // Prices are made once.
  mutable CostModel device;
  mutable llvm::DenseMap<std::pair<Type, Type>,
                         std::unique_ptr<const ReshardPlan>>
      plans;
  /// By op and the layouts of its whole tensors.
  std::map<std::pair<Operation *, std::vector<LayoutId>>,
           std::unique_ptr<BlockOp>>
      blocks;
};

} // namespace layout
} // namespace mlir

#endif // LAYOUT_LIB_TARGETS_MESH_MESHMODEL_H
