//===- OutlineKernels.cpp - Equal kernels as calls of one function --------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Networks repeat their layers, and the time that LLVM takes is that of the
// different kernels when the equal ones are calls of one function.
//
// What is moved to a function is a run of ops of one block: loops, or
// structured ops, with the ops around them that compute on their values. A run
// is closed: no op outside of it uses what it computes. Constants, and what one
// op computes of them alone, are cloned into the function, everything else that
// a run uses becomes an argument, in the order of its first use, so runs that
// differ only in their buffers become equal functions.
//
// The body of a cpu.kernel is such a run, of tensors whose buffers are not
// known yet: its function is of contiguous ones until bufferization says more.
//
// Beside upstream's duplicate-function-elimination because that also merges
// functions of the program: those that are declared only, and public ones.
//
//===----------------------------------------------------------------------===//

#include "Allocations.h"
#include "OutlinedKernels.h"
#include "layout/Support/BorrowedBuffers.h"
#include "layout/Targets/CPU/LinalgToLLVM/CpuOps.h"
#include "layout/Targets/CPU/LinalgToLLVM/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include <functional>

namespace mlir::layout {
#define GEN_PASS_DEF_OUTLINEKERNELSPASS
#include "layout/Targets/CPU/LinalgToLLVM/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;

/// Ops of a run at most. What a long run computes is used late, and to find
/// that out takes time at each of its ops.
static constexpr size_t kMostOps = 512;

/// Whether `op` has one value, whenever it runs: a constant, or a number that
/// folds keep as an op on one, as the rounding of a limit of f64.
static bool isConstant(Operation &op) {
  return op.hasTrait<OpTrait::ConstantLike>() ||
         (op.getNumRegions() == 0 && op.getNumOperands() != 0 && isPure(&op) &&
          llvm::all_of(op.getOperands(), [](Value operand) {
            return !isa<BaseMemRefType>(operand.getType()) &&
                   matchPattern(operand, m_Constant());
          }));
}

/// Views, sizes and constants, which stay where they are.
static bool isSetup(Operation &op) {
  return op.getNumRegions() == 0 && isMemoryEffectFree(&op) &&
         (isConstant(op) || llvm::all_of(op.getResultTypes(), [](Type type) {
            return type.isIntOrIndex() || isa<BaseMemRefType>(type);
          }));
}

/// Whether a function of its own can do what `op` does.
static bool canMove(Operation &op) {
  return !op.hasTrait<OpTrait::IsTerminator>() &&
         layout::leavesAllocationsAlone(op, /*mayHoldOwn=*/true);
}

/// Whether `op`, or an op in it, asks a tensor, as for its size: a kernel takes
/// buffers alone.
static bool asksTensors(Operation &op) {
  WalkResult walk = op.walk([](Operation *inner) {
    return llvm::any_of(inner->getOperandTypes(), llvm::IsaPred<TensorType>)
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  return walk.wasInterrupted();
}

/// The shortest closed run that begins with `first`; empty where there is none.
static SmallVector<Operation *> findRun(Operation *first) {
  SmallVector<Operation *> run;
  llvm::SmallPtrSet<Operation *, 16> inRun;
  Block *block = first->getBlock();
  Operation *last = first;
  for (Operation *op = first;; op = op->getNextNode()) {
    auto isComputed = [&](Value operand) {
      return inRun.contains(operand.getDefiningOp());
    };
    if (!isSetup(*op) || llvm::any_of(op->getOperands(), isComputed)) {
      if (!canMove(*op) || run.size() == kMostOps)
        return {};
      run.push_back(op);
      inRun.insert(op);
      for (Operation *user : op->getUsers()) {
        Operation *top = block->findAncestorOpInBlock(*user);
        if (!top)
          return {};
        if (last->isBeforeInBlock(top))
          last = top;
      }
    }
    if (op == last)
      return run;
  }
}

namespace {
class Outliner {
public:
  explicit Outliner(ModuleOp module) : symbols(module), builder(module) {}

  void outlineAll(Block &block) {
    if (block.empty()) // as in the terminator of scf.forall
      return;
    for (Operation *op = &block.front(); op;) {
      Operation *next = op->getNextNode();
      if (!isSetup(*op)) {
        SmallVector<Operation *> run = findRun(op);
        if (!run.empty()) {
          next = run.back()->getNextNode();
          if (llvm::any_of(run, [](Operation *each) {
                return each->getNumRegions() != 0;
              }))
            outline(run);
        } else {
          for (Region &region : op->getRegions())
            for (Block &inner : region)
              outlineAll(inner);
        }
      }
      op = next;
    }
  }

  void outlineBody(cpu::KernelOp kernel) {
    Block &body = kernel.getBody().front();
    SmallVector<Operation *> run, memory;
    for (Operation &op : body) {
      bool isMemory = layout::takesOwnMemory(&op) && op.getOperands().empty();
      if (!isMemory && (!canMove(op) || asksTensors(op)))
        return;
      (isMemory ? memory : run).push_back(&op);
    }
    // An argument of the function: layout-plan-memory finds a place for it.
    for (Operation *alloc : memory)
      alloc->moveBefore(&body, body.begin());
    if (!run.empty()) // as where there are no elements
      outline(run);
  }

private:
  void outline(ArrayRef<Operation *> run);
  func::FuncOp moveToFunction(ArrayRef<Operation *> run,
                              SmallVectorImpl<Value> &arguments);
  func::FuncOp findEqual(func::FuncOp function);

  SymbolTable symbols;
  OpBuilder builder;
  DenseMap<size_t, SmallVector<func::FuncOp, 1>> functions; // by hash
};
} // namespace

/// Moves `run` to a new function, which is in no module. `arguments` are the
/// values that it uses.
func::FuncOp Outliner::moveToFunction(ArrayRef<Operation *> run,
                                      SmallVectorImpl<Value> &arguments) {
  Location loc = run.front()->getLoc();
  OpBuilder detached(builder.getContext());
  auto function = func::FuncOp::create(detached, loc, "layout_kernel",
                                       builder.getFunctionType({}, {}));
  Block *body = function.addEntryBlock();
  detached.setInsertionPointToEnd(body);
  for (Operation *op : run)
    op->moveBefore(body, body->end());
  func::ReturnOp::create(detached, loc);
  DenseMap<Value, Value> inside;
  detached.setInsertionPointToStart(body);
  std::function<Value(Value)> getInside = [&](Value value) {
    if (Value known = inside.lookup(value))
      return known;
    Operation *definition = value.getDefiningOp();
    if (!definition || !isConstant(*definition)) {
      arguments.push_back(value);
      return inside[value] = body->addArgument(value.getType(), value.getLoc());
    }
    IRMapping mapping;
    for (Value operand : definition->getOperands())
      mapping.map(operand, getInside(operand));
    Operation *clone = detached.clone(*definition, mapping);
    for (auto [from, to] :
         llvm::zip_equal(definition->getResults(), clone->getResults()))
      inside[from] = to;
    return inside.lookup(value);
  };
  for (Operation *op : run)
    op->walk<WalkOrder::PreOrder>([&](Operation *inner) {
      for (OpOperand &operand : inner->getOpOperands())
        if (!function.getBody().isAncestor(operand.get().getParentRegion()))
          operand.set(getInside(operand.get()));
    });
  layout::setArgumentTypes(function, body->getArgumentTypes());
  return function;
}

/// Calls pass a pointer where the type says all else.
static bool isPointer(Type type) {
  auto memref = dyn_cast<MemRefType>(type);
  SmallVector<int64_t> strides;
  int64_t offset;
  return !memref || (memref.hasStaticShape() &&
                     succeeded(memref.getStridesAndOffset(strides, offset)) &&
                     !ShapedType::isDynamic(offset) &&
                     llvm::none_of(strides, ShapedType::isDynamic));
}

void layout::setArgumentTypes(func::FuncOp kernel, TypeRange types) {
  kernel.setFunctionType(FunctionType::get(kernel.getContext(), types, {}));
  for (auto [argument, type] : llvm::zip_equal(kernel.getArguments(), types))
    argument.setType(type);
  if (llvm::all_of(types, isPointer))
    kernel->setAttr("llvm.bareptr", UnitAttr::get(kernel.getContext()));
  else
    kernel->removeAttr("llvm.bareptr");
}

/// Gives sums and products the operand first that is computed last, so that
/// they are equal whether, say, a residual is added first or last. Constants
/// stay behind.
static void orderOperands(func::FuncOp function) {
  DenseMap<Value, size_t> places;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op->hasTrait<OpTrait::IsCommutative>() && op->getNumOperands() == 2 &&
        places.lookup(op->getOperand(0)) < places.lookup(op->getOperand(1)))
      op->setOperands({op->getOperand(1), op->getOperand(0)});
    for (Value result : op->getResults())
      places.try_emplace(result, places.size() + 1);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Value argument : block.getArguments())
          places.try_emplace(argument, places.size() + 1);
  });
}

