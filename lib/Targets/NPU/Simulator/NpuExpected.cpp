//===- NpuExpected.cpp - Checks of moved bytes ----------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Checks that commands move each byte of a declared copy to its place. The
// program numbers the bytes of a local tensor by element and position in the
// element (numberElements); the number of a byte of system memory is its
// address relative to the operand. A relation states which numbers of the
// destination and the sources belong together. A command that moves a byte
// between other numbers is an error, whatever strides it has.
//
//===----------------------------------------------------------------------===//

#include "NpuMemory.h"
#include <algorithm>

using namespace mlir::npu;

void Simulator::numberElements(const Operand &elements, const Box &shape,
                               int64_t elementBytes, int64_t first,
                               const Box &strides) {
  std::vector<Run> runs;
  declareElements(elements, shape, elementBytes);
  if (!elements.isLocal ||
      !collectRuns(elements, shape, elementBytes, "a declared tensor", runs))
    return;
  // The runs have the elements in the order of the box.
  size_t at = 0;
  int64_t used = 0;
  for (int64_t n = 0; n < shape[0]; ++n)
    for (int64_t c = 0; c < shape[1]; ++c)
      for (int64_t h = 0; h < shape[2]; ++h)
        for (int64_t w = 0; w < shape[3]; ++w) {
          const Run &run = runs[at];
          auto *tensor = const_cast<Tensor *>(findTensor(run));
          if (!tensor)
            return; // already reported
          if (tensor->numbers.empty())
            tensor->numbers.resize(chip.npus);
          std::unique_ptr<int32_t[]> &numbers = tensor->numbers[run.core];
          if (!numbers)
            numbers.reset(new int32_t[tensor->bytes]());
          int64_t number = first + n * strides[0] + c * strides[1] +
                           h * strides[2] + w * strides[3];
          int32_t *place = numbers.get() + (run.byte + used - tensor->byte);
          for (int64_t b = 0; b < elementBytes; ++b)
            place[b] = int32_t(number + b + 1);
          used += elementBytes;
          if (used == run.bytes) {
            used = 0;
            ++at;
          }
        }
}

void Simulator::expect(Relation relation) {
  if (expected)
    report("the program declares a copy inside another");
  if (relation.sizes.size() > Relation::kMaxRank)
    return report("the program declares a copy of more than " +
                  std::to_string(Relation::kMaxRank) + " dims");
  expected = std::make_unique<Expected>();
  if (computation) {
    // The first side is the image of the operand, whose bytes are numbered in
    // row-major order.
    Relation::Side image;
    int64_t stride = 1;
    image.strides.resize(relation.sizes.size());
    for (size_t d = relation.sizes.size(); d-- > 0;) {
      image.strides[d] = stride;
      stride *= relation.sizes[d];
    }
    relation.sides.insert(relation.sides.begin(), image);
  }
  for (int64_t size : relation.sizes)
    expected->total *= size;
  size_t rank = relation.sizes.size();
  for (size_t d = rank; d-- > 0;) {
    if (relation.sizes[d] == 1)
      continue;
    bool follows = true;
    for (const Relation::Side &side : relation.sides)
      follows &= side.strides[d] == expected->block;
    if (!follows)
      break;
    expected->block *= relation.sizes[d];
  }
  for (size_t d = 0; d < rank; ++d)
    if (relation.sizes[d] > 1)
      expected->order.push_back(d);
  const std::vector<int64_t> &strides = relation.sides[0].strides;
  std::stable_sort(expected->order.begin(), expected->order.end(),
                   [&](size_t a, size_t b) { return strides[a] > strides[b]; });
  expected->covered.assign(expected->total, 0);
  expected->relation = std::move(relation);
}

void Simulator::endExpected() {
  if (!expected)
    return report("the program ends a copy that it did not declare");
  if (expected->moved != expected->total)
    report("commands reached " + std::to_string(expected->moved) +
           " bytes of the " + std::to_string(expected->total) +
           " that the program declared");
  expected.reset();
}

bool Simulator::getNumbers(const Run &run, const Relation::Side &side,
                           const char *what, Numbers &numbers) {
  if ((run.core >= 0) != side.isLocal) {
    report(std::string(what) +
           " is not in the memory that the program declared");
    return false;
  }
  if (!side.isLocal) {
    numbers.first = int64_t(run.memory->base + run.byte - side.address);
    return true;
  }
  const Tensor *tensor = findTensor(run);
  if (!tensor || tensor->address != side.address || tensor->numbers.empty() ||
      !tensor->numbers[run.core]) {
    report(std::string(what) + " has " + describe(run) +
           ", which is not an element of the tensor at address " +
           std::to_string(side.address));
    return false;
  }
  numbers.ofBytes = tensor->numbers[run.core].get() + (run.byte - tensor->byte);
  return true;
}

