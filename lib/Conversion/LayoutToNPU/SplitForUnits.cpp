//===- SplitForUnits.cpp - Ops in parts that fit local memory
//---------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SplitForUnits.h"
#include "layout/Analysis/Candidates.h"
#include "layout/Conversion/LayoutToNPU/Passes.h"
#include "layout/Dialect/Layout/Transforms/Passes.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/TilingInterface.h"
#include <deque>

namespace mlir::layout {
#define GEN_PASS_DEF_SPLITFORUNITSPASS
#include "layout/Conversion/LayoutToNPU/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;
using namespace mlir::layout;

namespace {
class Splitter {
public:
  Splitter(func::FuncOp function, CostModel &costs)
      : function(function), costs(costs), builder(function.getContext()) {}

  LogicalResult run();

private:
  bool fits(linalg::LinalgOp op) { return !getUnitSeeds(op, costs).empty(); }
  SmallVector<unsigned> getOrder(linalg::LinalgOp op);
  void makeFreshInits(linalg::LinalgOp op, linalg::LinalgOp part);
  FailureOr<linalg::LinalgOp> makePart(linalg::LinalgOp op, unsigned loop,
                                       int64_t first, int64_t size);
  bool fitsInParts(linalg::LinalgOp op, unsigned loop, int64_t size);
  FailureOr<SmallVector<linalg::LinalgOp>> split(linalg::LinalgOp op,
                                                 unsigned loop, int64_t size);
  LogicalResult splitUntilItFits(linalg::LinalgOp op);
  LogicalResult reportTooLarge(linalg::LinalgOp op);

  func::FuncOp function;
  CostModel &costs;
  OpBuilder builder;
};
} // namespace

bool layout::isForUnits(linalg::LinalgOp op) {
  if (isa<linalg::FillOp, linalg::CopyOp, linalg::TransposeOp>(*op) ||
      op.hasDynamicShape() || !op.hasPureTensorSemantics())
    return false;
  return llvm::all_of(op.getStaticLoopRanges(),
                      [](int64_t trip) { return trip > 0; });
}

/// Loops that are cut first: those of the result that its channels are not
/// spread over, outer ones first, then the channels, then what is summed.
SmallVector<unsigned> Splitter::getOrder(linalg::LinalgOp op) {
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  AffineMap written = op.getMatchingIndexingMap(&op.getDpsInitsMutable()[0]);
  unsigned rank = written.getNumResults();
  unsigned channel = rank == 4 ? 1 : rank ? rank - 1 : 0;
  SmallVector<unsigned> order, channels;
  for (auto [d, expr] : llvm::enumerate(written.getResults()))
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      (d == channel ? channels : order).push_back(dim.getPosition());
  llvm::append_range(order, channels);
  for (auto [l, iterator] : llvm::enumerate(iterators))
    if (iterator == utils::IteratorType::reduction)
      order.push_back(l);
  return order;
}

/// A part of what is filled is filled by itself, and of what is not read it is
/// fresh.
void Splitter::makeFreshInits(linalg::LinalgOp op, linalg::LinalgOp part) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(part);
  for (auto [whole, init] :
       llvm::zip_equal(op.getDpsInitsMutable(), part.getDpsInitsMutable())) {
    auto fill = whole.get().getDefiningOp<linalg::FillOp>();
    bool isRead = op.payloadUsesValueFromOperand(&whole);
    if (isRead && !fill)
      continue;
    auto type = cast<RankedTensorType>(init.get().getType());
    Operation *sliced = init.get().getDefiningOp<tensor::ExtractSliceOp>();
    Value fresh = tensor::EmptyOp::create(builder, op.getLoc(), type.getShape(),
                                          type.getElementType());
    if (isRead)
      fresh =
          linalg::FillOp::create(builder, op.getLoc(), fill.getInputs(), fresh)
              .getResult(0);
    init.set(fresh);
    if (sliced && sliced->use_empty())
      sliced->erase();
  }
}

/// The op on `size` iterations of one loop from `first` on.
FailureOr<linalg::LinalgOp> Splitter::makePart(linalg::LinalgOp op,
                                               unsigned loop, int64_t first,
                                               int64_t size) {
  SmallVector<OpFoldResult> offsets, sizes;
  for (auto [l, trip] : llvm::enumerate(op.getStaticLoopRanges())) {
    offsets.push_back(builder.getIndexAttr(l == loop ? first : 0));
    sizes.push_back(builder.getIndexAttr(l == loop ? size : trip));
  }
  FailureOr<TilingResult> tiled =
      cast<TilingInterface>(op.getOperation())
          .getTiledImplementation(builder, offsets, sizes);
  if (failed(tiled) || tiled->tiledOps.size() != 1)
    return failure();
  auto part = dyn_cast<linalg::LinalgOp>(tiled->tiledOps.front());
  if (!part)
    return failure();
  makeFreshInits(op, part);
  return part;
}

/// Whether the first part, which no other exceeds, fits.
bool Splitter::fitsInParts(linalg::LinalgOp op, unsigned loop, int64_t size) {
  Operation *before = op->getPrevNode();
  builder.setInsertionPoint(op);
  FailureOr<linalg::LinalgOp> part = makePart(op, loop, 0, size);
  bool doesFit = succeeded(part) && fits(*part);
  // Nothing of the trial stays.
  while (op->getPrevNode() != before)
    op->getPrevNode()->erase();
  return doesFit;
}

