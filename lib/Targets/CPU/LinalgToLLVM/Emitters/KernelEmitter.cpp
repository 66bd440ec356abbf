//===- KernelEmitter.cpp - Loops and vectors for a kernel -----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Emitters/Emitter.h"
#include "Emitters/MaskHoisting.h"
#include "Emitters/PaddingTaps.h"
#include "Loops/ParallelLoops.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::layout;

/// The minimum number of rows of the smaller, overlapping tiles that cover the
/// remainder of a dynamic extent. Extents of fewer rows than the smallest tile
/// are computed row by row.
static constexpr int64_t kLeastRows = 3;

namespace {

class TileEmitter final : public Emitter {
public:
  using Emitter::Emitter;

private:
  void emitLoops() override;
  void emitParallel(unsigned level);
  void emitDynamicLanes(unsigned level);
  void emitDynamicRows(unsigned level);
  void emitParts(unsigned level);
  void emitSpan(unsigned level, OpFoldResult from, OpFoldResult to,
                int64_t step, bool overlaps = false);
  SmallVector<Value> emitReductions(unsigned level, ValueRange accumulators);
  SmallVector<Value> emitReductionLanes(ValueRange accumulators);
  void emitTile();
  SmallVector<Value> startTile(ArrayRef<Point> points);
  Value isPartAt(int64_t position);
  SmallVector<Value> emitStep(ValueRange accumulators);
  SmallVector<Point> pointsOfTile() const;
  OpFoldResult wholeSteps(unsigned dim, int64_t step);
  OpFoldResult coveredBy(unsigned dim, int64_t step);
  bool readsResults() const;
  Value reductionEnd(unsigned dim);
  std::pair<Value, Value> skipPadding(const InnerTaps &taps, Value begin,
                                      Value end);

  /// The extent of the current tile in each dim.
  SmallVector<int64_t> size;
  std::optional<HoistedMasks> masks;
  SmallVector<InnerTaps> innerTaps;
  /// The bounds of the loop over a reduction dim on vector lanes: those of its
  /// whole vectors while these are emitted, then those of the remaining
  /// elements.
  OpFoldResult lanesFrom, lanesTo;
  /// The first iteration of the current part of the reduction, or a null value
  /// if the reduction is not split into parts.
  Value partBegin;
};

} // namespace

SmallVector<Point> TileEmitter::pointsOfTile() const {
  SmallVector<Point> points(1);
  points.front().offset.assign(size.size(), 0);
  for (unsigned dim : plan.pointOrder) {
    int64_t extent = size[dim];
    if (extent == 1)
      continue;
    SmallVector<Point> next;
    for (const Point &point : points) {
      bool lane = plan.lane == dim;
      int64_t step = lane ? plan.vectorSize : 1;
      for (int64_t at = 0; at < extent; at += step) {
        Point copy = point;
        copy.offset[dim] = at;
        int64_t width = std::min(step, extent - at);
        if (lane)
          copy.width = width == 1 ? 0 : width;
        next.push_back(copy);
      }
    }
    points = std::move(next);
  }
  return points;
}

SmallVector<Value> TileEmitter::emitStep(ValueRange accumulators) {
  const Stage &root = kernel.root;
  SmallVector<Point> points = pointsOfTile();
  unsigned results = kernel.starts.size();
  SmallVector<Value> wanted = yieldedBy(root);
  if (masks)
    wanted = {masks->next};
  ReadCache cache;
  SmallVector<Value> next(accumulators.size());
  for (auto [p, point] : llvm::enumerate(points)) {
    SmallVector<Value> inputs;
    for (unsigned i = 0, e = root.numInputs(); i < e; ++i)
      inputs.push_back(readInput(root, i, point, cache));
    SmallVector<Value> inits;
    for (unsigned i = 0; i < results; ++i)
      inits.push_back(accumulators[p * results + i]);
    SmallVector<Value> values = evaluate(root, inputs, inits, point, wanted);
    for (unsigned i = 0; i < results; ++i)
      next[p * results + i] = values[i];
  }
  return next;
}

