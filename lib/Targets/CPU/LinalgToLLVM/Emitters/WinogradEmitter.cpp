//===- WinogradEmitter.cpp - Loops of transformed convolutions ------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Emitters/Emitter.h"
#include "Emitters/Winograd.h"
#include "Loops/ParallelLoops.h"
#include "layout/Support/BufferAlignment.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include <array>

using namespace mlir;
using namespace mlir::layout;

/// The minimum number of loop iterations to share among threads: of strips
/// (groups of tiles that are transformed together) of all images, or of blocks
/// of channels or filters.
static constexpr int64_t kEnoughStrips = 16;

namespace {
class WinogradEmitter final : public Emitter {
public:
  WinogradEmitter(OpBuilder &b, const Kernel &kernel, const KernelPlan &plan,
                  const EmitOptions &options, const WinogradPlan &winograd,
                  Value filters)
      : Emitter(b, kernel, plan, options), winograd(winograd),
        filters(filters) {}

private:
  using Four = std::array<Value, 4>;
  /// For rows and for columns, the conditions under which a tile writes the
  /// first and the second row or column of its 2x2 results. A null condition
  /// always holds.
  using OwnResults = std::array<std::array<Value, 2>, 2>;
  /// One of the 2x2 results of a tile: a vector value for each point, i.e. for
  /// each vector of filters.
  struct TileResult {
    SmallVector<Point> points;
    SmallVector<Value> values;
  };
  using TileResults = std::array<TileResult, 4>;

  void emitLoops() override;
  void emitBatches(ArrayRef<unsigned> dims);
  void emitStrips();
  void emitStrip(Value first, OpFoldResult tiles);
  void emitReads(Value first, OpFoldResult tiles);
  void emitProducts(Value block, OpFoldResult tiles, Value products);
  OwnResults emitOwnResults(const std::array<Value, 2> &numbers);
  TileResults emitTileResults(Value number, Value products);
  void finishResult(const TileResult &result);
  void emitWrites(Value first, OpFoldResult tiles, Value products);
  std::array<Value, 2> moveTo(Value tile);
  void setDims(ArrayRef<unsigned> dims, Value number);

  void loop(OpFoldResult end, OpFoldResult step, bool parallel,
            function_ref<void(Value)> emit);
  Value allocate(ArrayRef<int64_t> shape);
  Value load(Value buffer, ArrayRef<Value> indices, int64_t width);
  void store(Value value, Value buffer, ArrayRef<Value> indices) {
    vector::StoreOp::create(b, loc, value, buffer, indices);
  }
  Value plus(Value left, Value right) {
    return arith::AddFOp::create(b, loc, left, right);
  }
  Value minus(Value left, Value right) {
    return arith::SubFOp::create(b, loc, left, right);
  }
  /// Computes B^T d for four rows or columns d of the image.
  Four transformPlaces(const Four &d) {
    return {minus(d[0], d[2]), plus(d[1], d[2]), minus(d[2], d[1]),
            minus(d[1], d[3])};
  }
  /// Computes A^T m for four rows or columns m of sums over channels.
  std::array<Value, 2> transformSums(const Four &m) {
    return {plus(plus(m[0], m[1]), m[2]), minus(minus(m[1], m[2]), m[3])};
  }
  Value addProduct(Value sum, Value left, Value right) {
    auto flags = arith::FastMathFlags::contract;
    Value product = arith::MulFOp::create(b, loc, left, right, flags);
    return arith::AddFOp::create(b, loc, sum, product, flags);
  }
  Value shifted(Value value, int64_t by) {
    return b.createOrFold<arith::AddIOp>(loc, value, index(by));
  }
  Value divideUp(Value number, Value by) {
    Value more = b.createOrFold<arith::AddIOp>(loc, number, shifted(by, -1));
    return b.createOrFold<arith::DivUIOp>(loc, more, by);
  }

  bool isDynamic(unsigned axis) const {
    return ShapedType::isDynamic(kernel.extents[winograd.axes[axis].place]);
  }
  Value extentOf(unsigned axis) {
    return toValue(extents[winograd.axes[axis].place]);
  }
  Value &placeOf(unsigned axis) { return base[winograd.axes[axis].place]; }
  OpFoldResult constant(int64_t value) { return b.getIndexAttr(value); }
  VectorType vectors() const {
    return VectorType::get({plan.vectorSize}, b.getF32Type());
  }

