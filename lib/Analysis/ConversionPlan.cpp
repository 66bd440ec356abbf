//===- ConversionPlan.cpp - Plan of a layout conversion -------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Analysis/ConversionPlan.h"
#include "layout/Algebra/Pack.h"
#include "layout/Algebra/Proof.h"
#include "layout/Analysis/TargetModel.h"
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

int64_t layout::getStorageBytes(const LayoutMap &map,
                                ArrayRef<int64_t> staticShape,
                                int64_t elementBytes) {
  std::optional<int64_t> elements = getStorageSize(map, staticShape);
  return elements ? scaleCost(*elements, elementBytes) : kInfiniteCost - 1;
}

ConversionPlan ConversionPlan::get(RankedTensorType from, RankedTensorType to,
                                   TargetInterface target) {
  assert(from.getShape() == to.getShape() &&
         from.getElementType() == to.getElementType() &&
         "a conversion keeps the logical tensor");
  FailureOr<LayoutMap> source = getLayoutMap(from), dest = getLayoutMap(to);
  if (failed(source) || failed(dest))
    return ConversionPlan();
  if (*source == *dest ||
      equalOn(*source, *dest, from.getShape()) == ProofResult::Proved)
    return TargetModel::get(target)->planPadding(from, to);
  return getOfMove(from, to, target);
}

ConversionPlan ConversionPlan::getOfMove(RankedTensorType from,
                                         RankedTensorType to,
                                         TargetInterface target) {
  return TargetModel::get(target)->planMove(from, to);
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

ConversionPlan ConversionPlan::get(ConvertOp convert, TargetInterface target) {
  RankedTensorType from = convert.getSource().getType();
  RankedTensorType to = convert.getResult().getType();
  ConversionPlan plan = get(from, to, target);
  if (plan.kind == Kind::Padding && !isOverwritable(convert.getSource()))
    return getOfMove(from, to, target);
  return plan;
}

ConversionPlan::Method ConversionPlan::getMethod() const {
  if (isFree())
    return Method::None;
  if (kind == Kind::Padding)
    return Method::Fill;
  if (transfers)
    return Method::Transfers;
  if (messages)
    return Method::Messages;
  return copy ? Method::Copy : Method::Gather;
}

void ConversionPlan::print(raw_ostream &os) const {
  switch (getMethod()) {
  case Method::None:
    os << "nothing moves";
    break;
  case Method::Fill:
  case Method::Copy:
    copy->print(os);
    break;
  case Method::Gather:
    os << "element by element: " << whyNot;
    break;
  case Method::Transfers:
    os << *transfers << (*transfers == 1 ? " transfer" : " transfers")
       << " by DMA";
    break;
  case Method::Messages:
    os << *messages << (*messages == 1 ? " message" : " messages") << " of "
       << bytesRead << " bytes";
    break;
  }
}

Cost ConversionPlan::getCost(TargetInterface target) const {
  return isFree() ? 0 : TargetModel::get(target)->getCost(*this);
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

StringRef layout::stringify(ConversionPlan::Method method) {
  switch (method) {
  case ConversionPlan::Method::None:
    return "none";
  case ConversionPlan::Method::Fill:
    return "fill";
  case ConversionPlan::Method::Copy:
    return "copy";
  case ConversionPlan::Method::Gather:
    return "gather";
  case ConversionPlan::Method::Transfers:
    return "transfers";
  case ConversionPlan::Method::Messages:
    return "messages";
  }
  llvm_unreachable("all ways are named");
}
