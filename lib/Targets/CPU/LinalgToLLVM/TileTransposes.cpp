//===- TileTransposes.cpp - Transpositions in registers -------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A copy that permutes its dims, or sums of them as in 16 * c1 + c0, such that
// the fastest dim S of its input is not the fastest dim D of its result. Tiles
// of t x t (or t x 2t, to write whole cache lines) run over S and D:
//
//   2t vectors of t along S are read, two t x t squares are transposed in
//   registers, t rows of 2t along D are written.
//
// The last tile of an extent that t does not divide starts earlier instead of
// being cut: copying an element twice does no harm, and there is no remainder.
// Where S is D and some position is a sum, vectors of t are copied.
//
// Upstream's vectorizer transposes where sizes are static and tiles divide
// them: benchmarks/cpu-kernels/README.md compares.
//
//===----------------------------------------------------------------------===//

#include "ParallelLoops.h"
#include "layout/Targets/CPU/LinalgToLLVM/Passes.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "llvm/ADT/bit.h"

namespace mlir::layout {
#define GEN_PASS_DEF_TILETRANSPOSESPASS
#include "layout/Targets/CPU/LinalgToLLVM/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;

namespace {

/// One result of a map as factors of dims; nothing where it is no sum.
using Factors = SmallVector<std::pair<unsigned, int64_t>, 4>;
std::optional<Factors> readSum(AffineExpr expr) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return Factors{{dim.getPosition(), 1}};
  if (isa<AffineConstantExpr>(expr))
    return Factors();
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return std::nullopt;
  std::optional<Factors> sum = readSum(binary.getLHS());
  if (expr.getKind() == AffineExprKind::Mul) {
    auto factor = dyn_cast<AffineConstantExpr>(binary.getRHS());
    if (!sum || !factor || factor.getValue() <= 0)
      return std::nullopt;
    for (auto &[dim, value] : *sum)
      value *= factor.getValue();
    return sum;
  }
  if (expr.getKind() != AffineExprKind::Add)
    return std::nullopt;
  std::optional<Factors> rhs = readSum(binary.getRHS());
  if (!sum || !rhs)
    return std::nullopt;
  sum->append(*rhs);
  return sum;
}

/// Whether every dim of more than one index is in exactly one result, and every
/// result a sum.
bool isCopyMap(AffineMap map, ArrayRef<int64_t> extents) {
  SmallVector<unsigned> uses(map.getNumDims(), 0);
  for (AffineExpr expr : map.getResults()) {
    std::optional<Factors> sum = readSum(expr);
    if (!sum)
      return false;
    for (auto [dim, factor] : *sum)
      ++uses[dim];
  }
  return map.getNumSymbols() == 0 &&
         llvm::all_of(llvm::zip(uses, extents), [](auto dim) {
           auto [count, extent] = dim;
           return count == 1 || (count == 0 && extent == 1);
         });
}

/// The dims of a copy map, slowest first.
SmallVector<unsigned> getOrder(AffineMap map) {
  SmallVector<unsigned> order;
  for (AffineExpr expr : map.getResults()) {
    Factors sum = *readSum(expr);
    llvm::stable_sort(sum,
                      [](auto &a, auto &b) { return a.second > b.second; });
    llvm::append_range(order, llvm::make_first_range(sum));
  }
  return order;
}

/// The dim whose next index is the next element.
std::optional<unsigned> getFastest(AffineMap map) {
  if (map.getNumResults() == 0)
    return std::nullopt;
  Factors sum = *readSum(map.getResults().back());
  for (auto [dim, factor] : sum)
    if (factor == 1)
      return dim;
  return std::nullopt;
}

/// What there is to know about one transposition.
struct Transposition {
  linalg::LinalgOp op;
  AffineMap in, out;
  unsigned fastIn, fastOut;  // the two tiled loop dims
  int64_t alongIn, alongOut; // the extents of the tile
};

class Emitter {
public:
  Emitter(OpBuilder &b, const Transposition &what, bool parallelLoops)
      : b(b), loc(what.op->getLoc()), what(what),
        isShared(parallelLoops &&
                 layout::isWorthThreads(what.op, what.alongIn)) {}

