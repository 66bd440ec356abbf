//===- NpuCandidates.cpp - Candidate configurations of ops ----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NpuCandidates.h"
#include "layout/Dialect/NPU/IR/OkkFunctionMatcher.h"
#include "layout/Dialect/NPU/Utils/CoreVisibility.h"
#include "layout/Support/StatedSizes.h"
#include "layout/Targets/NPU/NpuParts.h"
#include "layout/Targets/NPU/NpuSeeds.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace mlir::layout;
using Origin = OpConfig::Origin;

/// Returns the bytes of a core for local copies of the operands that are in
/// system memory, or std::nullopt if one of them does not fit a core. Returns 0
/// if the op has no loops or results, or if its first result is in system
/// memory.
std::optional<int64_t> NpuCandidates::countLoads(const OpConfig &config) const {
  auto *rule = std::get_if<LoopsRule>(&node.rule);
  if (!rule || rule->resultMaps.empty())
    return 0;
  NpuScatterAttr result = getScatter(config.exact.results.front());
  if (!result)
    return 0;
  SmallVector<int64_t> ranges;
  for (const LoopRule &loop : rule->loops)
    ranges.push_back(loop.size);
  int64_t bytes = 0;
  auto compute = dyn_cast<linalg::LinalgOp>(node.op);
  for (unsigned i = 0, e = node.op->getNumOperands(); i < e; ++i) {
    RankedTensorType type = builder.getType(/*isResult=*/false, i);
    AffineMap map = builder.getMap(/*isResult=*/false, i);
    if (!type || !map || isDest(i) || getScatter(config.exact.operands[i]))
      continue;
    RankedTensorType loaded =
        rule->isRead[i]
            ? getNpuLoad(type, map, rule->resultMaps.front(), ranges, result,
                         compute && npu::takesStrides(compute))
                  .type
            : getNpuWindow(type, result);
    auto layout = cast<NpuScatterAttr>(loaded.getEncoding());
    if (failed(layout.resolve(loaded.getShape(), loaded.getElementType(),
                              nullptr)))
      return std::nullopt;
    bytes += getNpuBytes(layout, loaded);
  }
  return bytes;
}

/// Returns the mode of `layout` for OKKernel functions that are called once per
/// batch: aligned if it places the elements as the aligned layout does, or is
/// strided with only another N stride. Otherwise returns the mode of `layout`.
static NpuMode getModeOfBatch(NpuScatterAttr layout, RankedTensorType type,
                              const ChipParams &params) {
  NpuScatter scatter = layout.getScatter();
  if (liesAs(layout, type, NpuMode::Aligned))
    return NpuMode::Aligned;
  if (scatter.mode != NpuMode::Strided)
    return scatter.mode;
  ArrayRef<int64_t> strides = layout.getStrides();
  scatter.mode = NpuMode::Aligned;
  scatter.strides.clear();
  std::optional<NpuStorage> aligned =
      getNpuStorage(scatter, params, getElementBytes(type.getElementType()),
                    type.getShape(), nullptr);
  if (!aligned)
    return NpuMode::Strided;
  const SizeExpr wanted[] = {aligned->sC, aligned->sH, aligned->sW};
  for (auto [stride, size] : llvm::zip_equal(strides.drop_front(), wanted))
    if (size.evaluate(type.getShape()) != stride)
      return NpuMode::Strided;
  return NpuMode::Aligned;
}

