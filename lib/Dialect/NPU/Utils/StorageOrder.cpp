//===- StorageOrder.cpp - Linear memory in the order of local memory ------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Dialect/NPU/Utils/StorageOrder.h"
#include "DimLoops.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVectorExtras.h"

using namespace mlir::npu;
using namespace mlir::layout;

namespace {
/// A digit of a dim, and the step in local memory from one of its positions to
/// the next.
struct StoredDigit {
  BoundedIndex value;
  LoopStep step;
};
} // namespace

/// Returns true if `index` of dim `d`, the first one after the indices of
/// `loop`, which start at 0, has the position that a further iteration of
/// `loop` would have.
static bool continues(const Loop &loop, const DimTables &local, size_t d,
                      int64_t index) {
  const LoopStep &step = loop.side.front();
  Position first{local.cores.start, local.offsets.start};
  Position next = advance(first, step, local.npus, loop.extent);
  return next.core == first.core + local.cores.get(d, index) &&
         next.offset == first.offset + local.offsets.get(d, index);
}

/// Appends the digits of dim `d`, fastest first: one for each of the nested
/// loops that splitDim finds for the first indices of the dim. The indices
/// after these are further iterations of the outermost loop if they continue
/// its steps, or else a further digit.
static void appendDigits(const DimTables &local, size_t d, int64_t size,
                         std::vector<StoredDigit> &digits) {
  std::vector<Loop> loops = splitDim(local, d, size).front().loops;
  int64_t inner = 1;
  BoundedIndex dim = BoundedIndex::dim(d);
  for (size_t i = loops.size(); i-- > 0;) {
    const Loop &loop = loops[i];
    int64_t end = inner * loop.extent;
    bool isOutermost =
        i == 0 && (end >= size || continues(loop, local, d, end));
    BoundedIndex value = floorDiv(dim, inner);
    digits.push_back(
        {isOutermost ? value : mod(value, loop.extent), loop.side.front()});
    if (isOutermost)
      return;
    inner = end;
  }
  if (inner >= size)
    return;
  LoopStep step;
  step.scattered = local.cores.get(d, inner) != 0;
  step.stride = local.offsets.get(d, inner);
  digits.push_back({floorDiv(dim, inner), step});
}

std::optional<LayoutMap> mlir::npu::getStorageOrder(const LayoutMap &local,
                                                    Sizes sizes, int64_t npus,
                                                    FailureReason error) {
  DimTables tables;
  if (!tables.compute(local, sizes, npus, error))
    return std::nullopt;
  std::vector<StoredDigit> digits;
  for (auto [d, size] : llvm::enumerate(sizes))
    appendDigits(tables, d, size, digits);
  llvm::stable_sort(digits, [](const StoredDigit &a, const StoredDigit &b) {
    if (a.step.scattered != b.step.scattered)
      return a.step.scattered;
    return a.step.stride > b.step.stride;
  });
  BoundedIndex offset = group(llvm::map_to_vector(
      digits, [](const StoredDigit &digit) { return digit.value; }));
  return LayoutMap::get(sizes.size(), "buffer",
                        {{"offset", offset.value, offset.extent}});
}
