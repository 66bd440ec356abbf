//===- Windows.cpp - Pools and depthwise convolutions ---------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Emits sums, maxima and sums of products over windows of single channels.
// These functions overwrite their result, so the op must start from its neutral
// element: 0, or -infinity for a maximum. A reduction over a whole dim is a
// window of that size:
//
//     s[n, c, h] = s[n, c, h] + x[n, c, h, w]    avg_pool2d, kernel (1, w),
//                                                then mul_C by w
//
//===----------------------------------------------------------------------===//

#include "FunctionEmitter.h"
#include "Layers.h"
#include "layout/Dialect/NPU/IR/DmaPlanning.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::npu;

namespace {
/// A dim of the input with index step * stride + window * dilation, where
/// `step` is a parallel loop and `window` a reduction loop; either may be
/// absent.
struct InputDim {
  std::optional<unsigned> step, window;
  int64_t stride = 1, dilation = 1;
};

} // namespace

/// A linalg op that reduces windows of single channels of an input: a sum, a
/// maximum, or a depthwise convolution with operand `filter`.
struct npu::ChannelWindows {
  enum Kind { Sum, Maximum, Depthwise };
  Kind kind = Sum;
  unsigned input = 0;
  std::optional<unsigned> filter;
  SmallVector<InputDim> dims;
};

/// A pool or depthwise command in which each dim of the input is N, C, H or W.
/// Has the sizes of input and output, the window, and the maps from N, C, H and
/// W to the dims of each operand.
struct npu::PlacedWindows {
  LoopSizes in{1, 1, 1, 1}, out{1, 1, 1, 1};
  WindowDims window;
  AffineMap inputIndex, filterIndex, outputIndex;
};

/// Returns the op that last accesses the memory of `root` before `op`. Looks in
/// its block and, if that is the body of an npu.parallel, in the block around
/// it. Returns a null pointer if there is none, or several in one op with
/// regions.
static Operation *findLastUse(Operation *op, Value root) {
  auto touches = [&](Operation *other) {
    return !isa<DeallocOp, SubViewOp, ViewOp>(other) &&
           llvm::any_of(other->getOperands(), [&](Value operand) {
             return isa<MemRefType>(operand.getType()) &&
                    getViewedMemory(operand) == root;
           });
  };
  for (Operation *at = op; at;) {
    Operation *before = at->getPrevNode();
    if (!before) {
      at = dyn_cast_or_null<ParallelOp>(at->getParentOp());
      continue;
    }
    at = before;
    SmallVector<Operation *> found;
    at->walk([&](Operation *inner) {
      if (touches(inner))
        found.push_back(inner);
    });
    if (found.size() == 1)
      return found[0];
    if (!found.empty())
      return nullptr;
  }
  return nullptr;
}

/// Returns the float that an npu.fill writes to all of `memref`, if it is the
/// last access to its memory before `op`, or std::nullopt otherwise.
static std::optional<APFloat> getFilledWith(Operation *op, Value memref) {
  auto fill =
      dyn_cast_or_null<FillOp>(findLastUse(op, getViewedMemory(memref)));
  auto number = fill && fill.getDest() == memref
                    ? dyn_cast<FloatAttr>(fill.getValue())
                    : FloatAttr();
  if (!number)
    return std::nullopt;
  return number.getValue();
}

/// Matches the index of a dim of the input to step * stride + window *
/// dilation, with a parallel loop `step` and a reduction loop `window`. Returns
/// std::nullopt if there are several loops of one kind, an offset, or a factor
/// below 1.
static std::optional<InputDim> readIndex(linalg::LinalgOp op, AffineExpr expr) {
  InputDim dim;
  auto kinds = op.getIteratorTypesArray();
  AffineExpr sum = getAffineConstantExpr(0, op.getContext());
  for (unsigned l = 0; l < op.getNumLoops(); ++l) {
    if (!expr.isFunctionOfDim(l))
      continue;
    bool isWindow = kinds[l] == utils::IteratorType::reduction;
    std::optional<unsigned> &loop = isWindow ? dim.window : dim.step;
    if (loop)
      return std::nullopt;
    loop = l;
    int64_t by = getStep(expr, op.getNumLoops(), l);
    if (by < 1)
      return std::nullopt;
    (isWindow ? dim.dilation : dim.stride) = by;
    sum = sum + getAffineDimExpr(l, op.getContext()) * by;
  }
  // The index must be a sum of loops times factors, without a constant.
  if (simplifyAffineExpr(expr - sum, op.getNumLoops(), 0) !=
      getAffineConstantExpr(0, op.getContext()))
    return std::nullopt;
  return dim;
}

