//===- TileTransposes.cpp - Copies between orders, in registers -----------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loops over the tiles that CopyTiles.h plans, on buffers, where strides are
// known.
//
// The last tile of an extent that the tile does not divide starts earlier
// instead of being cut: copying an element twice does no harm, and there is no
// remainder.
//
// Upstream's vectorizer transposes where sizes are static and tiles divide
// them: benchmarks/cpu-kernels/README.md compares.
//
//===----------------------------------------------------------------------===//

#include "CopyPadding.h"
#include "CopyTileEmitter.h"
#include "ParallelLoops.h"
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

/// A buffer as one row of elements, and its strides per loop of the op.
struct Side {
  Value memory;
  OpFoldResult offset;
  SmallVector<OpFoldResult> strides;
};

class Emitter {
public:
  Emitter(OpBuilder &b, Location loc, Type element, const CopyTile &tile,
          const CpuFigures &figures, Value padding, bool isShared)
      : b(b), loc(loc), tile(tile), figures(figures), isShared(isShared),
        element(element), tiles(b, loc, tile, element, padding) {}

  void run(const Side &source, const Side &result,
           ArrayRef<OpFoldResult> extents);

private:
  struct Loop {
    Value extent, step;
    /// Of an extent that is known.
    std::optional<int64_t> number;
    int64_t size;
    /// The loop over the blocks that this one goes through.
    std::optional<unsigned> block;
    Value index = {};
  };

  CopySide bind(const Side &side, int64_t CopyDigit::*stride);
  void addLoops(ArrayRef<OpFoldResult> extents);
  void addLoop(OpFoldResult extent, int64_t size,
               std::optional<unsigned> block = {});
  void emitLoops(unsigned level);
  /// The source or the result from the indices of the loops on.
  CopySide getPart(const CopySide &side, bool isResult);
  void emitTile();
  void emitStaged();
  Value allocateStage();

  OpBuilder &b;
  Location loc;
  const CopyTile &tile;
  const CpuFigures &figures;
  bool isShared;
  Type element;
  CopyTileEmitter tiles;
  CopySide in, out;
  SmallVector<Loop> loops;
  /// Of each digit of the tile its loop; those of columns have one in common.
  SmallVector<unsigned> loopOf;
  Value zero;
  /// What all blocks share where one thread copies them; otherwise each has its
  /// own.
  Value stage;
};

} // namespace

