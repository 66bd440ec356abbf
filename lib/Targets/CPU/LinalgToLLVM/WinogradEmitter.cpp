//===- WinogradEmitter.cpp - Loops of transformed convolutions ------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Emitter.h"
#include "ParallelLoops.h"
#include "Winograd.h"
#include "layout/Support/BufferAlignment.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include <array>

using namespace mlir;
using namespace mlir::layout;

/// So many strips are enough for the threads to share.
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

  void emitLoops() override;
  void emitBatches(ArrayRef<unsigned> dims);
  void emitStrips();
  void emitStrip(Value first, int64_t tiles);
  void emitReads(Value first, int64_t tiles);
  void emitProducts(Value block, int64_t tiles, Value products);
  void emitWrites(Value first, int64_t tiles, Value products);
  std::array<Value, 2> moveTo(Value tile);
  void setDims(ArrayRef<unsigned> dims, Value number);

  void loop(int64_t from, int64_t to, int64_t step, bool parallel,
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
  /// B^T d
  Four transformPlaces(const Four &d) {
    return {minus(d[0], d[2]), plus(d[1], d[2]), minus(d[2], d[1]),
            minus(d[1], d[3])};
  }
  /// A^T m
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

  int64_t extentOf(unsigned axis) const {
    return kernel.extents[winograd.axes[axis].place];
  }
  VectorType vectors() const {
    return VectorType::get({plan.vectorSize}, b.getF32Type());
  }

  const WinogradPlan &winograd;
  Value filters;
  /// The transformed places of a strip: 16, tiles, channels.
  Value places;
  SmallVector<int64_t> placesShape;
  /// Whether threads share the strips; otherwise what is in one.
  bool sharesStrips = false;
};
} // namespace

//===----------------------------------------------------------------------===//
// Parts of loops
//===----------------------------------------------------------------------===//