  Value run(Value dest) {
    linalg::LinalgOp op = what.op;
    for (Range range : op.createLoopRanges(b, loc))
      extents.push_back(range.size);
    base.assign(extents.size(), index(0));
    for (unsigned dim : getOrder(what.out))
      if (dim != what.fastIn && dim != what.fastOut)
        order.push_back(dim);
    order.push_back(what.fastOut);
    if (what.fastIn != what.fastOut)
      order.push_back(what.fastIn);
    return loops(0, dest);
  }

private:
  int64_t stepOf(unsigned dim) const {
    return dim == what.fastIn    ? what.alongIn
           : dim == what.fastOut ? what.alongOut
                                 : 1;
  }
  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }

  Value loops(unsigned level, Value dest) {
    if (level == order.size())
      return tile(dest);
    unsigned dim = order[level];
    int64_t step = stepOf(dim);
    std::optional<int64_t> extent = getConstantIntValue(extents[dim]);
    if (extent && *extent == step) {
      base[dim] = index(0);
      return loops(level + 1, dest);
    }
    // Where the extent is ragged the last tile overlaps the one before. Both
    // write the same values, but threads must not at the same time.
    std::optional<int64_t> last;
    if (extent && *extent % step != 0)
      last = *extent - step;
    OpFoldResult end = extents[dim];
    if (last && isShared)
      end = b.getIndexAttr(*extent - *extent % step);
    auto loop = scf::ForOp::create(b, loc, index(0),
                                   getValueOrCreateConstantIndexOp(b, loc, end),
                                   index(step), dest);
    if (isShared)
      layout::markParallel(loop);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      base[dim] = loop.getInductionVar();
      if (last && !isShared)
        base[dim] = arith::MinSIOp::create(b, loc, base[dim], index(*last));
      scf::YieldOp::create(b, loc, loops(level + 1, loop.getRegionIterArg(0)));
    }
    if (!last || !isShared)
      return loop.getResult(0);
    base[dim] = index(*last);
    return loops(level + 1, loop.getResult(0));
  }

  SmallVector<Value> indices(AffineMap map, unsigned dim, int64_t offset) {
    SmallVector<Value> result;
    for (AffineExpr expr : map.getResults()) {
      AffineExpr shifted =
          expr.replace(getAffineDimExpr(dim, b.getContext()),
                       getAffineDimExpr(dim, b.getContext()) + offset);
      result.push_back(affine::expandAffineExpr(b, loc, shifted, base, {}));
    }
    return result;
  }

  /// Transposes a square of vectors: log2(n) rounds, each of which swaps the
  /// off-diagonal blocks of half the size of the round before.
  void transposeSquare(MutableArrayRef<Value> rows) {
    int64_t n = rows.size();
    for (int64_t half = n / 2; half >= 1; half /= 2) {
      SmallVector<int64_t> low, high;
      for (int64_t i = 0; i < n; ++i) {
        bool second = (i / half) % 2;
        low.push_back(second ? n + i - half : i);
        high.push_back(second ? n + i : i + half);
      }
      for (int64_t i = 0; i < n; ++i) {
        if ((i / half) % 2)
          continue;
        Value a = rows[i], c = rows[i + half];
        rows[i] = vector::ShuffleOp::create(b, loc, a, c, low);
        rows[i + half] = vector::ShuffleOp::create(b, loc, a, c, high);
      }
    }
  }

  Value tile(Value dest) {
    linalg::LinalgOp op = what.op;
    Value source = op.getDpsInputOperand(0)->get();
    Type element = getElementTypeOrSelf(source.getType());
    int64_t size = what.alongIn;
    auto type = VectorType::get({size}, element);
    SmallVector<Value> rows;
    if (what.fastIn == what.fastOut) {
      Value row = vector::TransferReadOp::create(
          b, loc, type, source, indices(what.in, what.fastIn, 0),
          /*padding=*/std::nullopt, ArrayRef<bool>{true});
      return vector::TransferWriteOp::create(b, loc, row, dest,
                                             indices(what.out, what.fastIn, 0),
                                             ArrayRef<bool>{true})
          .getResult();
    }
    for (int64_t i = 0; i < what.alongOut; ++i)
      rows.push_back(vector::TransferReadOp::create(
          b, loc, type, source, indices(what.in, what.fastOut, i),
          /*padding=*/std::nullopt, ArrayRef<bool>{true}));
    MutableArrayRef<Value> all(rows);
    for (int64_t i = 0; i < what.alongOut; i += size)
      transposeSquare(all.slice(i, size));
    for (int64_t i = 0; i < size; ++i)
      for (int64_t part = 0; part < what.alongOut; part += size) {
        SmallVector<Value> at = indices(what.out, what.fastIn, i);
        if (part != 0)
          at.back() = arith::AddIOp::create(b, loc, at.back(), index(part));
        dest = vector::TransferWriteOp::create(b, loc, rows[part + i], dest, at,
                                               ArrayRef<bool>{true})
                   .getResult();
      }
    return dest;
  }

  OpBuilder &b;
  Location loc;
  const Transposition &what;
  SmallVector<OpFoldResult> extents;
  SmallVector<unsigned> order;
  SmallVector<Value> base;
  /// Whether threads share the loops.
  const bool isShared;
};

