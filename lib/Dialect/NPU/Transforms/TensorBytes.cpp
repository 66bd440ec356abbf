//===- TensorBytes.cpp - The bytes of a tensor in local memory ------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorBytes.h"
#include "layout/Algebra/Box.h"
#include "layout/Algebra/Evaluator.h"
#include "layout/Algebra/Proof.h"
#include "layout/Dialect/NPU/IR/NPU.h"
#include "layout/Dialect/NPU/Utils/Tables.h"

using namespace mlir;
using namespace mlir::npu;
using namespace mlir::layout;

OwnedBytes npu::getRows(const Storage &storage, ArrayRef<int64_t> shape) {
  return {{kEveryCore, storage.scatter.getOffset(),
           getReservedBytes(storage, shape)}};
}

/// Returns the bytes of all elements, with contiguous elements of a core as one
/// range. Returns std::nullopt if a coordinate is not a sum of functions of
/// single dims, or if there are more than 2^20 ranges (kMaxPoints).
static std::optional<OwnedBytes> getPieces(const Storage &storage,
                                           ArrayRef<int64_t> shape) {
  LayoutMap map = storage.map.specialize(shape);
  ArrayRef<Coordinate> coordinates = map.getCoordinates();
  std::optional<Tables> cores = tabulate(coordinates[0].value, shape);
  std::optional<Tables> offsets = tabulate(coordinates[1].value, shape);
  if (!cores || !offsets)
    return std::nullopt;
  // `together` is the number of elements in the inner dims that are contiguous.
  int64_t together = 1;
  SmallVector<int64_t> outer(shape);
  for (int d = int(shape.size()) - 1; d >= 0; --d) {
    bool follows = cores->dims[d].empty();
    for (int64_t i = 0; follows && i < shape[d]; ++i)
      follows = offsets->get(d, i) == i * together;
    if (!follows)
      break;
    together *= shape[d];
    outer[d] = 1;
  }
  if (ShapedType::getNumElements(outer) > kMaxPoints)
    return std::nullopt;
  OwnedBytes bytes;
  int64_t size = storage.elementBytes;
  forEachIndex(outer, [&](ArrayRef<int64_t> index) {
    int64_t core = cores->start, offset = offsets->start;
    for (size_t d = 0; d < index.size(); ++d) {
      core += cores->get(d, index[d]);
      offset += offsets->get(d, index[d]);
    }
    bytes.push_back({core, offset * size, (offset + together) * size});
    return true;
  });
  normalize(bytes);
  return bytes;
}

OwnedBytes npu::getElements(const Storage &storage, ArrayRef<int64_t> shape) {
  int64_t count = ShapedType::getNumElements(shape);
  if (count == 0)
    return {};
  if (std::optional<OwnedBytes> pieces = getPieces(storage, shape))
    return *pieces;
  std::optional<Evaluator> evaluator =
      Evaluator::ofCoordinates(storage.map, shape);
  if (!evaluator || count > kMaxPoints)
    return getRows(storage, shape);
  OwnedBytes bytes;
  int64_t size = storage.elementBytes;
  forEachIndex(shape, [&](ArrayRef<int64_t> index) {
    int64_t at[2];
    evaluator->evaluate(index.data(), at);
    bytes.push_back({at[0], at[1] * size, (at[1] + 1) * size});
    return true;
  });
  normalize(bytes);
  return bytes;
}

FailureOr<OwnedBytes> npu::getOwnedBytes(AllocOp alloc, int64_t byte,
                                         bool exactBytes) {
  // A slice has no elements that its source lacks. A product writes whole
  // channels of its result.
  SmallVector<Value> memrefs{alloc.getMemref()}, open{alloc.getMemref()};
  while (exactBytes && !open.empty())
    for (Operation *user : open.pop_back_val().getUsers())
      if (isa<SubViewOp, ViewOp>(user)) {
        open.push_back(user->getResult(0));
        if (isa<ViewOp>(user))
          memrefs.push_back(user->getResult(0));
      }
  OwnedBytes bytes;
  for (Value memref : memrefs) {
    auto type = cast<MemRefType>(memref.getType());
    Operation *op = memref.getDefiningOp();
    FailureOr<Storage> storage =
        getStorageAt(type, byte, [&] { return op->emitOpError(); });
    if (failed(storage))
      return failure();
    OwnedBytes own =
        exactBytes
            ? getElements(*storage, getWholeChannels(*storage, type.getShape()))
            : getRows(*storage, type.getShape());
    // If the exact bytes of one memref are unknown, the tensor owns all its
    // rows.
    if (!own.empty() && own.front().core == kEveryCore)
      return getRows(*getStorageAt(alloc.getMemref().getType(), byte,
                                   [&] { return alloc.emitOpError(); }),
                     alloc.getMemref().getType().getShape());
    llvm::append_range(bytes, own);
  }
  if (memrefs.size() > 1)
    normalize(bytes);
  return bytes;
}
