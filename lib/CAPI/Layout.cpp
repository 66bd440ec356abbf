//===- Layout.cpp - C API of layouts --------------------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout-c/Layout.h"
#include "layout/Algebra/Box.h"
#include "layout/Algebra/Pack.h"
#include "layout/Algebra/Proof.h"
#include "layout/Algebra/Steps.h"
#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"

using namespace mlir;
using namespace mlir::layout;

static LayoutAnswer wrap(ProofResult answer) {
  switch (answer) {
  case ProofResult::Disproved:
    return LayoutAnswerNo;
  case ProofResult::Unknown:
    return LayoutAnswerUnknown;
  case ProofResult::Proved:
    return LayoutAnswerYes;
  }
  llvm_unreachable("all answers are listed");
}

static Notation unwrap(LayoutNotation notation) {
  switch (notation) {
  case LayoutNotationXla:
    return Notation::Xla;
  case LayoutNotationOneDnn:
    return Notation::OneDnn;
  case LayoutNotationCuTe:
    return Notation::CuTe;
  case LayoutNotationTriton:
    return Notation::Triton;
  }
  llvm_unreachable("all notations are listed");
}

/// Copies `numbers` to `array`, which the caller owns, and returns true, or
/// returns false if there are none.
static bool give(const std::optional<SmallVector<int64_t>> &numbers,
                 int64_t *array) {
  if (numbers)
    llvm::copy(*numbers, array);
  return numbers.has_value();
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

bool layoutAttributeIsALayout(MlirAttribute attr) {
  return isa<LayoutAttrInterface>(unwrap(attr));
}

MlirAttribute layoutBlockedAttrGetChecked(MlirLocation loc,
                                          MlirStringRef logical,
                                          MlirStringRef stored) {
  Location at = unwrap(loc);
  return wrap(BlockedAttr::getChecked([at] { return emitError(at); },
                                      at.getContext(), unwrap(logical),
                                      unwrap(stored)));
}

MlirAttribute layoutImportAttrGetChecked(MlirLocation loc,
                                         LayoutNotation notation,
                                         MlirStringRef text) {
  Location at = unwrap(loc);
  return wrap(ImportAttr::getChecked([at] { return emitError(at); },
                                     at.getContext(), unwrap(notation),
                                     unwrap(text)));
}

bool layoutAttributeIsAMap(MlirAttribute attr) {
  return isa<MapAttr>(unwrap(attr));
}

static LayoutMap getMap(MlirAttribute attr) {
  return cast<MapAttr>(unwrap(attr)).getMap();
}

MlirStringRef layoutMapAttrGetSpace(MlirAttribute map) {
  return wrap(getMap(map).getSpace());
}

intptr_t layoutMapAttrGetNumCoordinates(MlirAttribute map) {
  return getMap(map).getCoordinates().size();
}

MlirStringRef layoutMapAttrGetCoordinateName(MlirAttribute map,
                                             intptr_t coordinate) {
  return wrap(StringRef(getMap(map).getCoordinates()[coordinate].name));
}

LayoutAnswer layoutAttrIsInjective(MlirAttribute layout, intptr_t rank,
                                   const int64_t *shape, MlirType elementType) {
  ArrayRef<int64_t> sizes(shape, rank);
  FailureOr<LayoutMap> map = cast<LayoutAttrInterface>(unwrap(layout))
                                 .resolve(sizes, unwrap(elementType), nullptr);
  return failed(map) ? LayoutAnswerNo
                     : wrap(proveInjective(*map, sizes).answer);
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

namespace {
/// A valid ranked tensor type and its layout map.
struct OnType {
  explicit OnType(MlirType given)
      : type(cast<RankedTensorType>(unwrap(given))), map(*getLayoutMap(type)) {}

  ArrayRef<int64_t> getShape() const { return type.getShape(); }

  bool holds(ArrayRef<int64_t> index) const {
    return llvm::all_of(llvm::zip(index, getShape()), [](auto pair) {
      auto [i, size] = pair;
      return 0 <= i && i < size;
    });
  }

  RankedTensorType type;
  LayoutMap map;
};
} // namespace

bool layoutTypeHasLayout(MlirType type) { return hasLayout(unwrap(type)); }

MlirAttribute layoutTypeGetMap(MlirType type) {
  OnType on(type);
  return wrap(MapAttr::get(on.type.getContext(), on.map,
                           StoredDims::get(on.map, getStoredDims(on.type))));
}

MlirType layoutTypeGetStorageType(MlirType type) {
  FailureOr<RankedTensorType> storage = getStorageType(OnType(type).type);
  return wrap(failed(storage) ? Type() : *storage);
}

int64_t layoutTypeGetStorageBytes(MlirType type) {
  OnType on(type);
  std::optional<int64_t> size = getStorageSize(on.map, on.getShape());
  std::optional<int64_t> element = getWholeBytes(on.type.getElementType());
  int64_t bytes;
  if (!size || !element || llvm::MulOverflow(*size, *element, bytes))
    return -1;
  return bytes;
}

bool layoutTypeGetStorageExtent(MlirType type, int64_t *extents) {
  OnType on(type);
  return give(on.map.storageExtent(on.getShape()), extents);
}

bool layoutTypeGetStride(MlirType type, intptr_t coordinate, intptr_t dim,
                         int64_t *stride) {
  OnType on(type);
  std::optional<Steps> steps = getSteps(on.map, coordinate, dim, on.getShape());
  std::optional<SizeExpr> one = steps ? getStride(*steps) : std::nullopt;
  std::optional<int64_t> number = one ? one->getConstant() : std::nullopt;
  if (number)
    *stride = *number;
  return number.has_value();
}

bool layoutTypeGetPoint(MlirType type, const int64_t *index, int64_t *point) {
  OnType on(type);
  ArrayRef<int64_t> at(index, on.map.getRank());
  return on.holds(at) && give(on.map.forward(at, on.getShape()), point);
}

bool layoutTypeGetStoredIndex(MlirType type, const int64_t *index,
                              int64_t *storedIndex) {
  OnType on(type);
  SmallVector<int64_t> at(index, index + on.map.getRank());
  if (!on.holds(at))
    return false;
  // Replicas are further dims after those of the tensor; 0 is the first
  // replica.
  SmallVector<int64_t> box = on.map.getBox(on.getShape());
  at.resize(box.size(), 0);
  for (const BoundedIndex &dim : getStoredDims(on.type)) {
    std::optional<int64_t> value = dim.value.evaluate(at, box);
    if (!value)
      return false;
    *storedIndex++ = *value;
  }
  return true;
}

LayoutAnswer layoutTypeGetIndex(MlirType type, const int64_t *point,
                                int64_t *index) {
  OnType on(type);
  bool isKnown = true;
  std::optional<SmallVector<int64_t>> found = on.map.backward(
      ArrayRef(point, on.map.getCoordinates().size()), on.getShape(), &isKnown);
  if (!isKnown)
    return LayoutAnswerUnknown;
  return give(found, index) ? LayoutAnswerYes : LayoutAnswerNo;
}

LayoutAnswer layoutTypeHasPadding(MlirType type) {
  OnType on(type);
  return wrap(hasPadding(on.map, on.getShape()));
}

LayoutAnswer layoutTypeStoresLike(MlirType type, MlirType other) {
  OnType on(type);
  return wrap(equalOn(on.map, OnType(other).map, on.getShape()));
}

bool layoutTypePack(MlirType type, const void *elements, intptr_t elementsBytes,
                    void *storage, intptr_t storageBytes) {
  OnType on(type);
  std::optional<int64_t> element = getWholeBytes(on.type.getElementType());
  return element &&
         pack(on.map, on.getShape(), *element,
              {static_cast<const char *>(elements), size_t(elementsBytes)},
              {static_cast<char *>(storage), size_t(storageBytes)});
}

bool layoutTypeUnpack(MlirType type, const void *storage, intptr_t storageBytes,
                      void *elements, intptr_t elementsBytes) {
  OnType on(type);
  std::optional<int64_t> element = getWholeBytes(on.type.getElementType());
  return element &&
         unpack(on.map, on.getShape(), *element,
                {static_cast<const char *>(storage), size_t(storageBytes)},
                {static_cast<char *>(elements), size_t(elementsBytes)});
}
