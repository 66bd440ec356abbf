//===- CopyTiles.cpp - Tiles of a copy between two orders -----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Copies/CopyTiles.h"
#include "Kernels/CacheConflicts.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::layout;

/// The maximum number of rows or columns that are interleaved by shuffles of
/// two registers. A larger odd number is interleaved by blends if kMostBlended
/// permits it. Otherwise, squares of rows and columns are transposed.
static constexpr int64_t kMostWoven = 4;

/// The largest odd number of rows or columns that are interleaved by blends in
/// each 16-byte lane. CPUs with few vector registers interleave at most half of
/// them plus one. Elements of eight bytes are limited by kMostWoven instead.
static constexpr int64_t kMostBlended = 13;

/// The maximum number of cache lines that one step of a copy of contiguous
/// segments moves. Also the number of tiles, or result lines, in some blocks of
/// a transposition.
static constexpr int64_t kRunLines = 4;

/// The maximum number of columns of a tile whose columns are several loops, so
/// that each column has its own offset in the result.
static constexpr int64_t kMostColumns = 256;

/// The maximum distance in bytes between the first and the last column of a
/// tile in the result, so that its lines are on few pages.
static constexpr int64_t kNearBytes = 8192;

/// The bytes of each source row in a block that follows contiguous source
/// segments, and the maximum size of short source rows.
static constexpr int64_t kBlockBytes = 1024;

/// The bytes of each row that are read before the next rows if the next rows
/// evict it. It is small enough to leave several tiles for threads.
static constexpr int64_t kLongBytes = 4096;

/// The bytes of each source row in a block that is copied through a temporary
/// buffer. They may be halved or doubled.
static constexpr int64_t kStageBytes = 128;

static bool isStatic(const CopyDigit &digit) {
  return ShapedType::isStatic(digit.extent) && !digit.isDynamic() &&
         ShapedType::isStatic(digit.in) && ShapedType::isStatic(digit.out);
}

/// Returns `digits` without loops of extent one. Static loops are merged that
/// are one contiguous loop both in the source and in the result.
static SmallVector<CopyDigit> mergeDigits(ArrayRef<CopyDigit> digits) {
  SmallVector<CopyDigit> merged;
  for (const CopyDigit &digit : digits) {
    if (digit.extent == 1)
      continue;
    CopyDigit *above = merged.empty() ? nullptr : &merged.back();
    if (above && isStatic(*above) && isStatic(digit) &&
        above->in == digit.in * digit.extent &&
        above->out == digit.out * digit.extent)
      *above = {above->extent * digit.extent, digit.in, digit.out, digit.loop};
    else
      merged.push_back(digit);
  }
  return merged;
}

/// Returns true if tiles of `size` that cover `extent` copy at most `extent` /
/// `share` elements twice.
static bool coversWell(int64_t extent, int64_t size, int64_t share) {
  return share * static_cast<int64_t>(llvm::alignTo(extent, size)) <=
         (share + 1) * extent;
}

/// Returns the power of two whose tiles copy `extent` fastest, at most `extent`
/// and `line`. It is at least `least`, unless `extent` is less. The time of a
/// tile is its size plus an eighth of a line.
static int64_t chooseSize(int64_t extent, int64_t line, int64_t least) {
  auto countSteps = [&](int64_t size) {
    return llvm::divideCeil(extent, size) * (8 * size + line);
  };
  int64_t best = llvm::bit_floor<uint64_t>(std::min(extent, line));
  for (int64_t size = best / 2; size >= least; size /= 2)
    if (countSteps(size) < countSteps(best))
      best = size;
  return best;
}

static std::optional<unsigned>
findRun(ArrayRef<CopyDigit> digits, int64_t CopyDigit::*stride, int64_t value) {
  for (auto [i, digit] : llvm::enumerate(digits))
    if (digit.*stride == value && ShapedType::isStatic(digit.extent))
      return i;
  return std::nullopt;
}

