//===- FusionGroups.cpp - Parts of ops and their operands -----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tiling/FusionGroups.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Dialect/NPU/IR/OkkFunctionMatcher.h"
#include "layout/Support/StatedSizes.h"
#include "layout/Targets/NPU/NpuParts.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::layout;

//===----------------------------------------------------------------------===//
// Boxes
//===----------------------------------------------------------------------===//

TensorBox TensorBox::getWhole(RankedTensorType type) {
  TensorBox box;
  box.firsts.assign(type.getRank(), 0);
  llvm::append_range(box.sizes, type.getShape());
  return box;
}

void TensorBox::join(const TensorBox &other) {
  for (unsigned d = 0, e = firsts.size(); d < e; ++d) {
    int64_t first = std::min(firsts[d], other.firsts[d]);
    int64_t end =
        std::max(firsts[d] + sizes[d], other.firsts[d] + other.sizes[d]);
    firsts[d] = first;
    sizes[d] = end - first;
  }
}

std::optional<TensorBox> TensorBox::meet(const TensorBox &other) const {
  TensorBox both;
  for (unsigned d = 0, e = firsts.size(); d < e; ++d) {
    int64_t first = std::max(firsts[d], other.firsts[d]);
    int64_t end =
        std::min(firsts[d] + sizes[d], other.firsts[d] + other.sizes[d]);
    if (first >= end)
      return std::nullopt;
    both.firsts.push_back(first);
    both.sizes.push_back(end - first);
  }
  return both;
}

int64_t Reads::countPoints() const {
  int64_t points = 1;
  for (int64_t extent : extents)
    points = scaleCost(points, extent);
  return points;
}

static bool isStaticTensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return !tensor || tensor.hasStaticShape();
}

static bool isEmptyTensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && hasNoElements(tensor);
}

/// Returns true if the slice has static offsets and sizes, and positive static
/// strides.
static bool isStated(OffsetSizeAndStrideOpInterface slice) {
  return !ShapedType::isDynamicShape(slice.getStaticOffsets()) &&
         !ShapedType::isDynamicShape(slice.getStaticSizes()) &&
         llvm::all_of(slice.getStaticStrides(),
                      [](int64_t stride) { return stride > 0; });
}

bool layout::liesUnderWindows(Value tensor) {
  return llvm::any_of(tensor.getUses(), [](OpOperand &use) {
    auto op = dyn_cast<linalg::LinalgOp>(use.getOwner());
    return op && !op.isDpsInit(&use) && npu::prefersAligned(op) &&
           !op.getMatchingIndexingMap(&use).isProjectedPermutation();
  });
}

std::optional<SmallVector<ReassociationIndices>>
layout::getReshapedDims(Operation *op) {
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
    return expand.getReassociationIndices();
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op))
    return collapse.getReassociationIndices();
  return std::nullopt;
}

static bool canHaveParts(Operation *op) {
  if (llvm::any_of(op->getOperandTypes(), hasLayout) ||
      !llvm::all_of(op->getOperandTypes(), isStaticTensor) ||
      !llvm::all_of(op->getResultTypes(), isStaticTensor) ||
      llvm::any_of(op->getOperandTypes(), isEmptyTensor))
    return false;
  if (auto pad = dyn_cast<tensor::PadOp>(op)) {
    Value number = pad.getConstantPaddingValue();
    return number && matchPattern(number, m_Constant()) && !pad.getNofold() &&
           !ShapedType::isDynamicShape(pad.getStaticLow()) &&
           !ShapedType::isDynamicShape(pad.getStaticHigh());
  }
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return isStated(slice) &&
           slice.getSourceType().getRank() == slice.getType().getRank();
  if (auto slice = dyn_cast<tensor::InsertSliceOp>(op))
    return isStated(slice) &&
           slice.getSourceType().getRank() == slice.getType().getRank();
  if (isa<tensor::ConcatOp>(op) || getReshapedDims(op))
    return true;
  auto linalg = dyn_cast<linalg::LinalgOp>(op);
  if (!linalg || !isForCores(linalg) || linalg->getNumResults() == 0)
    return false;
  return llvm::all_of(linalg.getDpsInitsMutable(), [&](OpOperand &init) {
    AffineMap map = linalg.getMatchingIndexingMap(&init);
    return map.getNumResults() != 0 && map.isProjectedPermutation();
  });
}

