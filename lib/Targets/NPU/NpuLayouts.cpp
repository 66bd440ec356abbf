//===- NpuLayouts.cpp - Scattered layouts of tensors ----------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Targets/NPU/NpuLayouts.h"
#include "layout/Analysis/ConversionPlan.h"
#include "layout/Dialect/NPU/IR/KernelApi.h"
#include "layout/Dialect/NPU/IR/OkkFunctionMatcher.h"
#include "layout/Dialect/NPU/Utils/Tables.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::layout;

NpuForm layout::getForm(NpuScatterAttr layout) {
  return {layout.getMode(), layout.getStart(),
          layout.getPack() == NpuPack::N4 || layout.getPack() == NpuPack::N2,
          layout.getMode() == NpuMode::Matrix ? layout.getWidth() : 0};
}

NpuForm layout::getFormBeside(NpuScatterAttr layout) {
  NpuForm form = getForm(layout);
  if (form.mode == NpuMode::Strided)
    form.mode = NpuMode::Aligned;
  return form;
}

std::string layout::getNpuAxes(int64_t rank, unsigned channel, NpuMode mode) {
  std::string axes;
  for (unsigned d = 0; d < rank; ++d)
    if (mode == NpuMode::Matrix)
      axes += d == channel ? 'M' : 'N';
    else
      axes += d < channel     ? 'N'
              : d == channel  ? 'C'
              : d + 1 == rank ? 'W'
                              : 'H';
  return axes;
}

static NpuScatterAttr getIfItFits(NpuScatter scatter, RankedTensorType type,
                                  NpuTargetInterface chip) {
  if (scatter.axes == scatter.getFamilyAxes())
    scatter.axes.clear();
  if (!type.hasStaticShape() || !checkNpuScatter(scatter, nullptr))
    return {};
  auto layout = NpuScatterAttr::get(
      type.getContext(), scatter.mode, scatter.width, scatter.strides,
      scatter.start, scatter.pack, scatter.offset, scatter.axes, chip);
  if (failed(layout.resolve(type.getShape(), type.getElementType(), nullptr)))
    return {};
  return layout;
}

/// Returns the layout `scatter`, packed only if every coordinate is then a sum
/// of one term per dim, as transfers require. It is not packed if groups of 2
/// or 4 elements span several dims. Returns a null layout if the tensor does
/// not fit a core.
static NpuScatterAttr getPackedIfItFits(NpuScatter scatter,
                                        RankedTensorType type,
                                        NpuTargetInterface chip) {
  NpuScatterAttr packed = getIfItFits(scatter, type, chip);
  if (!packed || scatter.pack == NpuPack::None || type.getNumElements() == 0)
    return packed;
  LayoutMap map =
      packed.resolve(type.getShape(), type.getElementType(), nullptr)
          ->specialize(type.getShape());
  if (llvm::all_of(map.getCoordinates(), [&](const Coordinate &coordinate) {
        return npu::tabulate(coordinate.value, type.getShape()).has_value();
      }))
    return packed;
  scatter.pack = NpuPack::None;
  return getIfItFits(std::move(scatter), type, chip);
}

NpuScatterAttr layout::getNpuLayout(RankedTensorType type, const NpuForm &form,
                                    StringRef axes, NpuTargetInterface chip) {
  // If two dims index the cores, each index of one of them needs its own
  // transfer.
  char channel = getChannelAxis(form.mode);
  int64_t numChannelDims = 0;
  for (auto [size, axis] : llvm::zip_equal(type.getShape(), axes))
    numChannelDims += axis == channel && size != 1;
  if (numChannelDims > 1)
    return {};
  NpuScatter scatter;
  scatter.mode = form.mode;
  scatter.start = form.start;
  scatter.axes = axes.str();
  if (form.mode == NpuMode::Matrix) {
    int64_t columns = 1;
    for (auto [size, axis] : llvm::zip_equal(type.getShape(), axes))
      if (axis == 'M')
        columns *= size;
    scatter.width =
        form.width ? form.width
                   : std::max<int64_t>(
                         llvm::divideCeil(columns, chip.getParams().npus), 1);
  }
  unsigned bits =
      type.getElementType().isIntOrFloat() ? type.getElementTypeBitWidth() : 0;
  if (form.isPacked && axes.contains('N'))
    scatter.pack = bits == 8    ? NpuPack::N4
                   : bits == 16 ? NpuPack::N2
                                : NpuPack::None;
  return getPackedIfItFits(std::move(scatter), type, chip);
}

