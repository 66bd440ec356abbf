//===- TileCostModel.cpp - The cost of a register tile --------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels/TileCostModel.h"
#include "Emitters/MaskHoisting.h"
#include "Kernels/CacheConflicts.h"
#include "layout/Support/Kernels/ByteProducts.h"
#include "layout/Targets/CPU/LinalgToLLVM/CpuOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <numeric>

using namespace mlir;
using namespace mlir::layout;

/// Returns the number of vector operations of the root's body for one vector. A
/// multiplication and the addition of its result count as one.
static double stepOps(const Kernel &kernel, const CpuModelParams &target) {
  double ops = 0;
  linalg::LinalgOp root = kernel.root.op;
  Block *body = root.getBlock();
  SmallVector<Value> wanted(body->getTerminator()->getOperands());
  // Masks that become loop bounds are free.
  if (std::optional<HoistedMasks> masks = findHoistableMasks(kernel, {}))
    wanted = {masks->next};
  for (Operation *op : neededOps(body, wanted)) {
    if (isa<linalg::IndexOp, arith::ConstantOp>(op))
      continue;
    if (auto dot = dyn_cast<cpu::DotBytesOp>(op)) {
      // The addition of its result follows as an op of its own.
      ops += countWordOps(target, dot.isMixed()) - 1;
      continue;
    }
    if (isa<cpu::DotHalvesOp>(op)) {
      ops += kHalvesOps - 1;
      continue;
    }
    bool fused = isa<arith::MulFOp>(op) && op->hasOneUse() &&
                 isa<arith::AddFOp>(*op->user_begin());
    ops += fused ? 0 : 1;
  }
  return std::max(ops, 1.0);
}

/// The maximum number of steps of inner reductions that LLVM is assumed to
/// unroll.
static constexpr double kMostUnrolled = 32;

TileCostModel::TileCostModel(const Kernel &kernel, const CpuModelParams &target,
                             std::optional<unsigned> lane, int64_t vectorSize)
    : kernel(kernel), target(target), lane(lane), vectorSize(vectorSize),
      ops(stepOps(kernel, target) * kernel.starts.size()) {
  for (auto [dim, extent] : llvm::enumerate(kernel.extents))
    if (!kernel.isParallel(dim))
      steps *= std::ceil(countOf(extent) / (lane == dim ? vectorSize : 1));
  double inner = 1;
  for (unsigned dim = kernel.extents.size(); dim-- > 0;) {
    if (kernel.isParallel(dim))
      continue;
    inner *= countOf(kernel.extents[dim]);
    if (inner > kMostUnrolled)
      break;
    unrolled.push_back(dim);
  }
  linalg::LinalgOp op = kernel.root.op;
  for (unsigned i = 0, e = kernel.root.numInputs(); i < e; ++i)
    if (op.payloadUsesValueFromOperand(op.getDpsInputOperand(i)))
      addInput(i);
}

void TileCostModel::addInput(unsigned number) {
  AffineMap map = kernel.root.maps[number];
  auto tensor = dyn_cast<RankedTensorType>(kernel.root.getType(number));
  if (!tensor || map.getNumResults() == 0)
    return;
  Input input;
  input.elementBytes = llvm::divideCeil(bitsOf(tensor.getElementType()), 8);
  input.isProjection = map.isProjectedPermutation();
  auto column = dyn_cast<AffineDimExpr>(map.getResults().back());
  input.isPackable = column && lane == column.getPosition() &&
                     matchPattern(kernel.root.operands[number], m_Constant());
  SmallVector<double> weight(tensor.getRank(), input.elementBytes);
  for (int64_t i = tensor.getRank() - 2; i >= 0; --i)
    weight[i] = weight[i + 1] * countOf(tensor.getDimSize(i + 1));
  input.tensorBytes = weight[0] * countOf(tensor.getDimSize(0));
  SmallVector<int64_t> at(map.getNumDims(), 0);
  SmallVector<int64_t> origin = map.compose(at);
  for (unsigned dim = 0; dim < at.size(); ++dim) {
    at[dim] = 1;
    double bytes = 0;
    for (auto [i, value] : llvm::enumerate(map.compose(at)))
      bytes += weight[i] * (value - origin[i]);
    input.stride.push_back(std::llround(std::abs(bytes)));
    input.moves.push_back(map.isFunctionOfDim(dim));
    at[dim] = 0;
  }
  inputs.push_back(std::move(input));
}