/// Returns the extent of `dim` rounded down to a multiple of `step`.
OpFoldResult TileEmitter::wholeSteps(unsigned dim, int64_t step) {
  if (std::optional<int64_t> extent = getConstantIntValue(extents[dim]))
    return b.getIndexAttr(*extent - *extent % step);
  Value extent = cast<Value>(extents[dim]);
  if (step == 1)
    return extent;
  Value rest = arith::RemUIOp::create(b, loc, extent, index(step));
  return arith::SubIOp::create(b, loc, extent, rest).getResult();
}

/// Returns the extent of `dim` if it is at least `step`, else 0.
OpFoldResult TileEmitter::coveredBy(unsigned dim, int64_t step) {
  Value extent = toValue(extents[dim]);
  Value fits = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, extent,
                                     index(step));
  return arith::SelectOp::create(b, loc, fits, extent, index(0)).getResult();
}

/// Returns true if a tile reads elements of the results that it overwrites, so
/// that it must not be computed twice.
bool TileEmitter::readsResults() const {
  return llvm::any_of(kernel.lastStarts(), [](const Start &start) {
    return std::holds_alternative<TensorStart>(start);
  });
}

/// Returns the end of the loop over a reduction dim: its extent, or less if a
/// condition of the body that masks iterations has become a bound of the loop.
Value TileEmitter::reductionEnd(unsigned dim) {
  Value end = toValue(extents[dim]);
  if (!masks)
    return end;
  Point origin;
  origin.offset.assign(base.size(), 0);
  for (const LoopBound &bound : masks->bounds) {
    if (bound.dim != dim)
      continue;
    // factor * d + rest < 0 is d < ceil(-rest / factor).
    AffineExpr limit = (-bound.rest).ceilDiv(bound.factor);
    Value value = subscripts(
        AffineMap::get(base.size(), 0, limit, b.getContext()), origin)[0];
    end = arith::MinSIOp::create(b, loc, end, value);
  }
  return end;
}

/// Returns the bounds [begin, end) of the loop over a reduction dim without the
/// iterations that read only padding at all points of the current tile.
std::pair<Value, Value> TileEmitter::skipPadding(const InnerTaps &taps,
                                                 Value begin, Value end) {
  MLIRContext *context = b.getContext();
  auto ceilDiv = [&](AffineExpr bound, const Point &point) {
    AffineMap map =
        AffineMap::get(base.size(), 0, bound.ceilDiv(taps.factor), context);
    return subscripts(map, point)[0];
  };
  Point first, last;
  first.offset.assign(base.size(), 0);
  for (int64_t extent : size)
    last.offset.push_back(extent - 1);
  AffineExpr low = getAffineConstantExpr(taps.low, context);
  begin = arith::MaxSIOp::create(b, loc, begin, ceilDiv(low - taps.rest, last));
  Value inner = toValue(taps.size);
  Value limit;
  if (std::optional<int64_t> extent = getConstantIntValue(taps.size)) {
    limit = ceilDiv(low + *extent - taps.rest, first);
  } else {
    AffineMap map = AffineMap::get(base.size(), 0, low - taps.rest, context);
    Value distance =
        arith::AddIOp::create(b, loc, subscripts(map, first)[0], inner);
    limit = arith::CeilDivSIOp::create(b, loc, distance, index(taps.factor));
  }
  return {begin, arith::MinSIOp::create(b, loc, end, limit)};
}

