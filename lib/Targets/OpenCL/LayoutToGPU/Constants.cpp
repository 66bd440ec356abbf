//===- Constants.cpp - Dense constants on the device ----------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostBoundary.h"
#include "TensorStorage.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Dialect/Layout/Utils/PackConstant.h"
#include "layout/Targets/OpenCL/GPUToOpenCL/Storage.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace mlir::layout;

/// Zero-extends a number to `stored`, the integer type in device memory, e.g.
/// from i1 to i8.
static IntegerAttr toStored(IntegerAttr number, Type stored) {
  return IntegerAttr::get(
      stored, number.getValue().zextOrTrunc(stored.getIntOrFloatBitWidth()));
}

/// Returns `type` with the element type of device memory. In the layout of an
/// image, also reverses the coordinates except the lane, so that they are
/// slowest first: row by row, with four lanes per pixel.
static RankedTensorType inMemoryOrder(RankedTensorType type,
                                      const TensorStorage &storage) {
  Type stored = storage.getStoredElement();
  TypedAttr padding = getPadding(type);
  if (padding && padding.getType() != stored)
    padding = toStored(cast<IntegerAttr>(padding), stored);
  type = RankedTensorType::get(type.getShape(), stored);
  if (!storage.isImage())
    return withLayout(type, storage.map, padding);
  std::vector<Coordinate> coordinates(storage.map.getCoordinates());
  std::reverse(coordinates.begin(), std::prev(coordinates.end()));
  SmallVector<int64_t> replicas(storage.map.getReplicas());
  return withLayout(type,
                    LayoutMap::get(storage.map.getRank(),
                                   storage.map.getSpace(),
                                   std::move(coordinates), replicas),
                    padding);
}

static ElementsAttr reshape(ElementsAttr value, ArrayRef<int64_t> shape) {
  auto type = RankedTensorType::get(shape, value.getElementType());
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(value))
    return DenseResourceElementsAttr::get(type, resource.getRawHandle());
  return cast<DenseElementsAttr>(value).reshape(type);
}

/// Zero-extends the elements of a constant to `stored`, the integer type in
/// device memory, if they have another type. Returns a null attribute if the
/// program does not contain these, e.g. for a resource.
static ElementsAttr toStored(ElementsAttr value, Type stored) {
  if (value.getElementType() == stored)
    return value;
  auto dense = dyn_cast<DenseIntElementsAttr>(value);
  if (!dense)
    return {};
  return cast<ElementsAttr>(dense.mapValues(stored, [&](const APInt &number) {
    return number.zextOrTrunc(stored.getIntOrFloatBitWidth());
  }));
}

/// The memref.global of each constant, by value and type. Versions of a
/// function share them.
using Globals = DenseMap<std::pair<Attribute, Type>, memref::GlobalOp>;

static LogicalResult convertConstant(arith::ConstantOp op, SymbolTable &symbols,
                                     Globals &globals) {
  auto type = cast<RankedTensorType>(op.getType());
  auto report = [&](const Twine &why) {
    op.emitError("convert-layout-to-gpu: a constant of type ")
        << type << " cannot be stored on the device: " << why;
  };
  FailureOr<TensorStorage> storage = getTensorStorage(type, report);
  if (failed(storage))
    return failure();
  OpBuilder b(op.getContext());
  memref::GlobalOp &global = globals[{op.getValue(), type}];
  if (!global) {
    ElementsAttr value = toStored(cast<ElementsAttr>(op.getValue()),
                                  storage->getStoredElement());
    if (!value)
      return FailureReason(report)(
          "its elements are not in the program; state it as dense<..>");
    FailureOr<ElementsAttr> packed =
        packConstant(value, inMemoryOrder(type, *storage), report);
    if (failed(packed))
      return failure();
    SmallVector<int64_t> shape(storage->type.getShape());
    if (storage->isImage())
      shape.push_back(kLanesOfPixel);
    packed = reshape(*packed, shape);
    global = memref::GlobalOp::create(
        b, op.getLoc(), "device_constant", b.getStringAttr("private"),
        MemRefType::get(shape, packed->getElementType()), *packed,
        /*constant=*/true, IntegerAttr());
    symbols.insert(global);
  }
  b.setInsertionPoint(op);
  Value memory = allocateOnDevice(b, op.getLoc(), *storage, {});
  memory.getDefiningOp()->setAttr(kConstantAttrName,
                                  FlatSymbolRefAttr::get(global));
  op.replaceAllUsesWith(castFromDevice(
      b, op.getLoc(), type, memory,
      SmallVector<OpFoldResult>(type.getRank(), b.getIndexAttr(0))));
  op.erase();
  return success();
}

LogicalResult layout::convertConstants(ModuleOp module) {
  SymbolTable symbols(module);
  SmallVector<arith::ConstantOp> constants;
  module.walk([&](arith::ConstantOp op) {
    auto type = dyn_cast<RankedTensorType>(op.getType());
    if (type && !isa<SplatElementsAttr>(op.getValue()) &&
        type.getNumElements() != 0)
      constants.push_back(op);
  });
  Globals globals;
  for (arith::ConstantOp op : constants)
    if (failed(convertConstant(op, symbols, globals)))
      return failure();
  return success();
}
