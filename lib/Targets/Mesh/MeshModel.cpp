//===- MeshModel.cpp - Cost model of a mesh of devices --------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MeshModel.h"
#include "BlockOp.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Interfaces/MeshLoops.h"
#include "layout/Targets/Registration.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::layout;

MeshModel::MeshModel(MeshTargetAttr target)
    : TargetModel(target.getDeviceTarget().getAssumedSize(),
                  target.getDeviceTarget().getAssumedTrips()),
      target(target), axes(target.getAxes()),
      device(cast<TargetInterface>(target.getDevice())) {}

MeshModel::~MeshModel() = default;

/// The cost of an impossible conversion, far below overflow.
static constexpr Cost kNoPlan = kInfiniteCost / 4;

bool MeshModel::canStore(const LayoutMap &map, RankedTensorType type) const {
  return map.getSpace() != kMeshSpace || type.hasStaticShape();
}

/// Returns the bytes on one device: those of the largest block, or of the whole
/// tensor if it is not on the mesh. Returns kNoPlan for blocks of dynamic size.
int64_t MeshModel::getStoredBytes(const LayoutMap &map, ArrayRef<int64_t> sizes,
                                  int64_t elementBytes) const {
  if (map.getSpace() != kMeshSpace || map.getCoordinates().empty())
    return TargetModel::getStoredBytes(map, sizes, elementBytes);
  std::optional<int64_t> positions =
      map.getCoordinates().back().extent.evaluate(sizes);
  return positions ? scaleCost(elementBytes, *positions) : kNoPlan;
}

std::optional<int64_t> MeshModel::getMemory() const {
  return target.getMemory();
}

