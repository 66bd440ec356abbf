//===- TileTransposes.cpp - Copies between orders, in registers -----------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Emits loops over the tiles planned by CopyTiles.h, on strided buffers.
//
// If the tile does not divide an extent, the last tile overlaps the previous
// one: copying an element twice is harmless, and no remainder is needed.
//
// Upstream's vectorizer transposes if sizes are static and divisible by tiles;
// benchmarks/cpu-kernels/README.md compares both.
//
//===----------------------------------------------------------------------===//

#include "Copies/CopyPadding.h"
#include "Copies/CopyTileEmitter.h"
#include "CpuParams.h"
#include "Loops/ParallelLoops.h"
#include "layout/Targets/CPU/LinalgToLLVM/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::layout {
#define GEN_PASS_DEF_TILETRANSPOSESPASS
#include "layout/Targets/CPU/LinalgToLLVM/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;
using namespace mlir::layout;

namespace {

/// A buffer as a flat row of elements, with the offset of the first element and
/// the stride of each loop of the op.
struct Side {
  Value memory;
  OpFoldResult offset;
  SmallVector<OpFoldResult> strides;
};

class TransposeEmitter {
public:
  TransposeEmitter(OpBuilder &b, Location loc, Type element,
                   const CopyTile &tile, const CpuModelParams &params,
                   Value padding, bool isShared)
      : b(b), loc(loc), tile(tile), params(params), isShared(isShared),
        element(element), tiles(b, loc, tile, element, padding) {}

  void run(const Side &source, const Side &result,
           ArrayRef<OpFoldResult> extents);

private:
  struct Loop {
    Value extent, step;
    /// The static extent of the loop, or std::nullopt if it is dynamic.
    std::optional<int64_t> number;
    int64_t size;
    /// For the loop over the columns of a block: the number of the loop over
    /// blocks that contains it. Otherwise std::nullopt.
    std::optional<unsigned> block;
    Value index = {};
  };

  Value toValue(OpFoldResult amount);
  CopySide bind(const Side &side, int64_t CopyDigit::*stride);
  void addLoops(ArrayRef<OpFoldResult> extents);
  void addLoop(OpFoldResult extent, int64_t size,
               std::optional<unsigned> block = {});
  void emitLoops(unsigned level);
  /// Returns `side`, the source or the result (`isResult`), with its base moved
  /// to the current loop indices. If several digits are columns, they do not
  /// move the base of the result, because each column has its own offset there.
  CopySide getPart(const CopySide &side, bool isResult);
  void emitTile();
  void emitStaged();
  Value allocateStage();

  OpBuilder &b;
  Location loc;
  const CopyTile &tile;
  const CpuModelParams &params;
  bool isShared;
  Type element;
  CopyTileEmitter tiles;
  CopySide in, out;
  SmallVector<Loop> loops;
  /// For each digit of the tile, the number of its loop in `loops`. All digits
  /// of columns share one loop, whose index is the number of the column.
  SmallVector<unsigned> loopOf;
  Value zero;
  /// The two copies of a tile that is copied through a temporary buffer. Not
  /// set for other strategies.
  StagedCopies staged;
  /// The temporary buffer of all blocks if one thread copies them. If threads
  /// share the blocks, it is null, and each block allocates its own. Other
  /// strategies leave it null.
  Value stage;
};

} // namespace

