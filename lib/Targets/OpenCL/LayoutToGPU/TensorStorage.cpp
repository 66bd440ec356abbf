//===- TensorStorage.cpp - Device storage of tensors ----------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorStorage.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Dialect/Layout/Utils/EmitIndex.h"
#include "layout/Targets/OpenCL/GPUToOpenCL/Storage.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::layout;

/// Returns the type of an element in device memory: i8 for i1, i64 for index,
/// else `type`.
static Type getStoredElementType(Type type) {
  if (type.isInteger(1))
    return IntegerType::get(type.getContext(), 8);
  if (type.isIndex())
    return IntegerType::get(type.getContext(), 64);
  return type;
}

static LogicalResult checkPixels(const LayoutMap &map, Type element,
                                 FailureReason refuse) {
  const Coordinate &lane = map.getCoordinates().back();
  if (map.getCoordinates().size() < 3 || lane.name != "lane" ||
      !lane.extent.isConstantEqual(kLanesOfPixel))
    return refuse("its layout " + map.str() + " does not put " +
                  Twine(int64_t(kLanesOfPixel)) +
                  " lanes into a pixel; choose one that does, such as "
                  "#layout.rgba_image, or a buffer");
  if (isChannelType(element))
    return success();
  return refuse([&](raw_ostream &os) {
    os << "images have no channel type for " << element << ", only for "
       << kChannelTypes << "; keep it in a buffer";
  });
}

FailureOr<TensorStorage> layout::getTensorStorage(RankedTensorType type,
                                                  FailureReason refuse) {
  FailureOr<LayoutMap> map = getLayoutMap(type);
  if (failed(map))
    return refuse("its encoding is not a layout; remove it, or state a layout");
  Type element = getStoredElementType(type.getElementType());
  auto space = StringAttr::get(type.getContext(), map->getSpace());
  bool isImage = map->getSpace().starts_with("image");
  if (!isImage && map->getSpace() != "buffer")
    return refuse(
        "the space '" + map->getSpace() +
        "' is neither a buffer nor an image; convert it to one of these");
  if (!isBufferElementType(element))
    return refuse([&](raw_ostream &os) {
      os << "device memory does not support elements of type " << element
         << ", only " << kBufferElementTypes
         << "; convert them to one of these on the host";
    });
  if (isImage && failed(checkPixels(*map, element, refuse)))
    return failure();
  SmallVector<int64_t> shape;
  for (const Coordinate &coordinate :
       map->getCoordinates().drop_back(isImage)) {
    SizeExpr extent = coordinate.extent.specialize(type.getShape());
    if (extent.isOverflow())
      return refuse("its storage does not fit 64 bits");
    std::optional<int64_t> size = extent.getConstant();
    // Devices have no empty buffers and images.
    shape.push_back(size ? std::max<int64_t>(*size, 1) : ShapedType::kDynamic);
  }
  std::reverse(shape.begin(), shape.end());
  if (isImage)
    element = VectorType::get({kLanesOfPixel}, element);
  return TensorStorage{
      *map,
      MemRefType::get(shape, element, MemRefLayoutAttrInterface(), space)};
}

Value layout::allocateOnDevice(OpBuilder &b, Location loc,
                               const TensorStorage &storage,
                               ArrayRef<OpFoldResult> sizes) {
  SmallVector<Value> dynamic;
  for (auto [coordinate, size] : llvm::zip_equal(
           llvm::reverse(getAddress(storage.map)), storage.type.getShape())) {
    if (!ShapedType::isDynamic(size))
      continue;
    Value extent =
        emitValues(b, loc, IndexExpr(coordinate.extent), {}, sizes).front();
    Value one = arith::ConstantIndexOp::create(b, loc, 1);
    dynamic.push_back(arith::MaxSIOp::create(b, loc, extent, one));
  }
  return gpu::AllocOp::create(b, loc, storage.type, /*asyncToken=*/Type(),
                              ValueRange(), dynamic, ValueRange())
      .getMemref();
}

void layout::populateDeviceConversion(TypeConverter &converter) {
  converter.addConversion([](Type type) { return type; });
  converter.addConversion(
      [](RankedTensorType type,
         SmallVectorImpl<Type> &results) -> std::optional<LogicalResult> {
        FailureOr<TensorStorage> storage = getTensorStorage(type);
        if (failed(storage))
          return failure();
        results.push_back(storage->type);
        results.append(type.getNumDynamicDims(),
                       IndexType::get(type.getContext()));
        return success();
      });
}

SmallVector<Value> layout::castToDevice(OpBuilder &b, Location loc,
                                        Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  // A tensor from castFromDevice has its device memory and sizes as inputs.
  if (auto cast = tensor.getDefiningOp<UnrealizedConversionCastOp>())
    return llvm::to_vector_of<Value>(cast.getInputs());
  SmallVector<Type> types{getTensorStorage(type)->type};
  types.append(type.getNumDynamicDims(), b.getIndexType());
  auto cast = UnrealizedConversionCastOp::create(b, loc, types, tensor);
  return llvm::to_vector_of<Value>(cast.getResults());
}

Value layout::castFromDevice(OpBuilder &b, Location loc, RankedTensorType type,
                             Value memory, ArrayRef<OpFoldResult> sizes) {
  SmallVector<Value> values{memory};
  for (auto [size, known] : llvm::zip_equal(sizes, type.getShape()))
    if (ShapedType::isDynamic(known))
      values.push_back(getValueOrCreateConstantIndexOp(b, loc, size));
  return UnrealizedConversionCastOp::create(b, loc, type, values).getResult(0);
}
