//===- LayoutAttributes.cpp - Layout attributes ---------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MapParser.h"
#include "layout/Algebra/Families/Blocked.h"
#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::layout;

using EmitError = function_ref<InFlightDiagnostic()>;

/// The rank check that every family needs.
static LogicalResult checkRank(Attribute layout, unsigned rank,
                               ArrayRef<int64_t> shape, EmitError emitError) {
  if (rank == shape.size())
    return success();
  if (emitError)
    emitError() << "layout " << layout << " has " << rank
                << " dims, the tensor has rank " << shape.size()
                << " (L1): write the layout over the dims of the tensor";
  return failure();
}

/// Resolves and checks a layout where a tensor type is made.
static LogicalResult verifyEncodingOf(LayoutAttrInterface layout,
                                      ArrayRef<int64_t> shape, Type elementType,
                                      EmitError emitError) {
  FailureOr<LayoutMap> map = layout.resolve(shape, elementType, emitError);
  if (failed(map))
    return failure();
  return verifyLayout(*map, layout, shape, elementType, emitError);
}

//===----------------------------------------------------------------------===//
// MapAttr
//===----------------------------------------------------------------------===//

Attribute MapAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess())
    return {};
  FailureOr<LayoutMap> map = parseLayoutMap(parser);
  if (failed(map) || parser.parseGreater())
    return {};
  return parser.getChecked<MapAttr>(loc, parser.getContext(), *map);
}

void MapAttr::print(AsmPrinter &printer) const {
  printer << '<';
  getMap().print(printer.getStream());
  printer << '>';
}

LogicalResult MapAttr::verify(EmitError emitError, LayoutMap map) {
  if (!map)
    return emitError() << "a layout needs a map";
  if (map.hasOverflow())
    return emitError() << "the strides or extents of the layout do not fit 64 "
                          "bits (L1): use smaller factors";
  return success();
}

FailureOr<LayoutMap> MapAttr::resolve(ArrayRef<int64_t> shape, Type,
                                      EmitError emitError) const {
  if (failed(checkRank(*this, getMap().getRank(), shape, emitError)))
    return failure();
  return getMap();
}

SmallVector<Sized> MapAttr::getStoredDims(ArrayRef<int64_t>, Type) const {
  SmallVector<Sized> dims;
  for (const StoredAxis &axis : getMap().getStoredAxes())
    dims.push_back({axis.value, axis.extent});
  return dims;
}

LogicalResult MapAttr::verifyEncoding(ArrayRef<int64_t> shape, Type elementType,
                                      EmitError emitError) const {
  return verifyEncodingOf(*this, shape, elementType, emitError);
}

//===----------------------------------------------------------------------===//
// BlockedAttr
//===----------------------------------------------------------------------===//

Attribute BlockedAttr::parse(AsmParser &parser, Type) {
  std::string logical, stored;
  SMLoc logicalLoc, storedLoc;
  if (parser.parseLess() || parser.getCurrentLocation(&logicalLoc) ||
      parser.parseString(&logical) || parser.parseKeyword("to") ||
      parser.getCurrentLocation(&storedLoc) || parser.parseString(&stored) ||
      parser.parseGreater())
    return {};
  auto report = [&](bool inStored, size_t column, const Twine &message) {
    // One past the quote; the strings hold no escapes where a fault is found
    // at its own column.
    SMLoc start = inStored ? storedLoc : logicalLoc;
    parser.emitError(SMLoc::getFromPointer(start.getPointer() + 1 + column))
        << message;
  };
  if (!parseBlocked(logical, stored, report))
    return {};
  return BlockedAttr::get(parser.getContext(), logical, stored);
}

void BlockedAttr::print(AsmPrinter &printer) const {
  printer << "<\"" << getLogical() << "\" to \"" << getStored() << "\">";
}

LogicalResult BlockedAttr::verify(EmitError emitError, StringRef logical,
                                  StringRef stored) {
  bool ok = parseBlocked(logical, stored,
                         [&](bool inStored, size_t column, const Twine &why) {
                           emitError() << "column " << column + 1 << " of \""
                                       << (inStored ? stored : logical)
                                       << "\": " << why;
                         })
                .has_value();
  return success(ok);
}

