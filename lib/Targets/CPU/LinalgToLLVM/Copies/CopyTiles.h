//===- CopyTiles.h - Tiles of a copy between two orders ---------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Plans copies between orders. A copy is a list of digits, the loops that it
// needs: the extent of each digit, and its strides in source and result.
//
//   NCHW to NHWC of 64 channels, 56 x 56:   extent    in   out
//                                     h, w    3136     1    64
//                                     c         64  3136     1
//
// One digit is contiguous in the source, one in the result. These two make the
// tile: its columns are read along the source, its rows are written along the
// result. If they are the same digit, contiguous segments are copied.
//
// planCopyTile and planStagedCopies (for a block that is staged) make all
// decisions, so that cost models can call them.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_COPIES_COPYTILES_H
#define LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_COPIES_COPYTILES_H

#include "layout/Support/CpuModelParams.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::layout {

/// A loop of a copy: its extent, and its strides in the source (`in`) and in
/// the result (`out`) in elements. Dynamic numbers are ShapedType::kDynamic,
/// except for the extents of rows and columns in a CopyTile, which are
/// `kDynamic`.
struct CopyDigit {
  /// The extent that planCopyTile gives to a dynamic loop over rows or columns.
  /// It is large, so plans assume at least one full tile, which the emitter
  /// must check at run time.
  static constexpr int64_t kDynamic = int64_t(1) << 30;

  int64_t extent, in, out;
  /// The number of the loop of the copied op, from which the emitter gets a
  /// dynamic extent or stride.
  unsigned loop;

  bool isDynamic() const { return extent == kDynamic; }

  /// Returns true if both digits have the same extent and strides. `loop` is
  /// not compared.
  bool operator==(const CopyDigit &other) const {
    return extent == other.extent && in == other.in && out == other.out;
  }
};

struct CopyTile {
  enum class Strategy {
    /// Copies segments without a transposition: one digit is contiguous both in
    /// the source and in the result, and a segment is a range of it. Columns of
    /// the tile are its elements, and those of loops that continue it in the
    /// source. Rows are segments that follow each other in the result. If there
    /// are none, or if segments are long, `rowDigit` is this digit, too.
    Memcpy,
    /// Transposes squares of rows and columns in registers.
    SquareTranspose,
    /// Copies a block of the source to a temporary buffer, the stage, whose
    /// lines do not share cache sets, and from there to the result.
    Staged,
    /// Interleaves the few rows of a tile into one segment of the result.
    Interleave,
    /// Deinterleaves one segment of the source into few columns.
    Deinterleave
  };
  Strategy strategy = Strategy::Memcpy;
  /// The loops of the copy in order of decreasing stride in the result, without
  /// loops of extent one. Static loops that are one contiguous loop on both
  /// sides are merged.
  SmallVector<CopyDigit> digits;
  /// The loops, as positions in `digits`, that together are contiguous in the
  /// source, fastest first. They iterate over columns.
  SmallVector<unsigned, 2> columnDigits;
  unsigned rowDigit = 0;
  int64_t columns = 1, rows = 1;
  /// The number of padding elements that the tile writes after the elements of
  /// each contiguous segment of the result. A transposition counts them in
  /// `rows`, as the last ones.
  int64_t padding = 0;
  /// The number of elements in one register.
  int64_t vectorSize = 1;
  /// The number of elements of a row that one load reads in a transposition
  /// whose registers are filled with rows. It is a power of two up to `columns`
  /// and `vectorSize`.
  int64_t loadSize = 1;
  /// True if rows or columns are interleaved in each 16-byte lane by blends and
  /// permutations, and not by shuffles of two registers.
  bool interleavesLanes = false;
  /// The number of rows whose registers are kept until they fill cache lines of
  /// the result, and are then stored column by column; 0 to store each register
  /// when it is computed.
  int64_t rowsTogether = 0;
  /// The number of columns that are copied before the next rows. If it exceeds
  /// `columns`, columns are the innermost loop, otherwise rows are.
  int64_t blockColumns = 1;
  /// True if the result is written by non-temporal stores of whole lines,
  /// because source and result take most of the LLC.
  bool streams = false;

  int64_t getNumColumns() const {
    int64_t product = 1;
    for (unsigned digit : columnDigits)
      product *= digits[digit].extent;
    return product;
  }
  /// Returns the number of rows of the square that registers transpose, a power
  /// of two up to `vectorSize`. Rows after those of the tile are unused.
  int64_t getSquareRows() const {
    return llvm::PowerOf2Ceil(std::min(rows, vectorSize));
  }
  /// Returns the distance in elements, in the result, of a column of the tile
  /// from the first one. Returns std::nullopt if it is dynamic, or if columns
  /// are several loops and one tile does not have all columns.
  std::optional<int64_t> getOffset(int64_t column) const;
  /// Returns true if a register holds more than getSquareRows() elements, and
  /// the rows of another column follow directly in the result. One store then
  /// writes several columns.
  bool fillsRegisters() const;
  /// Returns the number of rows that one load reads: several if whole rows are
  /// contiguous in the source and fit the squares that registers transpose,
  /// else 1.
  int64_t getRowsPerLoad() const;
};

/// The size in bytes of the register lanes within which shuffles are cheap.
inline constexpr int64_t kLaneBytes = 16;

/// Plans a copy of elements of `bytes` bytes, a power of two up to 8.
/// `startsWithLine` is true if the first element of the result starts a line.
/// `padding` elements follow each contiguous segment of the result and are
/// written with it. Returns std::nullopt if no digit is contiguous on a side,
/// if one dynamic digit is contiguous on both, or if no tile can write the
/// padding. Also returns std::nullopt if a loop has no iterations, or if a
/// vector register does not consist of whole 16-byte lanes.
std::optional<CopyTile> planCopyTile(ArrayRef<CopyDigit> digits, int64_t bytes,
                                     const CpuModelParams &params,
                                     bool startsWithLine, int64_t padding = 0);

/// The two copies of a staged block: `in` to the stage, a temporary buffer of
/// `elements` elements, and `out` from there to the result. One of them
/// transposes the block, the other copies contiguous segments.
struct StagedCopies {
  CopyTile in, out;
  int64_t elements;
};
StagedCopies planStagedCopies(const CopyTile &block, int64_t bytes,
                              const CpuModelParams &params);

/// Returns true if vectors can copy elements of this type: integers and floats
/// of 8, 16, 32 or 64 bits.
bool canCopyInVectors(Type element);

/// Returns true if `op` copies between two orders of the same indices, so that
/// layout-cpu-tile-transposes can rewrite it. Returns false if one dynamic loop
/// is contiguous on both sides, which is left to kernels.
bool isCopyBetweenOrders(linalg::LinalgOp op);

/// A sum of dims times positive constants, as pairs (dim, constant).
using Factors = SmallVector<std::pair<unsigned, int64_t>, 4>;
/// Returns the dims of `expr`, a sum of dims times positive constants, with
/// their factors. Constants that are added are ignored. Returns std::nullopt
/// for any other expression.
std::optional<Factors> readSum(AffineExpr expr);

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_COPIES_COPYTILES_H
