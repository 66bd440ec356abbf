//===- TileTransposes.cpp - Copies between orders, in registers -----------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loops over the tiles that CopyTiles.h plans, on buffers, where strides are
// known. A tile of squares is moved lane by lane; four lanes of f32:
//
//   rows 0, 4, 8 and 12 of 4 columns become one register, rows 1, 5, .. the
//   next; two rounds of shuffles inside of lanes, and each register has 16 rows
//   of one column, a line of the result.
//
// The last tile of an extent that the tile does not divide starts earlier
// instead of being cut: copying an element twice does no harm, and there is no
// remainder.
//
// Upstream's vectorizer transposes where sizes are static and tiles divide
// them: benchmarks/cpu-kernels/README.md compares.
//
//===----------------------------------------------------------------------===//

#include "CopyTiles.h"
#include "ParallelLoops.h"
#include "layout/Targets/CPU/LinalgToLLVM/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::layout {
#define GEN_PASS_DEF_TILETRANSPOSESPASS
#include "layout/Targets/CPU/LinalgToLLVM/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;
using layout::CopyDigit;
using layout::CopyTile;

namespace {

/// A buffer as one row of elements, and its strides per loop.
struct Side {
  Value memory;
  OpFoldResult offset;
  SmallVector<OpFoldResult> strides;
};

class Emitter {
public:
  Emitter(OpBuilder &b, linalg::LinalgOp op)
      : b(b), loc(op.getLoc()), op(op),
        element(op.getBlock()->getArgument(0).getType()),
        bits(b.getIntegerType(element.getIntOrFloatBitWidth())) {}

  /// False where there is no tile for the op.
  bool run(const layout::CpuFigures &figures, bool parallelLoops);

private:
  struct Loop {
    OpFoldResult extent;
    int64_t step;
    Value index = {};
  };

  Side readSide(OpOperand *operand);
  void addLoops(ArrayRef<OpFoldResult> extents);
  OpFoldResult compute(AffineExpr expr, ArrayRef<OpFoldResult> operands) {
    return affine::makeComposedFoldedAffineApply(b, loc, expr, operands);
  }
  Value toValue(OpFoldResult amount) {
    return getValueOrCreateConstantIndexOp(b, loc, amount);
  }
  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }
  Value add(Value a, Value b) {
    return arith::AddIOp::create(this->b, loc, a, b);
  }
  Value multiply(Value a, Value b) {
    return arith::MulIOp::create(this->b, loc, a, b);
  }
  Value stride(unsigned digit, bool isOut);
  void emitLoops(unsigned level);

  Value load(Value position, int64_t size);
  void store(Value row, Value position);
  /// Where row `row`, column `column` of the tile is read, from its first.
  Value source(int64_t row, int64_t column);
  /// Where the first row of a column is written.
  Value result(int64_t column);

  Value concat(ArrayRef<Value> parts);
  Value shuffle(Value a, Value b, function_ref<int64_t(int64_t)> element,
                int64_t size);
  void interleaveLanes(SmallVector<Value> &registers, int64_t lane);
  SmallVector<Value> gatherLanes(ArrayRef<Value> rows, int64_t lane);
  /// An element of the loaded vectors.
  struct Place {
    size_t part;
    int64_t element;
  };
  /// So many vectors of elements of `parts`; `from` tells where the element of
  /// a vector comes from.
  SmallVector<Value> weave(ArrayRef<Value> parts, int64_t number,
                           function_ref<Place(int64_t, int64_t)> from);
  void emitTile();
  void emitRuns();
  void emitSquares();
  void emitWholeRows(int64_t row, int64_t lane);
  void emitSquare(int64_t row, int64_t column, int64_t lane,
                  SmallVector<Value> registers);
  void emitWeave();
  void emitUnweave();

  OpBuilder &b;
  Location loc;
  linalg::LinalgOp op;
  Type element, bits;
  CopyTile tile;
  Side in, out;
  SmallVector<Loop> loops;
  /// Of each digit of the tile its loop; those of columns have one in common.
  SmallVector<unsigned> loopOf;
  bool isShared = false;
  /// Of the current tile: the first elements, and the first column.
  Value inBase, outBase, firstColumn;
};

} // namespace

