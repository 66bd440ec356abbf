//===- ConversionPlan.cpp - What a conversion of layouts moves ------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Analysis/ConversionPlan.h"
#include "layout/Algebra/Pack.h"
#include "layout/Algebra/Proof.h"
#include "layout/Analysis/ImageLayouts.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::layout;

int64_t layout::getElementBytes(Type elementType) {
  if (auto complex = dyn_cast<ComplexType>(elementType))
    return 2 * getElementBytes(complex.getElementType());
  if (elementType.isIntOrFloat())
    return llvm::divideCeil(elementType.getIntOrFloatBitWidth(), 8);
  // Indices, pointers and the like.
  return 8;
}

SmallVector<int64_t> layout::assumeSizes(ArrayRef<int64_t> shape,
                                         TargetAttr target) {
  SmallVector<int64_t> sizes(shape);
  llvm::replace(sizes, ShapedType::kDynamic, target.getAssumedSize());
  return sizes;
}

int64_t layout::getStorageBytes(const LayoutMap &map,
                                ArrayRef<int64_t> staticShape,
                                int64_t elementBytes) {
  std::optional<int64_t> elements = getStorageSize(map, staticShape);
  return elements ? scaleCost(*elements, elementBytes) : kInfiniteCost - 1;
}

/// The coordinates of an image, slowest first; those of other spaces are in
/// that order.
static SmallVector<StringRef> getOrder(const LayoutMap &map) {
  SmallVector<StringRef> order;
  if (map.getSpace().starts_with("image"))
    order = {"z", "slice", "y", "x", "lane"};
  else
    for (const Coordinate &coordinate : map.getCoordinates())
      order.push_back(coordinate.name);
  return order;
}

/// The type stored in linear memory with the same digits next to each other:
/// digits are refined alike in every space.
static RankedTensorType linearize(RankedTensorType type) {
  FailureOr<LayoutMap> map = getLayoutMap(type);
  if (failed(map) || map->getSpace() == "buffer" || !map->getReplicas().empty())
    return type;
  SmallVector<Sized> parts;
  for (StringRef name : getOrder(*map))
    for (const Coordinate &coordinate : map->getCoordinates())
      if (coordinate.name == name)
        parts.push_back({coordinate.value, coordinate.extent});
  Sized offset = group(parts);
  return withLayout(withoutLayout(type),
                    LayoutMap::get(map->getRank(), "buffer",
                                   {{"offset", offset.value, offset.extent}}),
                    getPadding(type));
}

static SmallVector<int64_t> getSizes(RankedTensorType type, TargetAttr target) {
  SmallVector<int64_t> sizes(type.getShape());
  llvm::replace(sizes, ShapedType::kDynamic,
                target ? target.getAssumedSize() : 1);
  return sizes;
}

/// What the boxes and fills of a plan amount to.
static void countBytes(ConversionPlan &plan, RankedTensorType from,
                       RankedTensorType to, TargetAttr target) {
  SmallVector<int64_t> sizes = getSizes(to, target);
  int64_t elementBytes = getElementBytes(to.getElementType());
  bool moves = plan.kind == ConversionPlan::Kind::Relayout;
  if (plan.copy) {
    plan.bytesRead = scaleCost(elementBytes, plan.copy->getNumRead(sizes));
    plan.bytesWritten =
        scaleCost(elementBytes, plan.copy->getNumWritten(sizes));
    // Storage of no elements has no digits that tell its size.
    if (plan.copy->prefills && plan.copy->space.operands.empty())
      plan.bytesWritten =
          getStorageBytes(*getLayoutMap(to), sizes, elementBytes);
    plan.runBytes = scaleCost(
        elementBytes, moves ? plan.copy->getCommonRun(sizes) : int64_t(1));
  } else {
    plan.bytesRead = elementBytes;
    for (int64_t size : sizes)
      plan.bytesRead = scaleCost(plan.bytesRead, size);
    if (FailureOr<LayoutMap> map = getLayoutMap(to); succeeded(map))
      plan.bytesWritten = getStorageBytes(*map, sizes, elementBytes);
    plan.runBytes = elementBytes;
  }
  if (!target || !target.hasImages())
    return;
  // Kernels move whole pixels.
  LayoutMap source = *getLayoutMap(from), dest = *getLayoutMap(to);
  plan.reads = countConversionReads(source, dest, sizes, elementBytes,
                                    from.getContext());
  if (isImage(source) && moves)
    plan.bytesRead = getStorageBytes(source, sizes, elementBytes);
  if (isImage(dest))
    plan.bytesWritten = getStorageBytes(dest, sizes, elementBytes);
}

