//===- CommandTimes.cpp - The cycles of linalg ops ------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Dialect/NPU/IR/CommandTimes.h"
#include "layout/Algebra/Families/NpuScatter.h"
#include "layout/Dialect/NPU/IR/KernelApi.h"
#include "layout/Dialect/NPU/IR/OkkFunctionMatcher.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::npu;
using namespace mlir::layout;

using Planes = ChipClock::Planes;
using Work = ChipClock::Work;

static constexpr int64_t kWordBytes = 4;

std::optional<Planes> npu::getPlanes(NpuScatterAttr layout,
                                     ArrayRef<int64_t> shape,
                                     int64_t elementBytes) {
  std::optional<NpuStorage> storage =
      getNpuStorage(layout.getScatter(), layout.getTarget().getParams(),
                    elementBytes, shape, nullptr);
  if (!storage)
    return std::nullopt;
  std::optional<int64_t> count =
      (storage->m.extent * storage->row.extent).evaluate(shape);
  std::optional<int64_t> units =
      (storage->h.extent * storage->w.extent).evaluate(shape);
  if (!count || !units)
    return std::nullopt;
  int64_t unitBytes = scaleCost(elementBytes, getLanes(layout.getPack()));
  return Planes{*count,
                scaleCost(*units, llvm::divideCeil(unitBytes, kWordBytes))};
}

std::optional<ResultForm> npu::getResultForm(ArrayRef<NpuScatterAttr> layouts,
                                             unsigned result,
                                             ArrayRef<int64_t> shape,
                                             int64_t elementBytes) {
  NpuScatterAttr layout = layouts[result];
  std::optional<Planes> planes = getPlanes(layout, shape, elementBytes);
  if (!planes)
    return std::nullopt;
  // A compact tensor is aligned if its channels fill whole execution units.
  int64_t euBytes = layout.getTarget().getParams().euBytes;
  bool isWhole = scaleCost(planes->elements, kWordBytes) % euBytes == 0;
  auto isAligned = [&](NpuScatterAttr other) {
    if (!other)
      return true;
    NpuMode mode = other.getMode();
    return mode == NpuMode::Aligned || mode == NpuMode::Matrix ||
           (mode == NpuMode::Compact && isWhole);
  };
  return ResultForm{*planes, llvm::all_of(layouts, isAligned),
                    layout.getMode() == NpuMode::Matrix,
                    layout.getAxes().str()};
}

/// Returns the factor, at least 1, of a parallel loop of `op` in `index`, e.g.
/// the stride of windows, or std::nullopt if no such loop is in it.
static std::optional<int64_t> findWindowStride(linalg::LinalgOp op,
                                               AffineExpr index) {
  auto kinds = op.getIteratorTypesArray();
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
    if (index.isFunctionOfDim(loop) &&
        kinds[loop] == utils::IteratorType::parallel)
      return std::max<int64_t>(getStep(index, op.getNumLoops(), loop), 1);
  return std::nullopt;
}

/// Adds the reduction loops that index `input` to `work`: the last one that
/// makes windows along the columns, the others along the rows. A loop without a
/// window counts as channels if `hasChannels`.
static void addWindows(linalg::LinalgOp op, unsigned input,
                       ArrayRef<int64_t> ranges, bool hasChannels, Work &work) {
  auto kinds = op.getIteratorTypesArray();
  for (AffineExpr index :
       op.getMatchingIndexingMap(&op->getOpOperand(input)).getResults())
    for (unsigned loop = 0; loop < op.getNumLoops(); ++loop) {
      if (!index.isFunctionOfDim(loop) ||
          kinds[loop] != utils::IteratorType::reduction)
        continue;
      std::optional<int64_t> stride = findWindowStride(op, index);
      if (hasChannels && !stride) {
        work.channels = scaleCost(work.channels, ranges[loop]);
        continue;
      }
      work.kernelH = scaleCost(work.kernelH, work.kernelW);
      work.kernelW = ranges[loop];
      work.strideW = stride.value_or(1);
    }
}

/// The cycles of products that no function computes unless they are split: more
/// than most ops take, and less than ops outside of local memory cost.
static constexpr int64_t kWithoutFunction = int64_t(1) << 18;