/// Returns the configuration with the layout that `choose` returns for each
/// tensor; a null layout stands for row-major system memory. Returns
/// std::nullopt if no tensor is local, if a layout is invalid, if the op then
/// has no commands, or if its tensors do not fit a core together.
std::optional<OpConfig> NpuCandidates::assign(Choice choose,
                                              Origin origin) const {
  int64_t bytes = 0;
  bool isLocal = false;
  auto *loops = std::get_if<LoopsRule>(&node.rule);
  auto *perDim = std::get_if<PerDimRule>(&node.rule);
  bool writesPart = perDim && perDim->writesPart;
  auto compute = dyn_cast<linalg::LinalgOp>(node.op);
  std::optional<Contraction> contraction;
  if (loops)
    contraction = getContraction();
  std::optional<OpConfig> config = builder.assign(
      [&](bool isResult, unsigned index) -> std::optional<LayoutId> {
        RankedTensorType type = builder.getType(isResult, index);
        NpuScatterAttr layout = choose({isResult, index}, type);
        if (!layout)
          return costs.getRowMajor(type.getRank());
        isLocal = true;
        if (compute && type.getRank() &&
            !npu::mayLieAs(compute,
                           getModeOfBatch(layout, type, chip.getParams()),
                           contraction && contraction->isWindowed &&
                               !isResult && contraction->isWeight[index]))
          return std::nullopt;
        // `choose` may return the layout of another tensor, invalid for this
        // one.
        if (failed(layout.resolve(type.getShape(), type.getElementType(),
                                  nullptr)))
          return std::nullopt;
        // Inits and tensors that are overwritten in part share the memory of
        // the result. The window of a pooling needs memory although it is not
        // read.
        if (isResult || (loops ? !isDest(index) || isKept(index)
                               : !writesPart || index == 0))
          bytes += getNpuBytes(layout, type);
        if (isResult && compute)
          if (RankedTensorType work = getNpuWork(
                  compute,
                  RankedTensorType::get(type.getShape(), type.getElementType(),
                                        layout))) {
            auto beside = cast<NpuScatterAttr>(work.getEncoding());
            // The work memory of a large result may exceed a core.
            if (failed(beside.resolve(work.getShape(), work.getElementType(),
                                      nullptr)))
              return std::nullopt;
            bytes += getNpuBytes(beside, work);
          }
        LayoutId id = costs.intern(layout, type);
        // Layouts with equal maps share an id. Its attribute may be the layout
        // of another tensor, and invalid for this one.
        auto known = cast<NpuScatterAttr>(costs.getSpelling(id));
        if (failed(
                known.resolve(type.getShape(), type.getElementType(), nullptr)))
          return std::nullopt;
        return id;
      });
  if (!config || !isLocal ||
      (contraction && !isCommandOfMatrices(*config, *contraction)) ||
      !isCommandOfBytes(*config))
    return std::nullopt;
  // A sum of rows of a matrix or along axis N is not a window of one command.
  // It needs one elementwise command per summed index.
  if (compute && npu::prefersAligned(compute) &&
      (isMatrix(*config) ||
       (!contraction &&
        sumsAlong(*config, [](NpuScatterAttr) { return 'N'; }))) &&
      !isCommandsOfElements(*config))
    return std::nullopt;
  std::optional<int64_t> loaded = countLoads(*config);
  if (!loaded)
    return std::nullopt;
  leastBytes = std::min(leastBytes.value_or(kInfiniteCost), bytes + *loaded);
  if (bytes + *loaded > chip.getParams().bytesPerNpu)
    return std::nullopt;
  config->origin = origin;
  return config;
}

std::optional<Contraction> NpuCandidates::getContraction() const {
  return findContraction(std::get<LoopsRule>(node.rule), [&](unsigned i) {
    return llvm::none_of(node.incidentTensors, [&](const auto &each) {
      return each.first == OperandOrResult{false, i};
    });
  });
}

/// Returns the loop of a contraction that indexes the dim of the result that is
/// spread over the cores, or std::nullopt if there is none.
std::optional<unsigned>
NpuCandidates::findChannel(const OpConfig &config) const {
  NpuScatterAttr layout = getScatter(config.exact.results.front());
  if (!layout)
    return std::nullopt;
  int first = getChannelLoops(builder.getMap(/*isResult=*/true, 0), layout)
                  .find_first();
  return first < 0 ? std::nullopt : std::optional<unsigned>(first);
}

/// Returns true if `operand` is an init of the op, whose memory a result may
/// take.
bool NpuCandidates::isDest(unsigned operand) const {
  auto dest = dyn_cast<DestinationStyleOpInterface>(node.op);
  return dest && dest.isDpsInit(&node.op->getOpOperand(operand));
}

/// Returns true if the op reads the init that is operand number `init`, and
/// this init is not computed in the memory of the result, but has its own.
bool NpuCandidates::isKept(unsigned init) const {
  return std::get<LoopsRule>(node.rule).isRead[init] &&
         !isMadeInResult(node.op->getOpOperand(init));
}

