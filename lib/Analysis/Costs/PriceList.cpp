//===- PriceList.cpp - Price lists in files -------------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Analysis/PriceList.h"
#include "layout/Analysis/CostModel.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Interfaces/LayoutOpInterface.h"
#include "layout/Support/Bytecode.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include <cmath>

using namespace mlir;
using namespace mlir::layout;

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

Type PriceList::normalize(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || (tensor.getEncoding() && !hasLayout(tensor)))
    return type;
  auto [it, isNew] = normalized.try_emplace(type);
  if (!isNew)
    return it->second;
  LayoutMap map = *getLayoutMap(tensor);
  RankedTensorType result =
      withLayout(withoutLayout(tensor), map.specialize(tensor.getShape()),
                 statesPadding(tensor) ? getPadding(tensor) : TypedAttr());
  return normalized[type] = result;
}

PriceList::Types PriceList::normalize(ArrayRef<Type> operands,
                                      ArrayRef<Type> results) {
  Types types;
  for (ArrayRef<Type> part : {operands, results})
    for (Type type : part)
      types.push_back(normalize(type));
  return types;
}

static Type getLogicalType(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? withoutLayout(tensor) : type;
}

static bool haveSameLogicalTypes(TypeRange a, TypeRange b) {
  return llvm::equal(llvm::map_range(a, getLogicalType),
                     llvm::map_range(b, getLogicalType));
}

static uint64_t hashOp(Operation *op) {
  return llvm::hash_combine(op->getName(), op->getName().hashOpProperties(
                                               op->getPropertiesStorage()));
}

PriceList::OpPrices *PriceList::find(Operation *op) {
  auto known = ops.find(hashOp(op));
  if (known == ops.end())
    return nullptr;
  for (OpPrices &candidate : known->second)
    if (haveSameLogicalTypes(candidate.op->getOperandTypes(),
                             op->getOperandTypes()) &&
        haveSameLogicalTypes(candidate.op->getResultTypes(),
                             op->getResultTypes()) &&
        areAlikeButForTypes(candidate.op, op))
      return &candidate;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

OwningOpRef<ModuleOp> layout::readPriceList(StringRef file,
                                            MLIRContext *context) {
  auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(
      file, /*IsText=*/false, /*RequiresNullTerminator=*/true,
      kBytecodeAlignment);
  if (std::error_code code = buffer.getError()) {
    emitError(UnknownLoc::get(context)) << "the option 'costs': cannot read '"
                                        << file << "': " << code.message();
    return {};
  }
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(*buffer), SMLoc());
  return parseSourceFile<ModuleOp>(sources, ParserConfig(context));
}

FailureOr<std::unique_ptr<PriceList>> PriceList::get(ModuleOp module,
                                                     TargetInterface target) {
  std::unique_ptr<PriceList> list(new PriceList);
  CostModel model(target);
  for (Operation &function : *module.getBody())
    if (failed(list->add(&function, model)))
      return failure();
  for (auto &[hash, known] : list->ops)
    for (OpPrices &prices : known)
      llvm::sort(prices.ratios);
  llvm::sort(list->opRatios);
  llvm::sort(list->conversionRatios);
  return list;
}

LogicalResult PriceList::add(Operation *op, CostModel &model) {
  auto function = dyn_cast<func::FuncOp>(op);
  if (!function || !function.getBody().hasOneBlock())
    return op->emitError()
           << "a price list must only have functions with one block";
  auto cost = function->getAttrOfType<IntegerAttr>(kCostAttr);
  if (!cost || !cost.getType().isInteger(64) || cost.getInt() < 0)
    return op->emitError() << "'" << kCostAttr << "' of function '"
                           << function.getName()
                           << "' must be its price, an i64 of at least 0";
  Operation *priced = nullptr;
  for (Operation &inner : function.getBody().front().without_terminator()) {
    OpLayoutRule rule = getLayoutRule(&inner);
    if (!hasKnownTensors(&inner) || isRematerializable(&inner, rule) ||
        std::holds_alternative<ShapeRule>(rule))
      continue;
    if (priced) {
      InFlightDiagnostic diag =
          inner.emitError() << "the price of function '" << function.getName()
                            << "' is that of one op, but this is a second one: "
                               "move it to its own function";
      diag.attachNote(priced->getLoc()) << "the first one is here";
      return diag;
    }
    priced = &inner;
  }
  if (!priced)
    return op->emitError() << "function '" << function.getName()
                           << "' has no op whose price depends on layouts";
  Price price{op, cost.getInt()};
  return isa<ConvertOp>(priced) ? addConversion(priced, price, model)
                                : addOp(priced, price, model);
}