/// `padding` elements behind the last one of the operand belong to it, too.
static Side readSide(OpBuilder &b, linalg::LinalgOp op, OpOperand *operand,
                     int64_t padding = 0) {
  Location loc = op.getLoc();
  auto compute = [&](AffineExpr expr, ArrayRef<OpFoldResult> operands) {
    return affine::makeComposedFoldedAffineApply(b, loc, expr, operands);
  };
  Value buffer = operand->get();
  auto metadata = memref::ExtractStridedMetadataOp::create(b, loc, buffer);
  SmallVector<OpFoldResult> strides = metadata.getConstifiedMixedStrides();
  SmallVector<OpFoldResult> sizes = metadata.getConstifiedMixedSizes();
  AffineMap map = op.getMatchingIndexingMap(operand);
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

CopySide Emitter::bind(const Side &side, int64_t CopyDigit::*stride) {
  auto toValue = [&](OpFoldResult amount) {
    return getValueOrCreateConstantIndexOp(b, loc, amount);
  };
  CopySide bound{side.memory, toValue(side.offset), {}};
  for (const CopyDigit &digit : tile.digits)
    bound.strides.push_back(toValue(ShapedType::isStatic(digit.*stride)
                                        ? b.getIndexAttr(digit.*stride)
                                        : side.strides[digit.loop]));
  return bound;
}

void Emitter::run(const Side &source, const Side &result,
                  ArrayRef<OpFoldResult> extents) {
  zero = tiles.index(0);
  in = bind(source, &CopyDigit::in);
  out = bind(result, &CopyDigit::out);
  addLoops(extents);
  if (tile.way == CopyTile::Way::Staged && !isShared)
    stage = allocateStage();
  emitLoops(0);
}

void Emitter::addLoop(OpFoldResult extent, int64_t size,
                      std::optional<unsigned> block) {
  loops.push_back({getValueOrCreateConstantIndexOp(b, loc, extent),
                   tiles.index(size), getConstantIntValue(extent), size,
                   block});
}

void Emitter::addLoops(ArrayRef<OpFoldResult> extents) {
  OpFoldResult numColumns = b.getIndexAttr(tile.getNumColumns());
  bool hasRows = tile.rowDigit != tile.columnDigits[0];
  loopOf.assign(tile.digits.size(), 0);
  auto addColumns = [&](std::optional<unsigned> block = {}) {
    for (unsigned digit : tile.columnDigits)
      loopOf[digit] = loops.size();
    addLoop(numColumns, tile.columns, block);
  };
  auto addRows = [&] {
    loopOf[tile.rowDigit] = loops.size();
    addLoop(b.getIndexAttr(tile.digits[tile.rowDigit].extent), tile.rows);
  };
  // Where columns are several digits, their places are computed once for all
  // other loops.
  bool isOutermost =
      tile.way == CopyTile::Way::Squares && tile.columnDigits.size() > 1;
  if (isOutermost)
    addColumns();
  for (auto [i, digit] : llvm::enumerate(tile.digits))
    if (i != tile.rowDigit && !llvm::is_contained(tile.columnDigits, i)) {
      loopOf[i] = loops.size();
      addLoop(ShapedType::isStatic(digit.extent) ? b.getIndexAttr(digit.extent)
                                                 : extents[digit.loop],
              1);
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

void Emitter::emitLoops(unsigned level) {
  if (level == loops.size())
    return emitTile();
  Loop &here = loops[level];
  if (!here.block && here.number && *here.number <= here.size) {
    here.index = zero;
    return emitLoops(level + 1);
  }
  // Where the extent is ragged the last tile overlaps the one before. Both
  // write the same values, but threads must not at the same time. The last
  // block is cut, and its tiles overlap.
  bool isRagged = here.number && *here.number % here.size != 0;
  bool isCut = llvm::any_of(
      loops, [&](const Loop &loop) { return loop.block == level; });
  bool isParallel = isShared && !here.block;
  int64_t whole = here.number.value_or(0) / here.size * here.size;
  Value last;
  if (isRagged)
    last = tiles.index(isCut ? whole : *here.number - here.size);
  Value from = zero, to = here.extent;
  if (here.block) {
    const Loop &block = loops[*here.block];
    from = block.index;
    to = tiles.add(from, block.step);
    if (*here.number % block.size != 0)
      to = arith::MinSIOp::create(b, loc, to, here.extent);
  } else if (isRagged && isParallel) {
    to = tiles.index(whole);
  }
  auto loop = scf::ForOp::create(b, loc, from, to, here.step);
  if (isParallel)
    markParallel(loop);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    here.index = loop.getInductionVar();
    if (isRagged && !isParallel && !isCut)
      here.index = arith::MinSIOp::create(b, loc, here.index, last);
    emitLoops(level + 1);
  }
  if (!isRagged || !isParallel)
    return;
  here.index = last;
  emitLoops(level + 1);
}

CopySide Emitter::getPart(const CopySide &side, bool isResult) {
  unsigned fastest = tile.columnDigits[0];
  CopySide part = side;
  for (unsigned digit = 0; digit < tile.digits.size(); ++digit) {
    if (digit != fastest && llvm::is_contained(tile.columnDigits, digit))
      continue;
    // Several digits of columns are one run of the source. How far they are in
    // the result is computed for each column.
    if (digit == fastest && isResult && tile.columnDigits.size() > 1)
      continue;
    part.base = tiles.add(part.base, tiles.multiply(loops[loopOf[digit]].index,
                                                    side.strides[digit]));
  }
  return part;
}

Value Emitter::allocateStage() {
  auto type = MemRefType::get({tile.rows * tile.columns}, element);
  return memref::AllocOp::create(b, loc, type,
                                 b.getI64IntegerAttr(figures.lineBytes));
}

/// A block of the source to the stage, and from there to the result.
void Emitter::emitStaged() {
  Value block = stage ? stage : allocateStage();
  auto copy = [&](const CopyTile &part, Side from, Side to) {
    Emitter(b, loc, element, part, figures, /*padding=*/{}, /*isShared=*/false)
        .run(from, to, /*extents=*/{});
  };
  auto [toStage, fromStage] =
      planStagedCopies(tile, element.getIntOrFloatBitWidth() / 8, figures);
  Side staged{block, b.getIndexAttr(0), {}};
  copy(toStage, {in.memory, getPart(in, false).base, {}}, staged);
  copy(fromStage, staged, {out.memory, getPart(out, true).base, {}});
}

void Emitter::emitTile() {
  if (tile.way == CopyTile::Way::Staged)
    return emitStaged();
  tiles.emit(getPart(in, false), getPart(out, true),
             loops[loopOf[tile.columnDigits[0]]].index);
}

/// Whether the first element of a buffer is that of a line.
static bool startsWithLine(Value buffer, int64_t lineBytes) {
  while (isa_and_nonnull<memref::ExpandShapeOp, memref::CollapseShapeOp,
                         memref::CastOp>(buffer.getDefiningOp()))
    buffer = buffer.getDefiningOp()->getOperand(0);
  auto alloc = buffer.getDefiningOp<memref::AllocOp>();
  return alloc && alloc.getAlignment().value_or(1) % lineBytes == 0;
}

/// False where there is no tile for the op.
static bool tileCopy(linalg::LinalgOp op, const CpuFigures &figures,
                     bool parallelLoops) {
  linalg::FillOp fill = findPadding(op);
  int64_t padding = 0;
  if (fill)
    padding =
        cast<MemRefType>(fill.getOutputs()[0].getType()).getShape().back();
  OpBuilder b(op);
  SmallVector<OpFoldResult> extents;
  for (Range range : op.createLoopRanges(b, op.getLoc()))
    extents.push_back(range.size);
  OpOperand *from = op.getDpsInputOperand(0), *to = op.getDpsInitOperand(0);
  Side in = readSide(b, op, from), out = readSide(b, op, to, padding);
  auto number = [](OpFoldResult amount) {
    return getConstantIntValue(amount).value_or(ShapedType::kDynamic);
  };
  SmallVector<CopyDigit> digits;
  for (AffineExpr expr : op.getIndexingMapsArray()[1].getResults()) {
    Factors sum = *readSum(expr);
    llvm::stable_sort(sum,
                      [](auto &a, auto &b) { return a.second > b.second; });
    for (auto [dim, factor] : sum)
      digits.push_back({number(extents[dim]), number(in.strides[dim]),
                        number(out.strides[dim]), dim});
  }
  Type element = op.getBlock()->getArgument(0).getType();
  int64_t bytes = element.getIntOrFloatBitWidth() / 8;
  bool isAligned = startsWithLine(to->get(), figures.lineBytes);
  std::optional<CopyTile> tile;
  Value filler;
  if (fill)
    tile = planCopyTile(digits, bytes, figures, isAligned, padding);
  if (tile) {
    filler = fill.getInputs()[0];
    fill->erase();
  }
  if (!tile)
    tile = planCopyTile(digits, bytes, figures, isAligned);
  if (!tile)
    return false;
  Emitter(b, op.getLoc(), element, *tile, figures, filler,
          parallelLoops && isWorthThreads(op, tile->vectorSize))
      .run(in, out, extents);
  return true;
}

namespace {
struct TileTransposes : layout::impl::TileTransposesPassBase<TileTransposes> {
  using TileTransposesPassBase::TileTransposesPassBase;

  void runOnOperation() override {
    SmallVector<linalg::LinalgOp> copies;
    getOperation()->walk([&](linalg::LinalgOp op) {
      if (op.hasPureBufferSemantics() && isCopyBetweenOrders(op) &&
          llvm::all_of(op->getOperandTypes(), [](Type type) {
            return cast<MemRefType>(type).isStrided();
          }))
        copies.push_back(op);
    });
    CpuFigures figures;
    figures.vectorBits = vectorBits;
    figures.vectorRegisters = vectorRegisters;
    figures.lineBytes = lineBytes;
    figures.firstCacheBytes = firstCacheBytes;
    figures.lastCacheBytes = lastCacheBytes;
    figures.setPeriodBytes = setPeriodBytes;
    for (linalg::LinalgOp op : copies)
      if (tileCopy(op, figures, parallelLoops))
        op->erase();
  }
};
} // namespace