//===----------------------------------------------------------------------===//
// Registers
//===----------------------------------------------------------------------===//

int64_t TileCostModel::vectorsAlong(unsigned dim, int64_t extent) const {
  return lane == dim ? llvm::divideCeil(extent, vectorSize) : extent;
}

int64_t TileCostModel::points(ArrayRef<int64_t> tile) const {
  int64_t points = 1;
  for (auto [dim, extent] : llvm::enumerate(tile))
    points *= vectorsAlong(dim, extent);
  return points;
}

/// Returns the number of values of `input`, vectors or scalars, that one step
/// reads.
int64_t TileCostModel::distinct(const Input &input,
                                ArrayRef<int64_t> tile) const {
  int64_t values = 1;
  for (auto [dim, extent] : llvm::enumerate(tile))
    if (input.moves[dim])
      values *= vectorsAlong(dim, extent);
  return values;
}

/// Returns true if a step of the unrolled reductions reads a value of `input`
/// that an earlier step has read for another point of the tile, as overlapping
/// windows do. LLVM keeps these values in registers.
bool TileCostModel::isReadAgain(const Input &input,
                                ArrayRef<int64_t> tile) const {
  for (unsigned reduction : unrolled) {
    int64_t step = input.stride[reduction];
    for (auto [dim, extent] : llvm::enumerate(tile)) {
      int64_t neighbor = input.stride[dim];
      if (extent == 1 || lane == dim || neighbor == 0 || step == 0)
        continue;
      int64_t common = std::lcm(step, neighbor);
      if (common / neighbor < extent &&
          common / step < kernel.extents[reduction])
        return true;
    }
  }
  return false;
}

/// Returns the input with the most values among those that need no registers,
/// because each value is loaded where it is used, or nullptr if there is none.
const TileCostModel::Input *
TileCostModel::findStreamed(ArrayRef<int64_t> tile) const {
  const Input *streamed = nullptr;
  int64_t most = 0;
  for (const Input &input : inputs) {
    int64_t values = distinct(input, tile);
    if (values <= most || isReadAgain(input, tile))
      continue;
    streamed = &input;
    most = values;
  }
  return streamed;
}

bool TileCostModel::fits(ArrayRef<int64_t> tile) const {
  if (!kernel.hasReduction())
    return points(tile) * kernel.starts.size() <= 4;
  // The registers of one streamed value and, if the body has more than one op,
  // of a temporary. The values of the other inputs stay in registers.
  int64_t alive = 1 + (ops > kernel.starts.size() ? 1 : 0);
  const Input *streamed = findStreamed(tile);
  for (const Input &input : inputs)
    if (&input != streamed)
      alive += distinct(input, tile);
  // Unrolling reads the next value of a window while the first is live.
  if (llvm::any_of(inputs,
                   [&](const Input &each) { return isReadAgain(each, tile); }))
    ++alive;
  return alive + points(tile) * kernel.starts.size() <= target.vectorRegisters;
}