/// The function of this body that there is already, or else `function`.
func::FuncOp Outliner::findEqual(func::FuncOp function) {
  llvm::hash_code hash = hash_value(function.getFunctionType());
  function.walk([&](Operation *op) {
    if (op != function)
      hash = llvm::hash_combine(hash,
                                OperationEquivalence::computeHash(
                                    op, OperationEquivalence::ignoreHashValue,
                                    OperationEquivalence::ignoreHashValue,
                                    OperationEquivalence::IgnoreLocations));
  });
  SmallVectorImpl<func::FuncOp> &known = functions[hash];
  for (func::FuncOp other : known)
    if (OperationEquivalence::isRegionEquivalentTo(
            &other.getBody(), &function.getBody(),
            OperationEquivalence::IgnoreLocations))
      return other;
  known.push_back(function);
  return function;
}

void Outliner::outline(ArrayRef<Operation *> run) {
  builder.setInsertionPointAfter(run.back());
  Location loc = run.front()->getLoc();
  SmallVector<Value> arguments;
  func::FuncOp moved = moveToFunction(run, arguments);
  orderOperands(moved);
  func::FuncOp function = findEqual(moved);
  if (function != moved) {
    moved.erase();
  } else {
    symbols.insert(function);
    function.setPrivate();
    function->setAttr(layout::kKernelAttrName, builder.getUnitAttr());
    function->setAttr(
        "llvm.linkage",
        LLVM::LinkageAttr::get(builder.getContext(), LLVM::Linkage::Internal));
    // LLVM would take what is called once back to its caller.
    function->setAttr("passthrough", builder.getStrArrayAttr({"noinline"}));
  }
  func::CallOp::create(builder, loc, function, arguments)
      ->setAttr(layout::kBorrowsAttrName, builder.getUnitAttr());
}

namespace {
struct OutlineKernels : layout::impl::OutlineKernelsPassBase<OutlineKernels> {
  using OutlineKernelsPassBase::OutlineKernelsPassBase;

  void runOnOperation() override {
    Outliner outliner(getOperation());
    auto functions = llvm::to_vector(getOperation().getOps<func::FuncOp>());
    for (func::FuncOp function : functions) {
      if (function->hasAttr(layout::kKernelAttrName))
        continue;
      if (kernelOps)
        function.walk([&](cpu::KernelOp op) { outliner.outlineBody(op); });
      else
        for (Block &block : function.getBody())
          outliner.outlineAll(block);
    }
  }
};
} // namespace