FusionStage::FusionStage(Operation *op) : op(op), hasParts(canHaveParts(op)) {
  auto linalg = dyn_cast<linalg::LinalgOp>(op);
  if (!linalg || !hasParts)
    return;
  maps = linalg.getIndexingMapsArray();
  llvm::append_range(ranges, linalg.getStaticLoopRanges());
  for (auto [l, kind] : llvm::enumerate(linalg.getIteratorTypesArray())) {
    if (kind != utils::IteratorType::reduction || linalg.getNumDpsInputs() < 2)
      continue;
    AffineExpr loop = getAffineDimExpr(l, op->getContext());
    bool isAlone = llvm::all_of(
        ArrayRef(maps).take_front(linalg.getNumDpsInputs()),
        [&](AffineMap map) { return map.getResultPosition(loop).has_value(); });
    if (isAlone && (!summed || ranges[l] > ranges[*summed]))
      summed = l;
  }
}

std::optional<unsigned> FusionStage::findSummedDim(OpOperand &operand) const {
  return maps[operand.getOperandNumber()].getResultPosition(
      getAffineDimExpr(*summed, op->getContext()));
}

/// Returns the box of the indices i of `source` for which i * `strides` +
/// `offsets` is in `box`, or std::nullopt if there are none.
static std::optional<TensorBox> getSource(RankedTensorType source,
                                          ArrayRef<int64_t> offsets,
                                          ArrayRef<int64_t> strides,
                                          const TensorBox &box) {
  TensorBox result;
  for (auto [d, size] : llvm::enumerate(source.getShape())) {
    int64_t first = box.firsts[d] - offsets[d];
    int64_t end = llvm::divideCeilSigned(first + box.sizes[d], strides[d]);
    first =
        std::clamp<int64_t>(llvm::divideCeilSigned(first, strides[d]), 0, size);
    end = std::clamp<int64_t>(end, 0, size);
    if (first >= end)
      return std::nullopt;
    result.firsts.push_back(first);
    result.sizes.push_back(end - first);
  }
  return result;
}

/// Returns the range (first index, count) of a joined dim that a box of its
/// parts, `dims` of `shape`, covers, or std::nullopt if it is not contiguous:
/// all dims after the first one of several indices must be whole.
static std::optional<std::pair<int64_t, int64_t>>
joinDims(const TensorBox &box, ArrayRef<int64_t> shape,
         ArrayRef<int64_t> dims) {
  int64_t first = 0, size = 1;
  for (int64_t d : dims) {
    bool isAll = box.sizes[d] == shape[d];
    if (!isAll && size > 1)
      return std::nullopt;
    first = first * shape[d] + box.firsts[d];
    size *= box.sizes[d];
  }
  return std::pair(first, size);
}

/// Appends to `box` the ranges of the dims of sizes `parts` for `size` indices
/// of their joined dim from `first` on. Returns false, with `box` incomplete,
/// if these indices are not a box of the dims.
static bool splitDim(int64_t first, int64_t size, ArrayRef<int64_t> parts,
                     TensorBox &box) {
  int64_t within = ShapedType::getNumElements(parts);
  bool isWhole = size == within;
  for (int64_t part : parts) {
    within /= part;
    // The outermost dim of more than one index has the range.
    if (isWhole || part == 1) {
      box.firsts.push_back(0);
      box.sizes.push_back(part);
      continue;
    }
    if (first % within != 0 || size % within != 0)
      return false;
    box.firsts.push_back(first / within);
    box.sizes.push_back(size / within);
    isWhole = true;
  }
  return true;
}