static BlockedLayout getBlocked(BlockedAttr attr) {
  auto ignore = [](bool, size_t, const Twine &) {};
  return *parseBlocked(attr.getLogical(), attr.getStored(), ignore);
}

FailureOr<LayoutMap> BlockedAttr::resolve(ArrayRef<int64_t> shape, Type,
                                          EmitError emitError) const {
  BlockedLayout blocked = getBlocked(*this);
  if (failed(checkRank(*this, blocked.getRank(), shape, emitError)))
    return failure();
  for (auto [d, size, required] :
       llvm::enumerate(shape, blocked.requiredSizes)) {
    if (!required || size == required)
      continue;
    if (emitError)
      emitError() << "layout " << *this << " gives dim " << d << " the size "
                  << required << " by its factors, the tensor has "
                  << (ShapedType::isDynamic(size) ? "a dynamic size"
                                                  : std::to_string(size))
                  << " there (L1)";
    return failure();
  }
  return blocked.getMap();
}

SmallVector<Sized> BlockedAttr::getStoredDims(ArrayRef<int64_t>, Type) const {
  return getBlocked(*this).stored;
}

LogicalResult BlockedAttr::verifyEncoding(ArrayRef<int64_t> shape,
                                          Type elementType,
                                          EmitError emitError) const {
  return verifyEncodingOf(*this, shape, elementType, emitError);
}

//===----------------------------------------------------------------------===//
// PaddedAttr
//===----------------------------------------------------------------------===//

Attribute PaddedAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  Attribute layout;
  TypedAttr value;
  if (parser.parseLess() || parser.parseAttribute(layout) ||
      parser.parseComma())
    return {};
  if (failed(parser.parseOptionalKeyword("zero")) &&
      parser.parseAttribute(value))
    return {};
  if (parser.parseGreater())
    return {};
  return parser.getChecked<PaddedAttr>(loc, parser.getContext(), layout, value);
}

void PaddedAttr::print(AsmPrinter &printer) const {
  printer << '<' << getLayout() << ", ";
  if (getValue())
    printer << getValue();
  else
    printer << "zero";
  printer << '>';
}

LogicalResult PaddedAttr::verify(EmitError emitError, Attribute layout,
                                 TypedAttr value) {
  if (!isa_and_nonnull<LayoutAttrInterface>(layout))
    return emitError() << "expected a layout inside #layout.padded";
  if (isa<PaddedAttr>(layout))
    return emitError() << "the padding is stated twice (P1): one "
                          "#layout.padded is enough";
  if (value && !isa<FloatAttr, IntegerAttr>(value))
    return emitError() << "padding holds a number (P1), found " << value;
  return success();
}

/// Whether a constant zero of the type can be made: signed integers have none.
static bool hasZero(Type type) {
  if (auto floatType = dyn_cast<FloatType>(type))
    return llvm::APFloat::semanticsHasZero(floatType.getFloatSemantics());
  return type.isSignlessInteger();
}

FailureOr<LayoutMap> PaddedAttr::resolve(ArrayRef<int64_t> shape,
                                         Type elementType,
                                         EmitError emitError) const {
  if (getValue() && getValue().getType() != elementType) {
    if (emitError)
      emitError() << "padding of " << getValue().getType() << " in a tensor of "
                  << elementType
                  << " (P1): state a constant of the element type";
    return failure();
  }
  if (!getValue() && !hasZero(elementType)) {
    if (emitError)
      emitError() << "element type " << elementType
                  << " has no zero to pad with (P1)";
    return failure();
  }
  return cast<LayoutAttrInterface>(getLayout())
      .resolve(shape, elementType, emitError);
}

SmallVector<Sized> PaddedAttr::getStoredDims(ArrayRef<int64_t> shape,
                                             Type elementType) const {
  return cast<LayoutAttrInterface>(getLayout())
      .getStoredDims(shape, elementType);
}

TypedAttr PaddedAttr::getPadding(Type elementType) const {
  if (getValue())
    return getValue();
  if (auto floatType = dyn_cast<FloatType>(elementType))
    return FloatAttr::get(floatType, 0.0);
  return IntegerAttr::get(elementType, 0);
}

LogicalResult PaddedAttr::verifyEncoding(ArrayRef<int64_t> shape,
                                         Type elementType,
                                         EmitError emitError) const {
  return verifyEncodingOf(*this, shape, elementType, emitError);
}
