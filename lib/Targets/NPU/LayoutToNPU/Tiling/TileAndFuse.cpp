//===- TileAndFuse.cpp - Tiling of ops for local memory -------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tiling/TileAndFuse.h"
#include "Tiling/FusionGroups.h"
#include "Tiling/TrafficLowerBound.h"
#include "layout/Algebra/Box.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Dialect/Layout/Transforms/Passes.h"
#include "layout/Targets/NPU/LayoutToNPU/Passes.h"
#include "layout/Targets/NPU/NpuSeeds.h"
#include "layout/Targets/NPU/TensorMovePlan.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/TilingInterface.h"
#include <deque>

namespace mlir::layout {
#define GEN_PASS_DEF_TILEANDFUSEPASS
#include "layout/Targets/NPU/LayoutToNPU/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;
using namespace mlir::layout;

namespace {
class Splitter {
public:
  Splitter(func::FuncOp function, CostModel &costs, NpuTargetAttr target)
      : function(function), costs(costs), target(target),
        chip(target.getChip()), builder(function.getContext()) {}

  LogicalResult run();

private:
  bool fits(linalg::LinalgOp op) {
    return !getNpuSeeds(op, costs, chip).empty();
  }
  SmallVector<unsigned> getOrder(linalg::LinalgOp op);
  FailureOr<linalg::LinalgOp> makePart(linalg::LinalgOp op, unsigned loop,
                                       int64_t first, int64_t size);
  void tryPart(linalg::LinalgOp op, ArrayRef<int64_t> sizes,
               function_ref<void(linalg::LinalgOp)> look);
  bool fitsInParts(linalg::LinalgOp op, unsigned loop, int64_t size);
  LogicalResult checkLeast(linalg::LinalgOp op);
  FailureOr<SmallVector<linalg::LinalgOp>> split(linalg::LinalgOp op,
                                                 unsigned loop, int64_t size);
  LogicalResult splitUntilItFits(linalg::LinalgOp op);
  LogicalResult cutGroups();