/// Returns `buffer` as a flat row of elements, with an offset and strides for
/// the loops of a copy, whose indices `map` maps to those of the buffer. The
/// flat row includes `padding` elements after the last one of the buffer.
static Side readSide(OpBuilder &b, Location loc, Value buffer, AffineMap map,
                     int64_t padding = 0) {
  auto compute = [&](AffineExpr expr, ArrayRef<OpFoldResult> operands) {
    return affine::makeComposedFoldedAffineApply(b, loc, expr, operands);
  };
  auto metadata = memref::ExtractStridedMetadataOp::create(b, loc, buffer);
  SmallVector<OpFoldResult> strides = metadata.getConstifiedMixedStrides();
  SmallVector<OpFoldResult> sizes = metadata.getConstifiedMixedSizes();
  AffineExpr x, y, z;
  bindSymbols(b.getContext(), x, y, z);
  Side side;
  OpFoldResult zero = b.getIndexAttr(0);
  side.offset = metadata.getConstifiedMixedOffset();
  side.strides.assign(map.getNumDims(), zero);
  OpFoldResult end = b.getIndexAttr(1);
  SmallVector<AffineExpr> zeros(map.getNumDims(),
                                getAffineConstantExpr(0, b.getContext()));
  for (auto [expr, stride, size] :
       llvm::zip_equal(map.getResults(), strides, sizes)) {
    Factors sum = *readSum(expr);
    for (auto [dim, factor] : sum)
      side.strides[dim] = compute(x * factor, {stride});
    side.offset =
        compute(x + y * expr.replaceDims(zeros), {side.offset, stride});
    end = compute(x + (y - 1) * z, {end, size, stride});
  }
  OpFoldResult reach =
      compute(x + y + padding, {metadata.getConstifiedMixedOffset(), end});
  auto number = getConstantIntValue(reach);
  auto of = cast<MemRefType>(buffer.getType());
  auto type = MemRefType::get({number.value_or(ShapedType::kDynamic)},
                              of.getElementType(), MemRefLayoutAttrInterface(),
                              of.getMemorySpace());
  side.memory = memref::ReinterpretCastOp::create(
      b, loc, type, metadata.getBaseBuffer(), zero, ArrayRef{reach},
      ArrayRef<OpFoldResult>{b.getIndexAttr(1)});
  return side;
}

Value TransposeEmitter::toValue(OpFoldResult amount) {
  return getValueOrCreateConstantIndexOp(b, loc, amount);
}

CopySide TransposeEmitter::bind(const Side &side, int64_t CopyDigit::*stride) {
  CopySide bound{side.memory, toValue(side.offset), {}};
  for (const CopyDigit &digit : tile.digits)
    bound.strides.push_back(toValue(ShapedType::isStatic(digit.*stride)
                                        ? b.getIndexAttr(digit.*stride)
                                        : side.strides[digit.loop]));
  return bound;
}

void TransposeEmitter::run(const Side &source, const Side &result,
                           ArrayRef<OpFoldResult> extents) {
  zero = tiles.index(0);
  in = bind(source, &CopyDigit::in);
  out = bind(result, &CopyDigit::out);
  addLoops(extents);
  if (tile.strategy == CopyTile::Strategy::Staged) {
    staged =
        planStagedCopies(tile, element.getIntOrFloatBitWidth() / 8, params);
    if (!isShared)
      stage = allocateStage();
  }
  emitLoops(0);
}

void TransposeEmitter::addLoop(OpFoldResult extent, int64_t size,
                               std::optional<unsigned> block) {
  loops.push_back({toValue(extent), tiles.index(size),
                   getConstantIntValue(extent), size, block});
}

