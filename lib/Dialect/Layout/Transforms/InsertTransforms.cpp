//===- InsertTransforms.cpp - Applying a decision of layouts --------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Decision.h"
#include "layout/Analysis/ControlFlow.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Dialect/Layout/Transforms/Passes.h"
#include "layout/Interfaces/LayoutOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/MapVector.h"
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
  LogicalResult readTypes(Operation *op, StringRef name, Attribute attr,
                          TypeRange types, SmallVectorImpl<Type> &wanted);
  LogicalResult readOp(Operation *op);
  LogicalResult readArguments(Operation *op);
  void setType(Value value, Type type);
  void collectDemands(Operation *op, ArrayRef<Type> types);
  void meet(Value value, Type type, ArrayRef<OpOperand *> operands);
  void setFunctionType(Operation *op);
  Value getAs(Value value, Type type, ArrayRef<Operation *> users);
  Value makeSourceAs(Value value, Type type);
  void eraseReplacedSources();

  /// What the attributes of an op ask for; empty lists change nothing.
  struct Wanted {
    Operation *op = nullptr;
    SmallVector<Type, 3> operands;
    SmallVector<Type, 1> results;
  };

  Operation *root;
  /// Ops with attributes, and those with operands, which others may affect.
  std::vector<Wanted> ops;
  Placement placement;
  std::vector<std::pair<BlockArgument, Type>> wantedArguments;
  llvm::SetVector<Operation *> functions;
  /// The types of values before they were changed.
  llvm::DenseMap<Value, Type> before;
  /// Operands that ask for a value in another type.
  llvm::MapVector<std::pair<Value, Type>, SmallVector<OpOperand *, 2>> demands;
  llvm::DenseMap<std::pair<Value, std::pair<Type, Block *>>, Value> converted;
  llvm::DenseMap<std::pair<Value, Type>, Value> remade;
  llvm::DenseMap<std::pair<Type, Attribute>, Type> typeWith;
  /// The last conversion of a value, and of the arguments of a block.
  llvm::DenseMap<Value, Operation *> lastAfter;
  llvm::DenseMap<Block *, Operation *> lastAtStart;
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