SmallVector<Value> TileEmitter::emitReductions(unsigned level,
                                               ValueRange accumulators) {
  unsigned rank = kernel.extents.size();
  while (level < rank && kernel.isParallel(level))
    ++level;
  if (level == rank)
    return emitStep(accumulators);
  bool bounded =
      masks && llvm::any_of(masks->bounds, [&](const LoopBound &bound) {
        return bound.dim == level;
      });
  if (kernel.extents[level] == 1 && !bounded)
    return emitReductions(level + 1, accumulators);
  bool lane = plan.lane == level;
  Value begin = lane ? toValue(lanesFrom) : index(0);
  Value end = lane ? toValue(lanesTo) : reductionEnd(level);
  bool isPart = partBegin && plan.parts->dim == level;
  if (isPart) {
    Value steps = index(plan.parts->steps);
    end = bounded ? arith::MinSIOp::create(
                        b, loc, steps,
                        arith::SubIOp::create(b, loc, end, partBegin))
                        .getResult()
                  : steps;
  }
  for (const InnerTaps &taps : innerTaps)
    if (taps.dim == level)
      std::tie(begin, end) = skipPadding(taps, begin, end);
  auto loop =
      scf::ForOp::create(b, loc, begin, end, index(size[level]), accumulators);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  base[level] = loop.getInductionVar();
  if (isPart)
    base[level] = arith::AddIOp::create(b, loc, partBegin, base[level]);
  fixed[level].reset();
  SmallVector<Value> next = emitReductions(level + 1, loop.getRegionIterArgs());
  scf::YieldOp::create(b, loc, next);
  return loop.getResults();
}

/// Emits a reduction along lanes: whole vectors, with one partial result per
/// lane, then the combination of the lanes, then the remaining elements.
///
/// Partial results start at the neutral element. Those of maxnumf and minnumf,
/// whose neutral element is NaN, start at the accumulator: ExpandMaxima.cpp
/// expands a maximum that is never NaN to fewer instructions.
SmallVector<Value> TileEmitter::emitReductionLanes(ValueRange accumulators) {
  unsigned lane = *plan.lane;
  Operation *combiner = findCombiner(kernel);
  TypedAttr neutral = *arith::getNeutralElement(combiner);
  auto type = VectorType::get({plan.vectorSize}, neutral.getType());
  bool hasNeutral = !isa<arith::MaxNumFOp, arith::MinNumFOp>(combiner);
  SmallVector<Value> starts(accumulators);
  if (hasNeutral)
    llvm::fill(starts,
               arith::ConstantOp::create(
                   b, loc, DenseElementsAttr::get(type, Attribute(neutral)))
                   .getResult());
  else
    for (Value &start : starts)
      start = vector::BroadcastOp::create(b, loc, type, start);
  lanesFrom = b.getIndexAttr(0);
  lanesTo = wholeSteps(lane, plan.vectorSize);
  size[lane] = plan.vectorSize;
  SmallVector<Value> parts = emitReductions(0, starts);
  size[lane] = 1;
  SmallVector<Value> values;
  for (auto [part, accumulator] : llvm::zip_equal(parts, accumulators))
    values.push_back(vector::ReductionOp::create(
        b, loc, *linalg::getCombinerOpKind(combiner), part,
        hasNeutral ? accumulator : Value(), arith::FastMathFlags::reassoc));
  lanesFrom = lanesTo;
  lanesTo = extents[lane];
  if (isEqualConstantIntOrValue(lanesFrom, lanesTo))
    return values;
  return emitReductions(0, values);
}

Value TileEmitter::isPartAt(int64_t position) {
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, partBegin,
                               index(position));
}

/// Returns the accumulators of a tile before the reduction. If the reduction is
/// split into parts, those after the first continue with the sums that the
/// result stores.
SmallVector<Value> TileEmitter::startTile(ArrayRef<Point> points) {
  if (!partBegin || readsResults())
    return start(points);
  auto either = scf::IfOp::create(
      b, loc, isPartAt(0),
      [&](OpBuilder &, Location) {
        scf::YieldOp::create(b, loc, start(points));
      },
      [&](OpBuilder &, Location) {
        scf::YieldOp::create(
            b, loc, llvm::map_to_vector(points, [&](const Point &each) {
              return read(body.getArgument(0), resultMap(0), each);
            }));
      });
  return either.getResults();
}

