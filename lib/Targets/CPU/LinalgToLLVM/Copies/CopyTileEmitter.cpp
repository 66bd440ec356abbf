//===- CopyTileEmitter.cpp - The vectors of one tile of a copy ------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Copies/CopyTileEmitter.h"
#include "LLVM/VectorMasks.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/bit.h"

using namespace mlir;
using namespace mlir::layout;

Value CopyTileEmitter::index(int64_t value) {
  return arith::ConstantIndexOp::create(b, loc, value);
}

Value CopyTileEmitter::add(Value a, Value b) {
  return arith::AddIOp::create(this->b, loc, a, b);
}

Value CopyTileEmitter::multiply(Value a, Value b) {
  return arith::MulIOp::create(this->b, loc, a, b);
}

Value CopyTileEmitter::toBits(Value row) {
  auto type = cast<VectorType>(row.getType()).cloneWith({}, bits);
  return b.createOrFold<vector::BitCastOp>(loc, type, row);
}

Value CopyTileEmitter::load(Value position, int64_t size) {
  auto type = VectorType::get({size}, element);
  return toBits(vector::LoadOp::create(b, loc, type, in.memory, position));
}

Value CopyTileEmitter::makePadding(int64_t size) {
  auto type = VectorType::get({size}, element);
  return toBits(vector::BroadcastOp::create(b, loc, type, padding));
}

Value CopyTileEmitter::loadRow(int64_t row, int64_t column, int64_t size) {
  // Rows after the last one repeat it and are not written.
  if (tile.padding == 0)
    return load(source(std::min(row, tile.rows - 1), column), size);
  if (row < tile.rows - tile.padding)
    return load(source(row, column), size);
  return makePadding(size);
}

Value CopyTileEmitter::loadPadded(int64_t row, int64_t start, int64_t size) {
  int64_t end = tile.columns;
  if (start + size <= end)
    return load(source(row, start), size);
  if (start >= end)
    return makePadding(size);
  // Loads end with the segment and start within it.
  int64_t part = llvm::bit_floor<uint64_t>(std::min(end, size));
  Value last = load(source(row, end - part), part);
  int64_t skipped = start + part - end;
  if (part == size)
    return shuffles.shuffle(last, makePadding(size), size, [&](int64_t i) {
      return std::min(i + skipped, size);
    });
  Value both = shuffles.concat({load(source(row, 0), part), last});
  return shuffles.shuffle(both, makePadding(size), size, [&](int64_t i) {
    return i < part ? i : std::min(i + skipped + part, 2 * part);
  });
}

void CopyTileEmitter::store(Value row, Value position) {
  auto type = cast<VectorType>(row.getType()).cloneWith({}, element);
  row = b.createOrFold<vector::BitCastOp>(loc, type, row);
  llvm::MaybeAlign alignment;
  if (tile.streams)
    alignment = llvm::Align(type.getNumElements() *
                            element.getIntOrFloatBitWidth() / 8);
  vector::StoreOp::create(b, loc, row, out.memory, position, tile.streams,
                          alignment);
}

void CopyTileEmitter::storeFirst(Value row, int64_t size, Value position) {
  auto type = cast<VectorType>(row.getType()).cloneWith({}, element);
  if (size >= type.getNumElements())
    return store(row, position);
  Value mask = makeMask(b, loc, type, size);
  vector::MaskedStoreOp::create(
      b, loc, out.memory, position, mask,
      b.createOrFold<vector::BitCastOp>(loc, type, row));
}

Value CopyTileEmitter::source(int64_t row, int64_t column) {
  return add(add(in.base, index(column)),
             multiply(index(row), in.strides[tile.rowDigit]));
}

Value CopyTileEmitter::result(int64_t column) {
  Value position = out.base;
  if (tile.columnDigits.size() == 1)
    return add(position,
               multiply(index(column), out.strides[tile.columnDigits[0]]));
  // The column is `first + more`, where `first` is a multiple of `step`.
  Value first = firstColumn;
  int64_t more = column, step = tile.columns;
  for (unsigned digit : tile.columnDigits) {
    int64_t extent = tile.digits[digit].extent;
    Value number;
    if (digit == tile.columnDigits.back()) {
      number = add(first, index(more));
    } else if (step % extent == 0) {
      number = index(more % extent);
      first = arith::DivUIOp::create(b, loc, first, index(extent));
      more /= extent;
      step /= extent;
    } else {
      Value whole = add(first, index(more));
      number = arith::RemUIOp::create(b, loc, whole, index(extent));
      first = arith::DivUIOp::create(b, loc, whole, index(extent));
      more = 0;
      step = 1;
    }
    position = add(position, multiply(number, out.strides[digit]));
  }
  return position;
}

