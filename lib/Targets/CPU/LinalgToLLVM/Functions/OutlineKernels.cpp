//===- OutlineKernels.cpp - Equal kernels as calls of one function --------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Moves kernels to functions and calls equal ones by one function. Networks
// repeat their layers, and LLVM then compiles only the different ones.
//
// A kernel is a closed sequence of ops of one block: loops or structured ops,
// and the ops around them that compute on their values, such that no other op
// uses their results. Constants, and ops on constants only, are cloned into the
// function. All other used values become arguments, in the order of first use,
// so that sequences that differ only in their buffers become equal functions.
//
// The body of a cpu.kernel is such a sequence, of tensors without buffers yet.
// Its function has contiguous buffers until bufferization.
//
// Upstream's duplicate-function-elimination is not used because it also merges
// functions of the program, even declarations and public ones.
//
//===----------------------------------------------------------------------===//

#include "Functions/OutlinedKernels.h"
#include "Memory/Allocations.h"
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

/// The maximum number of ops in a sequence, which bounds the search for the
/// uses of their results.
static constexpr size_t kMostOps = 512;

/// Returns true if `op` has the same value at each execution: a constant, or a
/// pure op on constants that is not folded, e.g. the rounding of an f64 limit.
static bool isConstant(Operation &op) {
  return op.hasTrait<OpTrait::ConstantLike>() ||
         (op.getNumRegions() == 0 && op.getNumOperands() != 0 && isPure(&op) &&
          llvm::all_of(op.getOperands(), [](Value operand) {
            return !isa<BaseMemRefType>(operand.getType()) &&
                   matchPattern(operand, m_Constant());
          }));
}

/// Returns true if `op` is a constant, or computes only integers or views of
/// memory without effects. Such ops stay outside of the functions, unless they
/// use results of ops that are moved.
static bool isSetup(Operation &op) {
  return op.getNumRegions() == 0 && isMemoryEffectFree(&op) &&
         (isConstant(op) || llvm::all_of(op.getResultTypes(), [](Type type) {
            return type.isIntOrIndex() || isa<BaseMemRefType>(type);
          }));
}

/// Returns true if `op` can be moved to a function: it is not a terminator, and
/// neither allocates nor frees memory that others use. It may allocate memory
/// that only vector loads and stores inside of it use.
static bool canMove(Operation &op) {
  return !op.hasTrait<OpTrait::IsTerminator>() &&
         layout::leavesAllocationsAlone(op, /*mayHoldOwn=*/true);
}

/// Returns true if `op` or an op in it has a tensor operand, e.g. tensor.dim.
/// Kernels have only buffers.
static bool asksTensors(Operation &op) {
  WalkResult walk = op.walk([](Operation *inner) {
    return llvm::any_of(inner->getOperandTypes(), llvm::IsaPred<TensorType>)
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  return walk.wasInterrupted();
}

/// Returns the shortest sequence of ops that starts with `first` such that no
/// other op uses their results. Leaves out setup ops in between that do not use
/// these results. Returns an empty list if an op of it cannot be moved, or it
/// has more ops than the maximum (kMostOps).
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
    // The memory becomes an argument of the function, which
    // layout-cpu-plan-memory allocates.
    for (Operation *alloc : memory)
      alloc->moveBefore(&body, body.begin());
    if (!run.empty()) // empty if there are no elements
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

/// Moves the ops `run` to a new function that is not in the module yet. Sets
/// `arguments` to the values from outside that the ops use.
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

/// Returns true if a call can pass a value of `type` without a memref
/// descriptor: it is not a memref, or its shape, strides and offset are static.
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

/// Orders the two operands of each commutative op: operand 0 becomes the one
/// whose defining op comes later in pre-order. Then two kernels that differ
/// only in this order, e.g. `x + residual` and `residual + x`, are equal.
/// Constants are the first ops of the function, so they stay operand 1 if the
/// other operand is the result of another op.
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

/// Returns an earlier outlined function that is equal to `function` except for
/// its name and locations. If there is none, remembers `function` and returns
/// it.
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
    // LLVM would inline a function that is called once.
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
