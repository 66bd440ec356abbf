//===- NarrowKernelIndices.cpp - Use 32-bit indices if they fit -----------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "IndexBounds.h"
#include "layout/Targets/OpenCL/GPUToOpenCL/Passes.h"
#include "mlir/Analysis/DataFlow/IntegerRangeAnalysis.h"
#include "mlir/Analysis/DataFlow/Utils.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::layout {
#define GEN_PASS_DEF_NARROWKERNELINDICESPASS
#include "layout/Targets/OpenCL/GPUToOpenCL/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;
using namespace mlir::layout;

using Grid = IndexBounds::Grid;

static int64_t countItems(Value groups, Value items) {
  std::optional<int64_t> a = getConstantIntValue(groups),
                         b = getConstantIntValue(items);
  int64_t product = 0;
  if (!a || !b || *a < 0 || *b < 0 || llvm::MulOverflow(*a, *b, product))
    return -1;
  return product;
}

namespace {
/// The launches of a kernel, and the maximum over them of each number of a
/// Grid; -1 for a number that is not constant in some launch.
struct Launches {
  Grid grid = {};
  SmallVector<gpu::LaunchFuncOp> ops;
};
} // namespace

static DenseMap<Attribute, Launches> findLaunches(ModuleOp module) {
  DenseMap<Attribute, Launches> all;
  module.walk([&](gpu::LaunchFuncOp launch) {
    Launches &launches = all[launch.getKernelAttr()];
    launches.ops.push_back(launch);
    gpu::KernelDim3 groups = launch.getGridSizeOperandValues(),
                    items = launch.getBlockSizeOperandValues();
    int64_t counts[] = {countItems(groups.x, items.x),
                        countItems(groups.y, items.y),
                        countItems(groups.z, items.z),
                        getConstantIntValue(items.x).value_or(-1),
                        getConstantIntValue(items.y).value_or(-1),
                        getConstantIntValue(items.z).value_or(-1)};
    for (auto [most, count] : llvm::zip_equal(launches.grid, counts))
      most = most < 0 || count < 0 ? -1 : std::max(most, count);
  });
  return all;
}

static bool isInt32(int64_t value) { return llvm::isInt<32>(value); }

static void boundPositions(gpu::GPUFuncOp kernel, const Grid &grid) {
  Builder b(kernel.getContext());
  auto bound = [&](auto id, unsigned first) {
    int64_t items = grid[first + static_cast<unsigned>(id.getDimension())];
    if (items >= 0 && isInt32(items))
      id.setUpperBoundAttr(b.getIndexAttr(std::max<int64_t>(items, 1)));
  };
  kernel.walk([&](gpu::GlobalIdOp id) { bound(id, 0); });
  kernel.walk([&](gpu::ThreadIdOp id) { bound(id, 3); });
}

/// Makes the induction variable of a loop i32 if it also fits in 32 bits after
/// the last iteration. The upper bound and step must be constants, and the
/// lower bound a constant or a bounded gpu.thread_id; constants must be
/// nonnegative.
static void narrowLoop(scf::ForOp loop) {
  std::optional<int64_t> begin = getConstantIntValue(loop.getLowerBound());
  // The work-items of a work-group may start at their ids.
  auto item = loop.getLowerBound().getDefiningOp<gpu::ThreadIdOp>();
  if (item && item.getUpperBound())
    begin = item.getUpperBound()->getSExtValue() - 1;
  std::optional<int64_t> end = getConstantIntValue(loop.getUpperBound()),
                         step = getConstantIntValue(loop.getStep());
  int64_t last = 0;
  Value index = loop.getInductionVar();
  if (!index.getType().isIndex() || !begin || !end || !step || *begin < 0 ||
      *end < 0 || *step < 1 || !isInt32(*begin) ||
      llvm::AddOverflow(*end, *step, last) || !isInt32(last))
    return;
  OpBuilder b(loop);
  Location loc = loop.getLoc();
  auto narrow = [&](OpOperand &bound, int64_t value) {
    bound.set(arith::ConstantIntOp::create(b, loc, value, /*width=*/32));
  };
  if (item)
    loop.getLowerBoundMutable().set(
        arith::IndexCastUIOp::create(b, loc, b.getI32Type(), item));
  else
    narrow(loop.getLowerBoundMutable(), *begin);
  narrow(loop.getUpperBoundMutable(), *end);
  narrow(loop.getStepMutable(), *step);
  Type wide = index.getType();
  index.setType(b.getI32Type());
  b.setInsertionPointToStart(loop.getBody());
  auto cast = arith::IndexCastUIOp::create(b, loc, wide, index);
  index.replaceAllUsesExcept(cast, cast);
}

