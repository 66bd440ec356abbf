//===- Memory.cpp - Load elements from device memory ----------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ElementEmitter.h"
#include "layout/Dialect/Layout/Utils/EmitIndex.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::layout;

Value ElementEmitter::fromStored(Value value, Type element) {
  if (element.isInteger(1)) {
    Type type = element;
    if (auto vector = dyn_cast<VectorType>(value.getType()))
      type = vector.clone(element);
    return arith::TruncIOp::create(b, loc, type, value);
  }
  if (element.isIndex()) {
    Type type = element;
    if (auto vector = dyn_cast<VectorType>(value.getType()))
      type = VectorType::get(vector.getShape(), element);
    return arith::IndexCastOp::create(b, loc, type, value);
  }
  return value;
}

/// Emits the condition that the index of `border` is inside of the source of
/// the pad. If that is proven, or no dim is padded, returns null.
Value ElementEmitter::isInside(const Border &border) {
  Value inside;
  tensor::PadOp pad = border.pad;
  for (const auto &[d, x] : border.index)
    inside = scope.both(
        inside, scope.emitInRange(x, scope.getSize(pad.getSource(), d)));
  return inside;
}

/// Loads a pixel of an image or an element of a buffer at an address that does
/// not depend on the lane, or returns an earlier load from this address with
/// the same `border`.
Value ElementEmitter::loadCell(Value memory, const TensorStorage &storage,
                               ArrayRef<IndexExpr> address,
                               ArrayRef<SizeExpr> extents,
                               const Border &border) {
  for (const Cell &cell : llvm::reverse(cells))
    if (cell.memory == memory && ArrayRef(cell.address) == address &&
        cell.border == border)
      return cell.value;
  SmallVector<Value> indices;
  for (auto [value, extent] : llvm::zip_equal(address, extents))
    indices.push_back(storage.isImage() ? scope.emit(value)
                                        : scope.emitClamped(value, extent));
  std::reverse(indices.begin(), indices.end());
  if (Value inside = isInside(border)) {
    Value outside = arith::ConstantIndexOp::create(b, loc, -1);
    indices.back() =
        arith::SelectOp::create(b, loc, inside, indices.back(), outside);
  }
  Value loaded = memref::LoadOp::create(b, loc, scope.import(memory), indices);
  (storage.isImage() ? accesses.imageReads : accesses.bufferReads) += trips;
  cells.push_back({memory, llvm::to_vector(address), border, loaded});
  return loaded;
}

Value ElementEmitter::loadAddress(Value tensor, const TensorStorage &storage,
                                  ArrayRef<IndexExpr> address,
                                  const IndexExpr &lane, const Border &border) {
  Value memory = memoryOf(tensor);
  SmallVector<SizeExpr> sizes = scope.getSizes(tensor), extents;
  for (const Coordinate &coordinate : getAddress(storage.map))
    extents.push_back(coordinate.extent.substitute(sizes));
  auto loadLane = [&](Value pixel, const IndexExpr &number) -> Value {
    if (std::optional<int64_t> known =
            number.terms.empty() ? number.constant.getConstant() : std::nullopt)
      return vector::ExtractOp::create(b, loc, pixel, *known);
    Value position =
        scope.emitClamped(number, SizeExpr(int64_t(kLanesOfPixel)));
    return vector::ExtractOp::create(b, loc, pixel, OpFoldResult(position));
  };

  if (!scope.dependsOnLane(address) && scope.dependsOnLane(lane)) {
    bool isWhole = true;
    for (auto [number, one] : llvm::enumerate(scope.atLanes(lane)))
      isWhole &= one.front() == IndexExpr(SizeExpr(number));
    if (isWhole)
      return loadCell(memory, storage, address, extents, border);
  }
  SmallVector<IndexExpr> all(address);
  all.push_back(lane);
  return scope.emitLanes(all, [&](ArrayRef<IndexExpr> one) {
    Value cell = loadCell(memory, storage, one.drop_back(), extents, border);
    return storage.isImage() ? loadLane(cell, one.back()) : cell;
  });
}

Value ElementEmitter::load(Value tensor, Point index, const Border &border) {
  auto type = cast<RankedTensorType>(tensor.getType());
  FailureOr<TensorStorage> storage = getTensorStorage(type, whyNot);
  if (failed(storage))
    return {};
  SmallVector<IndexExpr> address =
      getCoordinates(storage->map, storage->map.getCoordinates(), index,
                     scope.getSizes(tensor), scope.getExtents());
  IndexExpr lane;
  if (storage->isImage()) {
    lane = address.back();
    address.pop_back();
  }
  Value value = loadAddress(tensor, *storage, address, lane, border);
  return fromStored(value, type.getElementType());
}

Value ElementEmitter::loadPadded(Value tensor, Point index,
                                 const Border &border) {
  if (plan.isInlined(tensor)) {
    Operation *op = tensor.getDefiningOp();
    if (isa<ConvertOp, tensor::CastOp>(op))
      return loadPadded(op->getOperand(0), index, border);
    std::optional<SmallVector<IndexExpr>> source = throughView(op, index);
    return source ? loadPadded(op->getOperand(0), *source, border) : Value();
  }
  FailureOr<TensorStorage> storage =
      getTensorStorage(cast<RankedTensorType>(tensor.getType()), whyNot);
  if (failed(storage) || !storage->isImage())
    return {};
  return load(tensor, index, border);
}

/// Loads the element of `tensor` at indices that are computed at run time,
/// clamped to the sizes of the tensor. Returns null and sets the reason on
/// failure.
Value ElementEmitter::loadDynamic(Value tensor, ValueRange index) {
  auto type = cast<RankedTensorType>(tensor.getType());
  FailureOr<TensorStorage> storage = getTensorStorage(type, whyNot);
  if (failed(storage))
    return {};
  SmallVector<OpFoldResult> sizes;
  SmallVector<SizeExpr> sizeOf = scope.getSizes(tensor);
  for (const SizeExpr &size : sizeOf)
    sizes.push_back(scope.emit(size));
  // Indices come from data, so they are clamped to the tensor.
  SmallVector<Value> inside;
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  for (auto [value, size] : llvm::zip_equal(index, sizeOf)) {
    Value last = scope.emit(size - SizeExpr(1));
    Value below = arith::MinSIOp::create(b, loc, value, last);
    inside.push_back(arith::MaxSIOp::create(b, loc, below, zero));
  }
  SmallVector<Value> address = emitForward(b, loc, storage->map, inside, sizes);
  Value lane;
  if (storage->isImage())
    lane = address.pop_back_val();
  std::reverse(address.begin(), address.end());
  Value value =
      memref::LoadOp::create(b, loc, scope.import(memoryOf(tensor)), address);
  (storage->isImage() ? accesses.imageReads : accesses.bufferReads) += trips;
  if (storage->isImage())
    value = vector::ExtractOp::create(b, loc, value, OpFoldResult(lane));
  return fromStored(value, type.getElementType());
}