static std::optional<ChannelWindows> findWindows(linalg::LinalgOp op) {
  if (op.getNumReductionLoops() == 0 || op.getNumDpsInits() != 1)
    return std::nullopt;
  ChannelWindows windows;
  OpOperand &output = *op.getDpsInitOperand(0);
  AffineMap outMap = op.getMatchingIndexingMap(&output);
  if (!outMap.isProjectedPermutation(/*allowZeroInResults=*/true))
    return std::nullopt;
  if (auto factors = getFactors(op)) {
    windows.kind = ChannelWindows::Depthwise;
    windows.input = factors->first;
    windows.filter = factors->second;
    // The weights are the factor that is indexed by single loops.
    if (op.getMatchingIndexingMap(&op->getOpOperand(windows.input))
            .isProjectedPermutation())
      std::swap(windows.input, *windows.filter);
  } else {
    std::optional<ElementFunction> function = getElementFunction(op);
    if (!function || (function->name != "max" && function->name != "add"))
      return std::nullopt;
    if (function->name == "max")
      windows.kind = ChannelWindows::Maximum;
    int first = int(output.getOperandNumber());
    auto &arguments = function->arguments;
    if ((arguments[0].operand == first) == (arguments[1].operand == first))
      return std::nullopt;
    windows.input = arguments[arguments[0].operand == first].operand;
  }
  AffineMap map = op.getMatchingIndexingMap(&op->getOpOperand(windows.input));
  llvm::SmallBitVector used(op.getNumLoops());
  for (AffineExpr expr : map.getResults()) {
    std::optional<InputDim> dim = readIndex(op, expr);
    if (!dim || (!dim->window && dim->stride != 1) ||
        (dim->window && dim->dilation != 1 &&
         windows.kind != ChannelWindows::Depthwise))
      return std::nullopt;
    for (std::optional<unsigned> loop : {dim->step, dim->window})
      if (loop && used.test(*loop))
        return std::nullopt;
      else if (loop)
        used.set(*loop);
    windows.dims.push_back(*dim);
  }
  // Each loop must index the input, each parallel loop also the result, and the
  // input must have at most four dims.
  if (!used.all() ||
      llvm::count_if(outMap.getResults(), llvm::IsaPred<AffineDimExpr>) !=
          op.getNumParallelLoops() ||
      windows.dims.size() > 4)
    return std::nullopt;
  return windows;
}

/// Assigns dim d of the input to `places[d]`: 0 to 3 for N, C, H and W. Returns
/// std::nullopt if a window is along N or C, if its stride or dilation exceeds
/// the limits, or if weights depend on other loops than the channel and the
/// window.
static std::optional<PlacedWindows> placeWindows(linalg::LinalgOp op,
                                                 const ChannelWindows &windows,
                                                 ArrayRef<unsigned> places) {
  PlacedWindows placed;
  SmallVector<int64_t> all = op.getStaticLoopRanges();
  SmallVector<AffineExpr> index;
  LoopPlaces of(op);
  for (auto [dim, place] : llvm::zip_equal(windows.dims, places)) {
    index.push_back(getAffineDimExpr(place, op.getContext()));
    if (dim.step) {
      placed.out[place] = all[*dim.step];
      of.set(*dim.step, place);
    }
    placed.in[place] = placed.out[place];
    if (!dim.window)
      continue;
    if (place < 2)
      return std::nullopt;
    int d = place - 2;
    of.set(*dim.window, place);
    placed.window.kernel[d] = all[*dim.window];
    if (all[*dim.window] > 1)
      placed.window.dilation[d] = dim.dilation;
    if (dim.step && all[*dim.step] > 1)
      placed.window.stride[d] = dim.stride;
    if (placed.window.stride[d] > kMostWindowStride ||
        placed.window.dilation[d] > kMostWindowDilation)
      return std::nullopt;
    placed.in[place] = placed.window.getReach(d, placed.out[place]);
  }
  placed.inputIndex = AffineMap::get(4, 0, index, op.getContext());
  placed.outputIndex = of.getIndex(*op.getDpsInitOperand(0));
  if (windows.filter) {
    // Weights may be indexed by the channel and by the window only.
    OpOperand &filter = op->getOpOperand(*windows.filter);
    AffineMap map = op.getMatchingIndexingMap(&filter);
    for (auto [dim, place] : llvm::zip_equal(windows.dims, places))
      if (dim.step && place != 1 && map.isFunctionOfDim(*dim.step))
        return std::nullopt;
    placed.filterIndex = of.getIndex(filter);
  }
  return placed;
}