/// Replaces the casts of a work-item's id to i32 by a single one after its
/// definition, if the id has a known upper bound. Other users of the id get
/// this i32 cast back to index.
template <typename IdOp> static void narrowPosition(IdOp id) {
  if (!id.getUpperBound())
    return;
  OpBuilder b(id);
  b.setInsertionPointAfter(id);
  Location loc = id.getLoc();
  Type i32 = b.getI32Type();
  auto narrow = arith::IndexCastUIOp::create(b, loc, i32, id.getResult());
  auto wide =
      arith::IndexCastUIOp::create(b, loc, id.getType(), narrow.getResult());
  for (OpOperand &use : llvm::make_early_inc_range(id->getUses())) {
    Operation *user = use.getOwner();
    if (user == narrow)
      continue;
    if (isa<arith::IndexCastUIOp, arith::IndexCastOp>(user) &&
        user->getResult(0).getType() == i32) {
      user->getResult(0).replaceAllUsesWith(narrow);
      user->erase();
    } else {
      use.set(wide);
    }
  }
}

//===----------------------------------------------------------------------===//
// Dynamic sizes
//===----------------------------------------------------------------------===//

/// Merges index arguments of a kernel that have the same value in every launch:
/// keeps the first of them, and removes the others from the kernel and its
/// launches.
static void mergeSizes(gpu::GPUFuncOp kernel,
                       ArrayRef<gpu::LaunchFuncOp> launches) {
  Block &entry = kernel.getBody().front();
  for (unsigned i = kernel.getNumArguments(); i-- > 1;)
    for (unsigned same = 0; same < i; ++same) {
      if (!entry.getArgument(i).getType().isIndex() ||
          !llvm::all_of(launches, [&](gpu::LaunchFuncOp launch) {
            return launch.getKernelOperand(i) == launch.getKernelOperand(same);
          }))
        continue;
      entry.getArgument(i).replaceAllUsesWith(entry.getArgument(same));
      if (failed(kernel.eraseArgument(i)))
        break;
      for (gpu::LaunchFuncOp launch : launches)
        launch.getKernelOperandsMutable().erase(i);
      break;
    }
}

/// Returns an index as an i32: the operand of its cast from i32, a constant, or
/// a new cast after its definition.
static Value narrowValue(OpBuilder &b, Value index) {
  Operation *source = index.getDefiningOp();
  if (isa_and_present<arith::IndexCastOp, arith::IndexCastUIOp>(source) &&
      source->getOperand(0).getType().isInteger(32))
    return source->getOperand(0);
  if (std::optional<int64_t> constant = getConstantIntValue(index))
    return arith::ConstantIntOp::create(b, index.getLoc(), *constant,
                                        /*width=*/32);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointAfterValue(index);
  return arith::IndexCastUIOp::create(b, index.getLoc(), b.getI32Type(), index);
}

/// Makes `value` an i32 at its definition, and casts it to index for its users:
/// as unsigned if `isNotNegative`, else as signed.
static void redefine(OpBuilder &b, Value value, bool isNotNegative) {
  Type wide = value.getType();
  value.setType(b.getI32Type());
  Operation *cast =
      isNotNegative
          ? arith::IndexCastUIOp::create(b, value.getLoc(), wide, value)
          : arith::IndexCastOp::create(b, value.getLoc(), wide, value)
                .getOperation();
  value.replaceAllUsesExcept(cast->getResult(0), cast);
}

/// Makes each arith.select of index one of i32 if its result fits in 32 bits.
/// Upstream's narrowing pass does not do so. Fails if the range analysis fails.
static LogicalResult narrowSelections(gpu::GPUModuleOp module) {
  DataFlowSolver solver;
  dataflow::loadBaselineAnalyses(solver);
  solver.load<dataflow::IntegerRangeAnalysis>();
  if (failed(solver.initializeAndRun(module)))
    return failure();
  auto fits = [&](Value value) {
    auto *range = solver.lookupState<dataflow::IntegerValueRangeLattice>(value);
    if (!range || range->getValue().isUninitialized())
      return false;
    const ConstantIntRanges &bounds = range->getValue().getValue();
    return bounds.smin().isSignedIntN(32) && bounds.smax().isSignedIntN(32);
  };
  SmallVector<arith::SelectOp> selections;
  module.walk([&](arith::SelectOp op) {
    if (op.getType().isIndex() && fits(op))
      selections.push_back(op);
  });
  for (arith::SelectOp op : selections) {
    OpBuilder b(op);
    op.getTrueValueMutable().set(narrowValue(b, op.getTrueValue()));
    op.getFalseValueMutable().set(narrowValue(b, op.getFalseValue()));
    b.setInsertionPointAfter(op);
    redefine(b, op.getResult(), /*isNotNegative=*/false);
  }
  return success();
}

