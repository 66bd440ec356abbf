//===- MeshModel.cpp - The model of devices that send messages ------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MeshModel.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Interfaces/MeshLoops.h"
#include "layout/Targets/Registration.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::layout;

/// What cannot be converted, far from the end of the numbers.
static constexpr Cost kNoPlan = kInfiniteCost / 4;

bool MeshModel::canStore(const LayoutMap &map, RankedTensorType type) const {
  if (map.getSpace() != kMeshSpace)
    return true;
  return type.hasStaticShape() &&
         getStoredBytes(map, type.getShape(),
                        getElementBytes(type.getElementType())) <=
             target.getMemory();
}

/// What is not on the mesh is whole on each device.
int64_t MeshModel::getStoredBytes(const LayoutMap &map, ArrayRef<int64_t> sizes,
                                  int64_t elementBytes) const {
  if (map.getSpace() != kMeshSpace || map.getCoordinates().empty())
    return TargetModel::getStoredBytes(map, sizes, elementBytes);
  std::optional<int64_t> positions =
      map.getCoordinates().back().extent.evaluate(sizes);
  return positions ? scaleCost(elementBytes, *positions) : kNoPlan;
}

std::optional<int64_t> MeshModel::getMemory() const {
  if (target.getMemory() == MeshTargetAttr::kAnyMemory)
    return std::nullopt;
  return target.getMemory();
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

/// A message along several axes costs as along the most expensive of them.
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

/// Turns come after each other, and a turn ends with its last message. What
/// stays is read and written, and so is what is packed and unpacked.
Cost MeshModel::getTime(const ReshardPlan &plan) const {
  SmallVector<Cost> moved(plan.numDevices, 0),
      turns(Message::kMostTurns * plan.numRounds, 0);
  auto move = [&](int64_t device, int64_t elements) {
    moved[device] =
        addCosts(moved[device], scaleCost(2 * plan.elementBytes, elements));
  };
  for (const Message &copy : plan.copies)
    move(copy.from, copy.getNumElements());
  for (const Message &message : plan.messages) {
    int64_t elements = message.getNumElements();
    move(message.from, elements);
    move(message.to, elements);
    Cost &turn = turns[Message::kMostTurns * message.round + message.turn];
    turn = std::max(turn, getLinkCost(message.from, message.to,
                                      scaleCost(plan.elementBytes, elements)));
  }
  Cost time = moved.empty() ? 0 : *llvm::max_element(moved);
  for (Cost turn : turns)
    time = addCosts(time, turn);
  return time;
}

ConversionPlan MeshModel::planMove(RankedTensorType from, RankedTensorType to,
                                   AxesCache *cache) const {
  ConversionPlan plan;
  FailureOr<ReshardPlan> messages =
      ReshardPlan::get(placeOnMesh(from, axes), placeOnMesh(to, axes), {},
                       cache ? Refusal() : Refusal(plan.whyNot));
  if (failed(messages)) {
    plan.bytesRead = plan.bytesWritten = kNoPlan / 2;
    plan.overhead = kNoPlan;
    return plan;
  }
  plan.messages = messages->messages.size();
  plan.bytesRead = plan.bytesWritten = messages->bytesSent;
  plan.runBytes = messages->elementBytes;
  plan.overhead = getTime(*messages);
  return plan;
}

Cost MeshModel::getCost(const ConversionPlan &plan) const {
  return plan.overhead;
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

namespace {
/// An op on what one device has of its tensors, which stands nowhere.
class LocalOp {
public:
  LocalOp(Operation *op, TypeRange operands, TypeRange results) {
    OpBuilder builder(op->getContext());
    IRMapping values;
    for (auto [value, type] : llvm::zip_equal(op->getOperands(), operands)) {
      sources.push_back(UnrealizedConversionCastOp::create(
          builder, op->getLoc(), type, ValueRange()));
      values.map(value, sources.back()->getResult(0));
    }
    copy = op->clone(values);
    // One value may be two operands, of which a device has other blocks.
    for (auto [operand, source] :
         llvm::zip_equal(copy->getOpOperands(), sources))
      operand.set(source->getResult(0));
    for (auto [result, type] : llvm::zip_equal(copy->getResults(), results))
      result.setType(type);
  }

  Operation *get() { return copy.get(); }

private:
  SmallVector<OwningOpRef<UnrealizedConversionCastOp>> sources;
  OwningOpRef<Operation *> copy;
};
} // namespace

Cost MeshModel::priceBlock(Operation *op, const OpLayoutRule &rule,
                           const OpLayouts &layouts, CostModel &costs) {
  bool fits = true;
  OpLayouts local;
  auto localize = [&](ValueRange values, ArrayRef<LayoutId> layouts,
                      auto &ids) {
    SmallVector<Type> types;
    for (auto [value, layout] : llvm::zip_equal(values, layouts)) {
      types.push_back(value.getType());
      ids.push_back(kAnyLayout);
      if (layout == kAnyLayout)
        continue;
      auto whole = cast<RankedTensorType>(value.getType());
      RankedTensorType block = getLocalType(costs.getStoredType(whole, layout));
      ids.back() = device.getLayoutOf(block);
      types.back() = withoutLayout(block);
      fits &= costs.getStoredBytes(whole, layout) <= target.getMemory();
    }
    return types;
  };
  SmallVector<Type> operands =
      localize(op->getOperands(), layouts.operands, local.operands);
  SmallVector<Type> results =
      localize(op->getResults(), layouts.results, local.results);
  OpLayoutRule ofBlock = rule;
  if (auto *loops = std::get_if<LoopsRule>(&rule))
    ofBlock = withSizesOf(*loops, operands, results);
  LocalOp block(op, operands, results);
  Cost cost = device.getOpCost(block.get(), ofBlock, local);
  return fits ? cost : addCosts(cost, kDoesNotFit);
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

/// Ways to split are many, and each is one of its own.
CandidateLimits MeshModel::getLimits(CandidateLimits limits) const {
  return {llvm::SaturatingMultiply(limits.configsPerOp, 8u),
          llvm::SaturatingMultiply(limits.layoutsPerTensor, 16u)};
}

/// Into how many parts axes of the mesh split a dim or a loop.
static int64_t countParts(const Mesh &mesh, ArrayRef<unsigned> split) {
  int64_t parts = 1;
  for (unsigned axis : split)
    parts *= mesh.axes[axis].size;
  return parts;
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
        (ShapedType::isDynamic(size) || size < countParts(axes, split)))
      return std::nullopt;
  }
  if (!mesh.check(Refusal()))
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

/// By dim of a tensor, the axes that split its loops; of a dim that no loop
/// indexes alone, none.
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
    if (!partial.empty()) {
      // What parts start from counts once.
      Operation *init =
          dest ? dest.getDpsInitOperand(r)->get().getDefiningOp() : nullptr;
      if (!combiner || !init || init->hasTrait<OpTrait::ConstantLike>() ||
          !isFreeSource(init, getLayoutRule(init)))
        return std::nullopt;
    }
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
    if (loop.tileable && loop.size > 1)
      splittable.push_back(l);
  for (auto [axis, named] : llvm::enumerate(axes.axes))
    if (named.size > 1)
      shared.push_back(axis);
  // As the digits of a number: 0 splits nothing along an axis.
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
      isBusy &= split.empty() || loop.size >= countParts(axes, split);
    if (isBusy)
      add(split(op, loops, costs));
  }
}