  func::FuncOp function;
  CostModel &costs;
  NpuTargetAttr target;
  NpuTargetInterface chip;
  OpBuilder builder;
};
} // namespace

bool layout::isForCores(linalg::LinalgOp op) {
  if (isa<linalg::FillOp, linalg::CopyOp, linalg::TransposeOp>(*op) ||
      op.hasDynamicShape() || !op.hasPureTensorSemantics())
    return false;
  return llvm::all_of(op.getStaticLoopRanges(),
                      [](int64_t trip) { return trip > 0; });
}

bool layout::isFresh(Value tensor) {
  Attribute value;
  return isa_and_present<tensor::EmptyOp, linalg::FillOp>(
             tensor.getDefiningOp()) ||
         (matchPattern(tensor, m_Constant(&value)) &&
          isa<SplatElementsAttr>(value));
}

/// Returns the order in which loops are divided: parallel loops of the result
/// other than the channel, outer ones first, then the channel, then reductions.
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

/// Creates a copy of `op` on `size` iterations of `loop` from `first` on. Fails
/// if the op cannot be tiled.
FailureOr<linalg::LinalgOp> Splitter::makePart(linalg::LinalgOp op,
                                               unsigned loop, int64_t first,
                                               int64_t size) {
  SmallVector<int64_t> firsts(op.getNumLoops(), 0);
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  firsts[loop] = first;
  extents[loop] = size;
  return makeBox(builder, op, firsts, extents);
}

/// Creates the part of `op` with the first `sizes` iterations of its loops,
/// calls `look` with it, and erases it. Does not call `look` if the op cannot
/// be tiled.
void Splitter::tryPart(linalg::LinalgOp op, ArrayRef<int64_t> sizes,
                       function_ref<void(linalg::LinalgOp)> look) {
  Operation *before = op->getPrevNode();
  builder.setInsertionPoint(op);
  SmallVector<int64_t> firsts(op.getNumLoops(), 0);
  FailureOr<linalg::LinalgOp> part = makeBox(builder, op, firsts, sizes);
  if (succeeded(part))
    look(*part);
  while (op->getPrevNode() != before)
    op->getPrevNode()->erase();
}

/// Returns true if the op fits local memory when `loop` is divided into parts
/// of `size` iterations. The first part, the largest, is tried.
bool Splitter::fitsInParts(linalg::LinalgOp op, unsigned loop, int64_t size) {
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  sizes[loop] = size;
  bool doesFit = false;
  tryPart(op, sizes, [&](linalg::LinalgOp part) { doesFit = fits(part); });
  return doesFit;
}

/// The maximum number of parts of an op; there is one op per part, not a loop.
static constexpr int64_t kMostParts = 1 << 12;

/// Returns a lower bound of the number of parts: the bytes of the results over
/// the local memory of all cores, rounded up.
static int64_t countParts(linalg::LinalgOp op, const ChipParams &chip) {
  int64_t bytes = 0;
  for (Type type : op->getResultTypes()) {
    auto tensor = cast<RankedTensorType>(type);
    // An extent that overflows counts as the maximum.
    bytes = addCosts(
        bytes,
        scaleCost(getElementBytes(tensor.getElementType()),
                  countIndices(tensor.getShape()).value_or(kInfiniteCost)));
  }
  return llvm::divideCeil(bytes, chip.npus * chip.bytesPerNpu);
}

static LogicalResult reportTooMany(linalg::LinalgOp op, int64_t parts) {
  return op.emitError() << "'" << op->getName() << "' needs " << parts
                        << " parts or more to fit local memory, but at most "
                        << kMostParts
                        << " are supported: split the op into several "
                           "programs, or use a chip with more memory";
}

/// Returns the type of an operand whose elements do not have whole bytes, such
/// as i1, or a null type if there is none.
static Type findHeldInNoMemory(linalg::LinalgOp op) {
  for (Type type : op->getOperandTypes())
    if (isa<RankedTensorType>(type) &&
        !getWholeBytes(getElementTypeOrSelf(type)))
      return type;
  return {};
}

/// Emits an error if `op` cannot be tiled, if not even one iteration of it fits
/// a core, or if it must be divided into more than 4096 parts (kMostParts).
LogicalResult Splitter::checkLeast(linalg::LinalgOp op) {
  bool isPart = false, doesFit = false;
  std::optional<int64_t> bytes;
  SmallVector<int64_t> ones(op.getNumLoops(), 1);
  tryPart(op, ones, [&](linalg::LinalgOp part) {
    isPart = true;
    doesFit = fits(part);
    bytes = getLeastCoreBytes(part, costs, chip);
  });
  if (doesFit) {
    int64_t parts = countParts(op, chip.getParams());
    return parts > kMostParts ? reportTooMany(op, parts) : success();
  }
  InFlightDiagnostic diag = op.emitError();
  diag << "'" << op->getName() << "' does not fit local memory in any parts: ";
  int64_t have = chip.getParams().bytesPerNpu;
  if (!isPart)
    return diag << "it has no parts; write it as linalg.generic";
  if (Type type = findHeldInNoMemory(op))
    return diag << "the elements of " << type
                << " do not have whole bytes; extend them first, e.g. to i8";
  if (!bytes || *bytes <= have)
    return diag
           << "its results have no dim, indexed by a single loop, that can be "
              "spread over the cores with its operands; give them one";
  return diag
         << "one iteration of its loops needs " << *bytes
         << " bytes of a core, which has " << have << "; " << *bytes - have
         << " are too many, so split the op, or use a chip with more memory";
}

FailureOr<SmallVector<linalg::LinalgOp>>
Splitter::split(linalg::LinalgOp op, unsigned loop, int64_t size) {
  int64_t trip = op.getStaticLoopRanges()[loop];
  bool isSummed =
      op.getIteratorTypesArray()[loop] == utils::IteratorType::reduction;
  builder.setInsertionPoint(op);
  SmallVector<linalg::LinalgOp> parts;
  // Parts are inserted into a new tensor; a sum accumulates into its init.
  SmallVector<Value> whole(op.getDpsInits());
  if (!isSummed)
    for (Value &value : whole) {
      auto type = cast<RankedTensorType>(value.getType());
      value = tensor::EmptyOp::create(builder, op.getLoc(), type.getShape(),
                                      type.getElementType());
    }
  for (int64_t first = 0; first < trip; first += size) {
    int64_t count = std::min(size, trip - first);
    // A part of a sum accumulates into the result of the previous one.
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

LogicalResult Splitter::splitUntilItFits(linalg::LinalgOp op) {
  if (failed(checkLeast(op)))
    return failure();
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
      return next.emitError() << "'" << next->getName()
                              << "' does not fit local memory in any parts, "
                                 "although one iteration of all loops does";
    // If dividing one loop does not suffice, the outermost loop is halved, and
    // both halves are divided further.
    if (!cut)
      cut = {*outermost, llvm::divideCeil(ranges[*outermost], 2)};
    FailureOr<SmallVector<linalg::LinalgOp>> parts =
        split(next, cut->first, cut->second);
    if (failed(parts))
      return next.emitError() << "'" << next->getName()
                              << "' does not fit local memory, and has no "
                                 "parts; write it as linalg.generic";
    open.insert(open.end(), parts->begin(), parts->end());
    if (numParts + int64_t(open.size()) > kMostParts)
      return reportTooMany(open.front(), numParts + open.size());
  }
  remark::passed(loc,
                 remark::RemarkOpts::name("Split").category("npu").function(
                     function.getName()))
      << "split for local memory" << remark::metric("Op", name)
      << remark::metric("Parts", numParts);
  return success();
}

/// Tiles and fuses the groups of ops that the search chooses, and emits remarks
/// about the traffic and each group. Emits an error if a group cannot be
/// divided.
LogicalResult Splitter::cutGroups() {
  NarrowConstants narrow{NpuTimes(target)};
  int64_t least = getTrafficLowerBound(function, narrow);
  Stages stages(function);
  Plan plan = findFusionGroups(stages, costs, target, narrow);
  remark::analysis(function.getLoc(),
                   remark::RemarkOpts::name("Traffic").category("npu").function(
                       function.getName()))
      << "bytes to and from cores" << remark::metric("Least", least)
      << remark::metric("Planned", plan.bytes);
  for (const FusionGroup &group : plan.groups) {
    Operation *last = stages.all[group.last].op;
    Location loc = last->getLoc();
    if (failed(tileFusionGroup(builder, stages, group)))
      return emitError(loc)
             << "the ops before this one cannot be split into parts";
    remark::passed(loc,
                   remark::RemarkOpts::name("Group").category("npu").function(
                       function.getName()))
        << "ops cut together for local memory"
        << remark::metric("Ops", group.last - group.first + 1)
        << remark::metric("Batches", group.cut.batches)
        << remark::metric("Rows", group.cut.rows)
        << remark::metric("Channels", group.cut.channels)
        << remark::metric("Sums", group.cut.sums)
        << remark::metric("Parts", group.cut.count());
  }
  return success();
}

LogicalResult Splitter::run() {
  giveScalarsADim(function);
  if (function.getBody().hasOneBlock() && failed(cutGroups()))
    return failure();
  makeInPlace(function);
  SmallVector<linalg::LinalgOp> ops;
  // An op whose operands have layouts is not split.
  function.walk([&](linalg::LinalgOp op) {
    if (isForCores(op) && !llvm::any_of(op->getOperandTypes(), hasLayout) &&
        !fits(op))
      ops.push_back(op);
  });
  for (linalg::LinalgOp op : ops)
    if (failed(splitUntilItFits(op)))
      return failure();
  readPartsOfConcats(function);
  sumInTwoStages(function, chip.getParams().npus);
  return success();
}

FailureOr<NpuTargetAttr> layout::getNpuTarget(ModuleOp module, StringRef option,
                                              StringRef pass) {
  FailureOr<TargetInterface> wanted = getTarget(module, option);
  if (failed(wanted))
    return failure();
  auto npu = dyn_cast<NpuTargetAttr>(*wanted);
  if (!npu)
    return module.emitError()
           << pass << " is for targets #layout.npu<..>, found " << *wanted;
  return npu;
}

namespace {
struct TileAndFusePass
    : public layout::impl::TileAndFusePassBase<TileAndFusePass> {
  using TileAndFusePassBase::TileAndFusePassBase;

  void runOnOperation() override {
    FailureOr<NpuTargetAttr> npu =
        getNpuTarget(getOperation(), target, getArgument());
    if (failed(npu))
      return signalPassFailure();
    CostModel costs(cast<TargetInterface>(*npu));
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (failed(Splitter(function, costs, *npu).run()))
        return signalPassFailure();
  }
};
} // namespace
