//===- LayoutToNPU.cpp - Lowering of tensors to NPU memory ----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Emit/ProgramBuilder.h"
#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Dialect/Layout/Transforms/Passes.h"
#include "layout/Dialect/NPU/IR/ArgumentRanges.h"
#include "layout/Dialect/NPU/IR/Storage.h"
#include "layout/Targets/NPU/LayoutToNPU/Passes.h"
#include "layout/Targets/NPU/TensorMovePlan.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::layout {
#define GEN_PASS_DEF_CONVERTLAYOUTTONPUPASS
#include "layout/Targets/NPU/LayoutToNPU/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;
using namespace mlir::layout;

LogicalResult ProgramBuilder::checkFunction() {
  if (!function.getBody().hasOneBlock())
    return function.emitOpError()
           << "has several blocks: an NPU program is one sequence of commands, "
              "so inline calls and unroll loops first";
  auto check = [&](Type type, const char *what,
                   unsigned number) -> LogicalResult {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (tensor && !tensor.hasStaticShape())
      return function.emitOpError()
             << what << " " << number << " is of type " << type
             << ", whose dim "
             << llvm::find_if(tensor.getShape(), ShapedType::isDynamic) -
                    tensor.getShape().begin()
             << " is dynamic: NPU programs need static sizes; state the size, "
                "or compile a program for each";
    if (tensor && !tensor.getEncoding() &&
        layout::getWholeBytes(tensor.getElementType()))
      return success();
    return function.emitOpError()
           << what << " " << number << " is of type " << type
           << ", but is passed in system memory: use plain tensors with static "
              "sizes and elements of whole bytes";
  };
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes()))
    if (failed(check(type, "argument", i)))
      return failure();
  for (auto [i, type] : llvm::enumerate(function.getResultTypes()))
    if (failed(check(type, "result", i)))
      return failure();
  return success();
}

/// Moves loads, i.e. layout.convert ops from system memory to local memory,
/// right before their first user. Moves stores, which convert in the opposite
/// direction, right after the op that defines their source.
void ProgramBuilder::placeTransfers() {
  Block &block = function.getBody().front();
  SmallVector<ConvertOp> converts(block.getOps<ConvertOp>());
  for (ConvertOp convert : llvm::reverse(converts)) {
    if (convert.getSource().getType().getEncoding()) {
      Operation *maker = convert.getSource().getDefiningOp();
      if (maker && !convert.getResult().getType().getEncoding())
        convert->moveAfter(maker);
      continue;
    }
    Operation *first = nullptr;
    for (Operation *user : convert->getUsers()) {
      user = block.findAncestorOpInBlock(*user);
      if (!first || user->isBeforeInBlock(first))
        first = user;
    }
    if (first)
      convert->moveBefore(first);
  }
}

/// Returns the chip in the layout of the first tensor in local memory, or a
/// null attribute if there is none.
npu::ChipAttr ProgramBuilder::findChip() {
  npu::ChipAttr found;
  function.walk([&](Operation *op) {
    for (Type type : op->getResultTypes())
      if (auto tensor = dyn_cast<RankedTensorType>(type))
        if (auto layout =
                dyn_cast_if_present<NpuScatterAttr>(tensor.getEncoding()))
          found = dyn_cast_if_present<npu::ChipAttr>(layout.getTarget());
    return found ? WalkResult::interrupt() : WalkResult::advance();
  });
  return found;
}

LogicalResult ProgramBuilder::lower(Operation *op) {
  for (Type type : op->getResultTypes()) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (tensor && !tensor.hasStaticShape())
      return op->emitError()
             << "'" << op->getName() << "' creates a tensor of type " << tensor
             << ": NPU programs need static sizes; state them";
  }
  builder.setInsertionPointToEnd(body);
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case<func::ReturnOp>([&](auto op) { return lowerReturn(op); })
      .Case<ConvertOp>([&](auto op) { return lowerConvert(op); })
      // Constants and empty tensors are created by their users.
      .Case<tensor::EmptyOp, arith::ConstantOp>([&](auto) { return success(); })
      .Case<linalg::FillOp>([&](linalg::FillOp op) {
        return getConstantFill(op.getResult(0)) ? success() : lowerLinalg(op);
      })
      .Case<linalg::LinalgOp>([&](auto op) { return lowerLinalg(op); })
      .Case<tensor::PadOp>([&](auto op) { return lowerPad(op); })
      .Case<tensor::ExtractSliceOp>([&](auto op) { return lowerExtract(op); })
      .Case<tensor::InsertSliceOp>([&](auto op) { return lowerInsert(op); })
      .Case<tensor::ConcatOp>([&](auto op) { return lowerConcat(op); })
      .Case<tensor::CollapseShapeOp>([&](tensor::CollapseShapeOp op) {
        return lowerReshape(op, op.getReassociationIndices(), false);
      })
      .Case<tensor::ExpandShapeOp>([&](tensor::ExpandShapeOp op) {
        return lowerReshape(op, op.getReassociationIndices(), true);
      })
      .Default([&](Operation *op) {
        if (isPure(op) && llvm::none_of(op->getResultTypes(), [](Type type) {
              return isa<TensorType>(type);
            })) // sizes and scalars need no code
          return success();
        return LogicalResult(
            op->emitError()
            << "'" << op->getName()
            << "' has no NPU command: lower it to linalg on tensors with "
               "static sizes, inline calls, and unroll loops");
      });
}