/// Sets the function type of the kernel from its block arguments.
static void setArgumentTypes(gpu::GPUFuncOp kernel) {
  auto arguments = llvm::to_vector(kernel.getBody().getArgumentTypes());
  arguments.truncate(kernel.getNumArguments());
  kernel.setFunctionType(FunctionType::get(kernel.getContext(), arguments, {}));
}

/// Converts the index arguments of the kernel to i32, and the loops and
/// arithmetic whose ranges `bounds` has. Sets an upper bound of 32 bits for
/// global ids with a range. The caller guards launches of dynamic size by a
/// check that these ranges fit in 32 bits.
static void narrowKernel(gpu::GPUFuncOp kernel, const IndexBounds &bounds) {
  OpBuilder b(kernel.getContext());
  kernel.walk([&](gpu::GlobalIdOp id) {
    if (bounds.find(id) && !id.getUpperBound())
      id.setUpperBoundAttr(b.getIndexAttr(std::numeric_limits<int32_t>::max()));
  });
  b.setInsertionPointToStart(&kernel.getBody().front());
  for (BlockArgument argument : kernel.getBody().getArguments())
    if (argument.getType().isIndex())
      redefine(b, argument, /*isNotNegative=*/true);
  setArgumentTypes(kernel);
  for (Operation *op : bounds.getOps()) {
    b.setInsertionPoint(op);
    auto loop = dyn_cast<scf::ForOp>(op);
    for (OpOperand &operand :
         op->getOpOperands().take_front(loop ? 3 : op->getNumOperands()))
      if (operand.get().getType().isIndex())
        operand.set(narrowValue(b, operand.get()));
    if (loop)
      b.setInsertionPointToStart(loop.getBody());
    else
      b.setInsertionPointAfter(op);
    Value defined = loop ? loop.getInductionVar() : op->getResult(0);
    if (defined.getType().isIndex())
      redefine(b, defined, bounds.find(defined)->isNotNegative());
  }
}

/// Emits the condition that all indices of a launch fit in 32 bits. `largest`
/// is an upper bound of their magnitudes.
static Value emitCheck(OpBuilder &b, gpu::LaunchFuncOp launch,
                       const Bound &largest) {
  Location loc = launch.getLoc();
  gpu::KernelDim3 groups = launch.getGridSizeOperandValues();
  Value groupsOf[] = {groups.x, groups.y, groups.z};
  auto symbolOf = [&](unsigned number) -> Value {
    Value size =
        number < IndexBounds::kNumGroupSymbols
            ? groupsOf[number]
            : launch.getKernelOperand(number - IndexBounds::kNumGroupSymbols);
    size = arith::IndexCastOp::create(b, loc, b.getI64Type(), size);
    // Negative sizes become large.
    return arith::UIToFPOp::create(b, loc, b.getF64Type(), size);
  };
  Value limit =
      arith::ConstantOp::create(b, loc, b.getF64FloatAttr(IndexBounds::kLimit));
  return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT,
                               largest.emit(b, loc, symbolOf), limit);
}

static void narrowOperands(gpu::LaunchFuncOp launch) {
  OpBuilder b(launch);
  for (OpOperand &given : launch.getKernelOperandsMutable())
    if (given.get().getType().isIndex())
      given.set(arith::IndexCastOp::create(b, launch.getLoc(), b.getI32Type(),
                                           given.get()));
}

/// Changes the index arguments of a kernel, and the operands of its launches,
/// to i32, the width of 32-bit addresses.
static void narrowArguments(gpu::GPUFuncOp kernel,
                            ArrayRef<gpu::LaunchFuncOp> launches) {
  OpBuilder b(kernel.getContext());
  b.setInsertionPointToStart(&kernel.getBody().front());
  for (BlockArgument argument : kernel.getBody().getArguments())
    if (argument.getType().isIndex())
      redefine(b, argument, /*isNotNegative=*/false);
  llvm::for_each(launches, narrowOperands);
  setArgumentTypes(kernel);
}