/// Returns the bytes of the buffer in which a device packs the messages of a
/// conversion: those of the longest message, or 0 if there are none.
int64_t MeshModel::getBufferBytes(RankedTensorType from,
                                  RankedTensorType to) const {
  RankedTensorType source = placeOnMesh(from, axes),
                   target = placeOnMesh(to, axes);
  const ReshardPlan *plan = convertsBlocks(source, target)
                                ? nullptr
                                : planMessages(source, target, FailureReason());
  return plan ? scaleCost(plan->elementBytes, plan->getMostElements()) : 0;
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

/// Returns the cost of a message: the largest cost per message, plus `bytes`
/// times the largest cost per byte, of the mesh axes along which the two
/// devices differ. Returns 0 if they are the same device.
Cost MeshModel::getLinkCost(int64_t from, int64_t to, int64_t bytes) const {
  Cost ofByte = 0, ofMessage = 0;
  for (unsigned axis = axes.axes.size(); axis-- > 0;) {
    int64_t size = axes.axes[axis].size;
    if (from % size != to % size) {
      ofByte = std::max(ofByte, target.getByteCostAlong(axis));
      ofMessage = std::max(ofMessage, target.getMessageCostAlong(axis));
    }
    from /= size;
    to /= size;
  }
  return addCosts(ofMessage, scaleCost(ofByte, bytes));
}

/// Returns the time of a message plan: the sum over its steps, each of which
/// lasts as long as its longest message, plus the copies, packing and unpacking
/// of the busiest rank.
Cost MeshModel::getTime(const ReshardPlan &plan,
                        const MessageTables &tables) const {
  Cost moved = 0;
  for (int64_t rank = 0; rank < plan.numDevices; ++rank) {
    std::map<int64_t, int64_t> elementsByRun;
    tables.forEachMove(rank, [&](int64_t elements, int64_t run) {
      elementsByRun[run] += elements;
    });
    Cost ofRank = 0;
    for (auto [run, elements] : elementsByRun) {
      ConversionPlan copy;
      copy.bytesRead = copy.bytesWritten =
          scaleCost(plan.elementBytes, elements);
      copy.runBytes = scaleCost(plan.elementBytes, run);
      if (elements)
        ofRank = addCosts(ofRank, device.getModel().getCost(copy));
    }
    moved = std::max(moved, ofRank);
  }
  SmallVector<Cost> steps(Message::kMostSteps * plan.numRounds, 0);
  for (const Message &message : plan.messages) {
    Cost &step = steps[Message::kMostSteps * message.round + message.step];
    step = std::max(step, getLinkCost(message.from, message.to,
                                      scaleCost(plan.elementBytes,
                                                message.getNumElements())));
  }
  Cost time = moved;
  for (Cost step : steps)
    time = addCosts(time, step);
  return time;
}

/// Returns `layout`, which is on a mesh, with its blocks stored in layout
/// `local`, or row-major without one.
static Attribute withLocal(Attribute layout, LayoutAttrInterface local) {
  if (auto partial = dyn_cast<PartialAttr>(layout))
    return PartialAttr::get(layout.getContext(),
                            withLocal(partial.getLayout(), local),
                            partial.getReduction(), partial.getAxes());
  return MeshAttr::get(layout.getContext(), cast<MeshAttr>(layout).getMesh(),
                       local);
}

/// Returns `type` with row-major blocks if it is on a `#layout.mesh` and states
/// no padding. Other types remain.
static RankedTensorType getDistribution(RankedTensorType type) {
  if (!getMeshLayout(type) || isa<PaddedAttr>(type.getEncoding()))
    return type;
  return RankedTensorType::get(
      type.getShape(), type.getElementType(),
      withLocal(type.getEncoding(), LayoutAttrInterface()));
}

/// Plans the messages for row-major blocks, because messages do not depend on
/// the layouts of blocks in device memory. Conversions that differ only in
/// these share a cached plan.
const ReshardPlan *MeshModel::planMessages(RankedTensorType from,
                                           RankedTensorType to,
                                           FailureReason refuse) const {
  from = getDistribution(from);
  to = getDistribution(to);
  if (auto known = plans.find({from, to}); known != plans.end())
    return known->second.get();
  FailureOr<ReshardPlan> made = ReshardPlan::get(from, to, {}, refuse);
  if (failed(made))
    return nullptr;
  if (numKept > kMostKept) {
    plans.clear();
    numKept = 0;
  }
  numKept += made->messages.size() + made->copies.size();
  std::unique_ptr<const ReshardPlan> &plan = plans[{from, to}];
  plan = std::make_unique<const ReshardPlan>(std::move(*made));
  return plan.get();
}

ConversionPlan MeshModel::planMove(RankedTensorType from, RankedTensorType to,
                                   AxesCache *cache) const {
  from = placeOnMesh(from, axes);
  to = placeOnMesh(to, axes);
  if (convertsBlocks(from, to))
    return planOnDevice(getLocalType(from), getLocalType(to), cache);
  ConversionPlan plan;
  FailureReason refuse = cache ? FailureReason() : FailureReason(plan.whyNot);
  const ReshardPlan *messages = planMessages(from, to, refuse);
  FailureOr<MessageTables> tables =
      messages ? MessageTables::get(*messages, from, to, refuse)
               : FailureOr<MessageTables>();
  if (failed(tables)) {
    plan.bytesRead = plan.bytesWritten = kNoPlan / 2;
    plan.overhead = kNoPlan;
    return plan;
  }
  plan.messages = messages->messages.size();
  plan.bytesRead = plan.bytesWritten = messages->bytesSent;
  plan.runBytes = messages->elementBytes;
  plan.overhead = getTime(*messages, *tables);
  return plan;
}

/// Plans a conversion of the layout of blocks in device memory, which all
/// devices run in parallel without messages: the time is that of one device,
/// the bytes are those of all.
ConversionPlan MeshModel::planOnDevice(RankedTensorType from,
                                       RankedTensorType to,
                                       AxesCache *cache) const {
  RankedTensorType type = withoutLayout(from);
  LayoutId source = device.getLayoutOf(from), dest = device.getLayoutOf(to);
  if (device.haveIdenticalStorage(type, source, dest))
    return device.getPlan(type, source, dest);
  TargetModel &model = device.getModel();
  ConversionPlan plan = model.planMove(device.getStoredType(type, source),
                                       device.getStoredType(type, dest), cache);
  plan.overhead = model.getCost(plan);
  for (const MeshAxis &axis : axes.axes) {
    plan.bytesRead = scaleCost(plan.bytesRead, axis.size);
    plan.bytesWritten = scaleCost(plan.bytesWritten, axis.size);
  }
  return plan;
}

Cost MeshModel::getCost(const ConversionPlan &plan) const {
  return plan.overhead;
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// Returns the cost of an op that devices run row-major on part of their
/// blocks, because some devices have fewer indices than a block. Includes the
/// conversions of operands and results from and to the layouts of blocks.
Cost MeshModel::priceHeld(Operation *op, const LoopsRule &rule,
                          const OpLayouts &layouts, CostModel &costs) {
  Cost moved = 0;
  OpLayouts plain = layouts;
  auto makePlain = [&](Value value, LayoutId &layout, bool isResult,
                       bool isMoved) {
    if (layout == kAnyLayout)
      return;
    auto type = cast<RankedTensorType>(value.getType());
    LayoutId own = layout;
    if (!hasLocal(own, type, costs))
      return;
    layout = costs.getLayoutOf(
        getDistribution(placeOnMesh(costs.getStoredType(type, own), axes)));
    if (!isMoved)
      return;
    RankedTensorType block = getLocalType(costs.getStoredType(type, own));
    LayoutId local = device.getLayoutOf(block),
             rowMajor = device.getRowMajor(block.getRank());
    moved =
        addCosts(moved, device.getModeledConversionCost(
                            withoutLayout(block), isResult ? rowMajor : local,
                            isResult ? local : rowMajor));
  };
  for (auto [i, value] : llvm::enumerate(op->getOperands()))
    makePlain(value, plain.operands[i], false, rule.isRead[i]);
  for (auto [i, value] : llvm::enumerate(op->getResults()))
    makePlain(value, plain.results[i], true, true);
  return addCosts(moved, BlockOp(op, rule, plain, costs, device).getCost());
}

Cost MeshModel::priceBlock(Operation *op, const OpLayoutRule &rule,
                           const OpLayouts &layouts, CostModel &costs) {
  return computesWholeBlocks(
             op, rule,
             costs.getStoredTypes(op->getOperands(), layouts.operands),
             costs.getStoredTypes(op->getResults(), layouts.results))
             ? BlockOp(op, rule, layouts, costs, device).getCost()
             : priceHeld(op, std::get<LoopsRule>(rule), layouts, costs);
}

Cost MeshModel::getLoopsCost(Operation *op, const LoopsRule &rule,
                             const OpLayouts &layouts, CostModel &costs) {
  return priceBlock(op, rule, layouts, costs);
}

Cost MeshModel::getPerDimCost(Operation *op, const PerDimRule &rule,
                              const OpLayouts &layouts, CostModel &costs) {
  return priceBlock(op, rule, layouts, costs);
}

//===----------------------------------------------------------------------===//
// Configurations
//===----------------------------------------------------------------------===//

/// Raises the limits on the configurations of an op and the layouts of a
/// tensor: there are many splits, each with as many block configurations as on
/// a single device.
CandidateLimits MeshModel::getLimits(CandidateLimits limits) const {
  configsOnBlocks = limits.configsPerOp;
  return {llvm::SaturatingMultiply(limits.configsPerOp, 8u),
          llvm::SaturatingMultiply(limits.layoutsPerTensor, 16u)};
}

std::optional<LayoutId>
MeshModel::getLayout(const Splits &splits, RankedTensorType type,
                     CostModel &costs, ArrayRef<unsigned> partial,
                     std::optional<Reduction> reduction) const {
  MLIRContext *context = type.getContext();
  bool isSplit = false;
  Mesh mesh = axes;
  mesh.splits = splits;
  for (auto [split, size] : llvm::zip_equal(splits, type.getShape())) {
    isSplit |= !split.empty();
    if (!split.empty() &&
        (ShapedType::isDynamic(size) || size < axes.countParts(split)))
      return std::nullopt;
  }
  if (!mesh.check(FailureReason()))
    return std::nullopt;
  if (!isSplit && partial.empty())
    return costs.getRowMajor(type.getRank());
  auto layout = cast<LayoutAttrInterface>(
      Attribute(MeshAttr::get(context, mesh, LayoutAttrInterface())));
  if (partial.empty())
    return costs.intern(layout, type);
  SmallVector<StringAttr> names;
  for (unsigned axis : partial)
    names.push_back(StringAttr::get(context, axes.axes[axis].name));
  return costs.intern(cast<LayoutAttrInterface>(Attribute(PartialAttr::get(
                          context, layout, *reduction, names))),
                      type);
}

/// Returns the axes that split each dim of a tensor: those of the loop that
/// indexes it alone, or no axes.
static std::vector<std::vector<unsigned>>
project(ArrayRef<std::vector<unsigned>> loops, AffineMap map) {
  std::vector<std::vector<unsigned>> splits;
  for (AffineExpr expr : map.getResults()) {
    auto loop = dyn_cast<AffineDimExpr>(expr);
    splits.push_back(loop ? loops[loop.getPosition()]
                          : std::vector<unsigned>());
  }
  return splits;
}

std::optional<OpConfig> MeshModel::split(const NodeClass &op,
                                         const Splits &loops,
                                         CostModel &costs) const {
  const auto &rule = std::get<LoopsRule>(op.rule);
  auto dest = dyn_cast<DestinationStyleOpInterface>(op.op);
  ConfigBuilder builder(op, costs);
  auto getResultLayout = [&](unsigned r) -> std::optional<LayoutId> {
    AffineMap map = rule.resultMaps[r];
    SmallVector<unsigned> partial;
    for (auto [l, split] : llvm::enumerate(loops))
      if (!map.isFunctionOfDim(l))
        llvm::append_range(partial, split);
    llvm::sort(partial);
    std::optional<Reduction> combiner =
        r < rule.combiners.size() ? rule.combiners[r] : std::nullopt;
    // The initial value of a sum must count only once.
    if (!partial.empty() && (!combiner || !beginsFresh(op.op, r)))
      return std::nullopt;
    return getLayout(project(loops, map), builder.getType(true, r), costs,
                     partial, combiner);
  };
  std::optional<OpConfig> config =
      builder.assign([&](bool isResult, unsigned i) -> std::optional<LayoutId> {
        if (isResult)
          return getResultLayout(i);
        if (dest && dest.isDpsInit(&op.op->getOpOperand(i)))
          return getResultLayout(
              i - (op.op->getNumOperands() - op.op->getNumResults()));
        return getLayout(project(loops, rule.operandMaps[i]),
                         builder.getType(false, i), costs);
      });
  if (config)
    config->origin = OpConfig::Origin::Lanes;
  return config;
}

void MeshModel::seed(const NodeClass &op, CostModel &costs, Candidates &known,
                     AddConfig add) {
  const auto &rule = std::get<LoopsRule>(op.rule);
  auto isStatic = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return !tensor || tensor.hasStaticShape();
  };
  if (!llvm::all_of(op.op->getOperandTypes(), isStatic) ||
      !llvm::all_of(op.op->getResultTypes(), isStatic))
    return;
  SmallVector<unsigned> splittable, shared;
  for (auto [l, loop] : llvm::enumerate(rule.loops))
    if (canSplit(rule, l) && loop.size > 1)
      splittable.push_back(l);
  for (auto [axis, named] : llvm::enumerate(axes.axes))
    if (named.size > 1)
      shared.push_back(axis);
  // A choice is a mixed-radix number; digit 0 does not split along its axis.
  SmallVector<unsigned> choice(shared.size(), 0);
  auto next = [&] {
    for (unsigned &digit : choice) {
      if (++digit <= splittable.size())
        return true;
      digit = 0;
    }
    return false;
  };
  while (next()) {
    Splits loops(rule.loops.size());
    for (auto [axis, digit] : llvm::zip_equal(shared, choice))
      if (digit)
        loops[splittable[digit - 1]].push_back(axis);
    bool isBusy = true;
    for (auto [loop, split] : llvm::zip_equal(rule.loops, loops))
      isBusy &= split.empty() || loop.size >= axes.countParts(split);
    if (isBusy)
      add(split(op, loops, costs));
  }
  // Start from the configurations with row-major blocks.
  for (size_t i = 0, e = known.configs.size(); i < e; ++i)
    proposeOnBlocks(op, OpLayouts(known.configs[i].exact), costs, known, add,
                    [&](BlockOp &block, AddConfig give) {
                      device.getModel().seed(block.getNode(op), device,
                                             block.known, give);
                    });
}

/// Clears the ops on blocks that were created while candidates were collected,
/// because their originals may be erased before the next decision. Adds no
/// configurations.
void MeshModel::addStates(const Program &program, const CandidateLimits &limits,
                          CostModel &costs, std::vector<Candidates> &all) {
  blocks.clear();
}

/// Returns the axes that split each dim of a map on this mesh, or std::nullopt
/// if `#layout.mesh` cannot express it.
static std::optional<std::vector<std::vector<unsigned>>>
readSplits(const LayoutMap &map) {
  std::vector<SmallVector<std::pair<int64_t, unsigned>>> found(map.getRank());
  for (auto [axis, coordinate] :
       llvm::enumerate(map.getCoordinates().drop_back())) {
    if (coordinate.value.isZero())
      continue;
    const Digit *digit = coordinate.value.getSingleDigit();
    if (!digit || !digit->isDim())
      return std::nullopt;
    if (digit->dim < map.getRank())
      found[digit->dim].push_back({-digit->divisor, axis});
  }
  std::vector<std::vector<unsigned>> splits;
  for (auto &ofDim : found) {
    llvm::sort(ofDim); // the major ones first
    llvm::append_range(splits.emplace_back(), llvm::make_second_range(ofDim));
  }
  return splits;
}

/// Returns false if `op` is a reshape that would move data, because its operand
/// and result layouts store elements at different positions. Returns true for
/// other reshapes and all other ops.
static bool isView(const NodeClass &op, const OpLayouts &layouts,
                   CostModel &costs) {
  auto *view = std::get_if<ViewRule>(&op.rule);
  if (!view)
    return true;
  auto type = cast<RankedTensorType>(op.op->getResult(0).getType());
  LayoutId viewed = costs.intern(
      applyView(costs.getMap(layouts.operands[0]), view->toSource));
  return costs.getNormalForm(viewed, type) ==
         costs.getNormalForm(layouts.results[0], type);
}

std::optional<OpConfig> MeshModel::carryView(const NodeClass &op,
                                             const ViewRule &view,
                                             bool isResult, LayoutId layout,
                                             CostModel &costs) const {
  ConfigBuilder builder(op, costs);
  RankedTensorType type = builder.getType(!isResult, 0);
  if (!type.hasStaticShape())
    return std::nullopt;
  LayoutMap viewed =
      applyView(costs.getMap(layout), isResult ? view.toResult : view.toSource)
          .specialize(type.getShape());
  auto splits = readSplits(viewed);
  std::optional<LayoutId> other =
      splits ? getLayout(*splits, type, costs) : std::nullopt;
  if (!other || costs.getNormalForm(*other, type) !=
                    costs.getNormalForm(costs.intern(viewed), type))
    return std::nullopt;
  return builder.assign([&](bool ofResult, unsigned index) {
    bool isLikeResult = ofResult || index > 0;
    return isLikeResult == isResult ? std::optional(layout) : other;
  });
}

std::optional<OpConfig> MeshModel::carryPerDim(const NodeClass &op,
                                               const PerDimRule &rule,
                                               OperandOrResult slot,
                                               LayoutId layout,
                                               CostModel &costs) const {
  ConfigBuilder builder(op, costs);
  std::optional<Splits> known = readSplits(costs.getMap(layout));
  if (!known)
    return std::nullopt;
  unsigned rank = rule.tileSizeMustDivide.size();
  // Entries are indexed by the dims of the tensors that have all dims.
  Splits whole(rank);
  for (unsigned d = 0, next = 0; d < rank; ++d)
    if (known->size() == rank || !rule.dropped[d])
      whole[d] = (*known)[next++];
  for (unsigned d = 0; d < rank; ++d)
    if (rule.tileSizeMustDivide[d] && !whole[d].empty())
      return std::nullopt;
  return builder.assign([&](bool isResult, unsigned index) {
    RankedTensorType type = builder.getType(isResult, index);
    Splits splits;
    for (unsigned d = 0; d < rank; ++d)
      if (type.getRank() == rank || !rule.dropped[d])
        splits.push_back(whole[d]);
    return getLayout(splits, type, costs);
  });
}

//===----------------------------------------------------------------------===//
// Layouts in the memory of a device
//===----------------------------------------------------------------------===//

bool MeshModel::hasLocal(LayoutId layout, RankedTensorType type,
                         const CostModel &costs) const {
  if (layout == kAnyLayout)
    return false;
  RankedTensorType block = getLocalType(costs.getStoredType(type, layout));
  return !liesOnMesh(block) &&
         device.getRepresentative(device.getLayoutOf(block),
                                  withoutLayout(block)) !=
             device.getRowMajor(block.getRank());
}

/// Returns the distribution `whole` with blocks in the device's layout `own`,
/// or `own` itself if `whole` is not on a mesh. Returns std::nullopt if a mesh
/// cannot have such blocks. Returns `whole`, whose blocks are row-major, if
/// `own` is row-major or kAnyLayout, or if it stores `block` like row-major and
/// `wantsSame` does not ask for `own` exactly.
std::optional<LayoutId> MeshModel::compose(LayoutId whole, LayoutId own,
                                           RankedTensorType type,
                                           RankedTensorType block,
                                           bool wantsSame, CostModel &costs) {
  if (own == kAnyLayout)
    return whole;
  LayoutId rowMajor = device.getRowMajor(block.getRank());
  if (own == rowMajor ||
      (!wantsSame && device.getRepresentative(own, block) == rowMajor))
    return whole == kAnyLayout ? costs.getRowMajor(type.getRank()) : whole;
  if (whole == kAnyLayout || costs.getMap(whole).getSpace() != kMeshSpace)
    return costs.intern(LayoutMap(device.getMap(own)));
  auto local = cast<LayoutAttrInterface>(
      withLayout(block, device.getMap(own)).getEncoding());
  auto layout = cast<LayoutAttrInterface>(
      withLocal(costs.getStoredType(type, whole).getEncoding(), local));
  if (failed(layout.resolve(type.getShape(), type.getElementType(),
                            /*emitError=*/nullptr)))
    return std::nullopt;
  return costs.intern(layout, type);
}

void MeshModel::proposeOnBlocks(const NodeClass &op, const OpLayouts &split,
                                CostModel &costs, Candidates &whole,
                                AddConfig add, ForEachLocal forEachLocal) {
  ConfigBuilder builder(op, costs);
  bool wantsSame = std::holds_alternative<PerDimRule>(op.rule);
  std::vector<LayoutId> key(split.operands.begin(), split.operands.end());
  llvm::append_range(key, split.results);
  std::unique_ptr<BlockOp> &block = blocks[{op.op, std::move(key)}];
  if (!block) {
    if (!computesWholeBlocks(
            op.op, op.rule,
            costs.getStoredTypes(op.op->getOperands(), split.operands),
            costs.getStoredTypes(op.op->getResults(), split.results)))
      return;
    block = std::make_unique<BlockOp>(op.op, op.rule, split, costs, device);
  }
  forEachLocal(*block, [&](std::optional<OpConfig> local) {
    if (!local)
      return;
    if (block->known.merge(*local))
      return;
    if (block->known.configs.size() >= configsOnBlocks) {
      whole.isTruncated = true;
      return;
    }
    block->known.configs.push_back(*local);
    std::optional<OpConfig> config = builder.assign([&](bool isResult,
                                                        unsigned i) {
      OperandOrResult slot{isResult, i};
      return compose(getLayoutAt(split, slot), getLayoutAt(local->exact, slot),
                     builder.getType(isResult, i), block->getType(slot),
                     wantsSame, costs);
    });
    if (!config || !isView(op, config->exact, costs))
      return;
    // The op prefers layouts that the device's model proposed for lanes, even
    // if the split was propagated from a neighbor.
    bool isCarried = local->origin == OpConfig::Origin::Carried;
    config->origin =
        isCarried ? OpConfig::Origin::Carried : OpConfig::Origin::Mixed;
    config->meetsNeed = local->origin == OpConfig::Origin::Lanes;
    add(std::move(config));
  });
}

std::optional<OpConfig> MeshModel::carrySplit(const NodeClass &op,
                                              OperandOrResult slot,
                                              LayoutId layout,
                                              CostModel &costs) const {
  std::optional<OpConfig> config;
  if (auto *view = std::get_if<ViewRule>(&op.rule))
    config =
        carryView(op, *view, slot.isResult || slot.index > 0, layout, costs);
  else if (auto *perDim = std::get_if<PerDimRule>(&op.rule))
    config = carryPerDim(op, *perDim, slot, layout, costs);
  if (config)
    config->origin = OpConfig::Origin::Carried;
  return config;
}

void MeshModel::carry(const NodeClass &op, OperandOrResult slot,
                      LayoutId layout, CostModel &costs, Candidates &known,
                      AddConfig add) {
  bool isOnMesh = costs.getMap(layout).getSpace() == kMeshSpace;
  ConfigBuilder builder(op, costs);
  RankedTensorType type = builder.getType(slot.isResult, slot.index);
  if (!hasLocal(layout, type, costs)) {
    if (isOnMesh)
      add(carrySplit(op, slot, layout, costs));
    return;
  }
  RankedTensorType stored = costs.getStoredType(type, layout);
  LayoutId distribution = isOnMesh ? costs.getLayoutOf(getDistribution(stored))
                                   : costs.getRowMajor(type.getRank());
  std::optional<LayoutId> split = costs.getRepresentative(distribution, type);
  if (!split)
    return;
  // The split is propagated without the block layout, too, because no other
  // neighbor may have it. A split that a view already has is not.
  bool isKnownView = std::holds_alternative<ViewRule>(op.rule) &&
                     llvm::any_of(known.configs, [&](const OpConfig &config) {
                       return getLayoutAt(config.layouts, slot) == split;
                     });
  if (isOnMesh && !isKnownView)
    add(carrySplit(op, slot, *split, costs));
  RankedTensorType localType = getLocalType(stored);
  std::optional<LayoutId> own = device.getRepresentative(
      device.getLayoutOf(localType), withoutLayout(localType));
  if (!own)
    return;
  // The list of configurations grows in the loop.
  for (size_t i = 0; i < known.configs.size(); ++i) {
    const OpConfig &base = known.configs[i];
    auto haveLocal = [&](ArrayRef<LayoutId> layouts, bool areResults) {
      return llvm::any_of(llvm::enumerate(layouts), [&](auto other) {
        return other.value() != kAnyLayout &&
               hasLocal(other.value(),
                        builder.getType(areResults, other.index()), costs);
      });
    };
    if (getLayoutAt(base.layouts, slot) != split ||
        haveLocal(base.layouts.operands, false) ||
        haveLocal(base.layouts.results, true))
      continue;
    proposeOnBlocks(op, OpLayouts(base.exact), costs, known, add,
                    [&](BlockOp &block, AddConfig give) {
                      const NodeClass &node = block.getNode(op);
                      device.getModel().carry(node, slot, *own, device,
                                              block.known, give);
                    });
  }
}

void MeshModel::describe(const OpConfig &config, raw_ostream &os) const {
  os << (config.origin == OpConfig::Origin::Mixed
             ? "has blocks in the layouts that a device prefers"
             : "splits its loops over the devices");
}

void layout::registerMeshTarget(DialectRegistry &registry) {
  TargetModel::attachTo<MeshModel, MeshTargetAttr>(registry);
}