Side Emitter::readSide(OpOperand *operand) {
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
    layout::Factors sum = *layout::readSum(expr);
    for (auto [dim, factor] : sum)
      side.strides[dim] = compute(x * factor, {stride});
    side.offset =
        compute(x + y * expr.replaceDims(zeros), {side.offset, stride});
    end = compute(x + (y - 1) * z, {end, size, stride});
  }
  OpFoldResult reach =
      compute(x + y, {metadata.getConstifiedMixedOffset(), end});
  auto number = getConstantIntValue(reach);
  auto type =
      MemRefType::get({number.value_or(ShapedType::kDynamic)}, element,
                      MemRefLayoutAttrInterface(),
                      cast<MemRefType>(buffer.getType()).getMemorySpace());
  side.memory = memref::ReinterpretCastOp::create(
      b, loc, type, metadata.getBaseBuffer(), zero, ArrayRef{reach},
      ArrayRef<OpFoldResult>{b.getIndexAttr(1)});
  return side;
}

/// Whether the first element of a buffer is that of a line.
static bool startsWithLine(Value buffer, int64_t lineBytes) {
  while (isa_and_nonnull<memref::ExpandShapeOp, memref::CollapseShapeOp,
                         memref::CastOp>(buffer.getDefiningOp()))
    buffer = buffer.getDefiningOp()->getOperand(0);
  auto alloc = buffer.getDefiningOp<memref::AllocOp>();
  return alloc && alloc.getAlignment().value_or(1) % lineBytes == 0;
}

bool Emitter::run(const layout::CpuFigures &figures, bool parallelLoops) {
  SmallVector<OpFoldResult> extents;
  for (Range range : op.createLoopRanges(b, loc))
    extents.push_back(range.size);
  in = readSide(op.getDpsInputOperand(0));
  out = readSide(op.getDpsInitOperand(0));
  auto number = [](OpFoldResult amount) {
    return getConstantIntValue(amount).value_or(ShapedType::kDynamic);
  };
  SmallVector<CopyDigit> digits;
  for (AffineExpr expr : op.getIndexingMapsArray()[1].getResults()) {
    layout::Factors sum = *layout::readSum(expr);
    llvm::stable_sort(sum,
                      [](auto &a, auto &b) { return a.second > b.second; });
    for (auto [dim, factor] : sum)
      digits.push_back({number(extents[dim]), number(in.strides[dim]),
                        number(out.strides[dim]), dim});
  }
  auto planned = layout::planCopyTile(
      digits, element.getIntOrFloatBitWidth() / 8, figures);
  if (!planned)
    return false;
  tile = *planned;
  tile.streams &=
      startsWithLine(op.getDpsInitOperand(0)->get(), figures.lineBytes);
  isShared = parallelLoops && layout::isWorthThreads(op, tile.vectorSize);
  addLoops(extents);
  emitLoops(0);
  return true;
}

void Emitter::addLoops(ArrayRef<OpFoldResult> extents) {
  loopOf.assign(tile.digits.size(), 0);
  auto addColumns = [&] {
    for (unsigned digit : tile.columnDigits)
      loopOf[digit] = loops.size();
    loops.push_back({b.getIndexAttr(tile.getNumColumns()), tile.columns});
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
      loops.push_back({ShapedType::isStatic(digit.extent)
                           ? b.getIndexAttr(digit.extent)
                           : extents[digit.loop],
                       1});
    }
  if (!isOutermost)
    addColumns();
  if (tile.rowDigit == tile.columnDigits[0])
    return;
  // The innermost loop writes line after line.
  loopOf[tile.rowDigit] = loops.size();
  loops.push_back(
      {b.getIndexAttr(tile.digits[tile.rowDigit].extent), tile.rows});
}

Value Emitter::stride(unsigned digit, bool isOut) {
  const CopyDigit &of = tile.digits[digit];
  int64_t number = isOut ? of.out : of.in;
  return ShapedType::isStatic(number)
             ? index(number)
             : toValue((isOut ? out : in).strides[of.loop]);
}