  const WinogradPlan &winograd;
  Value filters;
  /// The buffer of the transformed 4x4 tiles of a strip of the image (V): 16 x
  /// tiles x input channels.
  Value places;
  SmallVector<int64_t> placesShape;
  /// True if threads share the strips, i.e. groups of tiles that are
  /// transformed together. Otherwise, they share the loops in a strip if
  /// `isShared` is set.
  bool sharesStrips = false;
  /// The number of rows of tiles of an image, and the number of tiles in one
  /// row.
  std::array<Value, 2> tilesAlong;
};
} // namespace

//===----------------------------------------------------------------------===//
// Parts of loops
//===----------------------------------------------------------------------===//

/// Emits a loop from 0 to `end` by `step`, marked for threads if `parallel`.
/// `emit` emits the body for an index. Without a loop, emits only the body if
/// there is one iteration, or no code if there is none.
void WinogradEmitter::loop(OpFoldResult end, OpFoldResult step, bool parallel,
                           function_ref<void(Value)> emit) {
  std::optional<int64_t> last = getConstantIntValue(end);
  if (last && *last <= 0)
    return;
  std::optional<int64_t> by = getConstantIntValue(step);
  if (last && by && *by >= *last)
    return emit(index(0));
  auto loop = scf::ForOp::create(b, loc, index(0), toValue(end), toValue(step));
  if (parallel)
    markParallel(loop);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  emit(loop.getInductionVar());
}

Value WinogradEmitter::allocate(ArrayRef<int64_t> shape) {
  return memref::AllocOp::create(b, loc, MemRefType::get(shape, b.getF32Type()),
                                 b.getI64IntegerAttr(kBufferAlignment));
}

Value WinogradEmitter::load(Value buffer, ArrayRef<Value> indices,
                            int64_t width) {
  return vector::LoadOp::create(
      b, loc, VectorType::get({width}, b.getF32Type()), buffer, indices);
}

/// Sets the current positions along `dims` to those of `number`, a linear
/// number in which the last dim is the fastest.
void WinogradEmitter::setDims(ArrayRef<unsigned> dims, Value number) {
  for (unsigned dim : llvm::reverse(dims)) {
    Value extent = index(kernel.extents[dim]);
    base[dim] = number;
    if (dim == dims.front())
      return;
    base[dim] = arith::RemUIOp::create(b, loc, number, extent);
    number = arith::DivUIOp::create(b, loc, number, extent);
  }
}

/// Sets rows and columns to the first ones of a tile. A last tile that would
/// exceed the results starts one earlier and computes some again. Returns the
/// row and column number of the tile.
std::array<Value, 2> WinogradEmitter::moveTo(Value tile) {
  std::array<Value, 2> numbers = {
      arith::DivUIOp::create(b, loc, tile, tilesAlong[1]),
      arith::RemUIOp::create(b, loc, tile, tilesAlong[1])};
  for (auto [axis, number] : llvm::enumerate(numbers)) {
    Value &first = placeOf(axis);
    first = arith::MulIOp::create(b, loc, number, index(2));
    int64_t extent = kernel.extents[winograd.axes[axis].place];
    if (isDynamic(axis)) {
      Value last = shifted(extentOf(axis), -2);
      first = arith::MinSIOp::create(b, loc, first, last);
      first = arith::MaxSIOp::create(b, loc, first, index(0));
    } else if (extent % 2 != 0) {
      first = arith::MinSIOp::create(b, loc, first, index(extent - 2));
    }
  }
  return numbers;
}

//===----------------------------------------------------------------------===//
// The loops
//===----------------------------------------------------------------------===//