/// Returns the box of a reshape's operand that becomes the box `result` of its
/// result, or std::nullopt if its elements are no box of the operand.
static std::optional<TensorBox> getReshaped(Operation *op,
                                            const TensorBox &result) {
  SmallVector<ReassociationIndices> groups = *getReshapedDims(op);
  ArrayRef<int64_t> made =
      cast<RankedTensorType>(op->getResult(0).getType()).getShape();
  ArrayRef<int64_t> read =
      cast<RankedTensorType>(op->getOperand(0).getType()).getShape();
  // A tensor of one element: its dims are in no group.
  if (groups.empty())
    return TensorBox::getWhole(
        cast<RankedTensorType>(op->getOperand(0).getType()));
  TensorBox box;
  for (auto [d, dims] : llvm::enumerate(groups)) {
    if (isa<tensor::ExpandShapeOp>(op)) {
      auto joined = joinDims(result, made, dims);
      if (!joined)
        return std::nullopt;
      box.firsts.push_back(joined->first);
      box.sizes.push_back(joined->second);
    } else if (!splitDim(result.firsts[d], result.sizes[d],
                         read.slice(dims.front(), dims.size()), box)) {
      return std::nullopt;
    }
  }
  return box;
}

/// Returns the boxes that a reshape, pad, slice, insertion or concatenation
/// reads for the box `result`, or std::nullopt if one is empty or no box.
std::optional<Reads> FusionStage::getReadsOfBox(const TensorBox &result) const {
  Reads reads;
  reads.firsts.assign(result.firsts.begin(), result.firsts.end());
  reads.extents.assign(result.sizes.begin(), result.sizes.end());
  bool isKnown = true;
  auto read = [&](OpOperand &operand, ArrayRef<int64_t> offsets,
                  ArrayRef<int64_t> strides) {
    std::optional<TensorBox> box =
        getSource(cast<RankedTensorType>(operand.get().getType()), offsets,
                  strides, result);
    isKnown &= box.has_value();
    if (box)
      reads.boxes.push_back({&operand, *box});
  };
  SmallVector<int64_t> ones(result.firsts.size(), 1);
  if (getReshapedDims(op)) {
    std::optional<TensorBox> box = getReshaped(op, result);
    isKnown = box.has_value();
    if (box)
      reads.boxes.push_back({&op->getOpOperand(0), *box});
  } else if (auto pad = dyn_cast<tensor::PadOp>(op)) {
    read(pad.getSourceMutable(), pad.getStaticLow(), ones);
  } else if (auto concat = dyn_cast<tensor::ConcatOp>(op)) {
    for (auto [operand, offsets] :
         llvm::zip_equal(op->getOpOperands(), getPartOffsets(concat)))
      read(operand, offsets, ones);
  } else if (auto insert = dyn_cast<tensor::InsertSliceOp>(op)) {
    read(insert.getSourceMutable(), insert.getStaticOffsets(),
         insert.getStaticStrides());
    reads.boxes.push_back({&insert.getDestMutable(), result});
  } else {
    auto extract = cast<tensor::ExtractSliceOp>(op);
    TensorBox box;
    for (auto [first, size, offset, stride] : llvm::zip_equal(
             result.firsts, result.sizes, extract.getStaticOffsets(),
             extract.getStaticStrides())) {
      box.firsts.push_back(offset + first * stride);
      box.sizes.push_back((size - 1) * stride + 1);
    }
    reads.boxes.push_back({&extract.getSourceMutable(), std::move(box)});
  }
  return isKnown ? std::optional(std::move(reads)) : std::nullopt;
}

std::optional<Reads> FusionStage::getReads(ArrayRef<TensorBox> results) const {
  if (!isa<linalg::LinalgOp>(op))
    return getReadsOfBox(results.front());
  Reads reads;
  reads.firsts.assign(ranges.size(), 0);
  reads.extents = ranges;
  // The loop iterations that cover the boxes of all results.
  llvm::SmallBitVector isBound(ranges.size());
  for (auto [map, box] :
       llvm::zip_equal(ArrayRef(maps).take_back(results.size()), results)) {
    for (auto [d, expr] : llvm::enumerate(map.getResults())) {
      unsigned loop = cast<AffineDimExpr>(expr).getPosition();
      int64_t first = box.firsts[d], end = first + box.sizes[d];
      if (isBound.test(loop)) {
        end = std::max(end, reads.firsts[loop] + reads.extents[loop]);
        first = std::min(first, reads.firsts[loop]);
      }
      isBound.set(loop);
      reads.firsts[loop] = first;
      reads.extents[loop] = end - first;
    }
  }
  return getReadsOfLoops(reads.firsts, reads.extents);
}