void Emitter::emitLoops(unsigned level) {
  if (level == loops.size())
    return emitTile();
  Loop &here = loops[level];
  std::optional<int64_t> extent = getConstantIntValue(here.extent);
  if (extent && *extent == here.step) {
    here.index = index(0);
    return emitLoops(level + 1);
  }
  // Where the extent is ragged the last tile overlaps the one before. Both
  // write the same values, but threads must not at the same time.
  std::optional<int64_t> last;
  if (extent && *extent % here.step != 0)
    last = *extent - here.step;
  OpFoldResult end = here.extent;
  if (last && isShared)
    end = b.getIndexAttr(*extent - *extent % here.step);
  auto loop =
      scf::ForOp::create(b, loc, index(0), toValue(end), index(here.step));
  if (isShared)
    layout::markParallel(loop);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    here.index = loop.getInductionVar();
    if (last && !isShared)
      here.index = arith::MinSIOp::create(b, loc, here.index, index(*last));
    emitLoops(level + 1);
  }
  if (!last || !isShared)
    return;
  here.index = index(*last);
  emitLoops(level + 1);
}

Value Emitter::load(Value position, int64_t size) {
  auto type = VectorType::get({size}, element);
  Value row = vector::LoadOp::create(b, loc, type, in.memory, position);
  return b.createOrFold<vector::BitCastOp>(loc, VectorType::get({size}, bits),
                                           row);
}

void Emitter::store(Value row, Value position) {
  auto type = cast<VectorType>(row.getType()).cloneWith({}, element);
  row = b.createOrFold<vector::BitCastOp>(loc, type, row);
  llvm::MaybeAlign alignment;
  if (tile.streams)
    alignment = llvm::Align(type.getNumElements() *
                            element.getIntOrFloatBitWidth() / 8);
  vector::StoreOp::create(b, loc, row, out.memory, position, tile.streams,
                          alignment);
}

Value Emitter::source(int64_t row, int64_t column) {
  Value position = add(inBase, index(column));
  return add(position, multiply(index(row), stride(tile.rowDigit, false)));
}

Value Emitter::result(int64_t column) {
  Value position = outBase;
  if (tile.columnDigits.size() == 1)
    return add(position,
               multiply(index(column), stride(tile.columnDigits[0], true)));
  Value rest = add(firstColumn, index(column));
  for (unsigned digit : tile.columnDigits) {
    Value number = rest;
    if (digit != tile.columnDigits.back()) {
      Value extent = index(tile.digits[digit].extent);
      number = arith::RemUIOp::create(b, loc, rest, extent);
      rest = arith::DivUIOp::create(b, loc, rest, extent);
    }
    position = add(position, multiply(number, stride(digit, true)));
  }
  return position;
}

Value Emitter::shuffle(Value a, Value b, function_ref<int64_t(int64_t)> element,
                       int64_t size) {
  SmallVector<int64_t> mask;
  for (int64_t i = 0; i < size; ++i)
    mask.push_back(element(i));
  return vector::ShuffleOp::create(this->b, loc, a, b, mask);
}

Value Emitter::concat(ArrayRef<Value> parts) {
  if (parts.size() == 1)
    return parts.front();
  Value low = concat(parts.take_front(parts.size() / 2));
  Value high = concat(parts.drop_front(parts.size() / 2));
  return shuffle(
      low, high, [](int64_t i) { return i; },
      2 * cast<VectorType>(low.getType()).getNumElements());
}

/// Transposes the square that the same lane of all registers is: in each round
/// the halves of two lanes are taken by turns.
void Emitter::interleaveLanes(SmallVector<Value> &registers, int64_t lane) {
  int64_t size = cast<VectorType>(registers[0].getType()).getNumElements();
  int64_t half = registers.size() / 2;
  for (size_t round = 1; round < registers.size(); round *= 2) {
    SmallVector<Value> next;
    for (int64_t i = 0; i < half; ++i)
      for (int64_t upper : {int64_t(0), lane / 2})
        next.push_back(shuffle(
            registers[i], registers[i + half],
            [&](int64_t e) {
              return e / lane * lane + upper + e % lane / 2 + e % 2 * size;
            },
            size));
    registers = std::move(next);
  }
}