void TileEmitter::emitTile() {
  const Stage &root = kernel.root;
  SmallVector<Point> points = pointsOfTile();
  SmallVector<Value> accumulators = startTile(points), values;
  if (kernel.hasReduction()) {
    values = plan.lane && !kernel.isParallel(*plan.lane)
                 ? emitReductionLanes(accumulators)
                 : emitReductions(0, accumulators);
    if (masks)
      for (Value condition : masks->afterwards)
        for (auto [p, point] : llvm::enumerate(points)) {
          Value holds =
              evaluate(root, {}, {}, point, condition, /*withEffects=*/false)
                  .front();
          values[p] = arith::SelectOp::create(b, loc, holds, values[p],
                                              accumulators[p]);
        }
  } else {
    values = emitStep(accumulators);
  }
  if (!partBegin || !kernel.finish)
    return finish(points, std::move(values));
  int64_t lastPart = kernel.extents[plan.parts->dim] - plan.parts->steps;
  scf::IfOp::create(
      b, loc, isPartAt(lastPart),
      [&](OpBuilder &, Location) {
        finish(points, values);
        scf::YieldOp::create(b, loc);
      },
      [&](OpBuilder &, Location) {
        for (auto [value, point] : llvm::zip_equal(values, points))
          write(value, body.getArgument(0), resultMap(0), point);
        scf::YieldOp::create(b, loc);
      });
}

/// Emits a loop over tiles of `step` elements that cover [from, to) of the dim
/// of loop `level`. With `overlaps`, the last tile ends at `to` and recomputes
/// elements of the one before; otherwise `step` divides the range.
void TileEmitter::emitSpan(unsigned level, OpFoldResult from, OpFoldResult to,
                           int64_t step, bool overlaps) {
  unsigned dim = plan.order[level];
  std::optional<int64_t> first = getConstantIntValue(from);
  std::optional<int64_t> last = getConstantIntValue(to);
  if (first && last && *first >= *last)
    return;
  size[dim] = step;
  if (first && last && *first + step >= *last) {
    fixed[dim] = *first;
    base[dim] = Value();
    return emitParallel(level + 1);
  }
  auto loop =
      scf::ForOp::create(b, loc, toValue(from), toValue(to), index(step));
  // Each point of the parallel space writes its own elements. Two threads must
  // not write one element at the same time, not even the same value.
  if (isShared && !overlaps)
    markParallel(loop);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  base[dim] = loop.getInductionVar();
  if (overlaps) // the last tile ends where the others do
    base[dim] = arith::MinSIOp::create(
        b, loc, base[dim],
        arith::SubIOp::create(b, loc, cast<Value>(to), index(step)));
  fixed[dim].reset();
  emitParallel(level + 1);
}

void TileEmitter::emitParallel(unsigned level) {
  if (level == plan.order.size())
    return emitTile();
  if (plan.parts && plan.parts->level == level && !partBegin)
    return emitParts(level);
  unsigned dim = plan.order[level];
  int64_t step = plan.tile[dim];
  OpFoldResult zero = b.getIndexAttr(0);
  if (!ShapedType::isDynamic(kernel.extents[dim])) {
    int64_t extent = kernel.extents[dim];
    int64_t rest = extent % step;
    OpFoldResult whole = wholeSteps(dim, step);
    emitSpan(level, zero, whole, step);
    return emitSpan(level, whole, extents[dim], rest);
  }
  if (step == 1)
    emitSpan(level, zero, extents[dim], 1);
  else if (plan.lane == dim)
    emitDynamicLanes(level);
  else
    emitDynamicRows(level);
}