SmallVector<unsigned> TileCostModel::orderPoints(ArrayRef<int64_t> tile) const {
  SmallVector<unsigned> order =
      llvm::to_vector(llvm::seq<unsigned>(0, tile.size()));
  if (const Input *streamed = findStreamed(tile))
    llvm::stable_sort(order, [&](unsigned a, unsigned b) {
      return streamed->moves[a] && !streamed->moves[b];
    });
  return order;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Returns the number of separate memory segments of `input` that one reduction
/// step reads. Segments with a gap of at most a cache line count as one.
int64_t TileCostModel::runsOfMemory(const Input &input,
                                    ArrayRef<int64_t> tile) const {
  SmallVector<unsigned> dims;
  for (auto [dim, extent] : llvm::enumerate(tile))
    if (extent != 1 && input.stride[dim] != 0)
      dims.push_back(dim);
  llvm::sort(dims, [&](unsigned a, unsigned b) {
    return input.stride[a] < input.stride[b];
  });
  int64_t run = target.lineBytes, runs = 1;
  for (unsigned dim : dims) {
    if (input.stride[dim] <= run + target.lineBytes)
      run += input.stride[dim] * (tile[dim] - 1);
    else
      runs *= tile[dim];
  }
  return runs;
}

/// Returns the distance in elements between the elements of `input` that
/// adjacent vector lanes read. Returns 1 if there are no lanes, or if all lanes
/// read one element.
double TileCostModel::laneStride(const Input &input) const {
  return lane && input.moves[*lane]
             ? std::max(1.0, input.stride[*lane] / input.elementBytes)
             : 1;
}

/// Returns the number of loads per value of `input`. If its lanes are strided,
/// this is their distance in elements. Otherwise it is 1, plus the share of
/// unaligned vectors that cross a cache line and take a second load.
double TileCostModel::loadsPerValue(const Input &input) const {
  if (!lane || !input.moves[*lane])
    return 1;
  if (double stride = laneStride(input); stride > 1)
    return stride;
  double bytes = vectorSize * input.elementBytes;
  for (auto [dim, stride] : llvm::enumerate(input.stride))
    if (lane != dim && kernel.extents[dim] != 1 &&
        std::fmod(stride, bytes) != 0)
      return 1 + bytes / target.lineBytes;
  return 1;
}

/// Returns true if the rows of the tile share so few L1 sets that they evict
/// each other, e.g. rows that are a power of two apart.
bool TileCostModel::hasConflicts(const Input &input,
                                 ArrayRef<int64_t> tile) const {
  for (auto [dim, extent] : llvm::enumerate(tile))
    if (lane != dim && extent != 1 && input.stride[dim] != 0 &&
        conflictsInL1(extent, input.stride[dim], target))
      return true;
  return false;
}

/// Returns the average number of cache lines of `input` that one reduction step
/// reads and no earlier step of the tile has read.
double TileCostModel::newLines(const Input &input,
                               ArrayRef<int64_t> tile) const {
  double run = input.elementBytes, rows = 1;
  for (auto [dim, extent] : llvm::enumerate(tile))
    if (input.moves[dim])
      (lane == dim ? run : rows) *= extent;
  run *= laneStride(input);
  double lines = std::ceil(run / target.lineBytes), repeats = 1;
  for (unsigned dim = tile.size(); dim-- > 0;) {
    if (kernel.isParallel(dim) || kernel.extents[dim] == 1)
      continue;
    if (input.stride[dim] != 0) {
      if (!hasConflicts(input, tile))
        lines = std::min<double>(lines, double(input.stride[dim] * tile[dim]) /
                                            target.lineBytes);
      break;
    }
    repeats *= countOf(kernel.extents[dim]);
  }
  return rows * lines / std::max(repeats, 1.0);
}

/// Returns true if it is known that no two tiles read the same element of
/// `input`.
bool TileCostModel::isReadOnce(const Input &input,
                               ArrayRef<int64_t> tile) const {
  return input.isProjection &&
         llvm::all_of(llvm::seq<unsigned>(0, tile.size()), [&](unsigned dim) {
           return !kernel.isParallel(dim) || tile[dim] == kernel.extents[dim] ||
                  input.moves[dim];
         });
}

/// Returns the bytes between the elements of `input` that successive iterations
/// of the innermost reduction read, or 0 if no reduction has several
/// iterations.
int64_t TileCostModel::stepBytes(const Input &input) const {
  for (unsigned dim = input.stride.size(); dim-- > 0;)
    if (!kernel.isParallel(dim) && kernel.extents[dim] != 1)
      return input.stride[dim];
  return 0;
}

double TileCostModel::pageCycles(ArrayRef<int64_t> tile) const {
  constexpr int64_t pageBytes = 4096, cyclesPerPage = 100;
  SmallVector<int64_t> runs(tile);
  if (lane)
    runs[*lane] = 1;
  double cycles = 0;
  for (const Input &input : inputs)
    if (isReadOnce(input, tile) && !input.isPackable &&
        input.tensorBytes > target.l2Bytes && stepBytes(input) >= pageBytes)
      cycles += cyclesPerPage * distinct(input, runs);
  return cycles;
}

/// Returns the cycles to load a cache line if the next tile reads `bytes` bytes
/// again: 0.5 if half of L1 holds them, 2 if half of L2 does, and 2.5
/// otherwise.
double TileCostModel::cyclesPerLine(double bytes) const {
  if (bytes <= target.l1Bytes / 2)
    return 0.5;
  return bytes <= target.l2Bytes / 2 ? 2 : 2.5;
}

//===----------------------------------------------------------------------===//
// Cycles
//===----------------------------------------------------------------------===//

double TileCostModel::stepCycles(ArrayRef<int64_t> tile) const {
  double loads = 0, memory = pageCycles(tile), work = ops * points(tile);
  int64_t runs = 0;
  for (const Input &input : inputs) {
    double lines = newLines(input, tile);
    double reached =
        isReadOnce(input, tile)
            ? input.tensorBytes
            : std::min(input.tensorBytes, lines * steps * target.lineBytes);
    loads += loadsPerValue(input) * distinct(input, tile);
    // Each additional lane stride needs two shuffles per value.
    work += 2 * (laneStride(input) - 1) * distinct(input, tile);
    memory += lines * cyclesPerLine(reached);
    runs += runsOfMemory(input, tile);
  }
  // A resource near its limit slows down the others. This norm is close to the
  // largest term, and above it if two terms are large.
  double latency = kernel.hasReduction() ? 4 : 0, sum = 0;
  for (double cycles : {work / 2, loads / 2, latency, memory})
    sum += std::pow(cycles, 8);
  double cycles = std::pow(sum, 1.0 / 8) + 0.5;
  // Each segment is one more stream to prefetch.
  return cycles * (1 + 0.004 * runs);
}

double TileCostModel::totalFrom(ArrayRef<int64_t> tile,
                                SmallVectorImpl<int64_t> &current,
                                unsigned dim) const {
  while (dim < tile.size() && tile[dim] == 1)
    ++dim;
  if (dim == tile.size())
    return stepCycles(current);
  int64_t extent = kernel.extents[dim];
  if (ShapedType::isDynamic(extent))
    extent = 64 * tile[dim];
  double cycles = 0;
  current[dim] = tile[dim];
  if (int64_t whole = extent / tile[dim])
    cycles += whole * totalFrom(tile, current, dim + 1);
  if (int64_t rest = extent % tile[dim]) {
    current[dim] = rest;
    // A small penalty for code size lets ties go to tiles that divide evenly.
    cycles += 1.001 * totalFrom(tile, current, dim + 1);
    current[dim] = tile[dim];
  }
  if (ShapedType::isDynamic(kernel.extents[dim]))
    cycles /= tile[dim];
  return cycles;
}

double TileCostModel::total(ArrayRef<int64_t> tile) const {
  SmallVector<int64_t> current(tile);
  double cycles = totalFrom(tile, current, 0);
  for (auto [size, extent] : llvm::zip_equal(tile, kernel.extents))
    cycles *= size == 1 ? std::max(countOf(extent), 1.0) : 1.0;
  // The partial tile of two dims is code outside of all loops, with constant
  // positions. These differ between layers, so that
  // layout-cpu-merge-similar-kernels cannot merge their kernels.
  auto isCut = [&](unsigned dim) {
    return tile[dim] != 1 && kernel.extents[dim] % tile[dim] != 0 &&
           !ShapedType::isDynamic(kernel.extents[dim]);
  };
  unsigned cut = llvm::count_if(llvm::seq<unsigned>(0, tile.size()), isCut);
  return cut < 2 ? cycles : 1.1 * cycles;
}