FailureOr<SmallVector<linalg::LinalgOp>>
Splitter::split(linalg::LinalgOp op, unsigned loop, int64_t size) {
  int64_t trip = op.getStaticLoopRanges()[loop];
  bool isSummed =
      op.getIteratorTypesArray()[loop] == utils::IteratorType::reduction;
  builder.setInsertionPoint(op);
  SmallVector<linalg::LinalgOp> parts;
  // The parts together write all of a result; a sum goes on from the start.
  SmallVector<Value> whole(op.getDpsInits());
  if (!isSummed)
    for (Value &value : whole) {
      auto type = cast<RankedTensorType>(value.getType());
      value = tensor::EmptyOp::create(builder, op.getLoc(), type.getShape(),
                                      type.getElementType());
    }
  for (int64_t first = 0; first < trip; first += size) {
    int64_t count = std::min(size, trip - first);
    // A part of a sum goes on from what the ones before it have made.
    if (isSummed)
      op.getDpsInitsMutable().assign(whole);
    FailureOr<linalg::LinalgOp> part = makePart(op, loop, first, count);
    if (failed(part))
      return failure();
    parts.push_back(*part);
    for (auto [i, result] : llvm::enumerate((*part)->getResults())) {
      if (isSummed) {
        whole[i] = result;
        continue;
      }
      SmallVector<OpFoldResult> offsets, sizes, at, extents;
      for (auto [l, all] : llvm::enumerate(op.getStaticLoopRanges())) {
        offsets.push_back(builder.getIndexAttr(l == loop ? first : 0));
        sizes.push_back(builder.getIndexAttr(l == loop ? count : all));
      }
      if (failed(cast<TilingInterface>(op.getOperation())
                     .getResultTilePosition(builder, i, offsets, sizes, at,
                                            extents)))
        return failure();
      SmallVector<OpFoldResult> ones(at.size(), builder.getIndexAttr(1));
      whole[i] = tensor::InsertSliceOp::create(builder, op.getLoc(), result,
                                               whole[i], at, extents, ones);
    }
  }
  op->replaceAllUsesWith(whole);
  op.erase();
  return parts;
}

LogicalResult Splitter::reportTooLarge(linalg::LinalgOp op) {
  return op.emitError() << "'" << op->getName()
                        << "' does not fit local memory in any parts: the "
                        << "chip has "
                        << costs.getTarget().getNpu().getFigures().bytesPerNpu
                        << " bytes in a unit, or no loop is a channel";
}

LogicalResult Splitter::splitUntilItFits(linalg::LinalgOp op) {
  std::deque<linalg::LinalgOp> open{op};
  Location loc = op.getLoc();
  std::string name = op->getName().getStringRef().str();
  int64_t numParts = 0;
  while (!open.empty()) {
    linalg::LinalgOp next = open.front();
    open.pop_front();
    if (fits(next)) {
      ++numParts;
      continue;
    }
    SmallVector<int64_t> ranges = next.getStaticLoopRanges();
    std::optional<std::pair<unsigned, int64_t>> cut;
    std::optional<unsigned> outermost;
    for (unsigned loop : getOrder(next)) {
      if (ranges[loop] < 2)
        continue;
      if (!outermost)
        outermost = loop;
      for (int64_t parts = 2; !cut && parts < 2 * ranges[loop]; parts *= 2) {
        int64_t size =
            llvm::divideCeil(ranges[loop], std::min(parts, ranges[loop]));
        if (fitsInParts(next, loop, size))
          cut = {loop, size};
      }
      if (cut)
        break;
    }
    if (!cut && !outermost)
      return reportTooLarge(next);
    // Where no loop alone will do, halves of the first are looked at again.
    if (!cut)
      cut = {*outermost, llvm::divideCeil(ranges[*outermost], 2)};
    FailureOr<SmallVector<linalg::LinalgOp>> parts =
        split(next, cut->first, cut->second);
    if (failed(parts))
      return reportTooLarge(next);
    open.insert(open.end(), parts->begin(), parts->end());
  }
  remark::passed(loc,
                 remark::RemarkOpts::name("Split").category("npu").function(
                     function.getName()))
      << "split for local memory" << remark::metric("Op", name)
      << remark::metric("Parts", numParts);
  return success();
}

LogicalResult Splitter::run() {
  giveScalarsADim(function);
  SmallVector<linalg::LinalgOp> ops;
  function.walk([&](linalg::LinalgOp op) {
    if (isForUnits(op) && !fits(op))
      ops.push_back(op);
  });
  for (linalg::LinalgOp op : ops)
    if (failed(splitUntilItFits(op)))
      return failure();
  return success();
}

namespace {
struct SplitForUnitsPass
    : public layout::impl::SplitForUnitsPassBase<SplitForUnitsPass> {
  using SplitForUnitsPassBase::SplitForUnitsPassBase;

  void runOnOperation() override {
    FailureOr<TargetAttr> chip = getTarget(getOperation(), target);
    if (failed(chip))
      return signalPassFailure();
    if (!chip->hasUnits()) {
      getOperation().emitError()
          << "layout-split-for-units is for targets of kind \"npu\", found "
          << *chip;
      return signalPassFailure();
    }
    CostModel costs(*chip);
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (failed(Splitter(function, costs).run()))
        return signalPassFailure();
  }
};
} // namespace
