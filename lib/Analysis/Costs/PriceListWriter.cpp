//===- PriceListWriter.cpp - Writes price lists ---------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Costs/PricedNodes.h"
#include "LayoutModel.h"
#include "layout/Analysis/Assignment.h"
#include "layout/Analysis/PriceList.h"
#include "layout/Interfaces/LayoutOpInterface.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"
#include <map>

using namespace mlir;
using namespace mlir::layout;

namespace {
/// Writes a price list (PriceList.h): a function per op and conversion, in each
/// combination of layouts that has a price.
class Writer {
public:
  Writer(const LayoutAssignment &assignment, CostModel &costs,
         TargetInterface target)
      : program(assignment.program), candidates(assignment.candidates),
        costs(costs), builder(target.getContext()),
        module(ModuleOp::create(builder.getUnknownLoc())),
        model(program, candidates, costs) {
    module.get()->setAttr(kTargetAttr, target);
  }

  void run(raw_ostream &os);

private:
  void begin(StringRef name, Cost cost);
  void end(ValueRange results);
  Value addArgument(Type type) {
    return function.getBody().front().addArgument(type,
                                                  builder.getUnknownLoc());
  }
  Value addOperand(Value value, Type type);
  Value copyScalar(Value value);
  Type getNormalType(Type type, LayoutId layout);
  void addNormalTypes(ValueRange values, ArrayRef<LayoutId> layouts,
                      SmallVectorImpl<const void *> &key);
  void addOp(unsigned nodeClass, const NodeClass &op, unsigned config);
  void addConversions(const TensorClass &tensor);

  const Program &program;
  ArrayRef<Candidates> candidates;
  CostModel &costs;
  OpBuilder builder;
  OwningOpRef<ModuleOp> module;
  LayoutModel model;
  func::FuncOp function;
  IRMapping scalars;
  /// The ops that were written, by name and normalized types. Several node
  /// classes may have ops that are equal in all inputs of a price.
  std::map<SmallVector<const void *>, SmallVector<Operation *, 1>> written;
  llvm::SetVector<std::pair<Type, Type>> conversions;
};
} // namespace

void Writer::begin(StringRef name, Cost cost) {
  builder.setInsertionPointToEnd(module->getBody());
  function = func::FuncOp::create(builder, builder.getUnknownLoc(), name,
                                  builder.getFunctionType({}, {}));
  function->setAttr(kCostAttr, builder.getI64IntegerAttr(cost));
  builder.setInsertionPointToStart(function.addEntryBlock());
  scalars.clear();
}

void Writer::end(ValueRange results) {
  func::ReturnOp::create(builder, builder.getUnknownLoc(), results);
  function.setFunctionType(builder.getFunctionType(
      function.getBody().front().getArgumentTypes(), results.getTypes()));
}

/// Returns a scalar operand of the function that is written. Clones constants,
/// which rules depend on; other scalars become arguments.
Value Writer::copyScalar(Value value) {
  if (Value known = scalars.lookupOrNull(value))
    return known;
  Operation *op = value.getDefiningOp();
  Value copy = op && op->hasTrait<OpTrait::ConstantLike>()
                   ? builder.clone(*op)->getResult(0)
                   : addArgument(value.getType());
  scalars.map(value, copy);
  return copy;
}

/// Returns an operand of the op that is written. Clones fresh storage and its
/// fills; other tensors become arguments.
Value Writer::addOperand(Value value, Type type) {
  if (!isa<RankedTensorType>(value.getType()))
    return copyScalar(value);
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumResults() != 1 ||
      op->hasTrait<OpTrait::ConstantLike>() || op->getNumRegions() > 1 ||
      !isRematerializable(op, getLayoutRule(op)) ||
      !(isa<tensor::EmptyOp>(op) || op->getNumOperands() > 0))
    return addArgument(type);
  IRMapping mapping;
  for (Value operand : op->getOperands())
    mapping.map(operand,
                addOperand(operand, operand.getType() == value.getType()
                                        ? type
                                        : operand.getType()));
  Operation *copy = builder.clone(*op, mapping);
  copy->setDiscardableAttrs(builder.getDictionaryAttr({}));
  copy->getResult(0).setType(type);
  return copy->getResult(0);
}