/// Emits the loops that transform the image and store it in `places` (V): 16
/// elements of each tile and input channel, for `tiles` tiles from number
/// `first` on.
void WinogradEmitter::emitReads(Value first, OpFoldResult tiles) {
  const Stage &root = kernel.root;
  unsigned inner = winograd.channels.back();
  ArrayRef<unsigned> outer = ArrayRef(winograd.channels).drop_back();
  int64_t width = kernel.extents[inner], blocks = countPositions(kernel, outer);
  auto emitTile = [&](Value block, Value number) {
    moveTo(arith::AddIOp::create(b, loc, first, number));
    setDims(outer, block);
    // If a dynamic extent is 1, tiles have no fourth row or column of the
    // image. The one that is read instead affects only results that are not
    // written.
    std::array<Value, 2> firsts = {placeOf(0), placeOf(1)}, fourth;
    for (unsigned axis : {0, 1})
      if (isDynamic(axis))
        fourth[axis] = arith::MinSIOp::create(b, loc, shifted(firsts[axis], 3),
                                              shifted(extentOf(axis), 1));
    loop(constant(width), constant(plan.vectorSize), false, [&](Value channel) {
      base[inner] = channel;
      Value buffer = bufferOf(root.operands[winograd.image]);
      std::array<Four, 4> half;
      for (int64_t column = 0; column < 4; ++column) {
        Four d;
        for (int64_t row = 0; row < 4; ++row) {
          Point point;
          point.offset.assign(kernel.extents.size(), 0);
          for (auto [axis, offset] : llvm::enumerate(std::array{row, column})) {
            bool isFourth = offset == 3 && fourth[axis];
            placeOf(axis) = isFourth ? fourth[axis] : firsts[axis];
            point.offset[winograd.axes[axis].place] = isFourth ? 0 : offset;
          }
          d[row] = readVector(vectors(), buffer,
                              subscripts(root.maps[winograd.image], point));
        }
        for (auto [row, sum] : llvm::enumerate(transformPlaces(d)))
          half[row][column] = sum;
      }
      Value start = arith::AddIOp::create(
          b, loc, arith::MulIOp::create(b, loc, block, index(width)), channel);
      for (auto [row, d] : llvm::enumerate(half)) {
        for (auto [column, sum] : llvm::enumerate(transformPlaces(d)))
          store(sum, places, {index(row * 4 + column), number, start});
      }
    });
  };
  // Blocks are the outer loop if there are enough for threads. For a dynamic
  // image, tiles are the outer loop, because their positions need divisions.
  bool parallel = isShared && !sharesStrips;
  OpFoldResult one = constant(1);
  if (blocks >= kEnoughStrips && winograd.rests.empty())
    loop(constant(blocks), one, parallel, [&](Value block) {
      loop(tiles, one, false, [&](Value tile) { emitTile(block, tile); });
    });
  else
    loop(tiles, one, parallel, [&](Value tile) {
      loop(constant(blocks), one, false,
           [&](Value block) { emitTile(block, tile); });
    });
}

/// Emits the loops that multiply transformed tiles by the transformed filters
/// of one block, and store the sums over input channels in `products` (M), for
/// all tiles of a strip.
void WinogradEmitter::emitProducts(Value block, OpFoldResult tiles,
                                   Value products) {
  int64_t channels = placesShape.back();
  int64_t count = winograd.lanes / plan.vectorSize;
  Value weights = bufferOf(filters);
  auto emitStep = [&](Value place, Value tile, int64_t step) {
    Value zero = arith::ConstantOp::create(
        b, loc, DenseElementsAttr::get(vectors(), 0.0f));
    SmallVector<Value> sums(step * count, zero);
    auto inner =
        scf::ForOp::create(b, loc, index(0), index(channels), index(1), sums);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(inner.getBody());
    Value channel = inner.getInductionVar();
    SmallVector<Value> weight;
    for (int64_t i = 0; i < count; ++i)
      weight.push_back(load(weights,
                            {block, place, channel, index(i * plan.vectorSize)},
                            plan.vectorSize));
    for (int64_t t = 0; t < step; ++t) {
      Value one = load(places, {place, shifted(tile, t), channel}, 1);
      Value all = vector::BroadcastOp::create(b, loc, vectors(), one);
      for (int64_t i = 0; i < count; ++i)
        sums[t * count + i] =
            addProduct(inner.getRegionIterArg(t * count + i), all, weight[i]);
    }
    scf::YieldOp::create(b, loc, sums);
    b.setInsertionPointAfter(inner);
    for (int64_t t = 0; t < step; ++t)
      for (int64_t i = 0; i < count; ++i)
        store(inner.getResult(t * count + i), products,
              {place, shifted(tile, t), index(i * plan.vectorSize)});
  };
  Value end = toValue(tiles), step = index(winograd.step);
  Value rest = b.createOrFold<arith::RemUIOp>(loc, end, step);
  Value whole = b.createOrFold<arith::SubIOp>(loc, end, rest);
  // A dynamic remainder is computed by the smallest loop with enough tiles, for
  // which the buffers have space.
  auto emitRest = [&](Value place) {
    for (int64_t count : ArrayRef(winograd.rests).drop_back()) {
      auto branch = scf::IfOp::create(
          b, loc,
          arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ule, rest,
                                index(count)),
          /*withElseRegion=*/true);
      b.setInsertionPointToStart(branch.thenBlock());
      emitStep(place, whole, count);
      b.setInsertionPointToStart(branch.elseBlock());
    }
    emitStep(place, whole, winograd.rests.back());
  };
  loop(constant(16), constant(1), false, [&](Value place) {
    loop(getAsOpFoldResult(whole), constant(winograd.step), false,
         [&](Value tile) { emitStep(place, tile, winograd.step); });
    if (std::optional<int64_t> known = getConstantIntValue(rest)) {
      if (*known != 0)
        emitStep(place, whole, *known);
      return;
    }
    auto branch = scf::IfOp::create(
        b, loc,
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, rest,
                              index(0)));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    emitRest(place);
  });
}

