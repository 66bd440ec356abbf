//===- OwnedBytes.cpp - Bytes of the cores that a tensor owns -------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Dialect/NPU/Utils/OwnedBytes.h"
#include <algorithm>

using namespace mlir::npu;

static std::pair<int64_t, int64_t> getKey(const Bytes &bytes) {
  return {bytes.core, bytes.begin};
}

void mlir::npu::normalize(OwnedBytes &bytes) {
  std::sort(bytes.begin(), bytes.end(), [](const Bytes &a, const Bytes &b) {
    return getKey(a) < getKey(b);
  });
  size_t kept = 0;
  for (const Bytes &next : bytes) {
    if (kept && bytes[kept - 1].core == next.core &&
        next.begin <= bytes[kept - 1].end)
      bytes[kept - 1].end = std::max(bytes[kept - 1].end, next.end);
    else
      bytes[kept++] = next;
  }
  bytes.resize(kept);
}

namespace {
/// Collects the collisions of byte ranges of tensor `a` with byte ranges of
/// tensor `b` in the same core.
struct Collisions {
  std::optional<SharedBytes> shared;

  void add(const Bytes &a, const Bytes &b, int64_t byteOfA, int64_t byteOfB) {
    int64_t begin = std::max(a.begin + byteOfA, b.begin + byteOfB);
    int64_t end = std::min(a.end + byteOfA, b.end + byteOfB);
    if (begin >= end)
      return;
    // With `a` at byte `next`, this range of `a` begins at the end of that of
    // `b`.
    int64_t next = b.end + byteOfB - a.begin;
    if (!shared)
      shared = {{std::max(a.core, b.core), begin, end}, next};
    shared->next = std::max(shared->next, next);
  }
};
} // namespace

std::optional<SharedBytes> mlir::npu::findShared(const OwnedBytes &a,
                                                 int64_t byteOfA,
                                                 const OwnedBytes &b,
                                                 int64_t byteOfB) {
  Collisions found;
  auto isEverywhere = [](const OwnedBytes &bytes) {
    return !bytes.empty() && bytes.front().core == kEveryCore;
  };
  if (isEverywhere(a) || isEverywhere(b)) {
    // A tensor that owns bytes of every core owns a single range.
    for (const Bytes &x : a)
      for (const Bytes &y : b)
        found.add(x, y, byteOfA, byteOfB);
    return found.shared;
  }
  for (auto x = a.begin(), y = b.begin(); x != a.end() && y != b.end();) {
    if (x->core == y->core)
      found.add(*x, *y, byteOfA, byteOfB);
    if (std::pair(x->core, x->end + byteOfA) <
        std::pair(y->core, y->end + byteOfB))
      ++x;
    else
      ++y;
  }
  return found.shared;
}