/// Returns true if `a` and `b` are the same operand or result of the op, or a
/// result and its destination.
bool NpuCandidates::isSameMemory(OperandOrResult a, OperandOrResult b) const {
  if (a.isResult == b.isResult)
    return a == b;
  auto dest = dyn_cast<DestinationStyleOpInterface>(node.op);
  unsigned operand = a.isResult ? b.index : a.index;
  return dest && isDest(operand) &&
         dest.getTiedOpResult(&node.op->getOpOperand(operand))
                 .getResultNumber() == (a.isResult ? a.index : b.index);
}

/// Returns true if cores receive `operand` of a contraction from other cores by
/// broadcast: summed loops index it, but loop `channel` of the result does not.
bool NpuCandidates::isBroadcast(unsigned operand,
                                const Contraction &contraction,
                                unsigned channel) const {
  const LoopsRule &rule = std::get<LoopsRule>(node.rule);
  AffineMap map = rule.operandMaps[operand];
  llvm::SmallBitVector channels(rule.loops.size());
  channels.set(channel);
  return map && rule.isRead[operand] &&
         npu::getCoreVisibility(map, channels) ==
             npu::CoreVisibility::Broadcast &&
         llvm::any_of(contraction.summed,
                      [&](unsigned sum) { return findDim(map, sum); });
}

std::optional<OpConfig>
NpuCandidates::getForChannel(unsigned loop, const Contraction &contraction,
                             NpuForm form, NpuScatterAttr made) const {
  bool isPossible = true;
  if (made &&
      !getChannelLoops(builder.getMap(/*isResult=*/true, 0), made).test(loop))
    return std::nullopt;
  auto choose = [&](OperandOrResult slot,
                    RankedTensorType type) -> NpuScatterAttr {
    AffineMap map = builder.getMap(slot.isResult, slot.index);
    if (!map)
      return {};
    if (made && (slot.isResult || isDest(slot.index)))
      return made;
    std::optional<unsigned> dim = findDim(map, loop);
    bool isWeight = contraction.isWindowed && !slot.isResult &&
                    contraction.isWeight[slot.index];
    if (!slot.isResult && isBroadcast(slot.index, contraction, loop)) {
      for (unsigned sum : contraction.summed)
        if (std::optional<unsigned> d = findDim(map, sum))
          dim = d;
      isWeight = false;
    }
    // All cores load an operand without the channel. A result without it cannot
    // be spread.
    if (!dim) {
      isPossible &= !slot.isResult && !map.isFunctionOfDim(loop);
      return {};
    }
    NpuScatterAttr layout =
        isWeight
            ? getNpuWeights(type, *dim, form.start, chip)
            : getNpuLayout(type, form,
                           getNpuAxes(type.getRank(), *dim, form.mode), chip);
    isPossible &= bool(layout);
    return layout;
  };
  std::optional<OpConfig> config = assign(choose, Origin::Lanes);
  return isPossible ? config : std::nullopt;
}

/// Returns, for each loop, the axis of the dims that it indexes by `map`, or 0
/// if it indexes none. `axes` has the axis of each dim. Returns std::nullopt if
/// a loop has two axes.
static std::optional<SmallVector<char>>
getLoopAxes(AffineMap map, StringRef axes, unsigned numLoops) {
  SmallVector<char> letters(numLoops, 0);
  for (auto [expr, axis] : llvm::zip_equal(map.getResults(), axes))
    for (unsigned l = 0; l < numLoops; ++l) {
      if (!expr.isFunctionOfDim(l))
        continue;
      if (letters[l] && letters[l] != axis)
        return std::nullopt;
      letters[l] = axis;
    }
  return letters;
}

/// Returns true if `map` indexes a dim with axis `channel` other than by one
/// loop or by 0, e.g. by a window. Cores then read channels that other cores
/// hold.
static bool isChannelOfOthers(AffineMap map, StringRef axes, char channel) {
  return llvm::any_of(llvm::zip_equal(map.getResults(), axes), [&](auto dim) {
    auto [expr, axis] = dim;
    auto place = dyn_cast<AffineConstantExpr>(expr);
    return axis == channel &&
           (isa<AffineBinaryOpExpr>(expr) || (place && place.getValue() != 0));
  });
}