Type Writer::getNormalType(Type type, LayoutId layout) {
  if (layout == kAnyLayout)
    return type;
  auto tensor = cast<RankedTensorType>(type);
  LayoutId form = costs.withPadding(costs.getNormalForm(layout, tensor),
                                    costs.getPadding(layout));
  return costs.getStoredType(tensor, form);
}

void Writer::addNormalTypes(ValueRange values, ArrayRef<LayoutId> layouts,
                            SmallVectorImpl<const void *> &key) {
  for (auto [value, layout] : llvm::zip_equal(values, layouts))
    key.push_back(getNormalType(value.getType(), layout).getAsOpaquePointer());
}

void Writer::addOp(unsigned nodeClass, const NodeClass &op, unsigned config) {
  const OpConfig &chosen = candidates[nodeClass].configs[config];
  SmallVector<const void *> key{op.op->getName().getAsOpaquePointer()};
  addNormalTypes(op.op->getOperands(), chosen.exact.operands, key);
  addNormalTypes(op.op->getResults(), chosen.exact.results, key);
  SmallVector<Operation *, 1> &known = written[key];
  if (llvm::any_of(known, [&](Operation *other) {
        return areAlikeButForTypes(other, op.op);
      }))
    return;
  begin((op.op->getName().stripDialect() + "_" + Twine(nodeClass) + "_" +
         Twine(config))
            .str(),
        chosen.cost);
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op.op->getRegions(), captured);
  IRMapping mapping;
  for (Value value : captured)
    mapping.map(value, copyScalar(value));
  SmallVector<Value> operands;
  for (auto [operand, type] : llvm::zip_equal(
           op.op->getOperands(),
           costs.getStoredTypes(op.op->getOperands(), chosen.exact.operands)))
    operands.push_back(addOperand(operand, type));
  Operation *copy = builder.clone(*op.op, mapping);
  copy->setOperands(operands);
  copy->setDiscardableAttrs(builder.getDictionaryAttr({}));
  for (auto [result, type] : llvm::zip_equal(
           copy->getResults(),
           costs.getStoredTypes(copy->getResults(), chosen.exact.results)))
    result.setType(type);
  end(copy->getResults());
  // Drops ops whose cost depends on surrounding ops.
  if (areAlikeButForTypes(op.op, copy))
    known.push_back(op.op);
  else
    function.erase();
}

void Writer::addConversions(const TensorClass &tensor) {
  unsigned numMade =
      tensor.producer ? candidates[*tensor.producer].configs.size() : 1;
  for (unsigned p = 0; p < numMade; ++p)
    for (const TensorClass::Consumer &consumer : tensor.consumers)
      for (const OpConfig &config : candidates[consumer.nodeClass].configs)
        for (LayoutId to : LayoutModel::getNeeds(config, consumer.operands)) {
          LayoutId from = model.getMade(tensor, p);
          if (from == to || costs.haveIdenticalStorage(tensor.type, from, to) ||
              !conversions.insert({getNormalType(tensor.type, from),
                                   getNormalType(tensor.type, to)}))
            continue;
          RankedTensorType source = costs.getStoredType(tensor.type, from);
          RankedTensorType dest = costs.getStoredType(tensor.type, to);
          begin(("convert_" + Twine(conversions.size() - 1)).str(),
                costs.getConversionCost(tensor.type, from, to));
          end(ConvertOp::create(builder, builder.getUnknownLoc(), dest,
                                addArgument(source))
                  ->getResults());
        }
}

void Writer::run(raw_ostream &os) {
  for (auto [c, nodeClass] : llvm::enumerate(program.nodeClasses)) {
    if (!isPriced(nodeClass) || nodeClass.hasReadingBody ||
        !(std::holds_alternative<LoopsRule>(nodeClass.rule) ||
          std::holds_alternative<PerDimRule>(nodeClass.rule)))
      continue;
    for (unsigned i = 0, e = candidates[c].configs.size(); i < e; ++i)
      addOp(c, nodeClass, i);
  }
  for (const TensorClass &tensor : program.tensorClasses)
    addConversions(tensor);
  module->print(os, OpPrintingFlags().assumeVerified());
  os << "\n";
}

void layout::writePriceList(const LayoutAssignment &assignment,
                            CostModel &costs, TargetInterface target,
                            raw_ostream &os) {
  Writer(assignment, costs, target).run(os);
}