/// Returns the layout of weights in 2IC-mode in which the bytes of each channel
/// are contiguous, so that a transfer moves a channel as one row. In `compact`,
/// the pairs of the several channels of a core are interleaved. Returns
/// `compact` for other weights, for one channel per core, and if the layout
/// does not fit. The same holds if a channel does not have a multiple of 4
/// elements: i8 data that is converted to weights begins each channel at a
/// multiple of 4 bytes.
static NpuScatterAttr keepChannelsWhole(NpuScatterAttr compact,
                                        RankedTensorType type,
                                        NpuTargetInterface chip) {
  NpuScatter scatter = compact.getScatter();
  std::optional<NpuStorage> storage = getNpuStorage(
      scatter, chip.getParams(), getElementBytes(type.getElementType()),
      type.getShape(), nullptr);
  if (!storage || scatter.pack != NpuPack::IC2)
    return compact;
  auto get = [&](const SizeExpr &size) {
    return size.evaluate(type.getShape()).value_or(0);
  };
  int64_t window = get(storage->sC);
  int64_t channel = get(storage->m.extent) * window;
  if (get(storage->row.extent) < 2 ||
      channel * getLanes(scatter.pack) % sizeof(float) != 0)
    return compact;
  scatter.mode = NpuMode::Strided;
  scatter.strides = {window, channel, get(storage->sH), get(storage->sW)};
  NpuScatterAttr whole = getIfItFits(scatter, type, chip);
  return whole ? whole : compact;
}

/// Returns the axes of weights whose output channel is dim `channel`, the first
/// or the last one, and in which each output channel is contiguous, with the
/// input channel before the window: [1, O, I, KH * KW] for (O, I, KH, KW) and
/// (KH, KW, I, O). Weights of depthwise convolutions have no input channel.
static std::string getAxesByOutput(int64_t rank, unsigned channel) {
  if (rank == 3 && channel == 2)
    return "HWC";
  std::string axes(rank, 'W');
  axes[channel] = 'C';
  if (rank > 2)
    axes[channel == 0 ? 1 : channel - 1] = 'H';
  return axes;
}

NpuScatterAttr layout::getNpuWeights(RankedTensorType type, unsigned channel,
                                     int64_t start, NpuTargetInterface chip) {
  NpuScatter scatter;
  scatter.mode = NpuMode::Compact;
  scatter.start = start;
  if (npu::getKernelApi(chip) == npu::KernelApi::TPUKernel) {
    scatter.axes = getAxesByOutput(type.getRank(), channel);
    return getPackedIfItFits(std::move(scatter), type, chip);
  }
  std::string axes = getNpuAxes(type.getRank(), channel, scatter.mode);
  // (O, I, KH, KW) is stored as (I, O, KH, KW).
  if (type.getRank() == 4 && channel == 0)
    axes = "CNHW";
  scatter.axes = axes;
  if (type.getElementType().isF32() && llvm::StringRef(axes).contains('N'))
    scatter.pack = NpuPack::IC2;
  NpuScatterAttr compact = getPackedIfItFits(std::move(scatter), type, chip);
  return compact ? keepChannelsWhole(compact, type, chip) : compact;
}

RankedTensorType layout::getNpuWork(linalg::LinalgOp op,
                                    RankedTensorType result) {
  if (!npu::needsWork(op))
    return {};
  auto layout = cast<NpuScatterAttr>(result.getEncoding());
  NpuTargetInterface chip = layout.getTarget();
  if (npu::getKernelApi(chip) == npu::KernelApi::OKKernel)
    return result;
  Value computed = op.getBlock()->getTerminator()->getOperand(0);
  if (npu::getElementFunction(computed)->kind ==
      npu::ElementFunction::FromBytes)
    return {};
  ChipParams params = chip.getParams();
  int64_t tensor = llvm::alignTo(getNpuBytes(layout, result), params.euBytes);
  int64_t bytes = 2 * tensor + npu::kCoefficientBytes + npu::kTableBytes;
  return RankedTensorType::get(
      {params.npus, llvm::divideCeilSigned(bytes, 4)}, result.getElementType(),
      NpuScatterAttr::get(result.getContext(), NpuMode::Aligned, /*width=*/0,
                          /*strides=*/{}, /*start=*/0, NpuPack::None,
                          /*offset=*/0, "CW", chip));
}

bool layout::liesAs(NpuScatterAttr layout, RankedTensorType type,
                    NpuMode mode) {
  if (layout.getMode() == mode)
    return true;
  if (layout.getMode() == NpuMode::Matrix)
    return mode == NpuMode::Aligned && layout.getWidth() == 1;
  if (layout.getMode() != NpuMode::Aligned || mode != NpuMode::Matrix)
    return false;
  std::string axes = layout.getScatter().getAxes().str();
  return llvm::all_of(llvm::zip_equal(axes, type.getShape()), [&](auto dim) {
    auto [axis, size] = dim;
    return axis == 'N' ||
           (axis == 'C' && size <= layout.getTarget().getParams().npus);
  });
}

llvm::SmallBitVector layout::getAxisLoops(AffineMap map, NpuScatterAttr layout,
                                          char axis) {
  llvm::SmallBitVector loops(map.getNumDims());
  for (auto [expr, letter] :
       llvm::zip_equal(map.getResults(), layout.getScatter().getAxes()))
    for (unsigned l = 0; letter == axis && l < map.getNumDims(); ++l)
      if (expr.isFunctionOfDim(l))
        loops.set(l);
  return loops;
}

llvm::SmallBitVector layout::getChannelLoops(AffineMap map,
                                             NpuScatterAttr layout) {
  return getAxisLoops(map, layout, getChannelAxis(layout.getMode()));
}

