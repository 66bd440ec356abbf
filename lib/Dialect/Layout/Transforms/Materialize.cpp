//===- Materialize.cpp - Apply a layout decision --------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Analysis/ControlFlow.h"
#include "layout/Analysis/LayoutConstraints.h"
#include "layout/Analysis/Program.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Dialect/Layout/Transforms/Passes.h"
#include "layout/Interfaces/LayoutOpInterface.h"
#include "layout/Interfaces/MeshLoops.h"
#include "layout/Interfaces/RuleCheck.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/DebugLog.h"
#include <deque>

#define DEBUG_TYPE "layout-materialize"

namespace mlir::layout {
#define GEN_PASS_DEF_MATERIALIZEPASS
#include "layout/Dialect/Layout/Transforms/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;
using namespace mlir::layout;

namespace {
class Rewriter {
public:
  explicit Rewriter(Operation *root) : root(root) {}

  LogicalResult run();

private:
  /// The types that an op requests for its operands and results. Without
  /// `layout.operand_layouts`, `operands` has the current types and
  /// `keepsOperands` is set. Without `layout.result_layouts`, `results` is
  /// empty and the results keep their types.
  struct Wanted {
    Operation *op = nullptr;
    SmallVector<Type, 3> operands;
    SmallVector<Type, 1> results;
    bool keepsOperands = false;
  };

  LogicalResult readOp(Operation *op);
  LogicalResult checkTypes(const Wanted &entry);
  LogicalResult readArguments(Operation *op);
  LogicalResult checkStatements();
  void collectDemands(const Wanted &entry);
  void meet(Value value, Type type, ArrayRef<OpOperand *> operands);
  void setFunctionType(Operation *op);
  Value getAs(Value value, Type type, ArrayRef<Operation *> users);
  Value makeSourceAs(Value value, Type type);
  void eraseReplacedSources();