/// Returns true if the matrix layout of the result fits a product of matrices:
/// its last row dim is a loop of one factor, and its columns are loops of the
/// other one.
static bool fitsMatrices(linalg::LinalgOp op, ArrayRef<int64_t> ranges,
                         std::pair<unsigned, unsigned> factors,
                         StringRef axes) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  AffineMap a = maps[factors.first], b = maps[factors.second];
  AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (axes.size() != result.getNumResults())
    return true;
  auto getFactorsWith = [&](unsigned loop) {
    return std::pair(a.isFunctionOfDim(loop), b.isFunctionOfDim(loop));
  };
  std::optional<unsigned> row;
  SmallVector<unsigned> columns;
  for (auto [axis, index] : llvm::zip_equal(axes, result.getResults())) {
    auto dim = dyn_cast<AffineDimExpr>(index);
    if (!dim || ranges[dim.getPosition()] == 1)
      continue;
    if (axis == 'M')
      columns.push_back(dim.getPosition());
    else
      row = dim.getPosition();
  }
  return !row || llvm::none_of(columns, [&](unsigned column) {
    auto [ofA, ofB] = getFactorsWith(*row);
    return ofA != ofB && getFactorsWith(column) == std::pair(ofA, ofB);
  });
}

/// Returns the work of a function that adds products for all reduction loops of
/// `op`: a matmul, a convolution, or a depthwise convolution if each parallel
/// loop of the weights is one of the input.
static Work getProductWork(linalg::LinalgOp op, ArrayRef<int64_t> ranges,
                           std::pair<unsigned, unsigned> factors,
                           const ResultForm &form) {
  Work work;
  if (form.isMatrix) {
    work.function = "matmul";
    work.operands = 1;
    work.channels = countSummed(op.getIteratorTypesArray(), ranges);
    return work;
  }
  // Windows move over the input.
  auto [input, other] = factors;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  if (maps[input].isProjectedPermutation())
    std::swap(input, other);
  AffineMap index = maps[input], weights = maps[other];
  bool isDepthwise = true;
  for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray()))
    isDepthwise &= kind != utils::IteratorType::parallel ||
                   !weights.isFunctionOfDim(loop) ||
                   index.isFunctionOfDim(loop);
  work.function = isDepthwise ? "depthwise2d" : "conv2d";
  addWindows(op, input, ranges, /*hasChannels=*/!isDepthwise, work);
  return work;
}

int64_t npu::countSummed(ArrayRef<utils::IteratorType> kinds,
                         ArrayRef<int64_t> ranges) {
  int64_t count = 1;
  for (auto [kind, range] : llvm::zip_equal(kinds, ranges))
    if (kind == utils::IteratorType::reduction)
      count = scaleCost(count, range);
  return count;
}

std::optional<CommandTime> npu::getCommandTime(linalg::LinalgOp op,
                                               ArrayRef<int64_t> ranges,
                                               const ResultForm &form,
                                               const ChipClock &clock,
                                               NpuTargetInterface chip) {
  std::optional<ElementFunction> function = getElementFunction(op);
  if (!function)
    return std::nullopt;
  CommandTime time;
  auto add = [&](Work work, bool isAligned, int64_t times = 1) {
    work.isAligned = isAligned;
    ++time.functions;
    time.cycles = addCosts(
        time.cycles, scaleCost(clock.getCycles(work, form.planes, kWordBytes,
                                               chip.getParams().euBytes),
                               times));
  };
  Work work;
  work.function = function->name;
  work.isSigned = function->isSigned;
  int64_t sums = countSummed(op.getIteratorTypesArray(), ranges);
  bool isReduction = op.getNumReductionLoops() > 0;
  auto factors = getFactors(op, *function);
  bool isSum = function->name == "add";
  if (isReduction && factors && form.isMatrix &&
      !fitsMatrices(op, ranges, *factors, form.axes))
    return CommandTime{1, kWithoutFunction};
  if (isReduction && factors) {
    add(getProductWork(op, ranges, *factors, form), /*isAligned=*/true);
  } else if (isReduction && form.isAligned &&
             (isSum || function->name == "max")) {
    unsigned out = op.getDpsInitOperand(0)->getOperandNumber();
    auto &arguments = function->arguments;
    addWindows(op, arguments[arguments[0].operand == int(out)].operand, ranges,
               /*hasChannels=*/false, work);
    work.function = isSum ? "avg_pool2d" : "max_pool2d";
    add(work, /*isAligned=*/true);
    // The average is multiplied by the number of elements.
    work = {};
    work.function = "mul_C";
    if (isSum && sums > 1 && getKernelApi(chip) == KernelApi::OKKernel)
      add(work, /*isAligned=*/true);
  } else {
    for (const ElementFunction &clamp : function->clamps) {
      Work select;
      select.function = clamp.name;
      add(select, /*isAligned=*/true);
    }
    add(work,
        form.isAligned && !isReduction &&
            llvm::all_equal(op.getIndexingMapsArray()),
        sums);
  }
  return time;
}