LogicalResult ProgramBuilder::lowerReturn(func::ReturnOp op) {
  for (auto [value, result] : llvm::zip_equal(op.getOperands(), results)) {
    Value source = getMemory(value);
    if (!source)
      return op.emitError() << "returns a tensor that has no memory";
    if (source != result)
      copy(op.getLoc(), source, result);
  }
  func::ReturnOp::create(builder, op.getLoc());
  return success();
}

/// Clones constants from outside of the new function into the linalg bodies
/// that use them. Emits an error if a body uses another value from outside.
LogicalResult ProgramBuilder::closeBodies() {
  WalkResult walked = program.walk([&](linalg::LinalgOp op) {
    DenseMap<Value, Value> copied;
    builder.setInsertionPointToStart(op.getBlock());
    WalkResult inner = op.getBlock()->walk([&](Operation *user) {
      for (OpOperand &operand : user->getOpOperands()) {
        Operation *made = operand.get().getDefiningOp();
        if (!made || program->isProperAncestor(made))
          continue;
        if (!made->hasTrait<OpTrait::ConstantLike>()) {
          op.emitError() << "'" << op->getName()
                         << "' reads a number that is not a constant: NPU "
                            "programs need a constant here";
          return WalkResult::interrupt();
        }
        Value &copy = copied[operand.get()];
        if (!copy)
          copy = builder.clone(*made)->getResult(0);
        operand.set(copy);
      }
      return WalkResult::advance();
    });
    return inner.wasInterrupted() ? inner : WalkResult::advance();
  });
  return success(!walked.wasInterrupted());
}

/// Emits an npu.dealloc of each npu.alloc after the last op of the function
/// that uses it or a view of it.
void ProgramBuilder::freeTensors() {
  llvm::MapVector<Operation *, Operation *> last;
  for (Operation &op : *body)
    op.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (Operation *alloc =
                npu::getViewedMemory(operand).getDefiningOp<npu::AllocOp>())
          last[alloc] = &op;
    });
  for (auto [alloc, user] : last) {
    builder.setInsertionPointAfter(user);
    npu::DeallocOp::create(builder, user->getLoc(), alloc->getResult(0));
  }
}

LogicalResult ProgramBuilder::run() {
  if (failed(checkFunction()))
    return failure();
  placeTransfers();
  chip = findChip();
  times = target ? NpuTimes(target) : NpuTimes::withoutStarts(chip);
  planInPlaceConcats();
  program = func::FuncOp::create(builder, function.getLoc(), function.getName(),
                                 builder.getFunctionType({}, {}));
  program.setVisibility(function.getVisibility());
  body = program.addEntryBlock();
  // Attributes of arguments and results are moved to the new arguments.
  SmallVector<DictionaryAttr> given;
  for (BlockArgument argument : function.getArguments()) {
    given.push_back(function.getArgAttrDict(argument.getArgNumber()));
    memory[argument] = addArgument(
        argument.getLoc(),
        getMemRefType(cast<RankedTensorType>(argument.getType())), "");
  }
  for (auto [i, type] : llvm::enumerate(function.getResultTypes())) {
    given.push_back(function.getResultAttrDict(i));
    results.push_back(addArgument(function.getLoc(),
                                  getMemRefType(cast<RankedTensorType>(type)),
                                  npu::kResultArgument));
  }
  for (Operation &op : function.getBody().front())
    if (failed(lower(&op)) || hasImpossibleMove) {
      program.erase();
      return failure();
    }
  if (failed(closeBodies())) {
    program.erase();
    return failure();
  }
  freeTensors();
  program.setFunctionType(
      builder.getFunctionType(body->getArgumentTypes(), {}));
  for (auto [i, role] : llvm::enumerate(roles))
    if (!role.empty())
      program.setArgAttr(i, role, builder.getUnitAttr());
  for (auto [i, attrs] : llvm::enumerate(given))
    for (StringRef name :
         {npu::kElementArgument, npu::kRangesArgument, npu::kSliceArgument})
      if (Attribute attr = attrs ? attrs.get(name) : Attribute())
        program.setArgAttr(i, name, attr);
  function.erase();
  return success();
}

namespace {
struct ConvertLayoutToNPUPass
    : public layout::impl::ConvertLayoutToNPUPassBase<ConvertLayoutToNPUPass> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    FailureOr<TargetInterface> known = findTarget(getOperation(), "");
    if (failed(known))
      return signalPassFailure();
    auto target = dyn_cast_if_present<NpuTargetAttr>(*known);
    for (auto function :
         llvm::to_vector(getOperation().getOps<func::FuncOp>())) {
      if (function.isDeclaration())
        continue;
      if (failed(ProgramBuilder(function, symbols, target).run()))
        return signalPassFailure();
    }
    getOperation()->removeAttr(layout::kTargetAttr);
  }
};
} // namespace