/// What the coordinates of a map on this mesh take of each dim; nothing where
/// `#layout.mesh` cannot say it.
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
                                               Slot slot, LayoutId layout,
                                               CostModel &costs) const {
  ConfigBuilder builder(op, costs);
  std::optional<Splits> known = readSplits(costs.getMap(layout));
  if (!known)
    return std::nullopt;
  unsigned rank = rule.tileDivisors.size();
  // By dim of the tensors that have all of them.
  Splits whole(rank);
  for (unsigned d = 0, next = 0; d < rank; ++d)
    if (known->size() == rank || !rule.dropped[d])
      whole[d] = (*known)[next++];
  for (unsigned d = 0; d < rank; ++d)
    if (rule.tileDivisors[d] && !whole[d].empty())
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

void MeshModel::carry(const NodeClass &op, Slot slot, LayoutId layout,
                      CostModel &costs, Candidates &known, AddConfig add) {
  if (costs.getMap(layout).getSpace() != kMeshSpace)
    return;
  std::optional<OpConfig> config;
  if (auto *view = std::get_if<ViewRule>(&op.rule))
    config =
        carryView(op, *view, slot.isResult || slot.index > 0, layout, costs);
  else if (auto *perDim = std::get_if<PerDimRule>(&op.rule))
    config = carryPerDim(op, *perDim, slot, layout, costs);
  if (!config)
    return;
  config->origin = OpConfig::Origin::Carried;
  add(std::move(config));
}

void MeshModel::describe(const OpConfig &config, raw_ostream &os) const {
  os << "splits its loops over the devices";
}

void layout::registerMeshTarget(DialectRegistry &registry) {
  TargetModel::attachTo<MeshModel, MeshTargetAttr>(registry);
}