/// Transposes the square of lanes that rows are: in each round the even lanes
/// of two rows, and the odd ones, become one.
SmallVector<Value> Emitter::gatherLanes(ArrayRef<Value> rows, int64_t lane) {
  SmallVector<Value> registers(rows);
  int64_t size = cast<VectorType>(rows[0].getType()).getNumElements();
  for (size_t round = 1; round < rows.size(); round *= 2) {
    SmallVector<Value> next;
    for (int64_t odd : {0, 1})
      for (size_t i = 0; i < rows.size(); i += 2)
        next.push_back(shuffle(
            registers[i], registers[i + 1],
            [&](int64_t e) { return (2 * (e / lane) + odd) * lane + e % lane; },
            size));
    registers = std::move(next);
  }
  return registers;
}

SmallVector<Value> Emitter::weave(ArrayRef<Value> parts, int64_t number,
                                  function_ref<Place(int64_t, int64_t)> from) {
  SmallVector<Value> results;
  int64_t size = tile.vectorSize;
  for (int64_t i = 0; i < number; ++i) {
    Value sum = parts[0];
    for (size_t part = 1; part < parts.size(); ++part)
      sum = shuffle(
          sum, parts[part],
          [&](int64_t e) -> int64_t {
            Place place = from(i, e);
            if (place.part == part)
              return size + place.element;
            // What an earlier step has put where it belongs stays.
            return part == 1 ? place.element : e;
          },
          size);
    results.push_back(sum);
  }
  return results;
}

void Emitter::emitTile() {
  inBase = toValue(in.offset);
  outBase = toValue(out.offset);
  firstColumn = loops[loopOf[tile.columnDigits[0]]].index;
  for (unsigned digit = 0; digit < tile.digits.size(); ++digit) {
    if (llvm::is_contained(tile.columnDigits, digit))
      continue;
    Value number = loops[loopOf[digit]].index;
    inBase = add(inBase, multiply(number, stride(digit, false)));
    outBase = add(outBase, multiply(number, stride(digit, true)));
  }
  inBase = add(inBase, firstColumn);
  if (tile.columnDigits.size() == 1)
    outBase =
        add(outBase, multiply(firstColumn, stride(tile.columnDigits[0], true)));
  switch (tile.way) {
  case CopyTile::Way::Runs:
    return emitRuns();
  case CopyTile::Way::Squares:
    return emitSquares();
  case CopyTile::Way::Weave:
    return emitWeave();
  case CopyTile::Way::Unweave:
    return emitUnweave();
  }
}

/// Where steps of `size` in `extent` begin; the last may overlap.
static SmallVector<int64_t> getStarts(int64_t extent, int64_t size) {
  SmallVector<int64_t> starts;
  for (int64_t start = 0; start < extent; start += size)
    starts.push_back(std::min(start, extent - size));
  return starts;
}

void Emitter::emitRuns() {
  int64_t run = tile.columnDigits.size() > 1
                    ? tile.digits[tile.columnDigits[0]].extent
                    : tile.columns;
  int64_t size = llvm::bit_floor<uint64_t>(std::min(run, tile.vectorSize));
  // Runs that follow one another in the result are stored together.
  int64_t together =
      size == run ? std::min(tile.rows, tile.vectorSize / size) : 1;
  for (int64_t column = 0; column < tile.columns; column += run)
    for (int64_t row = 0; row < tile.rows; row += together)
      for (int64_t start : getStarts(run, size)) {
        SmallVector<Value> parts;
        for (int64_t i = 0; i < together; ++i)
          parts.push_back(load(source(row + i, column + start), size));
        store(concat(parts), add(result(column), index(row * run + start)));
      }
}