void TransposeEmitter::addLoops(ArrayRef<OpFoldResult> extents) {
  auto getExtent = [&](const CopyDigit &digit, int64_t extent) {
    return digit.isDynamic() || ShapedType::isDynamic(extent)
               ? extents[digit.loop]
               : OpFoldResult(b.getIndexAttr(extent));
  };
  OpFoldResult numColumns =
      getExtent(tile.digits[tile.columnDigits[0]], tile.getNumColumns());
  bool hasRows = tile.rowDigit != tile.columnDigits[0];
  loopOf.assign(tile.digits.size(), 0);
  auto addColumns = [&](std::optional<unsigned> block = {}) {
    for (unsigned digit : tile.columnDigits)
      loopOf[digit] = loops.size();
    addLoop(numColumns, tile.columns, block);
  };
  auto addRows = [&] {
    loopOf[tile.rowDigit] = loops.size();
    const CopyDigit &digit = tile.digits[tile.rowDigit];
    addLoop(getExtent(digit, digit.extent), tile.rows);
  };
  // Columns of several digits are the outermost loop, so that their offsets are
  // computed once for all other loops.
  bool isOutermost = tile.strategy == CopyTile::Strategy::SquareTranspose &&
                     tile.columnDigits.size() > 1;
  if (isOutermost)
    addColumns();
  for (auto [i, digit] : llvm::enumerate(tile.digits))
    if (i != tile.rowDigit && !llvm::is_contained(tile.columnDigits, i)) {
      loopOf[i] = loops.size();
      addLoop(getExtent(digit, digit.extent), 1);
    }
  if (tile.blockColumns > tile.columns) {
    unsigned block = loops.size();
    addLoop(numColumns, tile.blockColumns);
    addRows();
    addColumns(block);
    return;
  }
  if (!isOutermost)
    addColumns();
  if (hasRows)
    addRows();
}

void TransposeEmitter::emitLoops(unsigned level) {
  if (level == loops.size())
    return emitTile();
  Loop &here = loops[level];
  if (!here.block && here.number && *here.number <= here.size) {
    here.index = zero;
    return emitLoops(level + 1);
  }
  // If the size does not divide the extent, the last tile overlaps the previous
  // one. Both write the same values, but threads must not do so at the same
  // time. The last block is shorter, and its tiles overlap.
  bool isDynamic = !here.number && here.size > 1;
  bool hasRemainder =
      isDynamic || (here.number && *here.number % here.size != 0);
  bool isCut = llvm::any_of(
      loops, [&](const Loop &loop) { return loop.block == level; });
  bool isParallel = isShared && !here.block;
  int64_t whole = here.number.value_or(0) / here.size * here.size;
  Value last;
  if (isDynamic)
    last = arith::SubIOp::create(b, loc, here.extent, here.step);
  else if (hasRemainder)
    last = tiles.index(isCut ? whole : *here.number - here.size);
  Value from = zero, to = here.extent;
  if (here.block) {
    const Loop &block = loops[*here.block];
    from = block.index;
    to = tiles.add(from, block.step);
    if (*here.number % block.size != 0)
      to = arith::MinSIOp::create(b, loc, to, here.extent);
  } else if (hasRemainder && isParallel) {
    to = isDynamic ? last : tiles.index(whole);
  }
  auto loop = scf::ForOp::create(b, loc, from, to, here.step);
  if (isParallel)
    markParallel(loop);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    here.index = loop.getInductionVar();
    if (hasRemainder && !isParallel && !isCut)
      here.index = arith::MinSIOp::create(b, loc, here.index, last);
    emitLoops(level + 1);
  }
  if (!hasRemainder || !isParallel)
    return;
  here.index = last;
  emitLoops(level + 1);
}

CopySide TransposeEmitter::getPart(const CopySide &side, bool isResult) {
  unsigned fastest = tile.columnDigits[0];
  CopySide part = side;
  for (unsigned digit = 0; digit < tile.digits.size(); ++digit) {
    if (digit != fastest && llvm::is_contained(tile.columnDigits, digit))
      continue;
    // Several digits of columns are contiguous in the source; their result
    // offsets are computed for each column.
    if (digit == fastest && isResult && tile.columnDigits.size() > 1)
      continue;
    part.base = tiles.add(part.base, tiles.multiply(loops[loopOf[digit]].index,
                                                    side.strides[digit]));
  }
  return part;
}

Value TransposeEmitter::allocateStage() {
  auto type = MemRefType::get({staged.elements}, element);
  return memref::AllocOp::create(b, loc, type,
                                 b.getI64IntegerAttr(params.lineBytes));
}