/// Adds to `tile.columnDigits` static loops, except that of the rows, that
/// continue the columns contiguously in the source, one after another. Stops if
/// there is no such loop, or if tiles of `line` columns cover the columns and
/// copy at most a quarter of them twice.
static void addColumnDigits(CopyTile &tile, int64_t line) {
  while (!coversWell(tile.getNumColumns(), line, 4)) {
    std::optional<unsigned> next =
        findRun(tile.digits, &CopyDigit::in, tile.getNumColumns());
    if (!next || *next == tile.rowDigit || !isStatic(tile.digits[*next]))
      return;
    tile.columnDigits.push_back(*next);
  }
}

std::optional<int64_t> CopyTile::getOffset(int64_t column) const {
  if (columnDigits.size() > 1 && columns < getNumColumns())
    return std::nullopt;
  int64_t offset = 0;
  for (unsigned digit : columnDigits) {
    auto [extent, in, out, loop] = digits[digit];
    if (ShapedType::isDynamic(out))
      return std::nullopt;
    bool isLast = digit == columnDigits.back();
    offset += (isLast ? column : column % extent) * out;
    column /= extent;
  }
  return offset;
}

bool CopyTile::fillsRegisters() const {
  return getSquareRows() < vectorSize && getOffset(0) &&
         llvm::any_of(
             columnDigits,
             [&](unsigned digit) { return digits[digit].out == rows; });
}

int64_t CopyTile::getRowsPerLoad() const {
  bool isRun = padding == 0 && rows % vectorSize == 0 && columns == loadSize &&
               columns < vectorSize && digits[rowDigit].in == columns;
  // The rows of one load must fit in a square.
  return isRun && vectorSize <= columns * columns ? vectorSize / columns : 1;
}

/// Returns true if non-temporal stores may write the result: source and result
/// take at least three quarters of the LLC, and tiles write whole cache lines.
/// The caller checks that the result starts with a line. Returns false for
/// dynamic sizes, and for other strategies than Memcpy and SquareTranspose.
static bool canStream(const CopyTile &tile, int64_t bytes,
                      const CpuModelParams &params) {
  bool isRun = tile.strategy == CopyTile::Strategy::Memcpy;
  if (!isRun && tile.strategy != CopyTile::Strategy::SquareTranspose)
    return false;
  int64_t line = params.lineBytes / bytes;
  unsigned fastest = isRun ? tile.columnDigits[0] : tile.rowDigit;
  int64_t step = tile.rows;
  if (isRun)
    step = std::min(tile.columns, tile.digits[fastest].extent);
  for (auto [i, digit] : llvm::enumerate(tile.digits)) {
    if (!isStatic(digit) || (i != fastest && digit.out % line != 0))
      return false;
    bytes *= digit.extent;
  }
  // Source and result are at least three quarters of the LLC.
  return bytes >= params.llcBytes / 8 * 3 && step % line == 0 &&
         tile.digits[fastest].extent % step == 0;
}

/// Plans a copy of segments that are contiguous in source and result. Returns
/// false if they are too long to be written with their padding.
static bool planRuns(CopyTile &tile, int64_t line) {
  int64_t most = kRunLines * line;
  int64_t extent = tile.digits[tile.rowDigit].extent + tile.padding;
  int64_t run = std::min(extent, most);
  std::optional<unsigned> next = findRun(tile.digits, &CopyDigit::out, extent);
  if (next && most / run > 1) {
    tile.rowDigit = *next;
    tile.rows = llvm::bit_floor<uint64_t>(
        std::min(most / run, tile.digits[*next].extent));
  }
  if (tile.padding != 0) {
    tile.columns = extent - tile.padding;
    return run == extent;
  }
  if (extent < most)
    addColumnDigits(tile, most);
  int64_t runs = tile.getNumColumns() / run;
  int64_t together = std::min(most / run, runs);
  while (!coversWell(runs, together, 4))
    --together;
  tile.columns = together * run;
  return true;
}