/// Returns the configuration that follows the tensor at `slot` in `layout`:
/// each loop has the axis of the dim that it indexes there, and each dim of the
/// other tensors has the axis of its loop. Operands without the channel are in
/// system memory. Returns std::nullopt if a loop or a dim would have two axes,
/// if a window is along the channel, or if a tensor does not fit.
std::optional<OpConfig> NpuCandidates::getFollowing(OperandOrResult slot,
                                                    NpuScatterAttr layout,
                                                    Origin origin) const {
  const LoopsRule &rule = std::get<LoopsRule>(node.rule);
  AffineMap from = builder.getMap(slot.isResult, slot.index);
  if (!from)
    return std::nullopt;
  std::optional<SmallVector<char>> letters =
      getLoopAxes(from, layout.getScatter().getAxes(), rule.loops.size());
  if (!letters)
    return std::nullopt;
  NpuForm form = getFormBeside(layout);
  char channelAxis = getChannelAxis(form.mode);
  bool isPossible = true;
  auto choose = [&](OperandOrResult other,
                    RankedTensorType type) -> NpuScatterAttr {
    AffineMap map = builder.getMap(other.isResult, other.index);
    if (!map)
      return {};
    if (isSameMemory(other, slot)) {
      isPossible &=
          !isChannelOfOthers(map, layout.getScatter().getAxes(), channelAxis);
      return layout;
    }
    std::string axes;
    for (AffineExpr expr : map.getResults()) {
      char axis = 0;
      for (unsigned l = 0; l < rule.loops.size(); ++l)
        if (expr.isFunctionOfDim(l) && (*letters)[l]) {
          isPossible &= !axis || axis == (*letters)[l];
          axis = (*letters)[l];
        }
      axes += axis;
    }
    // Dims whose loops do not index the tensor at `slot` get the default axes
    // around the channel.
    size_t channel = axes.find(channelAxis);
    std::string usual = getNpuAxes(
        type.getRank(), channel == std::string::npos ? type.getRank() : channel,
        form.mode);
    for (auto [axis, known] : llvm::zip_equal(usual, axes))
      if (known)
        axis = known;
    axes = usual;
    isPossible &= !isChannelOfOthers(map, axes, channelAxis);
    if (!isPossible)
      return {};
    // All cores load an operand without the channel, but a result without it is
    // in one core.
    if (!llvm::is_contained(axes, channelAxis) && !other.isResult &&
        rule.isRead[other.index] && !isDest(other.index))
      return {};
    // The i8 data that is converted to f32 weights in 2IC-mode has the layout
    // of the weights.
    NpuScatterAttr result = layout.getPack() == NpuPack::IC2 && map == from
                                ? layout
                                : getNpuLayout(type, form, axes, chip);
    // Matrices with different columns per channel have a column in different
    // cores.
    isPossible &= result && (form.mode != NpuMode::Matrix ||
                             result.getWidth() == layout.getWidth());
    return result;
  };
  std::optional<OpConfig> config = assign(choose, origin);
  return isPossible ? config : std::nullopt;
}

/// Returns true if slices of a tensor in layout `whole` may have the same
/// packing, which is not so for weights in 2IC-mode.
static bool mayHaveParts(NpuScatterAttr whole) {
  return whole.getPack() != NpuPack::IC2;
}

/// Returns true if slices of a tensor with `axes` have scattered layouts: no
/// axis has two dims, and slices along packed axes begin at storage units.
bool NpuCandidates::canCut(StringRef axes, NpuScatterAttr layout) const {
  // Two dims on one axis have no common stride that a slice could keep.
  for (char axis : StringRef("NCHW"))
    if (axes.count(axis) > 1)
      return false;
  // A slice along the packed axis N must not divide a storage unit.
  int64_t lanes = getLanes(layout.getPack());
  const PerDimRule &rule = std::get<PerDimRule>(node.rule);
  return llvm::all_of(llvm::zip(rule.tileSizeMustDivide, axes), [&](auto dim) {
    auto [divisor, axis] = dim;
    return axis != 'N' || divisor % lanes == 0;
  });
}