std::optional<Transposition> matchTransposition(linalg::LinalgOp op,
                                                int64_t vectorBits) {
  if (!op.hasPureTensorSemantics() || op.getNumDpsInputs() != 1 ||
      op.getNumDpsInits() != 1 || op.getNumLoops() < 2)
    return std::nullopt;
  Block *body = op.getBlock();
  if (body->getOperations().size() != 1 ||
      body->getTerminator()->getOperand(0) != body->getArgument(0))
    return std::nullopt;
  Transposition what;
  what.op = op;
  what.in = op.getIndexingMapsArray()[0];
  what.out = op.getIndexingMapsArray()[1];
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  if (!isCopyMap(what.in, extents) || !isCopyMap(what.out, extents))
    return std::nullopt;
  std::optional<unsigned> fastIn = getFastest(what.in);
  std::optional<unsigned> fastOut = getFastest(what.out);
  if (!fastIn || !fastOut)
    return std::nullopt;
  what.fastIn = *fastIn;
  what.fastOut = *fastOut;
  bool isRun = *fastIn == *fastOut;
  // Copies of whole axes are elementwise ops.
  if (isRun && what.in.isPermutation() && what.out.isPermutation())
    return std::nullopt;
  int64_t in = extents[what.fastIn], out = extents[what.fastOut];
  Type element = getElementTypeOrSelf(op->getResult(0).getType());
  if (ShapedType::isDynamic(in) || ShapedType::isDynamic(out) ||
      !element.isIntOrFloat() || element.getIntOrFloatBitWidth() < 8)
    return std::nullopt;
  // Squares beyond 16 need more registers than there are, whatever the type.
  int64_t limit =
      std::min<int64_t>(16, vectorBits / element.getIntOrFloatBitWidth());
  int64_t size = llvm::bit_floor<uint64_t>(
      std::max<int64_t>(0, std::min({limit, in, out})));
  if (size < 4)
    return std::nullopt;
  what.alongIn = size;
  what.alongOut = !isRun && out >= 2 * size && size <= 8 ? 2 * size : size;
  return what;
}

struct TileTransposes : layout::impl::TileTransposesPassBase<TileTransposes> {
  using TileTransposesPassBase::TileTransposesPassBase;

  void runOnOperation() override {
    SmallVector<Transposition> found;
    getOperation()->walk([&](linalg::LinalgOp op) {
      if (auto what = matchTransposition(op, vectorBits))
        found.push_back(*what);
    });
    for (const Transposition &what : found) {
      linalg::LinalgOp op = what.op;
      OpBuilder b(op);
      Value init = op.getDpsInitOperand(0)->get();
      // The old elements are all overwritten: memory that others see stays.
      if (!init.hasOneUse() || !init.getDefiningOp())
        init = tensor::EmptyOp::create(
            b, op->getLoc(), tensor::getMixedSizes(b, op->getLoc(), init),
            getElementTypeOrSelf(init.getType()));
      Value result = Emitter(b, what, parallelLoops).run(init);
      op->getResult(0).replaceAllUsesWith(result);
      op->erase();
    }
  }
};
} // namespace