/// Returns true if `few` rows or columns can be interleaved by blends in each
/// 16-byte lane: registers are whole lanes, and `few` is odd, at most
/// kMostBlended, and at most half of the vector registers plus one. For
/// elements of eight bytes, the limit is kMostWoven instead.
static bool isBlended(int64_t few, int64_t bytes, const CopyTile &tile,
                      const CpuModelParams &params) {
  int64_t most =
      std::min<int64_t>(kMostBlended, params.vectorRegisters / 2 + 1);
  if (bytes > 4)
    most = kMostWoven;
  return few % 2 != 0 && few <= most &&
         tile.vectorSize * bytes % kLaneBytes == 0;
}

/// Returns true if blends in each 16-byte lane interleave `few` rows or
/// columns, and false if shuffles of two registers do. Shuffles are used if
/// blends are not possible, or if `few` is at most kMostWoven and one
/// instruction permutes the elements of two registers.
static bool interleavesLanes(int64_t few, int64_t bytes, const CopyTile &tile,
                             const CpuModelParams &params) {
  bool isPermuted = few <= kMostWoven && params.twoSourcePermuteBytes != 0 &&
                    bytes >= params.twoSourcePermuteBytes;
  return !isPermuted && isBlended(few, bytes, tile, params);
}

/// Returns true if registers can interleave the indices of loop `few`, which is
/// contiguous on the side of `stride`: the source (`in`) or the result (`out`).
/// Its extent must be at most kMostWoven, or allow blends (isBlended). On that
/// side, the stride of loop `many` must be the extent of `few`. `many` must
/// fill a register.
static bool canInterleave(const CopyDigit &few, const CopyDigit &many,
                          int64_t CopyDigit::*stride, int64_t bytes,
                          const CopyTile &tile, const CpuModelParams &params) {
  return (few.extent <= kMostWoven ||
          isBlended(few.extent, bytes, tile, params)) &&
         many.*stride == few.extent && many.extent >= tile.vectorSize;
}

/// Sets `tile.rowsTogether` to all rows of the tile, so that all registers of a
/// cache line of the result are computed before they are stored, and halves
/// `tile.loadSize` until registers suffice. `lane` is the number of elements in
/// a 16-byte lane of a register. Changes neither if a column of the tile has
/// fewer than two whole registers, or if the vector registers cannot hold
/// `lane` columns of the tile.
static void joinParts(CopyTile &tile, int64_t lane,
                      const CpuModelParams &params) {
  int64_t parts = tile.rows / tile.vectorSize, registers = parts * lane;
  if (parts < 2 || registers > params.vectorRegisters)
    return;
  tile.rowsTogether = tile.rows;
  while (parts * tile.loadSize > params.vectorRegisters)
    tile.loadSize /= 2;
}

/// Returns true if the stage (temporary buffer) of a copy of elements of
/// `bytes` bytes has the order of the result. Elements of one or two bytes are
/// staged in the order of the source, because a line holds so many that tiles
/// return to each line.
static bool stagesResult(int64_t bytes) { return bytes > 2; }

/// Returns the distance in elements between columns in a stage (temporary
/// buffer) that has the order of the result: a cache line more than `rows`
/// rows, so that columns do not share cache sets.
static int64_t getStageStride(int64_t rows, int64_t bytes,
                              const CpuModelParams &params) {
  return rows + params.lineBytes / bytes;
}

/// Returns true if the result, of elements of `bytes` bytes, is known to have
/// at most `most` bytes. Returns false for dynamic sizes.
static bool isWithin(const CopyTile &tile, uint64_t bytes, uint64_t most) {
  if (!llvm::all_of(tile.digits, isStatic))
    return false;
  for (const CopyDigit &digit : tile.digits)
    bytes = llvm::SaturatingMultiply<uint64_t>(bytes, digit.extent);
  return bytes <= most;
}

/// Returns true if L2 is known to hold source and result, and false for dynamic
/// sizes.
static bool fitsL2(const CopyTile &tile, uint64_t bytes,
                   const CpuModelParams &params) {
  return isWithin(tile, bytes, params.l2Bytes / 2);
}