void Emitter::emitSquares() {
  int64_t lane =
      std::min<int64_t>(layout::kLaneBytes * 8 / bits.getIntOrFloatBitWidth(),
                        llvm::bit_floor<uint64_t>(tile.columns));
  int64_t rows = std::min(tile.rows, tile.vectorSize);
  int64_t registers = std::min(rows, lane);
  for (int64_t row = 0; row < tile.rows; row += rows) {
    if (tile.readsWholeRows) {
      emitWholeRows(row, lane);
      continue;
    }
    // Few rows fill one lane; the others are those of the columns beside it.
    int64_t width = rows > lane ? lane
                                : llvm::bit_floor<uint64_t>(
                                      std::min(tile.columns, tile.vectorSize));
    for (int64_t column : getStarts(tile.columns, width)) {
      SmallVector<Value> square;
      for (int64_t i = 0; i < registers; ++i) {
        SmallVector<Value> parts;
        for (int64_t part = i; part < rows; part += registers)
          parts.push_back(load(source(row + part, column), width));
        square.push_back(concat(parts));
      }
      emitSquare(row, column, lane, square);
    }
  }
}

void Emitter::emitWholeRows(int64_t row, int64_t lane) {
  SmallVector<SmallVector<Value>> squares(tile.vectorSize / lane);
  for (int64_t i = 0; i < lane; ++i) {
    SmallVector<Value> whole;
    for (int64_t part = i; part < tile.vectorSize; part += lane)
      whole.push_back(load(source(row + part, 0), tile.columns));
    for (auto [square, part] :
         llvm::zip_equal(squares, gatherLanes(whole, lane)))
      square.push_back(part);
  }
  for (auto [number, square] : llvm::enumerate(squares))
    emitSquare(row, number * lane, lane, square);
}

void Emitter::emitSquare(int64_t row, int64_t column, int64_t lane,
                         SmallVector<Value> registers) {
  interleaveLanes(registers, lane);
  int64_t size = cast<VectorType>(registers[0].getType()).getNumElements();
  int64_t rows = std::min(tile.rows, tile.vectorSize);
  int64_t perLane = lane / std::min<int64_t>(rows, lane);
  for (auto [number, whole] : llvm::enumerate(registers))
    for (int64_t part = 0; part < size / rows; ++part) {
      int64_t at = part / perLane * lane + number * perLane + part % perLane;
      Value rowsOfColumn = shuffle(
          whole, whole, [&](int64_t e) { return part * rows + e; }, rows);
      store(rowsOfColumn, add(result(column + at), index(row)));
    }
}

void Emitter::emitWeave() {
  SmallVector<Value> parts;
  for (int64_t row = 0; row < tile.rows; ++row)
    parts.push_back(load(source(row, 0), tile.columns));
  SmallVector<Value> results =
      weave(parts, tile.rows, [&](int64_t number, int64_t e) {
        int64_t at = number * tile.columns + e;
        return Place{size_t(at % tile.rows), at / tile.rows};
      });
  for (auto [number, woven] : llvm::enumerate(results))
    store(woven, add(outBase, index(number * tile.columns)));
}

void Emitter::emitUnweave() {
  SmallVector<Value> parts;
  for (int64_t column = 0; column < tile.columns; ++column)
    parts.push_back(load(add(inBase, index(column * tile.rows)), tile.rows));
  SmallVector<Value> results =
      weave(parts, tile.columns, [&](int64_t number, int64_t e) {
        int64_t at = e * tile.columns + number;
        return Place{size_t(at / tile.rows), at % tile.rows};
      });
  for (auto [number, column] : llvm::enumerate(results))
    store(column, result(number));
}

namespace {
struct TileTransposes : layout::impl::TileTransposesPassBase<TileTransposes> {
  using TileTransposesPassBase::TileTransposesPassBase;

  void runOnOperation() override {
    SmallVector<linalg::LinalgOp> copies;
    getOperation()->walk([&](linalg::LinalgOp op) {
      if (op.hasPureBufferSemantics() && layout::isCopyBetweenOrders(op) &&
          llvm::all_of(op->getOperandTypes(), [](Type type) {
            return cast<MemRefType>(type).isStrided();
          }))
        copies.push_back(op);
    });
    layout::CpuFigures figures;
    figures.vectorBits = vectorBits;
    for (linalg::LinalgOp op : copies) {
      OpBuilder b(op);
      if (Emitter(b, op).run(figures, parallelLoops))
        op->erase();
    }
  }
};
} // namespace