/// Returns true if the op is a tensor.extract_slice with constant bounds from a
/// matrix in `form`, whose dims have the letters `axes`, and a matrix layout
/// describes the slice within the matrix.
bool NpuCandidates::takesRowsOf(const NpuForm &form, StringRef axes) const {
  auto slice = dyn_cast<tensor::ExtractSliceOp>(node.op);
  if (form.mode != NpuMode::Matrix || !slice || !isStatedBox(slice))
    return false;
  RankedTensorType whole = slice.getSourceType();
  NpuScatterAttr layout = getNpuLayout(whole, form, axes, chip);
  return layout && getNpuPart(whole.clone(slice.getStaticSizes()), layout,
                              whole, slice.getStaticOffsets(), chip);
}

/// Returns the configuration of a slice, an insertion, a pad or a concatenation
/// in which the tensor at `slot` has `layout`. The other tensors have its mode,
/// axes and packing, or, if `isAlone`, those on the other side of the op are in
/// system memory. Returns std::nullopt if a part would have no scattered
/// layout, e.g. because the op cuts storage units, or if a tensor does not fit.
std::optional<OpConfig> NpuCandidates::getTransfer(OperandOrResult slot,
                                                   NpuScatterAttr layout,
                                                   bool isAlone) const {
  const PerDimRule &rule = std::get<PerDimRule>(node.rule);
  unsigned rank = rule.tileSizeMustDivide.size();
  // A scalar has no axis: it can only be cut out of a tensor in system memory.
  if (rank && rule.dropped.count() == rank)
    return std::nullopt;
  std::string axes = layout.getScatter().getAxes().str();
  if (axes.size() != rank) {
    // Dims that this side of the slice omits have size 1, so any axis fits.
    std::string whole;
    for (unsigned d = 0, next = 0; d < rank; ++d)
      whole += rule.dropped.test(d) ? 'N' : axes[next++];
    axes = whole;
  }
  NpuForm form = getFormBeside(layout);
  // A slice of a matrix has a scattered layout only if it has whole rows.
  bool cutsResult = !isa<tensor::ExtractSliceOp>(node.op);
  bool takesRows = takesRowsOf(form, axes);
  auto isWhole = [&](OperandOrResult any) {
    return cutsResult ? any.isResult || (rule.writesPart && any.index)
                      : !any.isResult;
  };
  auto isCutMatrix = [&](OperandOrResult any) {
    return form.mode == NpuMode::Matrix && isWhole(any) && !takesRows;
  };
  if (!mayHaveParts(layout) && !(isAlone && !isWhole(slot)))
    return std::nullopt;
  if (isCutMatrix(slot) || (!takesRows && !canCut(axes, layout)))
    return std::nullopt;
  // A slice along the channel has a layout only if its channels are in
  // consecutive cores.
  if (auto slice = dyn_cast<OffsetSizeAndStrideOpInterface>(node.op))
    for (auto [axis, size, stride] : llvm::zip_equal(
             StringRef(axes), slice.getStaticSizes(), slice.getStaticStrides()))
      if (axis == 'C' && size != 1 && stride != 1)
        return std::nullopt;
  bool isPossible = true;
  auto choose = [&](OperandOrResult other,
                    RankedTensorType type) -> NpuScatterAttr {
    // A tensor that is overwritten in part shares the memory of the result.
    if (isSameMemory(other, slot))
      return layout;
    if (isCutMatrix(other))
      return {};
    if (isAlone && (slot.isResult ? !other.isResult && !isDest(other.index)
                                  : other.isResult))
      return {};
    std::string own;
    for (unsigned d = 0; d < rank; ++d)
      if (type.getRank() == rank || !rule.dropped.test(d))
        own += axes[d];
    NpuScatterAttr result = getNpuLayout(type, form, own, chip);
    isPossible &= bool(result);
    return result;
  };
  std::optional<OpConfig> config = assign(choose, Origin::Carried);
  return isPossible ? config : std::nullopt;
}