/// Makes `tile` a block that is copied through a temporary buffer, the stage,
/// and that takes half of L1. If the stage has the order of the result, the
/// block is halved if L2 holds source and result, else doubled if L1 holds it
/// and blocks cover the columns well. Returns false, without changes, for
/// copies with padding, with columns of several loops, with fewer rows or
/// columns than a block, or of exactly one block. Also does so if a block would
/// have fewer rows than `tile`.
static bool planStage(CopyTile &tile, int64_t bytes,
                      const CpuModelParams &params) {
  int64_t rows = llvm::bit_floor<uint64_t>(params.l1Bytes / 2 / kStageBytes);
  int64_t columns = kStageBytes / bytes;
  int64_t numRows = tile.digits[tile.rowDigit].extent;
  int64_t numColumns = tile.getNumColumns();
  if (stagesResult(bytes) && fitsL2(tile, bytes, params))
    columns /= 2;
  else if (stagesResult(bytes) && coversWell(numColumns, 2 * columns, 4) &&
           2 * kStageBytes * getStageStride(rows, bytes, params) <=
               params.l1Bytes)
    columns *= 2;
  if (tile.padding != 0 || tile.columnDigits.size() > 1 || rows < tile.rows ||
      numRows < rows || numColumns < columns ||
      (numRows == rows && numColumns == columns))
    return false;
  tile.strategy = CopyTile::Strategy::Staged;
  tile.rows = rows;
  tile.columns = tile.blockColumns = columns;
  return true;
}

/// Plans short source rows for which the result lines of all columns conflict
/// in L1: tiles have few columns and several result lines per column, and cover
/// whole rows before the next rows. Leaves the tile unchanged if it writes
/// padding, if there are too few rows, or if rows conflict in L1, too.
static void planShortRows(CopyTile &tile, int64_t bytes,
                          const CpuModelParams &params) {
  int64_t line = params.lineBytes / bytes, rows = kRunLines * line;
  const CopyDigit &ofRows = tile.digits[tile.rowDigit];
  if (tile.padding != 0 || rows > ofRows.extent ||
      conflictsInL1(rows, ofRows.in * bytes, params))
    return;
  tile.rows = line;
  joinParts(tile, kLaneBytes / bytes, params);
  tile.rows = rows;
  tile.columns = tile.loadSize;
  tile.blockColumns = tile.getNumColumns();
}

/// Plans source rows whose lines are evicted by the next rows: tiles get twice
/// the rows, mostly two result lines of each column, and go along long pieces
/// of the rows. If L2 holds source and result, or such tiles do not divide the
/// rows well, blocks of several lines of each row are used instead. Their
/// columns return to lines that are still cached.
static void planLongRows(CopyTile &tile, int64_t bytes,
                         const CpuModelParams &params) {
  int64_t rows = 2 * tile.rows;
  int64_t numRows = tile.digits[tile.rowDigit].extent;
  if (fitsL2(tile, bytes, params) || numRows < rows ||
      !coversWell(numRows, rows, 4)) {
    tile.blockColumns = kRunLines * tile.columns;
    return;
  }
  tile.rows = rows;
  tile.blockColumns = kLongBytes / bytes;
}