std::optional<Reads>
FusionStage::getReadsOfLoops(ArrayRef<int64_t> firsts,
                             ArrayRef<int64_t> extents) const {
  Reads reads;
  reads.firsts.assign(firsts.begin(), firsts.end());
  reads.extents.assign(extents.begin(), extents.end());
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<RankedTensorType>(operand.get().getType()))
      continue;
    TensorBox box;
    for (AffineExpr expr : maps[operand.getOperandNumber()].getResults()) {
      std::optional<IndexRange> range =
          getIndexRange(expr, reads.firsts, reads.extents);
      if (!range)
        return std::nullopt;
      box.firsts.push_back(range->least);
      box.sizes.push_back(range->most - range->least + 1);
    }
    reads.boxes.push_back({&operand, std::move(box)});
  }
  return reads;
}

//===----------------------------------------------------------------------===//
// Cuts
//===----------------------------------------------------------------------===//

std::optional<TensorBox> Cut::getPart(RankedTensorType type,
                                      int64_t part) const {
  unsigned rank = type.getRank();
  TensorBox box = TensorBox::getWhole(type);
  auto take = [&](int64_t dim, int64_t parts, int64_t index, int64_t step = 1) {
    if (parts == 1)
      return true;
    if (dim < 0 || type.getDimSize(dim) < parts * step)
      return false;
    int64_t size = type.getDimSize(dim);
    auto getFirst = [&](int64_t part) {
      return part == parts ? size : part * (size / step) / parts * step;
    };
    box.firsts[dim] = getFirst(index);
    box.sizes[dim] = getFirst(index + 1) - box.firsts[dim];
    return true;
  };
  if (!take(rank > 2 ? 0 : -1, batches, part / (rows * channels)) ||
      !take(getRowDim(rank), rows, part / channels % rows, rowStep) ||
      !take(getChannelDim(rank), channels, part % channels))
    return std::nullopt;
  return box;
}

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

Stages::Stages(func::FuncOp function) {
  for (Operation &op : function.getBody().front()) {
    // Scalars, constants and fills are not stages.
    bool hasTensor = llvm::any_of(op.getResultTypes(), [](Type type) {
      return isa<RankedTensorType>(type);
    });
    if (!hasTensor || op.hasTrait<OpTrait::ConstantLike>() ||
        isa<tensor::EmptyOp, linalg::FillOp>(op))
      continue;
    for (Value operand : op.getOperands())
      lastUses[operand] = all.size();
    numbers[&op] = all.size();
    all.emplace_back(&op);
  }
}

std::optional<unsigned> Stages::findMaker(Value tensor) const {
  Operation *op = tensor.getDefiningOp();
  auto found = op ? numbers.find(op) : numbers.end();
  return found == numbers.end() ? std::nullopt
                                : std::optional<unsigned>(found->second);
}

unsigned Stages::getLastUse(Value tensor) const {
  auto found = lastUses.find(tensor);
  return found == lastUses.end() ? findMaker(tensor).value_or(0)
                                 : found->second;
}

bool Stages::isReturned(Value tensor) const {
  return llvm::any_of(tensor.getUsers(), [](Operation *user) {
    return user->hasTrait<OpTrait::ReturnLike>();
  });
}