void CopyTileEmitter::emit(CopySide in, CopySide out, Value firstColumn) {
  this->in = std::move(in);
  this->out = std::move(out);
  this->firstColumn = firstColumn;
  switch (tile.strategy) {
  case CopyTile::Strategy::Memcpy:
    return emitMemcpy();
  case CopyTile::Strategy::SquareTranspose:
    return emitSquareTransposes();
  case CopyTile::Strategy::Interleave:
  case CopyTile::Strategy::Deinterleave:
    return emitWoven();
  case CopyTile::Strategy::Staged:
    llvm_unreachable("a block that is staged is two copies");
  }
}

/// Returns the starts of the steps of `size` elements that cover `extent`
/// elements. The last step may overlap the one before.
static SmallVector<int64_t> getStarts(int64_t extent, int64_t size) {
  SmallVector<int64_t> starts;
  for (int64_t start = 0; start < extent; start += size)
    starts.push_back(std::min(start, extent - size));
  return starts;
}

void CopyTileEmitter::emitMemcpy() {
  int64_t run = tile.columnDigits.size() > 1
                    ? tile.digits[tile.columnDigits[0]].extent
                    : tile.columns + tile.padding;
  int64_t size = llvm::bit_floor<uint64_t>(std::min(run, tile.vectorSize));
  // Segments that are consecutive in the result are stored together.
  int64_t together =
      size == run ? std::min(tile.rows, tile.vectorSize / size) : 1;
  auto copy = [&](int64_t row, int64_t column) {
    for (int64_t start : getStarts(run, size)) {
      SmallVector<Value> parts;
      for (int64_t i = 0; i < together; ++i)
        parts.push_back(tile.padding != 0
                            ? loadPadded(row + i, start, size)
                            : load(source(row + i, column + start), size));
      store(shuffles.concat(parts),
            add(result(column), index(row * run + start)));
    }
  };
  // Read along source rows, unless a vector has parts of several rows.
  if (together == 1) {
    for (int64_t row = 0; row < tile.rows; ++row)
      for (int64_t column = 0; column < tile.columns; column += run)
        copy(row, column);
    return;
  }
  for (int64_t column = 0; column < tile.columns; column += run)
    for (int64_t row = 0; row < tile.rows; row += together)
      copy(row, column);
}

void CopyTileEmitter::emitSquareTransposes() {
  int64_t lane =
      std::min<int64_t>(kLaneBytes * 8 / bits.getIntOrFloatBitWidth(),
                        llvm::bit_floor<uint64_t>(tile.columns));
  int64_t rows = tile.getSquareRows();
  // If there are few rows, a register also holds those of adjacent columns.
  int64_t width = lane;
  if (rows <= lane || tile.fillsRegisters())
    width = llvm::bit_floor<uint64_t>(std::min(
        tile.columns, tile.vectorSize / std::max<int64_t>(rows / lane, 1)));
  bool isSquare = tile.loadSize > lane || tile.getRowsPerLoad() > 1;
  if (isSquare)
    width = tile.loadSize;
  SmallVector<Part> parts;
  int64_t addedColumns = 0;
  for (int64_t column : getStarts(tile.columns, width)) {
    for (int64_t row = 0; row < tile.rows; row += rows) {
      SmallVector<Part> added;
      if (isSquare)
        transposeSquare(row, column, lane, added);
      else
        transposeLanes(row, column, width, lane, added);
      // The last columns may overlap the previous ones.
      llvm::copy_if(added, std::back_inserter(parts), [&](const Part &part) {
        return part.column >= addedColumns;
      });
      if (tile.fillsRegisters())
        storeJoined(parts);
      else if ((row + rows) % std::max(tile.rowsTogether, rows) == 0)
        storeParts(parts);
    }
    addedColumns = column + width;
  }
  storeParts(parts);
}

void CopyTileEmitter::storeJoined(SmallVectorImpl<Part> &parts) {
  int64_t rows = tile.rows, size = tile.vectorSize;
  llvm::MapVector<int64_t, SmallVector<std::pair<int64_t, Part>>> registers;
  for (const Part &part : parts) {
    int64_t offset = *tile.getOffset(part.column);
    registers[offset / size].emplace_back(offset, part);
  }
  parts.clear();
  for (auto &[number, group] : registers) {
    llvm::sort(group, llvm::less_first());
    int64_t first = group[0].first;
    bool isWhole =
        int64_t(group.size()) * rows == size &&
        llvm::all_of(llvm::enumerate(group), [&](const auto &it) {
          return it.value().first == first + int64_t(it.index()) * rows;
        });
    if (!isWhole) {
      llvm::append_range(parts, llvm::make_second_range(group));
      continue;
    }
    SmallVector<VectorShuffles::Slice> slices;
    for (auto &[offset, part] : group)
      llvm::append_range(slices, part.rows);
    store(shuffles.join(slices), result(group[0].second.column));
  }
}

