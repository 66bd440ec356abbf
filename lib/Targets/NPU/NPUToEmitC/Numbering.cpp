//===- Numbering.cpp - Numbers of the bytes of a tensor -------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Numbering.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Dialect/NPU/IR/Storage.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"

using namespace mlir;
using namespace mlir::npu;

/// Returns the numbers of the bytes of a memref that is not a view: row-major
/// positions in local memory, and offsets by the strides of the type in system
/// memory. Returns std::nullopt for dynamic shapes and elements without whole
/// bytes.
static std::optional<Numbering> getOwnNumbering(MemRefType type) {
  std::optional<int64_t> bytes = layout::getWholeBytes(type.getElementType());
  if (!bytes || !type.hasStaticShape())
    return std::nullopt;
  Numbering numbering;
  numbering.inside.push_back({*bytes, 1});
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  if (npu::isLocal(type)) {
    int64_t stride = 1;
    for (int64_t size : llvm::reverse(type.getShape())) {
      strides.push_back(stride);
      stride *= size;
    }
    std::reverse(strides.begin(), strides.end());
  } else if (failed(type.getStridesAndOffset(strides, offset))) {
    return std::nullopt;
  }
  numbering.first = offset * *bytes;
  for (int64_t stride : strides)
    numbering.strides.push_back(stride * *bytes);
  return numbering;
}

static std::optional<Numbering> getSlice(Numbering numbering, SubViewOp op) {
  for (auto [stride, offset, step] :
       llvm::zip_equal(numbering.strides, op.getOffsets(), op.getStrides())) {
    numbering.first += offset * stride;
    stride *= step;
  }
  return numbering;
}

/// Returns the numbering after dims are expanded or collapsed from shape `from`
/// to shape `to`, or std::nullopt if collapsed dims are not contiguous.
static std::optional<Numbering>
getReshape(Numbering numbering, ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  bool expands = to.size() > from.size();
  ArrayRef<int64_t> large = expands ? to : from;
  std::optional<SmallVector<ReassociationIndices>> groups =
      getReassociationIndicesForCollapse(large, expands ? from : to);
  if (!groups)
    return std::nullopt;
  SmallVector<int64_t> strides(to.size());
  for (auto [small, group] : llvm::enumerate(*groups)) {
    std::optional<int64_t> first, next; // strides: innermost dim, next dim
    if (expands)
      next = numbering.strides[small];
    for (int64_t d : llvm::reverse(group)) {
      if (expands) {
        strides[d] = *next;
      } else if (large[d] > 1) {
        if (next.value_or(numbering.strides[d]) != numbering.strides[d])
          return std::nullopt;
        next = numbering.strides[d];
        first = first.value_or(*next);
      }
      if (next)
        *next *= large[d];
    }
    if (!expands)
      strides[small] = first.value_or(0);
  }
  numbering.strides = strides;
  return numbering;
}

static std::optional<Numbering> getView(Numbering numbering, ViewOp op) {
  auto from = cast<MemRefType>(op.getSource().getType());
  auto to = cast<MemRefType>(op.getResult().getType());
  int64_t fromBytes = *layout::getWholeBytes(from.getElementType());
  int64_t toBytes = *layout::getWholeBytes(to.getElementType());
  SmallVector<int64_t> &strides = numbering.strides;
  if (fromBytes == toBytes && from.getShape() == to.getShape())
    return numbering;
  // The `lanes` elements of a storage unit, packed from dim 0, become one wide
  // element.
  if (toBytes > fromBytes && numbering.inside.size() == 1) {
    int64_t lanes = toBytes / fromBytes;
    numbering.inside.insert(numbering.inside.begin(), {lanes, strides[0]});
    strides[0] *= lanes;
    return numbering;
  }
  if (fromBytes != toBytes)
    return std::nullopt;
  if (from.getNumElements() == to.getNumElements())
    return getReshape(std::move(numbering), from.getShape(), to.getShape());
  // A 2-D matrix becomes 4-D: rows, channels, 1, and the columns of a channel,
  // of which the last channel may have fewer.
  if (from.getRank() == 2 && to.getRank() == 4) {
    int64_t row = strides[0], column = strides[1];
    strides = {row, to.getDimSize(3) * column, 0, column};
    return numbering;
  }
  if (from.getRank() == 4 && to.getRank() == 2 &&
      strides[1] == from.getDimSize(3) * strides[3]) {
    strides = {strides[0], strides[3]};
    return numbering;
  }
  return std::nullopt;
}

std::optional<Numbering> npu::getNumbering(Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  Operation *op = memref.getDefiningOp();
  if (!npu::isLocal(type) || !isa_and_present<SubViewOp, ViewOp>(op))
    return getOwnNumbering(type);
  std::optional<Numbering> source = getNumbering(op->getOperand(0));
  if (!source)
    return std::nullopt;
  if (auto slice = dyn_cast<SubViewOp>(op))
    return getSlice(std::move(*source), slice);
  return getView(std::move(*source), cast<ViewOp>(op));
}

bool npu::splitAlike(MutableArrayRef<Numbering> numberings) {
  SmallVector<std::pair<int64_t, int64_t>> finest;
  for (const Numbering &numbering : numberings)
    if (numbering.inside.size() > finest.size())
      finest = numbering.inside;
  for (Numbering &numbering : numberings) {
    if (numbering.inside.size() == 1) {
      // The bytes of one element are contiguous.
      int64_t stride = 1, bytes = numbering.inside[0].first;
      SmallVector<std::pair<int64_t, int64_t>> split;
      for (auto [size, _] : llvm::reverse(finest)) {
        split.insert(split.begin(), {size, stride});
        stride *= size;
      }
      if (stride != bytes)
        return false;
      numbering.inside = split;
    }
    if (llvm::map_to_vector(numbering.inside, [](auto dim) {
          return dim.first;
        }) != llvm::map_to_vector(finest, [](auto dim) { return dim.first; }))
      return false;
  }
  return true;
}
