//===- CopyTiles.h - How a copy between two orders is tiled -----*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A copy is a list of digits, the loops that it needs: how many iterations a
// digit has, and how far apart they are in the source and in the result.
//
//   NCHW to NHWC of 64 channels, 56 x 56:   extent    in   out
//                                     h, w    3136     1    64
//                                     c         64  3136     1
//
// One digit has neighbors in the source, one in the result. These two make the
// tile: its columns are read along the source, its rows are written along the
// result. Where they are the same digit, whole runs are copied.
//
// planCopyTile and, for a block that is staged, planStagedCopies, and for
// copies that belong together planCopyChunks are all that decides; the prices
// of conversions can ask them.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_COPYTILES_H
#define LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_COPYTILES_H

#include "layout/Support/CpuFigures.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::layout {

/// One loop of a copy; a number that only the run knows is dynamic. Strides
/// are counted in elements.
struct CopyDigit {
  /// Rows or columns of a tile that only the run knows are so many: there are
  /// enough for one tile, which who emits the tile has to ask for.
  static constexpr int64_t kOpen = int64_t(1) << 30;

  int64_t extent, in, out;
  /// The loop of the op that a dynamic number is one of.
  unsigned loop;

  bool isOpen() const { return extent == kOpen; }

  /// Whether both digits make the same steps.
  bool operator==(const CopyDigit &other) const {
    return extent == other.extent && in == other.in && out == other.out;
  }
};

struct CopyTile {
  enum class Way {
    /// Columns and rows are one digit.
    Runs,
    /// Squares are transposed in registers.
    Squares,
    /// A block of the source is copied to a place where its lines do not share
    /// sets of the cache, and goes to the result from there.
    Staged,
    /// The few rows of a tile are woven into one run of the result.
    Weave,
    /// The run of the source that is a tile is taken apart into few columns.
    Unweave
  };
  Way way = Way::Runs;
  /// Without digits of one iteration, and with those merged that are one run on
  /// both sides; slowest of the result first.
  SmallVector<CopyDigit> digits;
  /// Digits that are one run of the source, fastest first.
  SmallVector<unsigned, 2> columnDigits;
  unsigned rowDigit = 0;
  int64_t columns = 1, rows = 1;
  /// Rows behind those of the source, which the tile writes, too.
  int64_t padding = 0;
  /// Elements of one register.
  int64_t vectorSize = 1;
  /// Elements of a row that one load reads where registers are filled with
  /// rows: those of one lane or more.
  int64_t loadSize = 1;
  /// Whether rows or columns are woven by blends of lanes.
  bool weavesLanes = false;
  /// Rows of a column that are written one after the other before those of the
  /// next column, where they are more than one register: those of a line.
  int64_t rowsTogether = 0;
  /// Columns that are done before the next rows. Where they are more than those
  /// of a tile, columns are innermost.
  int64_t blockColumns = 1;
  /// Whether the result goes past the caches, which do not hold it: all that is
  /// written are whole lines.
  bool streams = false;

  int64_t getNumColumns() const {
    int64_t product = 1;
    for (unsigned digit : columnDigits)
      product *= digits[digit].extent;
    return product;
  }
  /// Rows of one square: of those behind the last row of the tile nothing is
  /// written.
  int64_t getSquareRows() const {
    return llvm::PowerOf2Ceil(std::min(rows, vectorSize));
  }
  /// How far a column of the tile is in the result from the first one; nothing
  /// where only the run knows.
  std::optional<int64_t> getOffset(int64_t column) const;
  /// Whether the rows of a column are a part of a register, and those of
  /// another one follow them in the result, at a place that the plan knows.
  bool fillsRegisters() const;
  /// Rows that are read at once, as they follow one another in the source.
  int64_t getRowsPerLoad() const;
};

/// Bytes of the lanes within which shuffles are cheap.
inline constexpr int64_t kLaneBytes = 16;

/// The tile of a copy of elements of so many bytes, a power of two up to 8;
/// nothing where no digit has neighbors or none is known to be long enough.
/// `startsWithLine` tells whether the first element of the result is that of a
/// line. `padding` elements follow each run of the result and are written with
/// it; nothing where no tile can do that.
std::optional<CopyTile> planCopyTile(ArrayRef<CopyDigit> digits, int64_t bytes,
                                     const CpuFigures &figures,
                                     bool startsWithLine, int64_t padding = 0);

/// Rows that several copies go through together.
struct CopyChunk {
  /// The digit that counts rows, and those of larger steps, the same in all
  /// copies; slowest of the result first.
  CopyDigit row;
  SmallVector<CopyDigit> outer;
  /// Rows of one chunk, which the first cache holds.
  int64_t rows;
  /// What each copy does in one chunk.
  SmallVector<CopyTile> tiles;
};

/// The chunks of copies that read parts of the same short rows, each from its
/// own offset on; nothing where no digit counts such rows. Copied one after the
/// other they would read the lines that two of them share twice.
std::optional<CopyChunk> planCopyChunks(ArrayRef<CopyTile> parts,
                                        ArrayRef<int64_t> offsets,
                                        int64_t bytes,
                                        const CpuFigures &figures);

/// The copies of a block that is staged: the first to its stage of so many
/// elements, the second from there to the result. One of them turns the block,
/// the other one copies runs.
struct StagedCopies {
  CopyTile in, out;
  int64_t elements;
};
StagedCopies planStagedCopies(const CopyTile &block, int64_t bytes,
                              const CpuFigures &figures);

/// Whether elements of a type can be copied in vectors.
bool canCopyInVectors(Type element);

/// Whether `op` copies between two orders of the same indices: what
/// layout-tile-transposes rewrites.
bool isCopyBetweenOrders(linalg::LinalgOp op);

/// One result of a map as factors of dims; nothing where it is no sum.
using Factors = SmallVector<std::pair<unsigned, int64_t>, 4>;
std::optional<Factors> readSum(AffineExpr expr);

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_COPYTILES_H