/// Emits an error and fails if the kernels still compute with indices, which
/// are then not proven to fit in 32 bits.
static LogicalResult checkProven(gpu::GPUModuleOp module) {
  WalkResult result = module.walk([&](Operation *op) {
    if (!computesWithIndices(op))
      return WalkResult::advance();
    op->emitError()
        << "an index of a kernel is not proven to fit into 32 bits, as "
           "address_bits = 32 requires; use static sizes, or address_bits = 64";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

namespace {
/// Guards launches of dynamic size by a run-time check that 32-bit indices
/// suffice. If they do not, a 64-bit copy of the kernel runs, in a separate
/// module that the runtime compiles on demand. With 32-bit addresses the launch
/// is an error instead.
class KernelVersions {
public:
  explicit KernelVersions(gpu::GPUModuleOp module) : module(module) {}

  void add(gpu::GPUFuncOp kernel, const Grid &grid,
           ArrayRef<gpu::LaunchFuncOp> launches) {
    // Other launches are rejected later, or have sizes that are not indices.
    auto isPlain = [](gpu::LaunchFuncOp launch) {
      return !launch.getAsyncToken() &&
             launch.getGridSizeX().getType().isIndex();
    };
    auto isDynamic = [](gpu::LaunchFuncOp launch) {
      return llvm::any_of(launch->getOperands(), [](Value given) {
        return given.getType().isIndex() && !getConstantIntValue(given);
      });
    };
    bool hasWide = !has32BitAddresses(module);
    if (!llvm::all_of(launches, isPlain) ||
        (hasWide && !llvm::any_of(launches, isDynamic)))
      return;
    mergeSizes(kernel, launches);
    IndexBounds bounds(kernel, grid);
    if (bounds.getOps().empty() || bounds.getLargest().getConstant())
      return;
    if (hasWide && !wide) {
      OpBuilder b(module);
      b.setInsertionPointAfter(module);
      wide = gpu::GPUModuleOp::create(b, module.getLoc(),
                                      (module.getName() + "_wide").str());
      wide->setDiscardableAttrs(module->getDiscardableAttrDictionary());
      SymbolTable(module->getParentOp()).insert(wide);
    }
    if (hasWide)
      OpBuilder::atBlockEnd(wide.getBody()).clone(*kernel);
    for (gpu::LaunchFuncOp launch : launches) {
      OpBuilder b(launch);
      auto choice = scf::IfOp::create(b, launch.getLoc(),
                                      emitCheck(b, launch, bounds.getLargest()),
                                      /*withElseRegion=*/true);
      auto other =
          cast<gpu::LaunchFuncOp>(choice.getElseBodyBuilder().clone(*launch));
      if (hasWide)
        other.setKernelAttr(SymbolRefAttr::get(
            wide.getNameAttr(), FlatSymbolRefAttr::get(kernel.getNameAttr())));
      else
        other->setAttr(kIsRefusedAttrName, b.getUnitAttr());
      b = choice.getThenBodyBuilder();
      launch->moveBefore(b.getInsertionBlock(), b.getInsertionPoint());
      narrowOperands(launch);
      if (!hasWide)
        narrowOperands(other);
    }
    narrowKernel(kernel, bounds);
  }

private:
  gpu::GPUModuleOp module, wide;
};

struct NarrowKernelIndices
    : layout::impl::NarrowKernelIndicesPassBase<NarrowKernelIndices> {
  void runOnOperation() override {
    DenseMap<Attribute, Launches> all = findLaunches(getOperation());
    for (auto module : llvm::make_early_inc_range(
             getOperation().getOps<gpu::GPUModuleOp>())) {
      KernelVersions versions(module);
      for (auto kernel : module.getOps<gpu::GPUFuncOp>()) {
        auto symbol = SymbolRefAttr::get(
            module.getNameAttr(), FlatSymbolRefAttr::get(kernel.getNameAttr()));
        auto launches = all.find(symbol);
        if (launches == all.end())
          continue;
        boundPositions(kernel, launches->second.grid);
        versions.add(kernel, launches->second.grid, launches->second.ops);
        if (has32BitAddresses(module))
          narrowArguments(kernel, launches->second.ops);
      }
    }
    for (auto module : getOperation().getOps<gpu::GPUModuleOp>())
      if (failed(narrow(module)))
        return signalPassFailure();
  }

  LogicalResult narrow(gpu::GPUModuleOp module) {
    module.walk(narrowLoop);
    OpPassManager passes(gpu::GPUModuleOp::getOperationName());
    arith::ArithIntRangeNarrowingOptions options;
    options.bitwidthsSupported = {32};
    passes.addPass(arith::createArithIntRangeNarrowing(options));
    if (failed(runPipeline(passes, module)))
      return failure();
    if (failed(narrowSelections(module)))
      return failure();
    // narrowPosition also erases casts of ids by their users.
    SmallVector<gpu::GlobalIdOp> positions;
    module.walk([&](gpu::GlobalIdOp id) { positions.push_back(id); });
    llvm::for_each(positions, narrowPosition<gpu::GlobalIdOp>);
    SmallVector<gpu::ThreadIdOp> items;
    module.walk([&](gpu::ThreadIdOp id) { items.push_back(id); });
    llvm::for_each(items, narrowPosition<gpu::ThreadIdOp>);
    OpPassManager cleanup(gpu::GPUModuleOp::getOperationName());
    cleanup.addPass(createCSEPass());
    cleanup.addPass(createLoopInvariantCodeMotionPass());
    if (failed(runPipeline(cleanup, module)))
      return failure();
    return success(!has32BitAddresses(module) ||
                   succeeded(checkProven(module)));
  }
};
} // namespace