/// A loop, or its only iteration.
void WinogradEmitter::loop(int64_t from, int64_t to, int64_t step,
                           bool parallel, function_ref<void(Value)> emit) {
  if (from >= to)
    return;
  if (from + step >= to)
    return emit(index(from));
  auto loop = scf::ForOp::create(b, loc, index(from), index(to), index(step));
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

/// Sets `dims` to their position `number`, the last one fastest.
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

/// Sets rows and columns to the first ones of a tile. A last one that would go
/// past the results begins one before, where others are computed again. Gives
/// the numbers of the tile along both.
std::array<Value, 2> WinogradEmitter::moveTo(Value tile) {
  Value columns = index(llvm::divideCeil(extentOf(1), 2));
  std::array<Value, 2> at = {arith::DivUIOp::create(b, loc, tile, columns),
                             arith::RemUIOp::create(b, loc, tile, columns)};
  for (auto [axis, number] : llvm::enumerate(at)) {
    Value first = arith::MulIOp::create(b, loc, number, index(2));
    if (extentOf(axis) % 2 != 0)
      first = arith::MinSIOp::create(b, loc, first, index(extentOf(axis) - 2));
    base[winograd.axes[axis].place] = first;
  }
  return at;
}

//===----------------------------------------------------------------------===//
// The loops
//===----------------------------------------------------------------------===//

/// V: 16 sums of the places that a tile reads, for each channel.
void WinogradEmitter::emitReads(Value first, int64_t tiles) {
  const Stage &root = kernel.root;
  unsigned inner = winograd.channels.back();
  ArrayRef<unsigned> outer = ArrayRef(winograd.channels).drop_back();
  int64_t width = kernel.extents[inner], blocks = countPositions(kernel, outer);
  auto emitTile = [&](Value block, Value number) {
    moveTo(arith::AddIOp::create(b, loc, first, number));
    setDims(outer, block);
    loop(0, width, plan.vectorSize, false, [&](Value channel) {
      base[inner] = channel;
      Value buffer = bufferOf(root.operands[winograd.image]);
      std::array<Four, 4> half;
      for (int64_t column = 0; column < 4; ++column) {
        Four d;
        for (int64_t row = 0; row < 4; ++row) {
          Point point;
          point.offset.assign(kernel.extents.size(), 0);
          point.offset[winograd.axes[0].place] = row;
          point.offset[winograd.axes[1].place] = column;
          d[row] = vector::TransferReadOp::create(
              b, loc, vectors(), buffer,
              subscripts(root.maps[winograd.image], point), std::nullopt,
              ArrayRef<bool>{true});
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
  // The loop of more iterations is the outer one, for the threads.
  bool parallel = isShared && !sharesStrips;
  if (blocks >= kEnoughStrips)
    loop(0, blocks, 1, parallel, [&](Value block) {
      loop(0, tiles, 1, false, [&](Value tile) { emitTile(block, tile); });
    });
  else
    loop(0, tiles, 1, parallel, [&](Value tile) {
      loop(0, blocks, 1, false, [&](Value block) { emitTile(block, tile); });
    });
}

/// M: the sums over channels, of all tiles and the filters of one block.
void WinogradEmitter::emitProducts(Value block, int64_t tiles, Value products) {
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
  loop(0, 16, 1, false, [&](Value place) {
    int64_t whole = tiles - tiles % winograd.step;
    loop(0, whole, winograd.step, false,
         [&](Value tile) { emitStep(place, tile, winograd.step); });
    if (whole != tiles)
      emitStep(place, index(whole), tiles - whole);
  });
}

/// The four results of each tile from their 16 sums.
void WinogradEmitter::emitWrites(Value first, int64_t tiles, Value products) {
  unsigned lane = *plan.lane;
  loop(0, tiles, 1, false, [&](Value number) {
    Value tile = arith::AddIOp::create(b, loc, first, number);
    std::array<Value, 2> at = moveTo(tile), fits;
    for (auto [axis, place] : llvm::enumerate(at))
      if (extentOf(axis) % 2 != 0)
        fits[axis] = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult,
                                           place, index(extentOf(axis) / 2));
    SmallVector<Point> points[4];
    SmallVector<Value> results[4];
    for (int64_t lanes = 0; lanes < winograd.lanes; lanes += plan.vectorSize) {
      Four half[2];
      for (int64_t column = 0; column < 4; ++column) {
        Four m;
        for (int64_t row = 0; row < 4; ++row)
          m[row] =
              load(products, {index(row * 4 + column), number, index(lanes)},
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
          point.offset[lane] = lanes;
          point.width = plan.vectorSize;
          points[row * 2 + column].push_back(point);
          results[row * 2 + column].push_back(two[column]);
        }
      }
    }
    bool startsAtZero = false;
    if (auto *splat = std::get_if<SplatStart>(&kernel.starts.front()))
      startsAtZero = matchPattern(splat->scalar, m_AnyZeroFloat());
    for (int64_t result = 0; result < 4; ++result) {
      // The first row and column of a tile that begins one before belong to
      // another one.
      SmallVector<Value> conditions;
      if (result / 2 == 0 && fits[0])
        conditions.push_back(fits[0]);
      if (result % 2 == 0 && fits[1])
        conditions.push_back(fits[1]);
      OpBuilder::InsertionGuard guard(b);
      for (Value condition : conditions) {
        auto branch = scf::IfOp::create(b, loc, condition);
        b.setInsertionPointToStart(branch.thenBlock());
      }
      SmallVector<Value> values = results[result];
      if (!startsAtZero)
        for (auto [value, from] :
             llvm::zip_equal(values, start(points[result])))
          value = plus(from, value);
      finish(points[result], std::move(values));
    }
  });
}

void WinogradEmitter::emitStrip(Value first, int64_t tiles) {
  emitReads(first, tiles);
  unsigned lane = *plan.lane;
  int64_t blocks = cast<RankedTensorType>(filters.getType()).getDimSize(0);
  int64_t perLane = kernel.extents[lane] / winograd.lanes;
  loop(0, blocks, 1, isShared && !sharesStrips, [&](Value block) {
    Value products = allocate({16, tiles, winograd.lanes});
    emitProducts(block, tiles, products);
    Value part = arith::RemUIOp::create(b, loc, block, index(perLane));
    base[lane] = arith::MulIOp::create(b, loc, part, index(winograd.lanes));
    setDims(winograd.filters,
            arith::DivUIOp::create(b, loc, block, index(perLane)));
    emitWrites(first, tiles, products);
  });
}

void WinogradEmitter::emitStrips() {
  int64_t rest = winograd.tiles % winograd.strip;
  int64_t whole = winograd.tiles - rest;
  auto emit = [&](Value first, int64_t tiles) {
    if (sharesStrips)
      places = allocate(placesShape);
    emitStrip(first, tiles);
  };
  loop(0, whole, winograd.strip, sharesStrips,
       [&](Value first) { emit(first, winograd.strip); });
  if (rest != 0)
    emit(index(whole), rest);
}

void WinogradEmitter::emitBatches(ArrayRef<unsigned> dims) {
  if (dims.empty())
    return emitStrips();
  loop(0, kernel.extents[dims.front()], 1, sharesStrips, [&](Value number) {
    base[dims.front()] = number;
    emitBatches(dims.drop_front());
  });
}

void WinogradEmitter::emitLoops() {
  // The windows go over the offsets of points.
  for (WinogradPlan::Axis axis : winograd.axes)
    fixed[axis.window] = 0;
  int64_t channels = countPositions(kernel, winograd.channels);
  int64_t images = countPositions(kernel, winograd.batches);
  sharesStrips =
      isShared && images * llvm::divideCeil(winograd.tiles, winograd.strip) >=
                      kEnoughStrips;
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