ConversionPlan ConversionPlan::getOfMove(RankedTensorType from,
                                         RankedTensorType to, TargetAttr target,
                                         AxesCache *cache) {
  ConversionPlan plan;
  if (target && target.hasUnits()) {
    SmallVector<int64_t> sizes = getSizes(to, target);
    int64_t elementBytes = getElementBytes(to.getElementType());
    plan.move = NpuMove::get(*getLayoutMap(from), *getLayoutMap(to), sizes,
                             elementBytes, target);
    if (!plan.move)
      plan.whyNot = "the DMA engine has no transfers for it";
    plan.bytesRead = plan.bytesWritten =
        plan.move ? plan.move->bytes : kInfiniteCost / 4;
    plan.runBytes = elementBytes;
    return plan;
  }
  FailureOr<DigitCopy> copy = planDigitCopy(
      linearize(from), linearize(to), cache ? nullptr : &plan.whyNot, cache);
  if (succeeded(copy))
    plan.copy = std::make_shared<DigitCopy>(std::move(*copy));
  countBytes(plan, from, to, target);
  return plan;
}

ConversionPlan ConversionPlan::getOfPadding(RankedTensorType from,
                                            RankedTensorType to,
                                            TargetAttr target) {
  ConversionPlan plan;
  plan.kind =
      *getLayoutMap(from) == *getLayoutMap(to) ? Kind::Same : Kind::View;
  TypedAttr wanted = getPadding(to);
  if (!wanted || wanted == getPadding(from) ||
      hasPadding(*getLayoutMap(to), to.getShape()) == Answer::No)
    return plan;
  std::optional<DigitCopy> fills = planPaddingFills(linearize(to));
  // Padding that is no box is written with the rest.
  if (!fills)
    return getOfMove(from, to, target);
  plan.kind = Kind::Padding;
  plan.copy = std::make_shared<DigitCopy>(std::move(*fills));
  countBytes(plan, from, to, target);
  return plan;
}

ConversionPlan ConversionPlan::get(RankedTensorType from, RankedTensorType to,
                                   TargetAttr target) {
  FailureOr<LayoutMap> source = getLayoutMap(from), dest = getLayoutMap(to);
  if (failed(source) || failed(dest))
    return ConversionPlan();
  if (*source == *dest ||
      equalOn(*source, *dest, from.getShape()) == Answer::Yes)
    return getOfPadding(from, to, target);
  return getOfMove(from, to, target);
}

bool layout::isOverwritable(Value value) {
  while (value.hasOneUse()) {
    Operation *op = value.getDefiningOp();
    if (!op || op->hasTrait<OpTrait::ConstantLike>())
      return false;
    auto view = dyn_cast<StorageViewOp>(op);
    if (!view)
      return true;
    value = view.getSource();
  }
  return false;
}

ConversionPlan ConversionPlan::get(ConvertOp convert, TargetAttr target) {
  RankedTensorType from = convert.getSource().getType();
  RankedTensorType to = convert.getResult().getType();
  ConversionPlan plan = get(from, to, target);
  if (plan.kind == Kind::Padding && !isOverwritable(convert.getSource()))
    return getOfMove(from, to, target);
  return plan;
}

void ConversionPlan::print(raw_ostream &os) const {
  if (isFree())
    os << "nothing moves";
  else if (move)
    os << move->transfers << (move->transfers == 1 ? " transfer" : " transfers")
       << " by DMA";
  else if (copy)
    copy->print(os);
  else
    os << "element by element: " << whyNot;
}

Cost ConversionPlan::getCost(TargetAttr target) const {
  if (isFree())
    return 0;
  if (target.hasUnits())
    return addCosts(
        addCosts(bytesRead, bytesWritten),
        scaleCost(target.getLaunchCost(), move ? move->transfers : int64_t(1)));
  if (target.hasImages())
    return addCosts(
        target.getLaunchCost(),
        addCosts(addCosts(bytesRead, bytesWritten), reads.getCost(target)));
  int64_t line = target.getLineBytes();
  int64_t run = std::min(std::max<int64_t>(runBytes, 1), line);
  // line * percent, so that nothing is rounded before the end.
  int64_t weight = 100 * line;
  if (line > 1)
    weight +=
        (target.getStridedPercent() - 100) * line * (line - run) / (line - 1);
  Cost bytes = addCosts(bytesRead, bytesWritten);
  if (bytes > (int64_t(1) << 62) / weight)
    return scaleCost(bytes / (100 * line), weight);
  return std::max<Cost>(1, bytes * weight / (100 * line));
}

StringRef layout::stringify(ConversionPlan::Kind kind) {
  switch (kind) {
  case ConversionPlan::Kind::Same:
    return "same";
  case ConversionPlan::Kind::View:
    return "view";
  case ConversionPlan::Kind::Padding:
    return "padding";
  case ConversionPlan::Kind::Relayout:
    return "relayout";
  }
  llvm_unreachable("all kinds are named");
}