TensorBox Stages::getUsedBehind(Value tensor, unsigned stage) const {
  TensorBox whole =
      TensorBox::getWhole(cast<RankedTensorType>(tensor.getType()));
  std::optional<TensorBox> used;
  for (Operation *user : tensor.getUsers()) {
    auto found = numbers.find(user);
    if (found != numbers.end() && found->second <= stage)
      continue;
    auto slice = dyn_cast<tensor::ExtractSliceOp>(user);
    if (!slice || found == numbers.end() || !all[found->second].hasParts)
      return whole;
    std::optional<Reads> reads =
        all[found->second].getReads(TensorBox::getWhole(slice.getType()));
    if (used)
      used->join(reads->boxes.front().second);
    else
      used = reads->boxes.front().second;
  }
  return used.value_or(whole);
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

bool GroupParts::isResult(Value tensor) const {
  return stages.isReturned(tensor) || stages.getLastUse(tensor) > last;
}

/// Sets in `own`, for each part, the box of `result` that the part provides to
/// ops after the group. If stages of the group read `result` and only rows are
/// cut, a part provides the rows up to the last one that these stages read in
/// it, and the next part those after it. Only the last part may then compute
/// rows for later ops alone. Returns false if Cut::getPart has no box.
bool GroupParts::addOwn(Value result) {
  auto type = cast<RankedTensorType>(result.getType());
  auto needed = boxes.find(result);
  int64_t row = Cut::getRowDim(type.getRank()), end = 0;
  TensorBox used = stages.getUsedBehind(result, last);
  for (int64_t part = 0, parts = cut.count(); part < parts; ++part) {
    std::optional<TensorBox> box = cut.getPart(type, part);
    if (!box)
      return false;
    if (needed != boxes.end() && cut.rows == parts && parts > 1) {
      const TensorBox &of = needed->second[part];
      int64_t next = part + 1 == parts ? type.getDimSize(row)
                                       : of.firsts[row] + of.sizes[row];
      box->firsts[row] = end;
      box->sizes[row] = std::max<int64_t>(next - end, 0);
      end += box->sizes[row];
    }
    own[result].push_back(used.meet(*box));
  }
  return true;
}

bool GroupParts::isMadeHere(Value tensor) const {
  std::optional<unsigned> maker = stages.findMaker(tensor);
  return maker && *maker >= first && *maker <= last;
}

bool GroupParts::isBehind(unsigned stage) const {
  Operation *op = stages.all[stage].op;
  if (!isa<tensor::ConcatOp, tensor::ExtractSliceOp>(op))
    return false;
  Value result = op->getResult(0);
  if (isa<tensor::ExtractSliceOp>(op))
    return !isMadeHere(op->getOperand(0)) && !isResult(result) &&
           llvm::all_of(result.getUsers(), [&](Operation *user) {
             return isa<tensor::ConcatOp>(user) &&
                    isBehind(stages.numbers.lookup(user));
           });
  return !stages.isReturned(result) &&
         llvm::all_of(result.getUsers(),
                      [&](Operation *user) {
                        return stages.numbers.lookup(user) > last;
                      }) &&
         stages.getUsedBehind(result, last) ==
             TensorBox::getWhole(cast<RankedTensorType>(result.getType())) &&
         llvm::none_of(op->getOperands(), [&](Value part) {
           return isMadeHere(part) && isResult(part);
         });
}

bool GroupParts::isStreamed(Value tensor) const {
  if (cut.sums == 1 || isFresh(tensor) || isMadeHere(tensor))
    return false;
  for (unsigned s = first; s <= last; ++s)
    for (auto &[operand, box] : getReadsOf(s, 0).boxes)
      if (operand->get() == tensor &&
          (!stages.all[s].summed || !stages.all[s].findSummedDim(*operand) ||
           llvm::any_of(cast<linalg::LinalgOp>(stages.all[s].op).getDpsInputs(),
                        [&](Value other) { return isMadeHere(other); })))
        return false;
  return true;
}

int64_t GroupParts::countPieces(unsigned stage) const {
  const FusionStage &of = stages.all[stage];
  bool isAny = llvm::any_of(getReadsOf(stage, 0).boxes, [&](auto &read) {
    return isStreamed(read.first->get());
  });
  return isAny ? std::min(cut.sums, of.ranges[*of.summed]) : 1;
}

/// Computes, for each part, the boxes of the results of `stage` that ops in and
/// after the group need, and the boxes of its operands that are read for them.
/// Returns false if a result has no reader in a part, or if a box is not known.
bool GroupParts::addReads(const FusionStage &stage) {
  for (Value result : stage.op->getResults())
    if (isResult(result) && !addOwn(result))
      return false;
  SmallVector<Reads, 0> &ofParts = reads.emplace_back();
  DenseMap<Value, SmallVector<TensorBox, 0>> madeBoxes;
  for (int64_t part = 0, e = cut.count(); part < e; ++part) {
    SmallVector<TensorBox> made;
    for (Value result : stage.op->getResults()) {
      std::optional<TensorBox> box;
      if (auto known = boxes.find(result); known != boxes.end())
        box = known->second[part];
      if (auto known = own.find(result); known != own.end()) {
        const std::optional<TensorBox> &forOthers = known->second[part];
        if (box && forOthers)
          box->join(*forOthers);
        else if (forOthers)
          box = forOthers;
      }
      if (!box) // the result has no reader
        return false;
      made.push_back(*box);
    }
    std::optional<Reads> needed = stage.getReads(made);
    if (!needed)
      return false;
    ofParts.push_back(std::move(*needed));
    for (auto [result, box] : llvm::zip_equal(stage.op->getResults(), made))
      madeBoxes[result].push_back(box);
  }
  for (auto &[result, all] : madeBoxes)
    boxes[result] = std::move(all);
  return true;
}

int64_t layout::getRowStep(const Stages &stages, unsigned last) {
  for (unsigned s = last + 1; s-- > 0;) {
    Operation *op = stages.all[s].op;
    auto insert = dyn_cast<tensor::InsertSliceOp>(op);
    if (insert && stages.all[s].hasParts && insert.getType().getRank() > 1)
      return insert.getStaticStride(Cut::getRowDim(insert.getType().getRank()));
    auto linalg = dyn_cast<linalg::LinalgOp>(op);
    if (!isa<tensor::ConcatOp>(op) &&
        (!linalg || !linalg::isElementwise(linalg)))
      return 1;
  }
  return 1;
}

SmallVector<SmallVector<Cut>> layout::getCuts(RankedTensorType type,
                                              int64_t rowStep, bool hasSums) {
  static constexpr int64_t kParts[] = {2,  3,  4,  6,  8,  12, 16,
                                       24, 32, 48, 64, 96, 128};
  int64_t batches = type.getRank() > 2 ? type.getDimSize(0) : 1;
  SmallVector<SmallVector<Cut>> kinds(3);
  for (int64_t parts : kParts) {
    kinds[0].push_back({parts, 1, 1});
    kinds[1].push_back({1, parts, 1, 1, rowStep});
    kinds[2].push_back({1, 1, parts});
  }
  if (batches > 1 && batches <= 16) {
    SmallVector<Cut> &both = kinds.emplace_back();
    for (int64_t parts : kParts)
      both.push_back({batches, parts, 1, 1, rowStep});
  }
  // With inputs in pieces: one part, parts along rows, parts along channels.
  for (int64_t sums : {4, 16, 64}) {
    if (!hasSums)
      break;
    kinds.push_back({Cut{1, 1, 1, sums}});
    for (unsigned kind : {1, 2}) {
      SmallVector<Cut> cuts = kinds[kind];
      for (Cut &cut : cuts)
        cut.sums = sums;
      kinds.push_back(std::move(cuts));
    }
  }
  for (SmallVector<Cut> &cuts : kinds)
    llvm::erase_if(cuts, [&](const Cut &cut) {
      return cut.count() > 128 || !cut.getPart(type, 0);
    });
  return kinds;
}

int64_t GroupParts::countRepeated(unsigned stage) const {
  ArrayRef<int64_t> ranges = stages.all[stage].ranges;
  if (ranges.empty())
    return 0;
  int64_t points = 1, computed = 0;
  for (int64_t range : ranges)
    points = scaleCost(points, range);
  for (const Reads &ofPart : reads[last - stage])
    computed += ofPart.countPoints();
  return computed - points;
}

bool GroupParts::addStage() {
  if (first == 0)
    return false;
  const FusionStage &stage = stages.all[first - 1];
  if (!stage.hasParts || !addReads(stage))
    return false;
  --first;
  for (unsigned operand = 0, e = reads.back().front().boxes.size(); operand < e;
       ++operand) {
    Value tensor = reads.back().front().boxes[operand].first->get();
    auto &all = boxes[tensor];
    bool isNew = all.empty();
    all.resize(cut.count());
    for (auto [part, ofPart] : llvm::enumerate(reads.back()))
      if (isNew)
        all[part] = ofPart.boxes[operand].second;
      else
        all[part].join(ofPart.boxes[operand].second);
  }
  return true;
}