/// Chooses the order of tiles by setting `tile.blockColumns`, or makes `tile` a
/// staged block if cache lines conflict. Keeps `tile` if rows or columns are
/// dynamic. `in` and `out` are the strides of source rows and result columns. A
/// block is the columns that are copied before the next rows. If it has several
/// tiles of columns, columns are innermost in it, otherwise rows are. If
/// columns are several digits, a block has one tile, else the first match
/// applies. Lines of the table that start with `rows` or `the next rows` need a
/// copy that does not stream:
///
///   condition                        | block        | reason
///   ---------------------------------|--------------|------------------------
///   in > out, and the columns of a   | 1 KiB of     | follows contiguous
///   tile are whole lines in 8 KiB    | each row     | source segments
///   streams, and rows conflict or    | 4 tiles      | source lines would be
///   in >= out                        |              | evicted before reuse
///   columns and rows conflict        | 2 tiles      | L1 holds these lines
///   rows <= 1 KiB, columns conflict  | whole rows   | see planShortRows
///   rows <= 1 KiB, out >= a line     | whole rows   | L1 holds all lines
///   the next rows conflict           | planLongRows | evicts prefetched lines
///   LLC / 2 holds source and result, | 4 tiles      | reads several lines of a
///   L2 does not                      |              | row together
///   otherwise                        | 1 tile       | writes consecutive lines
///
/// If the source is one segment, a streaming tile gets four or two times the
/// rows, if that divides their number, because memory writes adjacent lines
/// faster.
static void planBlocks(CopyTile &tile, int64_t bytes,
                       const CpuModelParams &params) {
  const CopyDigit &ofRows = tile.digits[tile.rowDigit];
  const CopyDigit &ofColumns = tile.digits[tile.columnDigits[0]];
  if (!isStatic(ofRows) || !isStatic(ofColumns))
    return;
  int64_t out = ofColumns.out * bytes, numColumns = tile.getNumColumns();
  bool rowsConflict = conflictsInL1(tile.rows, ofRows.in * bytes, params);
  bool columnsConflict = conflictsInL1(tile.columns, out, params);
  bool bothConflict = (rowsConflict && columnsConflict) ||
                      conflictsInL1(tile.rows + tile.columns,
                                    std::gcd(ofRows.in * bytes, out), params);
  bool isShort = !tile.streams && numColumns * bytes <= kBlockBytes;
  // Copies of large elements write whole lines, and are slow if prefetched
  // lines of the result are evicted.
  bool wantsStage = rowsConflict || columnsConflict;
  if (stagesResult(bytes))
    wantsStage = !tile.streams &&
                 conflictsInL1(tile.columns + kRunLines, out, params) &&
                 coversWell(numColumns, kStageBytes / bytes, 4);
  if (wantsStage && planStage(tile, bytes, params))
    return;
  if (columnsConflict || tile.streams)
    joinParts(tile, kLaneBytes / bytes, params);
  tile.streams &= tile.rowsTogether != 0 || tile.rows == tile.vectorSize;
  if (tile.columnDigits.size() > 1)
    return;
  if (ofRows.in > ofColumns.out && tile.columns * out <= kNearBytes &&
      out % params.lineBytes == 0)
    tile.blockColumns = kBlockBytes / bytes;
  else if (tile.streams && (rowsConflict || ofRows.in >= ofColumns.out))
    tile.blockColumns = kRunLines * tile.columns;
  else if (bothConflict)
    tile.blockColumns = 2 * tile.columns;
  else if (isShort && conflictsInL1(numColumns, out, params))
    planShortRows(tile, bytes, params);
  else if (isShort && out >= params.lineBytes)
    tile.blockColumns = numColumns;
  else if (!tile.streams &&
           conflictsInL1(2 * tile.rows + kRunLines, ofRows.in * bytes, params))
    planLongRows(tile, bytes, params);
  else if (numColumns >= kRunLines * tile.columns &&
           !fitsL2(tile, bytes, params) &&
           isWithin(tile, bytes, params.llcBytes / 4))
    tile.blockColumns = kRunLines * tile.columns;
  if (tile.streams && ofRows.in == tile.columns)
    for (int64_t lines : {kRunLines, kRunLines / 2})
      if (ofRows.extent % (lines * tile.rows) == 0)
        return void(tile.rows *= lines);
}

