//===- LayoutConstraints.cpp - Layouts stated by attributes ---------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Analysis/LayoutConstraints.h"
#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Interfaces/RuleCheck.h"
#include "layout/Support/ThreadDiagnostics.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::layout;

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Returns `type` with the layout `entry`, which is number `i` of the attribute
/// `name`. Fails, with an error at `op`, if it is no valid layout of `type`.
static FailureOr<Type> applyLayout(Operation *op, StringRef name, size_t i,
                                   Type type, Attribute entry) {
  auto layout = dyn_cast<LayoutAttrInterface>(entry);
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!layout || !tensor)
    return op->emitError()
           << "entry " << i << " of '" << name << "' is " << entry
           << (layout ? ", but the value is not a ranked tensor: write 'unit'"
                      : ": it must be a layout, or 'unit'");
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
  if (tensor.getEncoding())
    if (FailureOr<LayoutMap> own = getLayoutMap(tensor);
        succeeded(own) && *own == *map)
      return Type(tensor);
  // Addresses in local memory, and blocks on a mesh, require the parameters of
  // the family in addition to the map.
  if (isa<NpuScatterAttr, MeshAttr, PartialAttr>(entry))
    return Type(RankedTensorType::get(shape, elementType, entry));
  return Type(withLayout(tensor, *map, layout.getPadding(elementType)));
}

/// Emits an error and fails if entry `i` of the attribute `name` states a
/// layout for a tensor whose type has another encoding. `stated` is the type
/// with the stated layout. Accepts this if `op` cannot run in the layouts of
/// its types: it then runs in the stated layouts, between conversions.
static LogicalResult checkOtherLayout(Operation *op, StringRef name, size_t i,
                                      Type type, Type stated, Attribute entry) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (type == stated || !tensor.getEncoding() ||
      (hasLayout(type) && failed(checkRule(op, getLayoutRule(op)))))
    return success();
  return op->emitError()
         << "entry " << i << " of '" << name << "': states " << entry
         << " for a tensor whose type states " << tensor.getEncoding()
         << ": remove one of them, or convert between them with layout.convert";
}

LogicalResult StatedTypes::read(Operation *op, StringRef name, Attribute attr,
                                TypeRange types,
                                SmallVectorImpl<Type> &stated) {
  auto layouts = dyn_cast<ArrayAttr>(attr);
  if (!layouts || layouts.size() != types.size())
    return op->emitError()
           << "'" << name
           << "' must be an array with one layout for each of the "
           << types.size() << " tensors, 'unit' for other values";
  stated.assign(types.begin(), types.end());
  for (auto [i, entry] : llvm::enumerate(layouts)) {
    if (isa<UnitAttr>(entry))
      continue;
    Type &type = known[{types[i], entry}];
    if (!type) {
      FailureOr<Type> applied = applyLayout(op, name, i, types[i], entry);
      if (failed(applied))
        return failure();
      type = *applied;
    }
    if (failed(checkOtherLayout(op, name, i, types[i], type, entry)))
      return failure();
    stated[i] = type;
  }
  return success();
}

LogicalResult StatedTypes::readArguments(
    Operation *op, SmallVectorImpl<std::pair<BlockArgument, Type>> &stated) {
  Attribute attr = op->getDiscardableAttr(kArgumentLayouts);
  if (!attr)
    return success();
  SmallVector<Block *> blocks;
  for (Region &region : op->getRegions())
    for (Block &block : region)
      blocks.push_back(&block);
  auto arrays = dyn_cast<ArrayAttr>(attr);
  if (!arrays || arrays.size() != blocks.size())
    return op->emitError()
           << "'" << kArgumentLayouts
           << "' must be an array with one array for each of the "
           << blocks.size() << " blocks of the op";
  for (auto [block, array] : llvm::zip(blocks, arrays)) {
    SmallVector<Type> types;
    if (failed(read(op, kArgumentLayouts, array, block->getArgumentTypes(),
                    types)))
      return failure();
    for (auto [argument, type] : llvm::zip(block->getArguments(), types))
      stated.push_back({argument, type});
  }
  return success();
}