static LogicalResult reportSecond(Operation *op, Operation *first) {
  InFlightDiagnostic diag = op->emitError()
                            << "this op already has a price in these layouts";
  diag.attachNote(first->getLoc()) << "it is here";
  return diag;
}

static void addRatio(Cost cost, Cost modeled, std::vector<double> &ratios) {
  if (modeled > 0)
    ratios.push_back(double(cost) / double(modeled));
}

LogicalResult PriceList::addOp(Operation *op, const Price &price,
                               CostModel &model) {
  OpLayoutRule rule = getLayoutRule(op);
  if (!std::holds_alternative<LoopsRule>(rule) &&
      !std::holds_alternative<PerDimRule>(rule)) {
    auto *opaque = std::get_if<OpaqueRule>(&rule);
    InFlightDiagnostic diag = op->emitError()
                              << "a price of this op is never used: ";
    if (opaque)
      diag << "it keeps its types" << (opaque->why.empty() ? "" : ", as ")
           << opaque->why;
    else
      diag << "it is free, or costs as much as a conversion";
    return diag;
  }
  SmallVector<Type> operands(op->getOperandTypes()),
      results(op->getResultTypes());
  OpPrices *known = find(op);
  if (!known)
    known = &ops[hashOp(op)].emplace_back(OpPrices{op, {}, {}});
  Types key = normalize(operands, results);
  for (auto &[types, other] : known->prices)
    if (types == key)
      return reportSecond(price.function, other.function);
  known->prices.push_back({std::move(key), price});

  auto getLayout = [&](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && (!tensor.getEncoding() || hasLayout(tensor))
               ? model.getLayoutOf(tensor)
               : kAnyLayout;
  };
  OpLayouts layouts;
  llvm::append_range(layouts.operands, llvm::map_range(operands, getLayout));
  llvm::append_range(layouts.results, llvm::map_range(results, getLayout));
  Cost modeled = model.getOpCost(op, rule, layouts);
  addRatio(price.cost, modeled, known->ratios);
  addRatio(price.cost, modeled, opRatios);
  return success();
}

LogicalResult PriceList::addConversion(Operation *op, const Price &price,
                                       CostModel &model) {
  auto from = cast<RankedTensorType>(op->getOperand(0).getType());
  auto to = cast<RankedTensorType>(op->getResult(0).getType());
  std::pair<Type, Type> key{normalize(from), normalize(to)};
  if (key.first == key.second)
    return op->emitError() << "a price of this conversion is never used: both "
                              "sides have identical storage";
  auto [it, isNew] = conversions.try_emplace(key, price);
  if (!isNew)
    return reportSecond(price.function, it->second.function);
  addRatio(price.cost,
           model.getConversionCost(withoutLayout(from), model.getLayoutOf(from),
                                   model.getLayoutOf(to)),
           conversionRatios);
  return success();
}

//===----------------------------------------------------------------------===//
// Prices
//===----------------------------------------------------------------------===//

/// Returns `modeled`, the cost of the target model, times the median of the
/// first non-empty list of ratios of listed to modeled prices, or `modeled`
/// itself if all lists are empty. The lists must be sorted. The result is at
/// least 1 unless `modeled` is 0.
static Cost scaleModeled(Cost modeled,
                         std::initializer_list<ArrayRef<double>> sortedRatios) {
  for (ArrayRef<double> ratios : sortedRatios) {
    if (ratios.empty())
      continue;
    double ratio = ratios[(ratios.size() - 1) / 2];
    if (ratio == 1 || modeled == 0)
      return modeled;
    double scaled = std::round(double(modeled) * ratio);
    return scaled < 0x1p62 ? std::max<Cost>(1, Cost(scaled))
                           : kInfiniteCost - 1;
  }
  return modeled;
}

Cost PriceList::getOpCost(const OpToPrice &op) {
  OpPrices *known = find(op.op);
  if (!known)
    return scaleModeled(op.modeled, {opRatios, conversionRatios});
  Types key = normalize(op.operands, op.results);
  for (auto &[types, price] : known->prices)
    if (types == key)
      return price.cost;
  return scaleModeled(op.modeled, {known->ratios, opRatios, conversionRatios});
}

Cost PriceList::getConversionCost(const ConversionToPrice &conversion) {
  if (!conversion.fillsInPlace) {
    auto known = conversions.find(
        {normalize(conversion.from), normalize(conversion.to)});
    if (known != conversions.end())
      return known->second.cost;
  }
  return scaleModeled(conversion.modeled, {conversionRatios, opRatios});
}