static bool planSquareTranspose(CopyTile &tile, int64_t bytes,
                                const CpuModelParams &params) {
  tile.strategy = CopyTile::Strategy::SquareTranspose;
  int64_t line = params.lineBytes / bytes, lane = kLaneBytes / bytes;
  int64_t numRows = tile.digits[tile.rowDigit].extent + tile.padding;
  tile.rows = chooseSize(numRows, line, lane);
  // 512-bit vectors have masks.
  if (params.vectorBits >= 512 && bytes > 1 && tile.padding == 0 &&
      numRows > tile.vectorSize / 2 && numRows < tile.vectorSize)
    tile.rows = numRows;
  // If one digit fills registers well, further digits would only add divisions.
  addColumnDigits(tile, std::min(line, tile.vectorSize));
  // One digit less suffices if a tile then has all its columns and the rows of
  // several columns fill registers together.
  CopyTile less = tile;
  less.columnDigits.pop_back();
  less.columns = less.getNumColumns();
  if (tile.getNumColumns() > kMostColumns && less.fillsRegisters() &&
      less.columns >= line && less.columns <= kMostColumns)
    tile.columnDigits = less.columnDigits;
  int64_t numColumns = tile.getNumColumns();
  // The offsets of columns of several digits are static if one tile has all
  // columns.
  int64_t most = tile.columnDigits.size() > 1 ? kMostColumns : line;
  tile.columns =
      numColumns <= most ? numColumns : chooseSize(numColumns, line, lane);
  // The tile with the last rows also writes the padding.
  if (tile.padding != 0 && tile.rows != numRows)
    return false;
  // One register is live for each element that a load reads, and one more if
  // whole rows are read.
  tile.loadSize = llvm::bit_floor<uint64_t>(std::min(tile.columns, lane));
  if (tile.getSquareRows() == tile.vectorSize)
    for (int64_t size = 2 * tile.loadSize;
         size <= std::min(tile.columns, tile.vectorSize) &&
         llvm::alignTo(tile.columns, size) ==
             llvm::alignTo(tile.columns, tile.loadSize) &&
         size + (size == tile.vectorSize) <= params.vectorRegisters;
         size *= 2)
      tile.loadSize = size;
  return tile.columns >= 2 && tile.rows >= 2;
}

std::optional<CopyTile> layout::planCopyTile(ArrayRef<CopyDigit> digits,
                                             int64_t bytes,
                                             const CpuModelParams &params,
                                             bool startsWithLine,
                                             int64_t padding) {
  CopyTile tile;
  tile.padding = padding;
  tile.digits = mergeDigits(digits);
  for (CopyDigit &digit : tile.digits)
    if (ShapedType::isDynamic(digit.extent) &&
        (digit.in == 1 || digit.out == 1))
      digit.extent = CopyDigit::kDynamic;
  tile.vectorSize = params.vectorBits / 8 / bytes;
  std::optional<unsigned> column = findRun(tile.digits, &CopyDigit::in, 1);
  std::optional<unsigned> row = findRun(tile.digits, &CopyDigit::out, 1);
  // Registers must consist of whole lanes.
  if (!column || !row || tile.vectorSize * bytes < kLaneBytes ||
      !llvm::isPowerOf2_64(tile.vectorSize) ||
      llvm::any_of(
          tile.digits,
          [](const CopyDigit &digit) { return digit.extent == 0; }))
    return std::nullopt;
  tile.columnDigits = {*column};
  tile.rowDigit = *row;
  const CopyDigit &ofColumns = tile.digits[*column];
  const CopyDigit &ofRows = tile.digits[*row];
  bool isDynamic = ofColumns.isDynamic() || ofRows.isDynamic();
  if (isDynamic && (padding != 0 || *column == *row))
    return std::nullopt;
  if (*column == *row) {
    if (!planRuns(tile, params.lineBytes / bytes))
      return std::nullopt;
  } else if (padding != 0) {
    if (!planSquareTranspose(tile, bytes, params))
      return std::nullopt;
  } else if (canInterleave(ofRows, ofColumns, &CopyDigit::out, bytes, tile,
                           params)) {
    tile.strategy = CopyTile::Strategy::Interleave;
    tile.columns = tile.vectorSize;
    tile.rows = ofRows.extent;
    tile.interleavesLanes = interleavesLanes(tile.rows, bytes, tile, params);
  } else if (canInterleave(ofColumns, ofRows, &CopyDigit::in, bytes, tile,
                           params)) {
    tile.strategy = CopyTile::Strategy::Deinterleave;
    tile.columns = ofColumns.extent;
    tile.rows = tile.vectorSize;
    tile.interleavesLanes = interleavesLanes(tile.columns, bytes, tile, params);
  } else if (!planSquareTranspose(tile, bytes, params)) {
    return std::nullopt;
  }
  tile.streams = startsWithLine && canStream(tile, bytes, params);
  tile.blockColumns = tile.columns;
  if (tile.strategy == CopyTile::Strategy::SquareTranspose)
    planBlocks(tile, bytes, params);
  return tile;
}

