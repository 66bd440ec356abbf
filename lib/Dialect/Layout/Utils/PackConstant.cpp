//===- PackConstant.cpp - Constants packed at compile time ----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Dialect/Layout/Utils/PackConstant.h"
#include "layout/Algebra/Pack.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Support/ConstantBytes.h"
#include "layout/Support/MappedFiles.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinDialect.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::layout;

/// Returns the bytes of one element as dense attributes store it, rounded up to
/// whole bytes. Returns 0 for types other than integers, index, floats and
/// complex numbers.
static unsigned getElementBytes(Type type) {
  if (isa<IndexType>(type))
    return 8;
  if (auto complex = dyn_cast<ComplexType>(type))
    return 2 * getElementBytes(complex.getElementType());
  if (!type.isIntOrFloat())
    return 0;
  return llvm::divideCeil(type.getIntOrFloatBitWidth(), 8);
}

/// The maximum size of a packed constant in bytes, above the constants of any
/// program. packConstant fails for larger ones: a splat of a few bytes of text
/// can request arbitrarily much.
constexpr int64_t kMaxPackedBytes = int64_t(1) << 33;

/// Returns the bytes of `value` as an element of a dense attribute.
static SmallVector<char> getBytes(TypedAttr value) {
  auto type = RankedTensorType::get({1}, value.getType());
  ArrayRef<char> raw =
      DenseElementsAttr::get(type, ArrayRef<Attribute>(value)).getRawData();
  return SmallVector<char>(raw.begin(), raw.end());
}

/// Fills `storage`, whose size is a multiple of that of `element`, with copies
/// of this element.
static void fillWith(MutableArrayRef<char> storage, ArrayRef<char> element) {
  if (llvm::all_of(element, [](char byte) { return byte == 0; })) {
    std::memset(storage.data(), 0, storage.size());
    return;
  }
  for (size_t i = 0; i < storage.size(); i += element.size())
    std::memcpy(storage.data() + i, element.data(), element.size());
}

/// Returns i1 elements as one byte each.
static SmallVector<char, 0> getBools(DenseElementsAttr value) {
  SmallVector<char, 0> bytes;
  for (bool bit : value.getValues<bool>())
    bytes.push_back(bit);
  return bytes;
}

namespace {

/// The elements of a constant in row-major order. The packed constant is
/// allocated with the alignment `align`, in bytes.
struct LogicalData {
  ArrayRef<char> bytes;
  size_t align = 64;
  SmallVector<char, 0> unpacked; // owns `bytes` if the attribute stores less
};

} // namespace

/// Returns the elements of `value`, a constant of type `type`, with
/// `elementBytes` bytes each. Returns failure with a reason if it is neither
/// dense nor a dense resource, or if the resource has no data.
static FailureOr<LogicalData> getLogicalData(ElementsAttr value,
                                             RankedTensorType type,
                                             unsigned elementBytes,
                                             FailureReason refuse) {
  LogicalData data;
  if (auto dense = dyn_cast<DenseElementsAttr>(value)) {
    if (type.getElementType().isInteger(1)) {
      data.unpacked = getBools(dense);
    } else if (dense.isSplat()) {
      data.unpacked.resize_for_overwrite(type.getNumElements() * elementBytes);
      fillWith(data.unpacked, *getConstantBytes(value));
    }
    if (type.getNumElements() != 0)
      data.bytes = data.unpacked.empty() ? *getConstantBytes(value)
                                         : ArrayRef<char>(data.unpacked);
    return data;
  }
  auto resource = dyn_cast<DenseResourceElementsAttr>(value);
  if (!resource)
    return refuse("only dense constants and dense resources can be packed");
  AsmResourceBlob *blob = resource.getRawHandle().getBlob();
  if (!blob)
    return refuse("its resource '" + resource.getRawHandle().getKey() +
                  "' has no data");
  data.bytes = blob->getData();
  data.align = std::max<size_t>(data.align, blob->getDataAlignment());
  return data;
}

/// Returns the bytes of one element of padding: those of the padding value that
/// `type` states, or zeros.
static SmallVector<char> getFillerBytes(RankedTensorType type,
                                        unsigned elementBytes) {
  SmallVector<char> fillerBytes(elementBytes, 0);
  TypedAttr filler = getFillerAttr(type);
  if (filler && type.getElementType().isInteger(1))
    fillerBytes[0] = cast<IntegerAttr>(filler).getValue().getBoolValue();
  else if (filler)
    fillerBytes = getBytes(filler);
  return fillerBytes;
}

/// Returns the constant of type `physical` with the packed data: a resource
/// that owns `blob` if `value` is a resource, or else a dense attribute with a
/// copy of `storage`, the bytes of `blob`.
static ElementsAttr getPacked(ElementsAttr value, RankedTensorType physical,
                              AsmResourceBlob blob, ArrayRef<char> storage) {
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(value)) {
    auto &manager =
        DenseResourceElementsHandle::getManagerInterface(physical.getContext());
    return DenseResourceElementsAttr::get(
        physical,
        manager.insert(resource.getRawHandle().getKey(), std::move(blob)));
  }
  if (physical.getElementType().isInteger(1)) {
    SmallVector<bool> bits(storage.begin(), storage.end());
    return DenseElementsAttr::get(physical, bits);
  }
  return DenseElementsAttr::getFromRawBuffer(physical, storage);
}

FailureOr<ElementsAttr> layout::packConstant(ElementsAttr value,
                                             RankedTensorType type,
                                             FailureReason refuse) {
  RankedTensorType physical = *getPhysicalType(type);
  LayoutMap map = *getLayoutMap(type);
  Type element = type.getElementType();
  auto dense = dyn_cast<DenseElementsAttr>(value);
  if (dense && dense.isSplat() &&
      (!statesPadding(type) ||
       dense.getSplatValue<Attribute>() == getPadding(type)))
    return ElementsAttr(dense.resizeSplat(physical));

  bool isResource = isa<DenseResourceElementsAttr>(value);
  bool isBool = element.isInteger(1);
  unsigned bytes = isBool ? 1 : getElementBytes(element);
  bool fits = element.isIntOrIndexOrFloat() || isa<ComplexType>(element);
  if (!fits || (!isBool && element.isIntOrFloat() &&
                element.getIntOrFloatBitWidth() % 8 != 0 && isResource))
    return refuse("its elements do not have whole bytes");
  std::optional<int64_t> count = getStorageSize(map, type.getShape());
  if (!count)
    return refuse("its size is not static");
  if (*count > kMaxPackedBytes / bytes)
    return refuse("its storage is too large to pack at compile time");
  FailureOr<LogicalData> logical = getLogicalData(value, type, bytes, refuse);
  if (failed(logical))
    return failure();

  AsmResourceBlob blob =
      allocateConstant(std::max<size_t>(*count * bytes, 1), logical->align);
  MutableArrayRef<char> storage =
      blob.getMutableData().take_front(*count * bytes);
  // The map is injective, so storage of as many positions as elements has no
  // padding.
  if (*count != type.getNumElements())
    fillWith(storage, getFillerBytes(type, bytes));
  if (!pack(map, type.getShape(), bytes, logical->bytes, storage))
    return refuse(
        "its data has " + Twine(logical->bytes.size()) +
        " bytes, which is not the size of its type; correct the data");
  if (isResource)
    forgetMappedPages(logical->bytes);
  return getPacked(value, physical, std::move(blob), storage);
}