  Operation *root;
  /// The ops with discardable attributes, which may state layouts, and the
  /// other ops with operands. The latter keep their types, so an operand whose
  /// type changes is converted for them. It is a deque, because `right` holds
  /// pointers to its entries.
  std::deque<Wanted> ops;
  /// The entries whose requested types were verified, by a hash of the op name
  /// and these types, so that identical ops are verified once.
  llvm::DenseMap<uint64_t, SmallVector<const Wanted *, 1>> right;
  CopyPlacement placement;
  /// The operands and results whose types change and the arguments with stated
  /// types, with these types. The functions get the types of their arguments
  /// and returned values afterwards.
  SmallVector<StatedUse, 0> uses;
  SmallVector<std::pair<BlockArgument, Type>> wantedArguments;
  llvm::SetVector<Operation *> functions;
  /// For each value and type, the operands that need the value in this type.
  llvm::MapVector<std::pair<Value, Type>, SmallVector<OpOperand *, 2>> demands;
  llvm::DenseMap<std::pair<Value, std::pair<Type, Block *>>, Value> converted;
  llvm::DenseMap<std::pair<Value, Type>, Value> remade;
  StatedTypes types;
  /// The last layout.convert that was inserted after each value, and at the
  /// start of each block. Further ones are inserted behind it.
  llvm::DenseMap<Value, Operation *> lastAfter;
  llvm::DenseMap<Block *, Operation *> lastAtStart;
  llvm::SetVector<Operation *> replacedSources;
};
} // namespace

/// Returns the elements of a constant with another type, or a null attribute if
/// their kind is not supported.
static ElementsAttr getElementsAs(arith::ConstantOp constant, Type type) {
  auto elements = dyn_cast<ElementsAttr>(constant.getValue());
  auto tensor = dyn_cast<RankedTensorType>(type);
  return elements && tensor ? retypeElements(elements, tensor) : ElementsAttr();
}

/// Verifies that a constant can have the type that its attributes state.
/// Otherwise emits an error at the constant and fails.
static LogicalResult checkConstant(arith::ConstantOp constant, Type type) {
  if (constant.getType() == type)
    return success();
  if (isPartial(type))
    return constant.emitOpError()
           << "is stated to hold partial sums, but has the sums (P4): state "
              "the #layout.mesh, or create partial sums with "
              "layout.storage_view";
  if (!getElementsAs(constant, type))
    return constant.emitOpError() << "has elements of an unknown kind";
  return success();
}

LogicalResult Rewriter::readArguments(Operation *op) {
  size_t before = wantedArguments.size();
  if (failed(types.readArguments(op, wantedArguments)))
    return failure();
  if (wantedArguments.size() != before && isa<FunctionOpInterface>(op))
    functions.insert(op);
  return success();
}

/// Verifies that an op can have the requested types, or else emits an error and
/// fails. Skips ops that are identical to a verified one, which are many in
/// large programs.
LogicalResult Rewriter::checkTypes(const Wanted &entry) {
  Operation *op = entry.op;
  auto getResults = [](const Wanted &of) {
    return of.results.empty() ? TypeRange(of.op->getResultTypes())
                              : TypeRange(of.results);
  };
  TypeRange results = getResults(entry);
  SmallVector<const Wanted *, 1> &known =
      right[llvm::hash_combine(op->getName().getAsOpaquePointer(),
                               llvm::hash_combine_range(entry.operands),
                               llvm::hash_combine_range(results))];
  for (const Wanted *other : known)
    if (other->operands == entry.operands && getResults(*other) == results &&
        other->op->getOperandTypes() == op->getOperandTypes() &&
        other->op->getResultTypes() == op->getResultTypes() &&
        areAlikeButForTypes(other->op, op))
      return success();
  if (failed(checkStatedTypes(op, entry.operands, results)))
    return failure();
  known.push_back(&entry);
  return success();
}

LogicalResult Rewriter::readOp(Operation *op) {
  if (op->getDiscardableAttrDictionary().empty()) {
    // The op keeps its types.
    if (op->getNumOperands())
      ops.push_back({op, llvm::to_vector<3>(op->getOperandTypes()), {}, true});
    return success();
  }
  Attribute operands = op->getDiscardableAttr(kOperandLayouts);
  Attribute results = op->getDiscardableAttr(kResultLayouts);
  Wanted &entry = ops.emplace_back(Wanted{op, {}, {}, !operands});
  if (!operands)
    llvm::append_range(entry.operands, op->getOperandTypes());
  if ((operands && failed(types.read(op, kOperandLayouts, operands,
                                     op->getOperandTypes(), entry.operands))) ||
      (results && failed(types.read(op, kResultLayouts, results,
                                    op->getResultTypes(), entry.results))) ||
      failed(readArguments(op)) ||
      ((operands || results) && failed(checkTypes(entry))))
    return failure();
  auto constant = dyn_cast<arith::ConstantOp>(op);
  if (constant && results &&
      failed(checkConstant(constant, entry.results.front())))
    return failure();
  if (operands && op->hasTrait<OpTrait::ReturnLike>() &&
      isa<FunctionOpInterface>(op->getParentOp()))
    functions.insert(op->getParentOp());
  for (auto [operand, type] : llvm::zip(op->getOpOperands(), entry.operands))
    if (operand.get().getType() != type)
      uses.push_back({&operand, type});
  for (auto [result, type] : llvm::zip(op->getResults(), entry.results))
    if (result.getType() != type)
      uses.push_back({Value(result), type});
  return success();
}

/// Verifies that the requested types are consistent, e.g. that operands and
/// values that control flow connects get the same type. Emits an error and
/// fails at the first that are not.
LogicalResult Rewriter::checkStatements() {
  for (auto [argument, type] : wantedArguments)
    if (argument.getType() != type)
      uses.push_back({Value(argument), type});
  return checkUses(root, uses, /*isComplete=*/true);
}

/// Updates the type of a function to its arguments and returned values.
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

/// Clones the op that defines `value`, which costs nothing in any layout, e.g.
/// a tensor.empty, with result type `type`. Returns the new result, which
/// replaces a conversion of `value`.
Value Rewriter::makeSourceAs(Value value, Type type) {
  Value &known = remade[{value, type}];
  if (known)
    return known;
  Operation *source = value.getDefiningOp();
  unsigned index = cast<OpResult>(value).getResultNumber();
  OpBuilder builder(source);
  builder.setInsertionPointAfter(source);
  IRMapping mapping;
  // Clone the destination of a fill first.
  if (auto dest = dyn_cast<DestinationStyleOpInterface>(source)) {
    Value init = dest.getDpsInitOperand(index)->get();
    mapping.map(init, makeSourceAs(init, type));
  }
  Operation *copy = builder.clone(*source, mapping);
  copy->getResult(index).setType(type);
  replacedSources.insert(source);
  LDBG() << "made once more, not converted: " << *copy;
  return remade[{value, type}] = copy->getResult(index);
}

/// Sets the insertion point for a conversion of `value` in `block`: after
/// `last`, its last conversion, if that is in `block`. Otherwise after `value`
/// itself or, if `block` is nested, before the first of `users`.
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

/// Returns true if `producer`, which defines `value`, can be cloned with result
/// type `type` instead of converting `value`: it costs nothing in any layout,
/// it is not a constant, and `value` has no layout yet.
static bool canRemake(Operation *producer, Value value, Type type) {
  return producer && !producer->hasTrait<OpTrait::ConstantLike>() &&
         !hasLayout(value.getType()) &&
         isRematerializable(producer, getLayoutRule(producer)) &&
         canWriteAs(producer, type);
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
  LDBG() << "converted for " << users.size() << " users: " << *last;
  return known = last->getResult(0);
}

void Rewriter::collectDemands(const Wanted &entry) {
  for (auto [operand, type] :
       llvm::zip_equal(entry.op->getOpOperands(), entry.operands)) {
    if (operand.get().getType() == type)
      continue;
    // Ops that read only the shape accept any layout.
    if (entry.keepsOperands &&
        std::holds_alternative<ShapeRule>(getLayoutRule(entry.op)))
      return;
    demands[{operand.get(), type}].push_back(&operand);
  }
}

void Rewriter::meet(Value value, Type type, ArrayRef<OpOperand *> operands) {
  if (canRemake(value.getDefiningOp(), value, type)) {
    Value made = makeSourceAs(value, type);
    for (OpOperand *operand : operands)
      operand->set(made);
    return;
  }
  SmallVector<Operation *> users;
  for (OpOperand *operand : operands)
    users.push_back(operand->getOwner());
  // Share one conversion, unless it would be in a deeper loop than the separate
  // conversion of every user.
  unsigned depth = placement.getLoopDepth(placement.find(value, users));
  bool isShared =
      depth == 0 || llvm::any_of(users, [&](Operation *user) {
        return placement.getLoopDepth(placement.find(value, user)) >= depth;
      });
  for (OpOperand *operand : operands)
    operand->set(isShared ? getAs(value, type, users)
                          : getAs(value, type, operand->getOwner()));
}

/// Sets the type of a result, and of the elements if it is a constant.
static void setType(OpResult result, Type type) {
  if (result.getType() == type)
    return;
  auto constant = dyn_cast<arith::ConstantOp>(result.getOwner());
  if (constant)
    constant.setValueAttr(getElementsAs(constant, type));
  result.setType(type);
}

/// Erases the ops that have no more users because clones with another result
/// type replaced the conversions of their results. Visits users before
/// producers.
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
  // Read and verify everything before the IR changes.
  WalkResult walk = root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    return failed(readOp(op)) ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (walk.wasInterrupted() || failed(checkStatements()))
    return failure();

  llvm::DenseMap<DictionaryAttr, DictionaryAttr> leftOf;
  for (const Wanted &entry : ops) {
    if (entry.op->getDiscardableAttrDictionary().empty())
      continue;
    if (!entry.results.empty())
      for (auto [result, type] :
           llvm::zip(entry.op->getResults(), entry.results))
        setType(result, type);
    DictionaryAttr attrs = entry.op->getDiscardableAttrDictionary();
    DictionaryAttr &left = leftOf[attrs];
    if (!left) {
      NamedAttrList others(attrs);
      for (StringRef name : {kOperandLayouts, kResultLayouts, kArgumentLayouts})
        others.erase(name);
      left = others.getDictionary(entry.op->getContext());
    }
    entry.op->setDiscardableAttrs(left);
  }
  for (auto [argument, type] : wantedArguments)
    argument.setType(type);
  for (const Wanted &entry : ops)
    collectDemands(entry);
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
struct MaterializePass : layout::impl::MaterializePassBase<MaterializePass> {
  void runOnOperation() override {
    if (failed(insertLayoutTransforms(getOperation())))
      signalPassFailure();
  }
};
} // namespace

#undef DEBUG_TYPE