LogicalResult layout::checkStatedTypes(Operation *op, TypeRange operands,
                                       TypeRange results) {
  // Uses of one type depend on each other, and verifying an op without results
  // may require its parent.
  if (results.empty() || !relatesTensors(getLayoutRule(op)) ||
      (operands == op->getOperandTypes() && results == op->getResultTypes()))
    return success();
  IRMapping values;
  SmallVector<OwningOpRef<UnrealizedConversionCastOp>> sources;
  OpBuilder builder(op->getContext());
  for (auto [value, type] : llvm::zip_equal(op->getOperands(), operands)) {
    sources.push_back(UnrealizedConversionCastOp::create(builder, op->getLoc(),
                                                         type, ValueRange()));
    values.map(value, sources.back()->getResult(0));
  }
  OwningOpRef<Operation *> copy = op->clone(values);
  // One value may be two operands with different layouts.
  for (auto [operand, source] : llvm::zip_equal(copy->getOpOperands(), sources))
    operand.set(source->getResult(0));
  for (auto [result, type] : llvm::zip_equal(copy->getResults(), results))
    result.setType(type);
  std::string whyNot;
  {
    ThreadDiagnosticHandler handler(op->getContext(),
                                    [&](Diagnostic &diagnostic) {
                                      whyNot = diagnostic.str();
                                      return success();
                                    });
    OperationName name = op->getName();
    if (succeeded(name.verifyInvariants(*copy)) &&
        succeeded(name.verifyRegionInvariants(*copy)))
      return success();
  }
  InFlightDiagnostic diag =
      op->emitOpError()
      << "cannot have the layouts that its attributes state: state the same "
         "one for all tensors that must have identical storage";
  diag.attachNote() << "the verifier rejects the resulting types: " << whyNot;
  return failure();
}

//===----------------------------------------------------------------------===//
// Uses in equivalence classes of control flow
//===----------------------------------------------------------------------===//

static Operation *getOwner(TensorUse use) {
  if (auto *operand = dyn_cast<OpOperand *>(use))
    return operand->getOwner();
  Value value = cast<Value>(use);
  Operation *op = value.getDefiningOp();
  return op ? op : value.getParentBlock()->getParentOp();
}

static Location getLoc(TensorUse use) {
  if (isa<OpOperand *>(use))
    return getOwner(use)->getLoc();
  return cast<Value>(use).getLoc();
}

static std::string describeUse(TensorUse use) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (auto *operand = dyn_cast<OpOperand *>(use))
    os << "operand " << operand->getOperandNumber();
  else if (auto result = dyn_cast<OpResult>(cast<Value>(use)))
    os << "result " << result.getResultNumber();
  else
    os << "argument " << cast<BlockArgument>(cast<Value>(use)).getArgNumber();
  Operation *owner = getOwner(use);
  if (auto function = dyn_cast<FunctionOpInterface>(owner))
    os << " of function '" << function.getName() << "'";
  else
    os << " of '" << owner->getName() << "'";
  return text;
}

static std::string describeLayout(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.getEncoding())
    return "row-major";
  std::string text;
  llvm::raw_string_ostream(text) << tensor.getEncoding();
  return text;
}

static LogicalResult reportDifferentUses(TensorUse first, Type firstType,
                                         TensorUse second, Type secondType) {
  InFlightDiagnostic diag = emitError(getLoc(second));
  diag << describeUse(second) << " is stated to be stored as "
       << describeLayout(secondType) << ", and " << describeUse(first)
       << ", which control flow makes the same tensor, as "
       << describeLayout(firstType)
       << ": state the same layout for both, or convert between them with "
          "layout.convert";
  diag.attachNote(getLoc(first)) << describeUse(first) << " is here";
  return failure();
}

namespace {
/// The reason why the type of a use cannot change.
struct FixedReason {
  Location loc;
  std::string why;
};
} // namespace