/// Copies a block of the source to the stage, a temporary buffer, and from
/// there to the result.
void TransposeEmitter::emitStaged() {
  Value block = stage ? stage : allocateStage();
  auto copy = [&](const CopyTile &part, Side from, Side to) {
    TransposeEmitter(b, loc, element, part, params, /*padding=*/{},
                     /*isShared=*/false)
        .run(from, to, /*extents=*/{});
  };
  Side inStage{block, b.getIndexAttr(0), {}};
  copy(staged.in, {in.memory, getPart(in, false).base, {}}, inStage);
  copy(staged.out, inStage, {out.memory, getPart(out, true).base, {}});
}

void TransposeEmitter::emitTile() {
  if (tile.strategy == CopyTile::Strategy::Staged)
    return emitStaged();
  tiles.emit(getPart(in, false), getPart(out, true),
             loops[loopOf[tile.columnDigits[0]]].index);
}

/// Returns true if the first element of a buffer is known to start a cache
/// line, from the alignment of the allocation of the buffer.
static bool startsWithLine(Value buffer, int64_t lineBytes) {
  while (isa_and_nonnull<memref::ExpandShapeOp, memref::CollapseShapeOp,
                         memref::CastOp>(buffer.getDefiningOp()))
    buffer = buffer.getDefiningOp()->getOperand(0);
  auto alloc = buffer.getDefiningOp<memref::AllocOp>();
  return alloc && alloc.getAlignment().value_or(1) % lineBytes == 0;
}

namespace {
/// A copy with its tile.
struct TiledCopy {
  Operation *op;
  Value from, to;
  Side in, out;
  SmallVector<OpFoldResult> extents;
  CopyTile tile;
  /// The value of the padding that the tile writes, or null without padding.
  Value filler;
};
} // namespace

static Type getElement(const TiledCopy &tiled) {
  return cast<MemRefType>(tiled.to.getType()).getElementType();
}

static int64_t getBytes(const TiledCopy &tiled) {
  return getElement(tiled).getIntOrFloatBitWidth() / 8;
}

/// Returns the tile of the copy `op`, or std::nullopt if it has none. Erases
/// the fill of padding that the tile writes.
static std::optional<TiledCopy> plan(Operation *op,
                                     const CpuModelParams &params) {
  TiledCopy tiled{op};
  OpBuilder b(op);
  Location loc = op->getLoc();
  AffineMap from, to;
  if (auto copy = dyn_cast<memref::CopyOp>(op)) {
    tiled.from = copy.getSource();
    tiled.to = copy.getTarget();
    from = to = b.getMultiDimIdentityMap(
        cast<MemRefType>(tiled.to.getType()).getRank());
  } else {
    auto structured = cast<linalg::LinalgOp>(op);
    tiled.from = structured.getDpsInputs()[0];
    tiled.to = structured.getDpsInits()[0];
    from = structured.getIndexingMapsArray()[0];
    to = structured.getIndexingMapsArray()[1];
  }
  linalg::FillOp fill = findPadding(op, tiled.to);
  // A copy that keeps the order of rows is tiled only to write padding.
  if (isa<memref::CopyOp>(op) &&
      (!fill || !canCopyInVectors(getElement(tiled))))
    return std::nullopt;
  int64_t padding = 0;
  if (fill)
    padding =
        cast<MemRefType>(fill.getOutputs()[0].getType()).getShape().back();
  if (auto structured = dyn_cast<linalg::LinalgOp>(op))
    for (Range range : structured.createLoopRanges(b, loc))
      tiled.extents.push_back(range.size);
  else
    tiled.extents = memref::getMixedSizes(b, loc, tiled.to);
  tiled.in = readSide(b, loc, tiled.from, from);
  tiled.out = readSide(b, loc, tiled.to, to, padding);
  auto number = [](OpFoldResult amount) {
    return getConstantIntValue(amount).value_or(ShapedType::kDynamic);
  };
  SmallVector<CopyDigit> digits;
  for (AffineExpr expr : to.getResults()) {
    Factors sum = *readSum(expr);
    llvm::stable_sort(sum,
                      [](auto &a, auto &b) { return a.second > b.second; });
    for (auto [dim, factor] : sum)
      digits.push_back({number(tiled.extents[dim]),
                        number(tiled.in.strides[dim]),
                        number(tiled.out.strides[dim]), dim});
  }
  bool isAligned = startsWithLine(tiled.to, params.lineBytes);
  std::optional<CopyTile> tile;
  if (fill)
    tile = planCopyTile(digits, getBytes(tiled), params, isAligned, padding);
  if (tile) {
    tiled.filler = fill.getInputs()[0];
    fill->erase();
  } else if (isa<linalg::LinalgOp>(op)) {
    tile = planCopyTile(digits, getBytes(tiled), params, isAligned);
  }
  if (!tile)
    return std::nullopt;
  tiled.tile = std::move(*tile);
  return tiled;
}

