//===- MeshModel.h - The model of devices that send messages ----*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   conversion   where only the layout in the memory of devices changes, what
//                the model of the device charges for one block; otherwise the
//                messages of its plan (ReshardPlan.h), turn by turn, and what
//                the busiest device copies (MessageTables.h), at what the model
//                of the device charges for runs of that length
//   op           what the model of the device charges for the largest block
//
// Ops with loops are offered every way to split them: for each axis of the mesh
// one loop, or none. What is not split at all is a plain tensor, which every
// device has. Views and ops per dim follow their neighbors. With each split go
// the layouts of blocks that the model of the device offers for the op on its
// blocks (BlockOp.h), where it computes all of them (computesWholeBlocks).
//
// Laws:
//  * a loop is split that may be (canSplit) and has as many iterations as
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
  /// What a split without `local` of one tensor of a view, or of an op per dim,
  /// offers.
  std::optional<OpConfig> carrySplit(const NodeClass &op, Slot slot,
                                     LayoutId layout, CostModel &costs) const;
  /// Null where there is none; it stays until the next question.
  const ReshardPlan *planMessages(RankedTensorType from, RankedTensorType to,
                                  Refusal refuse) const;
  ConversionPlan planOnDevice(RankedTensorType from, RankedTensorType to,
                              AxesCache *cache) const;
  std::optional<LayoutId> compose(LayoutId whole, LayoutId own,
                                  RankedTensorType type, RankedTensorType block,
                                  bool wantsSame, CostModel &costs);
  using AskDevice = function_ref<void(BlockOp &, AddConfig)>;
  /// Offers what the device does with the op where `split` is how its tensors
  /// are distributed and all devices have as much of them. `whole` is told
  /// where the device offers more than is taken.
  void offerOnBlocks(const NodeClass &op, const OpLayouts &split,
                     CostModel &costs, Candidates &whole, AddConfig add,
                     AskDevice ask);
  /// Whether devices have their blocks in another order than row-major.
  bool hasLocal(LayoutId layout, RankedTensorType type,
                const CostModel &costs) const;
  Cost priceHeld(Operation *op, const LoopsRule &rule, const OpLayouts &layouts,
                 CostModel &costs);
  /// What one run of `op` costs a device.
  Cost priceBlock(Operation *op, const OpLayoutRule &rule,
                  const OpLayouts &layouts, CostModel &costs);

  MeshTargetAttr target;
  Mesh axes;
  /// Keeps the prices of blocks.
  mutable CostModel device;
  /// Plans that were made, and how many messages and copies they have: above a
  /// limit all are made anew.
  static constexpr int64_t kMostKept = 1 << 20;
  mutable llvm::DenseMap<std::pair<Type, Type>,
                         std::unique_ptr<const ReshardPlan>>
      plans;
  mutable int64_t numKept = 0;
  /// How many configurations a decision asks for, which a device may have of
  /// each split.
  mutable unsigned configsOnBlocks = CandidateLimits().configsPerOp;
  /// By op and the layouts of its whole tensors, in one collection of
  /// candidates.
  std::map<std::pair<Operation *, std::vector<LayoutId>>,
           std::unique_ptr<BlockOp>>
      blocks;
};

} // namespace layout
} // namespace mlir

#endif // LAYOUT_LIB_TARGETS_MESH_MESHMODEL_H