/// Returns, for each axis, the conditions under which a tile writes its first
/// and second row or column, or null values if it always does. The first row of
/// a tile that starts one row earlier belongs to another tile, and a dynamic
/// extent may be 1.
WinogradEmitter::OwnResults
WinogradEmitter::emitOwnResults(const std::array<Value, 2> &numbers) {
  OwnResults isOwn;
  for (auto [axis, number] : llvm::enumerate(numbers)) {
    int64_t extent = kernel.extents[winograd.axes[axis].place];
    Value place = placeOf(axis);
    if (isDynamic(axis) || extent % 2 != 0)
      isOwn[axis][0] = arith::CmpIOp::create(
          b, loc, arith::CmpIPredicate::eq, place,
          arith::MulIOp::create(b, loc, number, index(2)));
    if (isDynamic(axis))
      isOwn[axis][1] = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                                             shifted(place, 1), extentOf(axis));
  }
  return isOwn;
}

/// Returns the 2x2 results A^T M A of tile `number` from its 16 sums in
/// `products`.
WinogradEmitter::TileResults WinogradEmitter::emitTileResults(Value number,
                                                              Value products) {
  TileResults results;
  for (int64_t lanes = 0; lanes < winograd.lanes; lanes += plan.vectorSize) {
    Four half[2];
    for (int64_t column = 0; column < 4; ++column) {
      Four m;
      for (int64_t row = 0; row < 4; ++row)
        m[row] = load(products, {index(row * 4 + column), number, index(lanes)},
                      plan.vectorSize);
      for (auto [row, sum] : llvm::enumerate(transformSums(m)))
        half[row][column] = sum;
    }
    for (int64_t row = 0; row < 2; ++row) {
      std::array<Value, 2> two = transformSums(half[row]);
      for (int64_t column = 0; column < 2; ++column) {
        Point point;
        point.offset.assign(kernel.extents.size(), 0);
        point.offset[winograd.axes[0].place] = row;
        point.offset[winograd.axes[1].place] = column;
        point.offset[*plan.lane] = lanes;
        point.width = plan.vectorSize;
        results[row * 2 + column].points.push_back(point);
        results[row * 2 + column].values.push_back(two[column]);
      }
    }
  }
  return results;
}

/// Adds the initial value to one of the 2x2 results of a tile, applies the
/// kernel's elementwise finish, if any, and writes it.
void WinogradEmitter::finishResult(const TileResult &result) {
  bool startsAtZero = false;
  if (auto *splat = std::get_if<SplatStart>(&kernel.starts.front()))
    startsAtZero = matchPattern(splat->scalar, m_AnyZeroFloat());
  SmallVector<Value> values = result.values;
  if (!startsAtZero)
    for (auto [value, from] : llvm::zip_equal(values, start(result.points)))
      value = plus(from, value);
  finish(result.points, std::move(values));
}

/// Emits the loop over the `tiles` tiles from number `first` on that transforms
/// their sums in `products` to 2x2 results each and writes them. Nearly all
/// tiles write all four results, without a branch for each.
void WinogradEmitter::emitWrites(Value first, OpFoldResult tiles,
                                 Value products) {
  loop(tiles, constant(1), false, [&](Value number) {
    Value tile = arith::AddIOp::create(b, loc, first, number);
    OwnResults isOwn = emitOwnResults(moveTo(tile));
    TileResults results = emitTileResults(number, products);
    Value all;
    unsigned conditions = 0;
    for (Value condition : {isOwn[0][0], isOwn[0][1], isOwn[1][0], isOwn[1][1]})
      if (condition) {
        all = all ? arith::AndIOp::create(b, loc, all, condition) : condition;
        ++conditions;
      }
    OpBuilder::InsertionGuard guard(b);
    if (all) {
      auto branch = scf::IfOp::create(b, loc, all, /*withElseRegion=*/true);
      b.setInsertionPointToStart(branch.elseBlock());
      for (auto [i, result] : llvm::enumerate(results)) {
        OpBuilder::InsertionGuard guard(b);
        SmallVector<Value> own{isOwn[0][i / 2], isOwn[1][i % 2]};
        llvm::erase(own, Value());
        if (own.size() == conditions) // their conjunction is false here
          continue;
        for (Value condition : own) {
          auto branch = scf::IfOp::create(b, loc, condition);
          b.setInsertionPointToStart(branch.thenBlock());
        }
        finishResult(result);
      }
      b.setInsertionPointToStart(branch.thenBlock());
    }
    for (const TileResult &result : results)
      finishResult(result);
  });
}

