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

/// The bytes of one element as attributes store it; 0 where elements are not
/// made of bytes.
static unsigned getElementBytes(Type type) {
  if (isa<IndexType>(type))
    return 8;
  if (auto complex = dyn_cast<ComplexType>(type))
    return 2 * getElementBytes(complex.getElementType());
  if (!type.isIntOrFloat())
    return 0;
  return llvm::divideCeil(type.getIntOrFloatBitWidth(), 8);
}

/// More than any program holds in constants; a few bytes of text can ask for
/// it, since a splat is as small as one element.
constexpr int64_t kMaxPackedBytes = int64_t(1) << 33;

/// The bytes of `value` as an element of a dense attribute.
static SmallVector<char> getBytes(TypedAttr value) {
  auto type = RankedTensorType::get({1}, value.getType());
  ArrayRef<char> raw =
      DenseElementsAttr::get(type, ArrayRef<Attribute>(value)).getRawData();
  return SmallVector<char>(raw.begin(), raw.end());
}

/// Fills `storage` with copies of one element.
static void fillWith(MutableArrayRef<char> storage, ArrayRef<char> element) {
  if (llvm::all_of(element, [](char byte) { return byte == 0; })) {
    std::memset(storage.data(), 0, storage.size());
    return;
  }
  for (size_t i = 0; i < storage.size(); i += element.size())
    std::memcpy(storage.data() + i, element.data(), element.size());
}

/// i1 elements take one byte each while they are moved.
static SmallVector<char> getBools(DenseElementsAttr value) {
  SmallVector<char> bytes;
  for (bool bit : value.getValues<bool>())
    bytes.push_back(bit);
  return bytes;
}

FailureOr<ElementsAttr> layout::packConstant(ElementsAttr value,
                                             RankedTensorType type,
                                             Refusal refuse) {
  RankedTensorType physical = *getPhysicalType(type);
  LayoutMap map = *getLayoutMap(type);
  Type element = type.getElementType();
  TypedAttr filler = getFillerAttr(type);
  auto dense = dyn_cast<DenseElementsAttr>(value);
  auto resource = dyn_cast<DenseResourceElementsAttr>(value);
  if (dense && dense.isSplat() &&
      (!statesPadding(type) ||
       dense.getSplatValue<Attribute>() == getPadding(type)))
    return ElementsAttr(dense.resizeSplat(physical));

  bool isBool = element.isInteger(1);
  unsigned bytes = isBool ? 1 : getElementBytes(element);
  bool fits = element.isIntOrIndexOrFloat() || isa<ComplexType>(element);
  if (!fits || (!isBool && element.isIntOrFloat() &&
                element.getIntOrFloatBitWidth() % 8 != 0 && resource))
    return refuse("its elements are not made of whole bytes");
  std::optional<int64_t> count = getStorageSize(map, type.getShape());
  if (!count)
    return refuse("its size is not static");
  if (*count > kMaxPackedBytes / bytes)
    return refuse("its storage is too large to pack at compile time");

  SmallVector<char> unpacked;
  ArrayRef<char> logical;
  size_t align = 64;
  if (dense) {
    if (isBool)
      unpacked = getBools(dense);
    else if (dense.isSplat()) {
      unpacked.resize_for_overwrite(type.getNumElements() * bytes);
      fillWith(unpacked, *getConstantBytes(value));
    }
    logical =
        unpacked.empty() ? *getConstantBytes(value) : ArrayRef<char>(unpacked);
    if (type.getNumElements() == 0)
      logical = {};
  } else if (resource) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob)
      return refuse("its resource '" + resource.getRawHandle().getKey() +
                    "' has no data");
    logical = blob->getData();
    align = std::max<size_t>(align, blob->getDataAlignment());
  } else {
    return refuse("only dense constants and dense resources can be packed");
  }

  AsmResourceBlob blob =
      allocateConstant(std::max<size_t>(*count * bytes, 1), align);
  MutableArrayRef<char> storage =
      blob.getMutableData().take_front(*count * bytes);
  SmallVector<char> fillerBytes(bytes, 0);
  if (filler && isBool)
    fillerBytes[0] = cast<IntegerAttr>(filler).getValue().getBoolValue();
  else if (filler)
    fillerBytes = getBytes(filler);
  // Elements have places of their own, so where there are no more, none is
  // left.
  if (*count != type.getNumElements())
    fillWith(storage, fillerBytes);
  if (!pack(map, type.getShape(), bytes, logical, storage))
    return refuse("its data has " + Twine(logical.size()) +
                  " bytes, which is not what its type needs; mend the data");

  if (resource) {
    forgetMappedPages(logical);
    auto &manager =
        DenseResourceElementsHandle::getManagerInterface(type.getContext());
    return ElementsAttr(DenseResourceElementsAttr::get(
        physical,
        manager.insert(resource.getRawHandle().getKey(), std::move(blob))));
  }
  if (isBool) {
    SmallVector<bool> bits(storage.begin(), storage.end());
    return ElementsAttr(DenseElementsAttr::get(physical, bits));
  }
  return ElementsAttr(DenseElementsAttr::getFromRawBuffer(physical, storage));
}