bool FunctionEmitter::emitPlacedWindows(linalg::LinalgOp op,
                                        ArrayRef<Operand> operands,
                                        const ChannelWindows &windows,
                                        const PlacedWindows &placed) {
  OpOperand &output = *op.getDpsInitOperand(0);
  std::optional<TransferSide> from =
      findAligned(operands[windows.input], placed.inputIndex, placed.in);
  std::optional<TransferSide> to = findAligned(
      operands[output.getOperandNumber()], placed.outputIndex, placed.out);
  if (!from || !to || from->core != to->core)
    return false;
  const WindowDims &window = placed.window;
  std::optional<TransferSide> weights;
  if (windows.filter) {
    const LoopSizes ranges{1, placed.in[1], window.kernel[0], window.kernel[1]};
    weights = findBox(operands[*windows.filter], placed.filterIndex, ranges);
    // The compact layout is the aligned one with an alignment of 4 bytes, one
    // element.
    if (!weights || weights->core != to->core ||
        !isAligned(*weights, ranges, 4, /*euBytes=*/4, getComputeLimits(chip)))
      return false;
  }
  callWindows(windows, placed, getAddress(output.get(), *to),
              getAddress(op->getOperand(windows.input), *from),
              weights ? getAddress(op->getOperand(*windows.filter), *weights)
                      : Value());
  return true;
}

/// Emits the call of a depthwise convolution with weights at `weights`, or that
/// of a pool if `weights` is null.
void FunctionEmitter::callWindows(const ChannelWindows &windows,
                                  const PlacedWindows &placed, Value to,
                                  Value from, Value weights) {
  const WindowDims &window = placed.window;
  Value shape = calls.getDim4(placed.in),
        stride = calls.getDim2(window.stride[0], window.stride[1]);
  auto getDilation = [&] {
    return calls.getDim2(window.dilation[0], window.dilation[1]);
  };
  SmallVector<Value> arguments{to, from};
  if (weights)
    arguments.append({weights, calls.getLocalAddress(0)});
  arguments.push_back(shape);
  bool isSum = windows.kind == ChannelWindows::Sum;
  if (calls.isTpu()) {
    arguments.append({calls.getDim2(window.kernel[0], window.kernel[1]),
                      calls.getNoPadding(), stride, getDilation(),
                      calls.getEnumerator("DT_FP32")});
    // Pools have a factor of the sum, or the value of padding.
    arguments.push_back(
        weights ? calls.getBool(false)
                : calls.getWord(llvm::bit_cast<uint32_t>(isSum ? 1.0f : 0.0f)));
    return calls.call(weights ? "tpu_bdc_fp_depthwise2d"
                      : isSum ? "tpu_bdc_fp_avg_pool2d"
                              : "tpu_bdc_fp_max_pool2d",
                      arguments);
  }
  arguments.append(
      {calls.getInt(window.kernel[0]), calls.getInt(window.kernel[1])});
  if (weights) {
    arguments.append(
        {calls.getBool(false), calls.getNull(), stride, getDilation()});
    return calls.call("okk_bdc_depthwise2d", arguments);
  }
  arguments.append({calls.getNull(), stride});
  calls.call(isSum ? "okk_bdc_avg_pool2d" : "okk_bdc_max_pool2d", arguments);
  int64_t count = window.kernel[0] * window.kernel[1];
  if (!isSum || count == 1)
    return;
  // The sum is the average times the number of elements. The result is aligned.
  calls.call("okk_bdc_mul_C",
             {to, to, calls.getFloat(llvm::bit_cast<uint32_t>(float(count))),
              calls.getDim4(placed.out), calls.getNull(), calls.getNull()});
}

bool FunctionEmitter::emitAsWindows(linalg::LinalgOp op,
                                    ArrayRef<Operand> operands) {
  std::optional<ChannelWindows> windows = findWindows(op);
  if (!windows)
    return false;
  std::optional<APFloat> start =
      getFilledWith(op, op.getDpsInitOperand(0)->get());
  if (!start || !startsFromNothing(op, *start))
    return false;
  // Try all assignments of dims to N, C, H and W; the layouts of the operands
  // decide which is valid.
  SmallVector<unsigned> order{0, 1, 2, 3};
  do {
    ArrayRef<unsigned> places =
        ArrayRef<unsigned>(order).take_front(windows->dims.size());
    std::optional<PlacedWindows> placed = placeWindows(op, *windows, places);
    if (placed && emitPlacedWindows(op, operands, *windows, *placed))
      return true;
  } while (std::next_permutation(order.begin(), order.end()));
  return false;
}