/// The types that the array attribute `name` of `op` states.
LogicalResult Rewriter::readTypes(Operation *op, StringRef name, Attribute attr,
                                  TypeRange types,
                                  SmallVectorImpl<Type> &wanted) {
  auto layouts = dyn_cast<ArrayAttr>(attr);
  if (!layouts || layouts.size() != types.size())
    return op->emitError() << "'" << name
                           << "' has to be an array with one layout for each "
                              "of the "
                           << types.size()
                           << " tensors, 'unit' for other values";
  wanted.assign(types.begin(), types.end());
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

LogicalResult Rewriter::readArguments(Operation *op) {
  Attribute attr = op->getDiscardableAttr(kArgumentLayouts);
  if (!attr)
    return success();
  SmallVector<Block *> blocks;
  for (Region &region : op->getRegions())
    for (Block &block : region)
      blocks.push_back(&block);
  auto arrays = dyn_cast<ArrayAttr>(attr);
  if (!arrays || arrays.size() != blocks.size())
    return op->emitError() << "'" << kArgumentLayouts
                           << "' has to be an array with one array for each "
                              "of the "
                           << blocks.size() << " blocks of the op";
  for (auto [block, array] : llvm::zip(blocks, arrays)) {
    SmallVector<Type> types;
    if (failed(readTypes(op, kArgumentLayouts, array, block->getArgumentTypes(),
                         types)))
      return failure();
    for (auto [argument, type] : llvm::zip(block->getArguments(), types))
      wantedArguments.push_back({argument, type});
  }
  if (isa<FunctionOpInterface>(op))
    functions.insert(op);
  return success();
}

LogicalResult Rewriter::readOp(Operation *op) {
  if (op->getDiscardableAttrDictionary().empty()) {
    if (op->getNumOperands())
      ops.push_back({op, {}, {}});
    return success();
  }
  Attribute operands = op->getDiscardableAttr(kOperandLayouts);
  Attribute results = op->getDiscardableAttr(kResultLayouts);
  Wanted entry{op, {}, {}};
  if ((operands && failed(readTypes(op, kOperandLayouts, operands,
                                    op->getOperandTypes(), entry.operands))) ||
      (results && failed(readTypes(op, kResultLayouts, results,
                                   op->getResultTypes(), entry.results))) ||
      failed(readArguments(op)))
    return failure();
  if (operands && op->hasTrait<OpTrait::ReturnLike>() &&
      isa<FunctionOpInterface>(op->getParentOp()))
    functions.insert(op->getParentOp());
  ops.push_back(std::move(entry));
  return success();
}

void Rewriter::setType(Value value, Type type) {
  if (value.getType() == type)
    return;
  before.try_emplace(value, value.getType());
  value.setType(type);
}

/// Arguments and what is returned have changed; the type follows.
void Rewriter::setFunctionType(Operation *op) {
  auto function = cast<FunctionOpInterface>(op);
  SmallVector<Type> results(function.getResultTypes());
  for (Block &block : function.getFunctionBody())
    if (block.mightHaveTerminator() &&
        block.getTerminator()->hasTrait<OpTrait::ReturnLike>())
      results.assign(block.getTerminator()->operand_type_begin(),
                     block.getTerminator()->operand_type_end());
  function.setType(function.cloneTypeWith(
      function.getFunctionBody().getArgumentTypes(), results));
}

/// A free source is not converted but made once more, in the layout needed.
Value Rewriter::makeSourceAs(Value value, Type type) {
  Value &known = remade[{value, type}];
  if (known)
    return known;
  Operation *source = value.getDefiningOp();
  unsigned index = cast<OpResult>(value).getResultNumber();
  OpBuilder builder(source);
  builder.setInsertionPointAfter(source);
  IRMapping mapping;
  // The storage that is filled is made first.
  if (auto dest = dyn_cast<DestinationStyleOpInterface>(source)) {
    Value init = dest.getDpsInitOperand(index)->get();
    mapping.map(init, makeSourceAs(init, type));
  }
  Operation *copy = builder.clone(*source, mapping);
  copy->getResult(index).setType(type);
  replacedSources.insert(source);
  return remade[{value, type}] = copy->getResult(index);
}

/// At the end of what stands after the value, or before its first use in an
/// inner block.
static void setInsertionPoint(OpBuilder &builder, Value value, Block *block,
                              ArrayRef<Operation *> users, Operation *last) {
  if (last && last->getBlock() == block)
    return builder.setInsertionPointAfter(last);
  if (block == value.getParentBlock())
    return builder.setInsertionPointAfterValue(value);
  Operation *first = nullptr;
  for (Operation *user : users) {
    Operation *ancestor = block->findAncestorOpInBlock(*user);
    if (!first || ancestor->isBeforeInBlock(first))
      first = ancestor;
  }
  builder.setInsertionPoint(first);
}

/// The result of `producer` in another layout without a conversion.
static bool canRemake(Operation *producer, Value value) {
  return producer && !producer->hasTrait<OpTrait::ConstantLike>() &&
         !hasLayout(value.getType()) &&
         isFreeSource(producer, getLayoutRule(producer));
}

Value Rewriter::getAs(Value value, Type type, ArrayRef<Operation *> users) {
  Block *block = placement.find(value, users);
  Value &known = converted[{value, {type, block}}];
  if (known)
    return known;
  OpBuilder builder(value.getContext());
  bool isAtStart = isa<BlockArgument>(value) && block == value.getParentBlock();
  Operation *&last = isAtStart ? lastAtStart[block] : lastAfter[value];
  setInsertionPoint(builder, value, block, users, last);
  last = ConvertOp::create(builder, value.getLoc(), type, value);
  return known = last->getResult(0);
}

/// Without types, the operands keep those that they had.
void Rewriter::collectDemands(Operation *op, ArrayRef<Type> types) {
  for (OpOperand &operand : op->getOpOperands()) {
    Type type = operand.get().getType();
    if (!types.empty())
      type = types[operand.getOperandNumber()];
    else if (auto it = before.find(operand.get()); it != before.end())
      type = it->second;
    if (operand.get().getType() == type)
      continue;
    // What reads no element takes what there is.
    if (types.empty() && getLayoutRule(op).kind == Kind::Shape)
      return;
    demands[{operand.get(), type}].push_back(&operand);
  }
}

void Rewriter::meet(Value value, Type type, ArrayRef<OpOperand *> operands) {
  if (canRemake(value.getDefiningOp(), value)) {
    Value made = makeSourceAs(value, type);
    for (OpOperand *operand : operands)
      operand->set(made);
    return;
  }
  SmallVector<Operation *> users;
  for (OpOperand *operand : operands)
    users.push_back(operand->getOwner());
  // One for all, unless each would stand outside of a loop that it is in.
  unsigned depth = placement.getLoopDepth(placement.find(value, users));
  bool isShared =
      depth == 0 || llvm::any_of(users, [&](Operation *user) {
        return placement.getLoopDepth(placement.find(value, user)) >= depth;
      });
  for (OpOperand *operand : operands)
    operand->set(isShared ? getAs(value, type, users)
                          : getAs(value, type, operand->getOwner()));
}

/// What nobody needs in the old layout any more; users before producers.
void Rewriter::eraseReplacedSources() {
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
}

LogicalResult Rewriter::run() {
  // All is read, and found to be right, before anything changes.
  WalkResult walk = root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    return failed(readOp(op)) ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return failure();

  before.reserve(ops.size());
  for (const Wanted &entry : ops) {
    if (entry.op->getDiscardableAttrDictionary().empty())
      continue;
    if (!entry.results.empty())
      for (auto [result, type] :
           llvm::zip(entry.op->getResults(), entry.results))
        setType(result, type);
    NamedAttrList left(entry.op->getDiscardableAttrDictionary());
    for (StringRef name : {kOperandLayouts, kResultLayouts, kArgumentLayouts})
      left.erase(name);
    entry.op->setDiscardableAttrs(left.getDictionary(entry.op->getContext()));
  }
  for (auto [argument, type] : wantedArguments)
    setType(argument, type);
  for (const Wanted &entry : ops)
    collectDemands(entry.op, entry.operands);
  for (auto &[key, operands] : demands)
    meet(key.first, key.second, operands);
  llvm::for_each(functions, [&](Operation *op) { setFunctionType(op); });
  eraseReplacedSources();
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