StagedCopies layout::planStagedCopies(const CopyTile &block, int64_t bytes,
                                      const CpuModelParams &params) {
  int64_t rows = block.rows, columns = block.columns;
  int64_t rowStride = block.digits[block.rowDigit].in;
  int64_t columnStride = block.digits[block.columnDigits[0]].out;
  if (stagesResult(bytes)) {
    int64_t stride = getStageStride(rows, bytes, params);
    return {*planCopyTile({{columns, 1, stride, 0}, {rows, rowStride, 1, 1}},
                          bytes, params, /*startsWithLine=*/false),
            *planCopyTile({{columns, stride, columnStride, 0}, {rows, 1, 1, 1}},
                          bytes, params, /*startsWithLine=*/false),
            columns * stride};
  }
  CopyTile in =
      *planCopyTile({{rows, rowStride, columns, 0}, {columns, 1, 1, 1}}, bytes,
                    params, /*startsWithLine=*/false);
  CopyTile out =
      *planCopyTile({{columns, 1, columnStride, 0}, {rows, columns, 1, 1}},
                    bytes, params, /*startsWithLine=*/false);
  // The stage stays cached even if its lines are read repeatedly. Narrow tiles
  // keep few result lines partially written.
  out.columns = out.blockColumns = out.loadSize = kLaneBytes / bytes;
  // Non-temporal stores of partial lines are slow.
  out.streams = block.streams && out.vectorSize * bytes == params.lineBytes;
  return {in, out, rows * columns};
}

std::optional<Factors> layout::readSum(AffineExpr expr) {
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

/// Returns true if every dim is in exactly one result (dims of extent one may
/// be unused), and every result is a sum of dims times positive constants, plus
/// a constant.
static bool isCopyMap(AffineMap map, ArrayRef<int64_t> extents) {
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

/// Returns the dim of extent above one along which elements are contiguous, or
/// std::nullopt if there is none.
static std::optional<unsigned> getFastest(AffineMap map,
                                          ArrayRef<int64_t> extents) {
  for (AffineExpr expr : llvm::reverse(map.getResults())) {
    std::optional<unsigned> fastest;
    bool isLong = false;
    Factors sum = *readSum(expr);
    for (auto [dim, factor] : sum) {
      isLong |= extents[dim] != 1;
      if (factor == 1 && extents[dim] != 1)
        fastest = dim;
    }
    if (isLong)
      return fastest;
  }
  return std::nullopt;
}

bool layout::canCopyInVectors(Type element) {
  return element.isIntOrFloat() &&
         llvm::is_contained({8, 16, 32, 64}, element.getIntOrFloatBitWidth());
}

bool layout::isCopyBetweenOrders(linalg::LinalgOp op) {
  if (op.getNumDpsInputs() != 1 || op.getNumDpsInits() != 1 ||
      op.getNumLoops() < 2)
    return false;
  Block *body = op.getBlock();
  if (body->getOperations().size() != 1 ||
      body->getTerminator()->getOperand(0) != body->getArgument(0))
    return false;
  AffineMap in = op.getIndexingMapsArray()[0];
  AffineMap out = op.getIndexingMapsArray()[1];
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  if (in == out || !isCopyMap(in, extents) || !isCopyMap(out, extents))
    return false;
  std::optional<unsigned> fastIn = getFastest(in, extents);
  std::optional<unsigned> fastOut = getFastest(out, extents);
  // Copies of one dynamic contiguous digit are left to kernels.
  return fastIn && fastOut &&
         (fastIn != fastOut || ShapedType::isStatic(extents[*fastIn])) &&
         canCopyInVectors(body->getArgument(0).getType());
}