static std::optional<FixedReason> getFixedReason(Operation *root,
                                                 FunctionOpInterface function) {
  std::string name = "function '" + function.getName().str() + "' ";
  if (function.isExternal())
    return FixedReason{
        function.getLoc(),
        name + "is only declared: its definition relies on its types"};
  if (function.isPublic() && !function->hasAttr(kFlexibleABI))
    return FixedReason{function.getLoc(),
                       name +
                           "is public, so that its callers are unknown: make "
                           "it private, or mark it '" +
                           kFlexibleABI.str() + "'"};
  if (!root->isProperAncestor(function))
    return FixedReason{function.getLoc(),
                       name + "is not below the op that the pass runs on"};
  // The function has a user that is not a call, so its arguments and results
  // are in no equivalence class.
  std::optional<SymbolTable::UseRange> uses =
      SymbolTable::getSymbolUses(function, root);
  if (uses)
    for (SymbolTable::SymbolUse use : *uses)
      if (!isa<CallOpInterface>(use.getUser()))
        return FixedReason{use.getUser()->getLoc(),
                           name + "is used here by '" +
                               use.getUser()->getName().getStringRef().str() +
                               "', which relies on its types: call it instead"};
  return FixedReason{function.getLoc(), name +
                                            "is called in a way that keeps its "
                                            "types"};
}

static std::optional<FixedReason> getFixedReasonOfCall(Operation *root,
                                                       CallOpInterface call) {
  if (auto function =
          dyn_cast_or_null<FunctionOpInterface>(call.resolveCallable()))
    return getFixedReason(root, function);
  return FixedReason{call.getLoc(), "its callee is unknown here"};
}

/// Returns why the type of a use that is in no equivalence class is fixed, or
/// std::nullopt if it can change.
static std::optional<FixedReason> findFixedReason(Operation *root,
                                                  TensorUse use) {
  Operation *owner = getOwner(use);
  auto bySomeUse = [&](Operation *op) {
    return FixedReason{
        op->getLoc(),
        "'" + op->getName().getStringRef().str() +
            "' creates or passes this tensor in a way that keeps its type"};
  };
  if (isa<OpOperand *>(use) || isa<OpResult>(cast<Value>(use))) {
    if (auto call = dyn_cast<CallOpInterface>(owner))
      return getFixedReasonOfCall(root, call);
    if (isa<RegionBranchOpInterface, BranchOpInterface>(owner))
      return bySomeUse(owner);
    Operation *around = owner->getParentOp();
    if (isa<Value>(use) || !owner->hasTrait<OpTrait::IsTerminator>() || !around)
      return std::nullopt;
    if (auto function = dyn_cast<FunctionOpInterface>(around))
      return getFixedReason(root, function);
    if (isa<RegionBranchOpInterface>(around))
      return bySomeUse(around);
    return std::nullopt;
  }
  auto argument = cast<BlockArgument>(cast<Value>(use));
  auto function = dyn_cast<FunctionOpInterface>(owner);
  if (function && argument.getOwner()->isEntryBlock())
    return getFixedReason(root, function);
  return bySomeUse(owner);
}