/// Returns the configuration of a concatenation with result layout `whole`, in
/// which operands are computed in their slices of the result if possible, and
/// others have the mode and axes of `whole`. Returns std::nullopt if slices of
/// the result have no scattered layout, as those of a matrix, or if the tensors
/// do not fit a core.
std::optional<OpConfig> NpuCandidates::getInPlace(NpuScatterAttr whole) const {
  std::string axes = whole.getScatter().getAxes().str();
  // An operand that is a slice of a matrix has no scattered layout.
  if (whole.getMode() == NpuMode::Matrix || !mayHaveParts(whole) ||
      !canCut(axes, whole))
    return std::nullopt;
  auto concat = cast<tensor::ConcatOp>(node.op);
  RankedTensorType wholeType = concat.getResultType();
  SmallVector<SmallVector<int64_t>> offsets = getPartOffsets(concat);
  bool isPossible = true;
  auto choose = [&](OperandOrResult slot,
                    RankedTensorType type) -> NpuScatterAttr {
    if (slot.isResult)
      return whole;
    NpuScatterAttr part;
    if (mayBeMadeInPlace(node.op->getOpOperand(slot.index)))
      part = getNpuPart(type, whole, wholeType, offsets[slot.index], chip);
    if (!part)
      part = getNpuLayout(type, getFormBeside(whole), axes, chip);
    isPossible &= bool(part);
    return part;
  };
  std::optional<OpConfig> config = assign(choose, Origin::Carried);
  return isPossible ? config : std::nullopt;
}

/// Returns a layout of the result of a concatenation, from core 0 on, in which
/// the slice of operand `part` has `layout`, or std::nullopt if there is none.
std::optional<NpuScatterAttr>
NpuCandidates::getWhole(unsigned part, NpuScatterAttr layout) const {
  auto concat = cast<tensor::ConcatOp>(node.op);
  std::string axes = layout.getScatter().getAxes().str();
  NpuForm form = getFormBeside(layout);
  form.start = 0;
  if (form.mode == NpuMode::Matrix || !mayHaveParts(layout))
    return std::nullopt;
  NpuScatterAttr whole = getNpuLayout(concat.getResultType(), form, axes, chip);
  if (!whole ||
      !findNpuPlace(layout, builder.getType(false, part), whole,
                    concat.getResultType(), getPartOffsets(concat)[part]))
    return std::nullopt;
  return whole;
}

/// Returns `base` with `layout` for the tensor at `slot`, or std::nullopt if
/// this configuration is invalid or does not fit a core.
std::optional<OpConfig> NpuCandidates::replace(const OpConfig &base,
                                               OperandOrResult slot,
                                               LayoutId layout) const {
  return assign(
      [&](OperandOrResult other, RankedTensorType) {
        // A result and its destination have one layout.
        return getScatter(isSameMemory(other, slot) ? layout
                          : other.isResult ? base.exact.results[other.index]
                                           : base.exact.operands[other.index]);
      },
      Origin::Mixed);
}

/// Returns the modes and packings to try for one choice of the channel dim:
/// matrix if `isMatrix`, aligned, compact, and aligned with packed elements if
/// an operand has elements of at most 16 bits.
static SmallVector<NpuForm> getForms(Operation *op, bool isMatrix) {
  bool isSmall = llvm::any_of(op->getOperandTypes(), [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.getElementType().isIntOrFloat() &&
           tensor.getElementTypeBitWidth() <= 16;
  });
  SmallVector<NpuForm> forms;
  if (isMatrix)
    forms.push_back({NpuMode::Matrix});
  forms.push_back({NpuMode::Aligned});
  forms.push_back({NpuMode::Compact});
  if (isSmall)
    forms.push_back({NpuMode::Aligned, /*start=*/0, /*isPacked=*/true});
  return forms;
}

/// Returns `axes` with all summed dims of the tensor at `slot` along W, and all
/// others but the channel along N, so that one window of a pooling covers all
/// elements of a sum. Keeps `axes` for ops that no window function computes,
/// and for tensors that are read by windows.
std::string NpuCandidates::alongWindow(OperandOrResult slot,
                                       std::string axes) const {
  AffineMap map = builder.getMap(slot.isResult, slot.index);
  auto op = dyn_cast<linalg::LinalgOp>(node.op);
  if (op && npu::prefersAligned(op) && map.isProjectedPermutation())
    for (auto [d, axis] : llvm::enumerate(axes))
      if (axis != 'C' && axis != 'M')
        axis = op.getIteratorTypesArray()[map.getDimPosition(d)] ==
                       utils::IteratorType::reduction
                   ? 'W'
                   : 'N';
  return axes;
}

