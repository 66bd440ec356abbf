//===- VectorShuffles.cpp - Transpositions in registers -------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Copies/VectorShuffles.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::layout;

static int64_t getSize(Value vector) {
  return cast<VectorType>(vector.getType()).getNumElements();
}

Value VectorShuffles::shuffle(Value a, Value b, int64_t size,
                              function_ref<int64_t(int64_t)> element) {
  SmallVector<int64_t> mask;
  for (int64_t i = 0; i < size; ++i)
    mask.push_back(element(i));
  return vector::ShuffleOp::create(this->b, loc, a, b, mask);
}

Value VectorShuffles::slice(Value vector, int64_t start, int64_t size) {
  if (size == getSize(vector))
    return vector;
  return shuffle(vector, vector, size, [&](int64_t e) { return start + e; });
}

Value VectorShuffles::concat(ArrayRef<Value> parts) {
  if (parts.size() == 1)
    return parts.front();
  Value low = concat(parts.take_front(parts.size() / 2));
  Value high = concat(parts.drop_front(parts.size() / 2));
  return shuffle(low, high, 2 * getSize(low), [](int64_t e) { return e; });
}

Value VectorShuffles::join(ArrayRef<Slice> parts) {
  int64_t size = parts[0].size, total = parts.size() * size;
  llvm::SmallSetVector<Value, 4> vectors;
  for (const Slice &part : parts)
    vectors.insert(part.vector);
  if (vectors.size() == 1 && total == getSize(vectors[0]) &&
      llvm::all_of(llvm::enumerate(parts), [&](auto part) {
        return part.value().start == int64_t(part.index()) * size;
      }))
    return vectors[0];
  if (vectors.size() <= 2) {
    int64_t first = getSize(vectors[0]);
    return shuffle(vectors[0], vectors.back(), total, [&](int64_t e) {
      const Slice &part = parts[e / size];
      return part.start + e % size + (part.vector == vectors[0] ? 0 : first);
    });
  }
  size_t half = parts.size() / 2;
  return concat({join(parts.take_front(half)), join(parts.drop_front(half))});
}

SmallVector<Value>
VectorShuffles::interleaveLanes(int64_t first, int64_t count, int64_t lane,
                                function_ref<Value(int64_t)> part) {
  if (count == 1)
    return {part(first)};
  int64_t run = count / 2;
  SmallVector<Value> upper = interleaveLanes(first, run, lane, part);
  SmallVector<Value> lower = interleaveLanes(first + run, run, lane, part);
  SmallVector<Value> results;
  int64_t size = getSize(upper[0]);
  for (auto [a, b] : llvm::zip_equal(upper, lower))
    for (int64_t half : {int64_t(0), lane / 2})
      results.push_back(shuffle(a, b, size, [&](int64_t e) {
        int64_t at = e % lane / run;
        return e / lane * lane + half + at / 2 * run + e % run + at % 2 * size;
      }));
  return results;
}

SmallVector<Value> VectorShuffles::gatherLanes(ArrayRef<Value> rows,
                                               int64_t lane) {
  SmallVector<Value> registers(rows);
  int64_t size = getSize(rows[0]);
  for (size_t round = 1; round < rows.size(); round *= 2) {
    SmallVector<Value> next;
    for (int64_t odd : {0, 1})
      for (size_t i = 0; i < rows.size(); i += 2)
        next.push_back(
            shuffle(registers[i], registers[i + 1], size, [&](int64_t e) {
              return (2 * (e / lane) + odd) * lane + e % lane;
            }));
    registers = std::move(next);
  }
  return registers;
}

SmallVector<Value>
VectorShuffles::shuffleParts(ArrayRef<Value> parts,
                             function_ref<Place(int64_t, int64_t)> from) {
  SmallVector<Value> results;
  int64_t size = getSize(parts[0]);
  for (size_t i = 0; i < parts.size(); ++i) {
    Value sum = parts[0];
    for (size_t part = 1; part < parts.size(); ++part)
      sum = shuffle(sum, parts[part], size, [&](int64_t e) -> int64_t {
        Place place = from(i, e);
        if (place.part == part)
          return size + place.element;
        // Elements placed by an earlier step stay.
        return part == 1 ? place.element : e;
      });
    results.push_back(sum);
  }
  return results;
}

/// Returns how many of `parts` vectors are interleaved, or deinterleaved, at a
/// time: 3 of nine, because two rounds of three take fewer shuffles, else all
/// of them.
static int64_t getFactor(int64_t parts) { return parts == 9 ? 3 : parts; }

SmallVector<Value> VectorShuffles::deinterleaveParts(ArrayRef<Value> parts,
                                                     int64_t lane) {
  int64_t count = parts.size(), factor = getFactor(count);
  int64_t size = getSize(parts[0]);
  SmallVector<SmallVector<Value>> rows(factor);
  for (int64_t first = 0; first < count; first += factor)
    for (int64_t j = 0; j < factor; ++j) {
      Value blend = parts[first];
      for (int64_t k = 1; k < factor; ++k)
        blend = shuffle(blend, parts[first + k], size, [&](int64_t e) {
          return (k * lane + e % lane) % factor == j ? size + e : e;
        });
      rows[j].push_back(shuffle(blend, blend, size, [&](int64_t e) {
        return e / lane * lane + (e % lane * factor + j) % lane;
      }));
    }
  SmallVector<Value> results(count);
  for (auto [j, row] : llvm::enumerate(rows)) {
    if (row.size() > 1)
      row = deinterleaveParts(row, lane);
    for (auto [i, part] : llvm::enumerate(row))
      results[i * factor + j] = part;
  }
  return results;
}

SmallVector<Value> VectorShuffles::interleaveParts(ArrayRef<Value> parts,
                                                   int64_t lane) {
  int64_t count = parts.size(), factor = getFactor(count);
  int64_t size = getSize(parts[0]);
  SmallVector<SmallVector<Value>> rows;
  for (int64_t j = 0; j < factor; ++j) {
    SmallVector<Value> row;
    for (int64_t i = j; i < count; i += factor)
      row.push_back(parts[i]);
    if (row.size() > 1)
      row = interleaveParts(row, lane);
    SmallVector<int64_t> places(lane);
    for (int64_t e = 0; e < lane; ++e)
      places[(e * factor + j) % lane] = e;
    for (Value &part : row)
      part = shuffle(part, part, size, [&](int64_t e) {
        return e / lane * lane + places[e % lane];
      });
    rows.push_back(row);
  }
  SmallVector<Value> results;
  for (int64_t i = 0; i < count / factor; ++i)
    for (int64_t k = 0; k < factor; ++k) {
      Value blend = rows[0][i];
      for (int64_t j = 1; j < factor; ++j)
        blend = shuffle(blend, rows[j][i], size, [&](int64_t e) {
          return (k * lane + e % lane) % factor == j ? size + e : e;
        });
      results.push_back(blend);
    }
  return results;
}