void WinogradEmitter::emitStrip(Value first, OpFoldResult tiles) {
  emitReads(first, tiles);
  unsigned lane = *plan.lane;
  int64_t blocks = cast<RankedTensorType>(filters.getType()).getDimSize(0);
  int64_t perLane = kernel.extents[lane] / winograd.lanes;
  int64_t most = getConstantIntValue(tiles).value_or(winograd.strip);
  loop(constant(blocks), constant(1), isShared && !sharesStrips,
       [&](Value block) {
         Value products = allocate({16, most, winograd.lanes});
         emitProducts(block, tiles, products);
         Value part = arith::RemUIOp::create(b, loc, block, index(perLane));
         base[lane] =
             arith::MulIOp::create(b, loc, part, index(winograd.lanes));
         setDims(winograd.filters,
                 arith::DivUIOp::create(b, loc, block, index(perLane)));
         emitWrites(first, tiles, products);
       });
}

void WinogradEmitter::emitStrips() {
  auto emit = [&](Value first, OpFoldResult tiles) {
    if (sharesStrips)
      places = allocate(placesShape);
    emitStrip(first, tiles);
  };
  if (!ShapedType::isDynamic(winograd.tiles)) {
    int64_t rest = winograd.tiles % winograd.strip;
    int64_t whole = winograd.tiles - rest;
    loop(constant(whole), constant(winograd.strip), sharesStrips,
         [&](Value first) { emit(first, constant(winograd.strip)); });
    if (rest != 0)
      emit(index(whole), constant(rest));
    return;
  }
  // All strips have one length, a multiple of the register tile.
  Value tiles = arith::MulIOp::create(b, loc, tilesAlong[0], tilesAlong[1]);
  Value some = arith::MaxUIOp::create(b, loc, tiles, index(1));
  Value length = divideUp(some, divideUp(some, index(winograd.strip)));
  length = arith::MulIOp::create(b, loc, divideUp(length, index(winograd.step)),
                                 index(winograd.step));
  loop(tiles, length, sharesStrips, [&](Value first) {
    Value left = arith::SubIOp::create(b, loc, tiles, first);
    emit(first, arith::MinUIOp::create(b, loc, length, left).getResult());
  });
}

void WinogradEmitter::emitBatches(ArrayRef<unsigned> dims) {
  if (dims.empty())
    return emitStrips();
  loop(extents[dims.front()], constant(1), sharesStrips, [&](Value number) {
    base[dims.front()] = number;
    emitBatches(dims.drop_front());
  });
}

void WinogradEmitter::emitLoops() {
  // Offsets of points iterate over the windows.
  for (WinogradPlan::Axis axis : winograd.axes)
    fixed[axis.window] = 0;
  int64_t channels = countPositions(kernel, winograd.channels);
  for (unsigned axis : {0, 1})
    tilesAlong[axis] = divideUp(extentOf(axis), index(2));
  // A dynamic batch may be 1, so it is not counted. Threads share the strips of
  // a dynamic image if it has too few blocks of filters.
  int64_t shared = 1;
  for (unsigned dim : winograd.batches)
    if (!ShapedType::isDynamic(kernel.extents[dim]))
      shared *= kernel.extents[dim];
  if (!ShapedType::isDynamic(winograd.tiles))
    shared *= llvm::divideCeil(winograd.tiles, winograd.strip);
  else if (cast<RankedTensorType>(filters.getType()).getDimSize(0) <
           kEnoughStrips)
    shared = kEnoughStrips;
  sharesStrips = isShared && shared >= kEnoughStrips;
  placesShape = {16, winograd.strip, channels};
  if (!sharesStrips)
    places = allocate(placesShape);
  emitBatches(winograd.batches);
}

SmallVector<Value> layout::emitWinograd(OpBuilder &builder,
                                        const Kernel &kernel,
                                        const KernelPlan &plan,
                                        const WinogradPlan &winograd,
                                        const EmitOptions &options) {
  Value filters = arith::ConstantOp::create(
      builder, kernel.root.op->getLoc(),
      cast<TypedAttr>(transformFilters(kernel, plan, winograd)));
  return WinogradEmitter(builder, kernel, plan, options, winograd, filters)
      .run();
}
