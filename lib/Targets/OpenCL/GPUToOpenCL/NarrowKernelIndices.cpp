//===- NarrowKernelIndices.cpp - Indices of 32 bits where they fit --------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Targets/OpenCL/GPUToOpenCL/Passes.h"
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

namespace {
/// Work items of a launch along x, y and z, and those of a group; -1 is not
/// known.
using Grid = std::array<int64_t, 6>;
} // namespace

static int64_t countItems(Value groups, Value items) {
  std::optional<int64_t> a = getConstantIntValue(groups),
                         b = getConstantIntValue(items);
  int64_t product = 0;
  if (!a || !b || *a < 0 || *b < 0 || llvm::MulOverflow(*a, *b, product))
    return -1;
  return product;
}

/// The most items that any launch of a kernel has.
static DenseMap<Attribute, Grid> findGrids(ModuleOp module) {
  DenseMap<Attribute, Grid> grids;
  module.walk([&](gpu::LaunchFuncOp launch) {
    auto [grid, isNew] = grids.try_emplace(launch.getKernelAttr(), Grid());
    gpu::KernelDim3 groups = launch.getGridSizeOperandValues(),
                    items = launch.getBlockSizeOperandValues();
    int64_t counts[] = {countItems(groups.x, items.x),
                        countItems(groups.y, items.y),
                        countItems(groups.z, items.z),
                        getConstantIntValue(items.x).value_or(-1),
                        getConstantIntValue(items.y).value_or(-1),
                        getConstantIntValue(items.z).value_or(-1)};
    for (auto [most, count] : llvm::zip_equal(grid->second, counts))
      most = most < 0 || count < 0 ? -1 : std::max(most, count);
  });
  return grids;
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

/// A loop whose index is an i32 from the first turn to past the last one.
static void narrowLoop(scf::ForOp loop) {
  std::optional<int64_t> begin = getConstantIntValue(loop.getLowerBound());
  // The turns of an item of a group begin at its place.
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

/// A position is asked for once, and narrow from there on.
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

namespace {
struct NarrowKernelIndices
    : layout::impl::NarrowKernelIndicesPassBase<NarrowKernelIndices> {
  void runOnOperation() override {
    DenseMap<Attribute, Grid> grids = findGrids(getOperation());
    for (auto module : getOperation().getOps<gpu::GPUModuleOp>()) {
      for (auto kernel : module.getOps<gpu::GPUFuncOp>()) {
        auto symbol = SymbolRefAttr::get(
            module.getNameAttr(), FlatSymbolRefAttr::get(kernel.getNameAttr()));
        if (auto grid = grids.find(symbol); grid != grids.end())
          boundPositions(kernel, grid->second);
      }
      if (failed(narrow(module)))
        return signalPassFailure();
    }
  }

  LogicalResult narrow(gpu::GPUModuleOp module) {
    module.walk(narrowLoop);
    OpPassManager passes(gpu::GPUModuleOp::getOperationName());
    arith::ArithIntRangeNarrowingOptions options;
    options.bitwidthsSupported = {32};
    passes.addPass(arith::createArithIntRangeNarrowing(options));
    if (failed(runPipeline(passes, module)))
      return failure();
    // Casts that follow are erased.
    SmallVector<gpu::GlobalIdOp> positions;
    module.walk([&](gpu::GlobalIdOp id) { positions.push_back(id); });
    llvm::for_each(positions, narrowPosition<gpu::GlobalIdOp>);
    SmallVector<gpu::ThreadIdOp> items;
    module.walk([&](gpu::ThreadIdOp id) { items.push_back(id); });
    llvm::for_each(items, narrowPosition<gpu::ThreadIdOp>);
    OpPassManager cleanup(gpu::GPUModuleOp::getOperationName());
    cleanup.addPass(createCSEPass());
    cleanup.addPass(createLoopInvariantCodeMotionPass());
    return runPipeline(cleanup, module);
  }
};
} // namespace