void CopyTileEmitter::storeParts(SmallVectorImpl<Part> &parts) {
  if (tile.rowsTogether != 0)
    llvm::stable_sort(parts, [](const Part &a, const Part &b) {
      return a.column < b.column;
    });
  for (const Part &part : parts)
    storeFirst(shuffles.join(part.rows), tile.rows - part.row,
               add(result(part.column), index(part.row)));
  parts.clear();
}

void CopyTileEmitter::transposeLanes(int64_t row, int64_t column, int64_t width,
                                     int64_t lane,
                                     SmallVectorImpl<Part> &parts) {
  int64_t rows = tile.getSquareRows();
  int64_t registers = std::min(rows, lane);
  auto load = [&](int64_t number) {
    SmallVector<Value> lanes;
    for (int64_t part = number; part < rows; part += registers)
      lanes.push_back(loadRow(row + part, column, width));
    return shuffles.concat(lanes);
  };
  addParts(row, column, lane,
           shuffles.interleaveLanes(0, registers, lane, load), parts);
}

void CopyTileEmitter::transposeSquare(int64_t row, int64_t column, int64_t lane,
                                      SmallVectorImpl<Part> &parts) {
  int64_t lanes = tile.loadSize / lane, rows = tile.getRowsPerLoad();
  int64_t size = rows * tile.loadSize, together = tile.vectorSize / size;
  SmallVector<SmallVector<Value>> squares(lanes);
  for (int64_t i = 0; i < lane; i += rows) {
    SmallVector<Value> loads, registers;
    for (int64_t part = i; part < tile.vectorSize; part += lane)
      loads.push_back(loadRow(row + part, column, size));
    for (ArrayRef<Value> left = loads; !left.empty();
         left = left.drop_front(together))
      registers.push_back(shuffles.concat(left.take_front(together)));
    for (auto [number, part] :
         llvm::enumerate(shuffles.gatherLanes(registers, lane)))
      squares[number % lanes].push_back(part);
  }
  for (auto [number, square] : llvm::enumerate(squares))
    addParts(row, column + number * lane, lane,
             shuffles.interleaveLanes(0, lane, lane,
                                      [&](int64_t i) { return square[i]; }),
             parts);
}

void CopyTileEmitter::addParts(int64_t row, int64_t column, int64_t lane,
                               ArrayRef<Value> registers,
                               SmallVectorImpl<Part> &parts) {
  int64_t size = cast<VectorType>(registers[0].getType()).getNumElements();
  int64_t rows = tile.getSquareRows();
  int64_t run = std::min(rows, lane), width = size / rows * run;
  for (auto [number, whole] : llvm::enumerate(registers))
    for (int64_t at = 0; at < width; at += run) {
      int64_t more = at / lane * lane + (number * lane + at % lane) / run;
      parts.push_back({column + more, row, {}});
      for (int64_t start = at; start < size; start += width)
        parts.back().rows.push_back({whole, start, run});
    }
}

void CopyTileEmitter::emitWoven() {
  bool joins = tile.strategy == CopyTile::Strategy::Interleave;
  int64_t few = joins ? tile.rows : tile.columns, size = tile.vectorSize;
  SmallVector<Value> parts;
  if (tile.interleavesLanes) {
    // Processes one lane at a time, a row of `few` lanes.
    int64_t lane = kLaneBytes * 8 / bits.getIntOrFloatBitWidth();
    for (int64_t i = 0; i < few; ++i) {
      if (joins) {
        parts.push_back(load(source(i, 0), size));
        continue;
      }
      SmallVector<Value> lanes;
      for (int64_t at = i * lane; at < few * size; at += few * lane)
        lanes.push_back(load(source(0, at), lane));
      parts.push_back(shuffles.concat(lanes));
    }
    parts = joins ? shuffles.interleaveParts(parts, lane)
                  : shuffles.deinterleaveParts(parts, lane);
    for (auto [i, part] : llvm::enumerate(parts)) {
      if (!joins) {
        store(part, result(i));
        continue;
      }
      for (int64_t at = 0; at < size; at += lane)
        store(shuffles.slice(part, at, lane),
              add(out.base, index(at * few + i * lane)));
    }
    return;
  }
  for (int64_t i = 0; i < few; ++i)
    parts.push_back(load(joins ? source(i, 0) : source(0, i * size), size));
  SmallVector<Value> results =
      shuffles.shuffleParts(parts, [&](int64_t number, int64_t e) {
        int64_t at = joins ? number * size + e : e * few + number;
        int64_t in = joins ? few : size;
        return joins ? VectorShuffles::Place{size_t(at % in), at / in}
                     : VectorShuffles::Place{size_t(at / in), at % in};
      });
  for (auto [number, part] : llvm::enumerate(results))
    store(part, joins ? add(out.base, index(number * size)) : result(number));
}