/// Adds, for each mode and packing of the tensor at `slot`, at most one
/// configuration in which the loops of the op give the other tensors its axes.
/// Prefers a channel dim for which no sum is over elements of several cores.
void NpuCandidates::addFollowing(OperandOrResult slot,
                                 SmallVectorImpl<OpConfig> &configs) const {
  RankedTensorType type = builder.getType(slot.isResult, slot.index);
  if (!type.hasStaticShape() || type.getRank() == 0)
    return;
  unsigned rank = type.getRank(), last = rank - 1;
  for (NpuForm form : getForms(node.op, /*isMatrix=*/rank < 4)) {
    unsigned usual = form.mode != NpuMode::Matrix && rank == 4 ? 1 : last;
    // Other dims are tried as channels if windows, reversed indices or a sum
    // are along the usual one.
    SmallVector<unsigned> channels{usual};
    for (unsigned d = rank; d-- > 0;)
      if (d != usual)
        channels.push_back(d);
    std::optional<OpConfig> found;
    for (unsigned channel : channels) {
      std::string axes = getNpuAxes(rank, channel, form.mode);
      std::optional<OpConfig> config;
      for (const std::string &each : {axes, alongWindow(slot, axes)})
        if (auto layout = getNpuLayout(type, form, each, chip);
            layout && !config)
          config = getFollowing(slot, layout, Origin::Lanes);
      if (!config)
        continue;
      bool isCommand = !sumsOverCores(*config);
      if (isCommand || !found)
        found = config;
      if (isCommand)
        break;
    }
    if (found)
      configs.push_back(*found);
  }
}

SmallVector<OpConfig> NpuCandidates::getSeeds() {
  SmallVector<OpConfig> configs;
  auto add = [&](std::optional<OpConfig> config) {
    if (config)
      configs.push_back(*config);
  };
  const LoopsRule &rule = std::get<LoopsRule>(node.rule);
  if (rule.resultMaps.empty())
    return configs;
  if (std::optional<Contraction> contraction = getContraction()) {
    SmallVector<unsigned> channels(contraction->outputLoops);
    for (unsigned loop : contraction->shared)
      if (!llvm::is_contained(channels, loop))
        channels.push_back(loop);
    for (unsigned loop : channels)
      for (NpuForm form : getForms(node.op, !contraction->isWindowed))
        add(getForChannel(loop, *contraction, form));
    keepPreferred(configs, configs, contraction);
    return configs;
  }
  // Without a contraction, the other tensors follow the largest one. Its
  // channel is the second of four dims, or else the last.
  std::optional<OperandOrResult> widest;
  int64_t most = -1;
  auto consider = [&](OperandOrResult slot) {
    RankedTensorType type = builder.getType(slot.isResult, slot.index);
    AffineMap map = builder.getMap(slot.isResult, slot.index);
    if (!type || !map || !type.hasStaticShape() || type.getRank() == 0 ||
        type.getNumElements() <= most)
      return;
    most = type.getNumElements();
    widest = slot;
  };
  for (unsigned r = 0, e = node.op->getNumResults(); r < e; ++r)
    consider({true, r});
  for (unsigned i = 0, e = node.op->getNumOperands(); i < e; ++i)
    if (rule.isRead[i])
      consider({false, i});
  if (!widest)
    return configs;
  addFollowing(*widest, configs);
  // If the largest tensor is read at a constant index, try the result instead.
  AffineMap map = builder.getMap(widest->isResult, widest->index);
  if (configs.empty() &&
      llvm::any_of(map.getResults(), llvm::IsaPred<AffineConstantExpr>))
    addFollowing({/*isResult=*/true, 0}, configs);
  keepPreferred(configs, configs, std::nullopt);
  return configs;
}