/// Returns the run-time condition that dynamic rows and columns fill a tile, or
/// a null value if a tile is known to exist.
static Value hasTile(OpBuilder &b, const TiledCopy &tiled) {
  Value fits;
  const CopyTile &tile = tiled.tile;
  for (auto [number, size] : {std::pair(tile.rowDigit, tile.rows),
                              std::pair(tile.columnDigits[0], tile.columns)}) {
    const CopyDigit &digit = tile.digits[number];
    if (!digit.isDynamic())
      continue;
    Location loc = tiled.op->getLoc();
    Value isEnough = arith::CmpIOp::create(
        b, loc, arith::CmpIPredicate::uge,
        getValueOrCreateConstantIndexOp(b, loc, tiled.extents[digit.loop]),
        arith::ConstantIndexOp::create(b, loc, size));
    fits = fits ? arith::AndIOp::create(b, loc, fits, isEnough) : isEnough;
  }
  return fits;
}

/// Replaces the copy by loops over its tiles, which threads share if
/// `isShared`. If a dynamic extent may be less than a tile, the copy stays in a
/// branch for that case.
static void emit(const TiledCopy &tiled, const CpuModelParams &params,
                 bool isShared) {
  OpBuilder b(tiled.op);
  Location loc = tiled.op->getLoc();
  auto emitTiles = [&](OpBuilder &at) {
    TransposeEmitter(at, loc, getElement(tiled), tiled.tile, params,
                     tiled.filler, isShared)
        .run(tiled.in, tiled.out, tiled.extents);
  };
  if (Value fits = hasTile(b, tiled))
    scf::IfOp::create(
        b, loc, fits,
        [&](OpBuilder &then, Location) {
          emitTiles(then);
          scf::YieldOp::create(then, loc);
        },
        [&](OpBuilder &otherwise, Location) {
          otherwise.clone(*tiled.op);
          scf::YieldOp::create(otherwise, loc);
        });
  else
    emitTiles(b);
  tiled.op->erase();
}

namespace {
struct TileTransposes : layout::impl::TileTransposesPassBase<TileTransposes> {
  using TileTransposesPassBase::TileTransposesPassBase;

  void runOnOperation() override {
    SmallVector<Operation *> copies;
    getOperation()->walk([&](Operation *op) {
      auto structured = dyn_cast<linalg::LinalgOp>(op);
      bool isCopy = structured ? structured.hasPureBufferSemantics() &&
                                     isCopyBetweenOrders(structured)
                               : isa<memref::CopyOp>(op);
      if (isCopy && llvm::all_of(op->getOperandTypes(), [](Type type) {
            auto buffer = dyn_cast<MemRefType>(type);
            return buffer && buffer.isStrided();
          }))
        copies.push_back(op);
    });
    CpuModelParams params = getCpuParams(getOperation());
    for (Operation *op : copies) {
      std::optional<TiledCopy> tiled = plan(op, params);
      if (!tiled)
        continue;
      auto structured = dyn_cast<linalg::LinalgOp>(op);
      emit(*tiled, params,
           parallelLoops && structured &&
               isWorthThreads(structured, tiled->tile.vectorSize));
    }
  }
};
} // namespace