/// Emits lanes of a dynamic extent: whole tiles, then single vectors, the last
/// of which overlaps elements already written. Single elements follow if the
/// extent is less than a vector, or if vectors must not overlap (readsResults).
void TileEmitter::emitDynamicLanes(unsigned level) {
  unsigned dim = plan.order[level];
  SmallVector<int64_t> steps{plan.tile[dim]};
  // If threads share the whole tiles, the overlapping tile comes after them.
  if (steps[0] > plan.registerSize || (isShared && !readsResults()))
    steps.push_back(plan.registerSize);
  OpFoldResult from = b.getIndexAttr(0);
  for (auto [i, current] : llvm::enumerate(steps)) {
    bool overlaps = !readsResults() && i + 1 == steps.size();
    OpFoldResult to =
        overlaps ? coveredBy(dim, current) : wholeSteps(dim, current);
    emitSpan(level, from, to, current, overlaps);
    from = to;
  }
  emitSpan(level, from, extents[dim], 1);
}

/// Emits rows of a dynamic extent: whole tiles, then the smallest of a few tile
/// sizes that covers the remainder and overlaps rows already written. Two
/// smaller tiles cover an extent of less than a whole tile. Single rows follow
/// if the extent is less than the smallest size, or if tiles must not overlap
/// (readsResults).
void TileEmitter::emitDynamicRows(unsigned level) {
  unsigned dim = plan.order[level];
  int64_t step = plan.tile[dim];
  OpFoldResult from = b.getIndexAttr(0), whole = wholeSteps(dim, step);
  // If threads share the whole tiles, the overlapping tile comes after them.
  if (isShared || readsResults()) {
    emitSpan(level, from, whole, step);
    from = whole;
  }
  if (readsResults())
    return emitSpan(level, from, extents[dim], 1);
  auto extent = cast<Value>(extents[dim]);
  auto compare = [&](arith::CmpIPredicate predicate, Value value, int64_t by) {
    return arith::CmpIOp::create(b, loc, predicate, value, index(by));
  };
  Value left = arith::SelectOp::create(
      b, loc, compare(arith::CmpIPredicate::uge, extent, step),
      arith::SubIOp::create(b, loc, extent, cast<Value>(whole)),
      arith::CeilDivUIOp::create(b, loc, extent, index(2)));
  for (int64_t size = step, next = (step + 1) / 2; size != 0;
       size = next, next = (2 * size + 1) / 3) {
    if (next < kLeastRows)
      next = 0;
    Value covers = arith::AndIOp::create(
        b, loc, compare(arith::CmpIPredicate::ugt, left, next),
        compare(arith::CmpIPredicate::uge, extent, size));
    OpFoldResult otherwise = size == step ? whole : from;
    OpFoldResult to =
        arith::SelectOp::create(b, loc, covers, extent, cast<Value>(otherwise))
            .getResult();
    emitSpan(level, from, to, size, /*overlaps=*/true);
    from = to;
  }
  emitSpan(level, from, extents[dim], 1);
}

/// Emits a loop over the parts of the reduction (`plan.parts`), which contains
/// the loops over `plan.order[level]` and the dims after it.
void TileEmitter::emitParts(unsigned level) {
  auto loop = scf::ForOp::create(b, loc, index(0),
                                 index(kernel.extents[plan.parts->dim]),
                                 index(plan.parts->steps));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  partBegin = loop.getInductionVar();
  emitParallel(level);
  partBegin = Value();
}

void TileEmitter::emitLoops() {
  size.assign(kernel.extents.size(), 1);
  masks = findHoistableMasks(kernel, plan.tile);
  innerTaps = findInnerTaps(kernel, plan);
  emitParallel(0);
}

SmallVector<Value> layout::emitKernel(OpBuilder &builder, const Kernel &kernel,
                                      const KernelPlan &plan,
                                      const EmitOptions &options) {
  assert(plan.tile.size() == kernel.extents.size() && "a tile for each loop");
  return TileEmitter(builder, kernel, plan, options).run();
}