void NpuCandidates::carryLoops(ArrayRef<OpConfig> known, OperandOrResult slot,
                               LayoutId layout, NpuScatterAttr attr,
                               TargetModel::AddConfig add) const {
  std::optional<Contraction> contraction = getContraction();
  if (!contraction)
    return add(getFollowing(slot, attr, Origin::Carried));
  // A broadcast operand may be spread over the cores by a summed loop, and an
  // operand of a batched product by the batch if that is the channel.
  auto mayLie = [&](unsigned channel) {
    AffineMap map = builder.getMap(/*isResult=*/false, slot.index);
    llvm::SmallBitVector spread = getChannelLoops(map, attr);
    bool isSpreadBySum = llvm::all_of(spread.set_bits(), [&](unsigned loop) {
      return llvm::is_contained(contraction->summed, loop) &&
             findDim(map, loop);
    });
    return (isBroadcast(slot.index, *contraction, channel) &&
            (!contraction->isWindowed || isSpreadBySum)) ||
           (llvm::is_contained(contraction->shared, channel) &&
            attr.getMode() == NpuMode::Aligned && spread.count() == 1 &&
            spread.test(channel));
  };
  for (const OpConfig &base : known)
    if (!slot.isResult && base.origin == Origin::Lanes &&
        builder.getMap(/*isResult=*/false, slot.index) &&
        mayLie(*findChannel(base)))
      add(replace(base, slot, layout));
  // A layout with another start core, or a strided result, gives all tensors
  // that start core and form.
  bool isStrided = attr.getMode() == NpuMode::Strided;
  if (attr.getStart() == 0 && !(isStrided && slot.isResult))
    return;
  NpuForm form = isStrided ? getFormBeside(attr) : getForm(attr);
  form.width = 0;
  for (unsigned channel : contraction->outputLoops) {
    std::optional<OpConfig> config =
        getForChannel(channel, *contraction, form,
                      isStrided && slot.isResult ? attr : NpuScatterAttr());
    add(config);
    // A broadcast operand may start at any core.
    for (const OpConfig &base : known)
      for (unsigned i = 0, e = node.op->getNumOperands(); config && i < e; ++i)
        if (base.origin == Origin::Lanes &&
            isBroadcast(i, *contraction, channel) &&
            base.exact.operands[i] != config->exact.operands[i])
          add(replace(*config, {false, i}, base.exact.operands[i]));
  }
}

SmallVector<OpConfig> NpuCandidates::carry(ArrayRef<OpConfig> known,
                                           OperandOrResult slot,
                                           LayoutId layout) {
  SmallVector<OpConfig> configs;
  NpuScatterAttr attr = getScatter(layout);
  auto add = [&](std::optional<OpConfig> config) {
    if (config)
      configs.push_back(*config);
  };
  if (!attr)
    return configs;
  if (std::holds_alternative<LoopsRule>(node.rule)) {
    carryLoops(known, slot, layout, attr, add);
    keepPreferred(configs, known, getContraction());
  } else if (std::holds_alternative<ViewRule>(node.rule)) {
    add(getView(slot, attr));
  } else if (std::holds_alternative<PerDimRule>(node.rule) &&
             !node.op->hasAttr(kStored)) {
    if (isa<tensor::ConcatOp>(node.op))
      if (std::optional<NpuScatterAttr> whole =
              slot.isResult ? attr : getWhole(slot.index, attr))
        add(getInPlace(*whole));
    add(getTransfer(slot, attr, /*isAlone=*/false));
    if (slot.isResult || isa<tensor::ExtractSliceOp>(node.op))
      add(getTransfer(slot, attr, /*isAlone=*/true));
  }
  return configs;
}

static NodeClass getOnlyOp(Operation *op) {
  NodeClass node;
  node.op = op;
  node.rule = getLayoutRule(op);
  return node;
}

SmallVector<OpConfig> layout::getNpuSeeds(Operation *op, CostModel &costs,
                                          NpuTargetInterface chip) {
  NodeClass node = getOnlyOp(op);
  if (!std::holds_alternative<LoopsRule>(node.rule))
    return {};
  return NpuCandidates(node, costs, chip).getSeeds();
}

std::optional<int64_t> layout::getLeastCoreBytes(Operation *op,
                                                 CostModel &costs,
                                                 NpuTargetInterface chip) {
  NodeClass node = getOnlyOp(op);
  if (!std::holds_alternative<LoopsRule>(node.rule))
    return std::nullopt;
  NpuCandidates candidates(node, costs, chip);
  (void)candidates.getSeeds();
  return candidates.getLeastBytes();
}