/// Returns a type of `shape` in mode `mode`, with the chip, the start core and,
/// for a matrix, the width of `layout`, and without packing.
static RankedTensorType getBeside(NpuScatterAttr layout, NpuMode mode,
                                  ArrayRef<int64_t> shape, Type element,
                                  StringRef axes) {
  NpuScatter scatter;
  scatter.mode = mode;
  scatter.width = mode == NpuMode::Matrix ? layout.getWidth() : 0;
  scatter.start = layout.getStart();
  if (scatter.axes = axes.str(); scatter.axes == scatter.getFamilyAxes())
    scatter.axes.clear();
  return RankedTensorType::get(
      shape, element,
      NpuScatterAttr::get(layout.getContext(), scatter.mode, scatter.width,
                          /*strides=*/{}, scatter.start, scatter.pack,
                          /*offset=*/0, scatter.axes, layout.getTarget()));
}

/// Returns the only loop that indexes the channel dim of the result, or
/// std::nullopt if there are none or several, or if an index of the result is
/// an expression with this loop.
static std::optional<unsigned> findOnlyChannel(AffineMap written,
                                               NpuScatterAttr layout) {
  llvm::SmallBitVector loops = getChannelLoops(written, layout);
  if (loops.count() != 1)
    return std::nullopt;
  unsigned loop = loops.find_first();
  for (AffineExpr expr : written.getResults())
    if (expr.isFunctionOfDim(loop) && !isa<AffineDimExpr>(expr))
      return std::nullopt;
  return loop;
}

NpuLoad layout::getNpuLoad(RankedTensorType type, AffineMap map,
                           AffineMap written, ArrayRef<int64_t> ranges,
                           NpuScatterAttr layout, bool takesStrides) {
  std::optional<unsigned> channel;
  if (takesStrides)
    channel = findOnlyChannel(written, layout);
  if (channel && !map.isFunctionOfDim(*channel)) {
    // The copy has one index per core. Channel c is in core c mod X, and column
    // c of a matrix in core (c / width) mod X.
    bool isMatrix = layout.getMode() == NpuMode::Matrix;
    int64_t npus = layout.getTarget().getParams().npus;
    AffineExpr core = getAffineDimExpr(*channel, type.getContext());
    int64_t cores = ranges[*channel];
    if (isMatrix) {
      core = core.floorDiv(layout.getWidth());
      cores = llvm::divideCeil(cores, layout.getWidth());
    }
    if (cores > npus) {
      core = core % npus;
      cores = npus;
    }
    SmallVector<int64_t> shape{cores};
    SmallVector<AffineExpr> indices{core};
    llvm::append_range(shape, type.getShape());
    llvm::append_range(indices, map.getResults());
    return {getBeside(layout, NpuMode::Aligned, shape, type.getElementType(),
                      "C" + std::string(type.getRank(), 'W')),
            AffineMap::get(map.getNumDims(), 0, indices, type.getContext()),
            /*numNew=*/1};
  }
  std::string resultAxes = layout.getScatter().getAxes().str();
  SmallVector<int64_t> shape;
  SmallVector<AffineExpr> indices;
  std::string axes;
  for (unsigned loop : getChannelLoops(written, layout).set_bits()) {
    if (map.isFunctionOfDim(loop))
      continue;
    shape.push_back(ranges[loop]);
    indices.push_back(getAffineDimExpr(loop, type.getContext()));
    axes += getChannelAxis(layout.getMode());
  }
  // A scalar operand without a channel loop, e.g. on one core, gets a dim of
  // size 1.
  if (shape.empty() && type.getRank() == 0) {
    shape.push_back(1);
    indices.push_back(getAffineConstantExpr(0, type.getContext()));
    axes += getChannelAxis(layout.getMode());
  }
  unsigned numNew = shape.size();
  for (auto [size, expr] : llvm::zip_equal(type.getShape(), map.getResults())) {
    char axis = 'N';
    for (auto [other, letter] :
         llvm::zip_equal(written.getResults(), StringRef(resultAxes)))
      for (unsigned l = 0; l < map.getNumDims(); ++l)
        if (expr.isFunctionOfDim(l) && other.isFunctionOfDim(l))
          axis = letter;
    shape.push_back(size);
    indices.push_back(expr);
    axes += axis;
  }
  return {getBeside(layout, getFormBeside(layout).mode, shape,
                    type.getElementType(), axes),
          AffineMap::get(map.getNumDims(), 0, indices, type.getContext()),
          numNew};
}

RankedTensorType layout::getNpuWindow(RankedTensorType type,
                                      NpuScatterAttr layout) {
  return getBeside(layout, NpuMode::Aligned, type.getShape(),
                   type.getElementType(), std::string(type.getRank(), 'H'));
}

int64_t layout::getNpuBytes(NpuScatterAttr layout, RankedTensorType type) {
  FailureOr<LayoutMap> map =
      layout.resolve(type.getShape(), type.getElementType(), nullptr);
  return (*map->storageExtent(type.getShape()))[1] *
         getElementBytes(type.getElementType());
}