/// Returns the index of the first of `bytes` contiguous bytes that must not be
/// moved, or -1 if there is none. Such a byte was moved before, or its number
/// in the destination is none that the program declared. Unless `side` is 0,
/// its number in source `side` must also be the declared one. Marks the bytes
/// before it as moved if `side` is at most 1; calls for further sources only
/// check numbers.
int64_t Simulator::findStray(const Numbers &dest, const Numbers &source,
                             size_t side, int64_t bytes) {
  const Relation &relation = expected->relation;
  const Relation::Side &to = relation.sides[0], &from = relation.sides[side];
  for (int64_t i = 0; i < bytes;) {
    int64_t rest = dest.get(i) - to.first, linear = 0, number = from.first;
    // The strides of the destination are those of a box in a row-major tensor,
    // so dividing by them in falling order yields the index.
    int64_t index[Relation::kMaxRank] = {0};
    for (size_t d : expected->order) {
      index[d] = to.strides[d] > 0 ? rest / to.strides[d] : 0;
      if (rest < 0 || index[d] >= relation.sizes[d])
        return i;
      rest -= index[d] * to.strides[d];
      number += index[d] * from.strides[d];
    }
    if (rest != 0)
      return i;
    for (size_t d = 0; d < relation.sizes.size(); ++d)
      linear = linear * relation.sizes[d] + index[d];
    int64_t most =
        std::min(expected->block - linear % expected->block, bytes - i);
    int64_t together = 1;
    while (together < most && dest.get(i + together) == dest.get(i) + together)
      ++together;
    for (int64_t k = 0; side && k < together; ++k)
      if (source.get(i + k) != number + k)
        return i + k;
    if (side <= 1) {
      uint8_t *covered = expected->covered.data() + linear;
      for (int64_t k = 0; k < together; ++k)
        if (covered[k]++)
          return i + k;
      expected->moved += together;
    }
    i += together;
  }
  return -1;
}

bool Simulator::checkExpected(const std::vector<Run> &dest,
                              const std::vector<Run> *source, size_t side,
                              const char *what) {
  if (!expected)
    return true;
  const std::vector<Relation::Side> &sides = expected->relation.sides;
  if (side >= sides.size()) {
    report(std::string(what) +
           " is an operand that the program did not declare");
    return false;
  }
  size_t other = 0;
  int64_t used = 0; // bytes of source run `other` that are checked
  for (const Run &run : dest) {
    for (int64_t at = 0; at < run.bytes;) {
      int64_t bytes = run.bytes - at;
      Run part{run.memory, run.core, run.byte + at, bytes}, partner = part;
      if (source) {
        partner = (*source)[other];
        partner.byte += used;
        bytes = std::min(bytes, partner.bytes - used);
        part.bytes = partner.bytes = bytes;
      }
      Numbers to, from;
      if (!getNumbers(part, sides[0], "the destination", to) ||
          (source && !getNumbers(partner, sides[side], what, from)))
        return false;
      int64_t stray = findStray(to, from, source ? side : 0, bytes);
      if (stray >= 0) {
        part.byte += stray;
        partner.byte += stray;
        report("the destination has " + describe(part) +
               (source ? " for " + describe(partner) : std::string()) +
               ", which is a wrong element or was reached before");
        return false;
      }
      at += bytes;
      used += bytes;
      if (source && used == (*source)[other].bytes) {
        used = 0;
        ++other;
      }
    }
  }
  return true;
}

bool Simulator::checkExpectedImage(const Run &run, int64_t place,
                                   const char *what) {
  if (!expected)
    return true;
  Numbers image, numbers;
  image.first = place;
  if (expected->relation.sides.size() != 2) {
    report(std::string(what) +
           " is an operand that the program did not declare");
    return false;
  }
  if (!getNumbers(run, expected->relation.sides[1], what, numbers))
    return false;
  int64_t stray = findStray(image, numbers, 1, run.bytes);
  if (stray < 0)
    return true;
  report(std::string(what) + " has " +
         describe({run.memory, run.core, run.byte + stray, 1}) +
         ", which is a wrong element or was reached before");
  return false;
}
