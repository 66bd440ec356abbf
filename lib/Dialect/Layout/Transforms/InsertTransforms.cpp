//===- InsertTransforms.cpp - Applying a decision of layouts --------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Decision.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Dialect/Layout/Transforms/Passes.h"
#include "layout/Interfaces/LayoutOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::layout {
#define GEN_PASS_DEF_INSERTTRANSFORMSPASS
#include "layout/Dialect/Layout/Transforms/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;
using namespace mlir::layout;
using Kind = OpLayoutRule::Kind;

namespace {
class Rewriter {
public:
  explicit Rewriter(Operation *root) : root(root) {}

  LogicalResult run();

private:
  LogicalResult readTypes(Operation *op, StringRef name, TypeRange types,
                          SmallVectorImpl<Type> &wanted);
  LogicalResult setResultTypes(Operation *op);
  LogicalResult collectOperandTypes(Operation *op);
  Value getAs(Value value, Type type);
  Value makeSourceAs(Operation *source, Value value, Type type);

  Operation *root;
  SmallVector<Operation *> ops;
  /// Types of operands, as decided or as they were.
  llvm::DenseMap<Operation *, SmallVector<Type>> operandTypes;
  llvm::DenseMap<std::pair<Value, Type>, Value> converted;
  llvm::DenseMap<std::pair<Type, Attribute>, Type> typeWith;
  /// Where the last op after a value was put.
  llvm::DenseMap<Value, Operation *> lastAfter;
  llvm::SetVector<Operation *> replacedSources;
};
} // namespace

/// `type` with the layout `entry`, which is entry `i` of the attribute `name`.
static FailureOr<Type> applyLayout(Operation *op, StringRef name, size_t i,
                                   Type type, Attribute entry) {
  auto layout = dyn_cast<LayoutAttrInterface>(entry);
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!layout || !tensor)
    return op->emitError()
           << "entry " << i << " of '" << name << "' is " << entry
           << (layout ? ", but the value is no ranked tensor: write 'unit'"
                      : ": it has to be a layout, or 'unit'");
  auto emitError = [&] {
    return op->emitError() << "entry " << i << " of '" << name << "': ";
  };
  ArrayRef<int64_t> shape = tensor.getShape();
  Type elementType = tensor.getElementType();
  if (failed(cast<VerifiableTensorEncoding>(entry).verifyEncoding(
          shape, elementType, emitError)))
    return failure();
  FailureOr<LayoutMap> map = layout.resolve(shape, elementType, emitError);
  if (failed(map))
    return failure();
  return Type(withLayout(tensor, *map, layout.getPadding(elementType)));
}

/// The types that the array attribute `name` of `op` states; `types` without
/// it.
LogicalResult Rewriter::readTypes(Operation *op, StringRef name,
                                  TypeRange types,
                                  SmallVectorImpl<Type> &wanted) {
  wanted.assign(types.begin(), types.end());
  Attribute attr = op->getDiscardableAttr(name);
  if (!attr)
    return success();
  auto layouts = dyn_cast<ArrayAttr>(attr);
  if (!layouts || layouts.size() != types.size())
    return op->emitError() << "'" << name
                           << "' has to be an array with one layout for each "
                              "of the "
                           << types.size()
                           << " tensors, 'unit' for other values";
  for (auto [i, entry] : llvm::enumerate(layouts)) {
    if (isa<UnitAttr>(entry))
      continue;
    Type &known = typeWith[{types[i], entry}];
    if (!known) {
      FailureOr<Type> type = applyLayout(op, name, i, types[i], entry);
      if (failed(type))
        return failure();
      known = *type;
    }
    wanted[i] = known;
  }
  return success();
}

LogicalResult Rewriter::collectOperandTypes(Operation *op) {
  return readTypes(op, kOperandLayouts, op->getOperandTypes(),
                   operandTypes[op]);
}

LogicalResult Rewriter::setResultTypes(Operation *op) {
  SmallVector<Type> wanted;
  if (failed(readTypes(op, kResultLayouts, op->getResultTypes(), wanted)))
    return failure();
  for (auto [result, type] : llvm::zip(op->getResults(), wanted))
    result.setType(type);
  op->removeDiscardableAttr(kOperandLayouts);
  op->removeDiscardableAttr(kResultLayouts);
  return success();
}

/// A free source is not converted but made once more, in the layout needed.
Value Rewriter::makeSourceAs(Operation *source, Value value, Type type) {
  unsigned index = cast<OpResult>(value).getResultNumber();
  OpBuilder builder(source);
  builder.setInsertionPointAfter(source);
  IRMapping mapping;
  // The storage that is filled is made first.
  if (auto dest = dyn_cast<DestinationStyleOpInterface>(source)) {
    Value init = dest.getDpsInitOperand(index)->get();
    mapping.map(init, getAs(init, type));
  }
  Operation *copy = builder.clone(*source, mapping);
  copy->getResult(index).setType(type);
  replacedSources.insert(source);
  return copy->getResult(index);
}

Value Rewriter::getAs(Value value, Type type) {
  if (value.getType() == type)
    return value;
  Value &known = converted[{value, type}];
  if (known)
    return known;
  Operation *producer = value.getDefiningOp();
  Value result;
  if (producer && !producer->hasTrait<OpTrait::ConstantLike>() &&
      getLayoutRule(producer).kind == Kind::Source &&
      !hasLayout(value.getType())) {
    result = makeSourceAs(producer, value, type);
  } else {
    OpBuilder builder(value.getContext());
    Operation *&last = lastAfter[value];
    if (last)
      builder.setInsertionPointAfter(last);
    else
      builder.setInsertionPointAfterValue(value);
    last = ConvertOp::create(builder, value.getLoc(), type, value);
    result = last->getResult(0);
  }
  return converted[{value, type}] = result;
}

LogicalResult Rewriter::run() {
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op != root && (op->getNumOperands() || op->getNumResults()))
      ops.push_back(op);
  });
  // All is read, and found to be right, before anything changes.
  for (Operation *op : ops) {
    SmallVector<Type> ignored;
    if (failed(collectOperandTypes(op)) ||
        failed(readTypes(op, kResultLayouts, op->getResultTypes(), ignored)))
      return failure();
  }
  for (Operation *op : ops)
    if (failed(setResultTypes(op)))
      return failure();
  for (Operation *op : ops) {
    ArrayRef<Type> types = operandTypes[op];
    bool isMet = llvm::equal(op->getOperandTypes(), types);
    // What reads no element takes what there is.
    if (isMet || getLayoutRule(op).kind == Kind::Shape)
      continue;
    for (auto [operand, type] : llvm::zip(op->getOpOperands(), types))
      operand.set(getAs(operand.get(), type));
  }
  // What nobody needs in the old layout any more; users before producers.
  bool changed = true;
  while (changed) {
    changed = false;
    for (Operation *source : replacedSources.takeVector()) {
      if (isOpTriviallyDead(source)) {
        source->erase();
        changed = true;
      } else {
        replacedSources.insert(source);
      }
    }
  }
  return success();
}

LogicalResult layout::insertLayoutTransforms(Operation *root) {
  return Rewriter(root).run();
}

namespace {
struct InsertTransformsPass
    : layout::impl::InsertTransformsPassBase<InsertTransformsPass> {
  void runOnOperation() override {
    if (failed(insertLayoutTransforms(getOperation())))
      signalPassFailure();
  }
};
} // namespace