LogicalResult layout::checkUses(Operation *root, ArrayRef<StatedUse> uses,
                                bool isComplete) {
  if (uses.empty())
    return success();
  ControlFlow flow = findTypeEquivalenceClasses(root);
  llvm::DenseMap<void *, Type> statedType;
  if (!flow.classes.empty())
    for (const StatedUse &use : uses)
      statedType[use.use.getOpaqueValue()] = use.type;
  for (const TypeEquivalenceClass &flowClass : flow.classes) {
    SmallVector<TensorUse> all;
    for (OpOperand *operand : flowClass.operands)
      all.push_back(operand);
    for (Value value : flowClass.values)
      all.push_back(value);
    TensorUse first;
    Type firstType;
    for (TensorUse use : all) {
      Type type = statedType.lookup(use.getOpaqueValue());
      if (!type && isComplete)
        type = getType(use);
      if (!type)
        continue;
      if (firstType && firstType != type)
        return reportDifferentUses(first, firstType, use, type);
      if (!firstType) {
        first = use;
        firstType = type;
      }
    }
  }
  for (const StatedUse &stated : uses) {
    if (stated.type == getType(stated.use))
      continue;
    auto *operand = dyn_cast<OpOperand *>(stated.use);
    if (operand ? flow.classOfOperand.contains(operand)
                : flow.classOfValue.contains(cast<Value>(stated.use)))
      continue;
    std::optional<FixedReason> reason = findFixedReason(root, stated.use);
    if (!reason)
      continue;
    InFlightDiagnostic diag = emitError(getLoc(stated.use));
    diag << describeUse(stated.use) << " is stated to be stored as "
         << describeLayout(stated.type) << ", but must stay "
         << describeLayout(getType(stated.use));
    diag.attachNote(reason->loc) << reason->why;
    return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// LayoutConstraints
//===----------------------------------------------------------------------===//

namespace {
class ConstraintReader {
public:
  LogicalResult read(Operation *op);
  /// Reads the constraints of an op and of all ops in it. At the first invalid
  /// one, emits an error and fails.
  LogicalResult readAll(Operation *op);
  LayoutConstraints get() const;

  std::vector<StatedUse> uses;

private:
  StatedTypes types;
};
} // namespace

LogicalResult ConstraintReader::read(Operation *op) {
  Attribute operands = op->getDiscardableAttr(kOperandLayouts);
  Attribute results = op->getDiscardableAttr(kResultLayouts);
  if (!operands && !results && !op->getDiscardableAttr(kArgumentLayouts))
    return success();
  SmallVector<Type> operandTypes(op->getOperandTypes());
  SmallVector<Type> resultTypes(op->getResultTypes());
  if ((operands && failed(types.read(op, kOperandLayouts, operands,
                                     op->getOperandTypes(), operandTypes))) ||
      (results && failed(types.read(op, kResultLayouts, results,
                                    op->getResultTypes(), resultTypes))))
    return failure();
  auto add = [&](TensorUse use, Attribute attr, unsigned i, Type type) {
    if (attr && !isa<UnitAttr>(cast<ArrayAttr>(attr)[i]))
      uses.push_back({use, type});
  };
  for (auto [i, type] : llvm::enumerate(operandTypes))
    add(&op->getOpOperand(i), operands, i, type);
  for (auto [i, type] : llvm::enumerate(resultTypes))
    add(Value(op->getResult(i)), results, i, type);
  SmallVector<std::pair<BlockArgument, Type>> arguments;
  if (failed(types.readArguments(op, arguments)))
    return failure();
  // Ignores entries that repeat the type.
  for (auto [argument, type] : arguments)
    if (argument.getType() != type)
      uses.push_back({Value(argument), type});
  if (!operands && !results)
    return success();
  OpLayoutRule rule = getLayoutRule(op);
  auto *loops = std::get_if<LoopsRule>(&rule);
  auto report = [&](const Twine &why) {
    op->emitOpError() << "with the layouts that its attributes state " << why;
  };
  if (failed(checkRule(rule, operandTypes, resultTypes, report,
                       loops && loops->runsAnywhere)))
    return failure();
  return checkStatedTypes(op, operandTypes, resultTypes);
}

LogicalResult ConstraintReader::readAll(Operation *root) {
  WalkResult walk = root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op->getDiscardableAttrDictionary().empty())
      return WalkResult::advance();
    return failed(read(op)) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return failure(walk.wasInterrupted());
}

LayoutConstraints ConstraintReader::get() const {
  LayoutConstraints constraints;
  for (const StatedUse &use : uses) {
    auto type = cast<RankedTensorType>(use.type);
    if (auto *operand = dyn_cast<OpOperand *>(use.use))
      constraints.operands[operand] = type;
    else
      constraints.values[cast<Value>(use.use)] = type;
  }
  return constraints;
}

FailureOr<LayoutConstraints> layout::readConstraints(Operation *root) {
  ConstraintReader reader;
  if (failed(reader.readAll(root)) ||
      failed(checkUses(root, reader.uses, /*isComplete=*/false)))
    return failure();
  return reader.get();
}
