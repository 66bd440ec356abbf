//===- PaddedAttr.cpp - #layout.padded ------------------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Common.h"
#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;
using namespace mlir::layout;

static LogicalResult verifyValue(EmitErrorFn emitError, TypedAttr value) {
  if (value && !isa<FloatAttr, IntegerAttr>(value))
    return emitError() << "padding must hold a number (P1), found " << value;
  return success();
}

Attribute PaddedAttr::parse(AsmParser &parser, Type) {
  SMLoc layoutLoc, valueLoc;
  Attribute layout;
  TypedAttr value;
  if (parser.parseLess() || parser.getCurrentLocation(&layoutLoc) ||
      parser.parseAttribute(layout) || parser.parseComma() ||
      parser.getCurrentLocation(&valueLoc))
    return {};
  if (failed(parser.parseOptionalKeyword("zero")) &&
      parser.parseAttribute(value))
    return {};
  if (failed(verifyValue([&] { return parser.emitError(valueLoc); }, value)) ||
      parser.parseGreater())
    return {};
  return parser.getChecked<PaddedAttr>(layoutLoc, parser.getContext(), layout,
                                       value);
}

void PaddedAttr::print(AsmPrinter &printer) const {
  printer << '<' << getLayout() << ", ";
  if (getValue())
    printer << getValue();
  else
    printer << "zero";
  printer << '>';
}

LogicalResult PaddedAttr::verify(EmitErrorFn emitError, Attribute layout,
                                 TypedAttr value) {
  if (!isa_and_nonnull<LayoutAttrInterface>(layout))
    return emitError() << "expected a layout inside #layout.padded";
  if (isa<PaddedAttr>(layout))
    return emitError()
           << "the padding is stated twice (P1): use one #layout.padded";
  if (isa<PartialAttr>(layout))
    return emitError() << "#layout.padded must be inside #layout.partial (P4): "
                          "exchange the two";
  return verifyValue(emitError, value);
}

/// Returns true if `type` is an integer type, the index type, or a float type
/// that has a zero, unlike f8E8M0FNU.
static bool hasZero(Type type) {
  if (auto floatType = dyn_cast<FloatType>(type))
    return llvm::APFloat::semanticsHasZero(floatType.getFloatSemantics());
  return type.isIntOrIndex();
}

FailureOr<LayoutMap> PaddedAttr::resolve(ArrayRef<int64_t> shape,
                                         Type elementType,
                                         EmitErrorFn emitError) const {
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
                  << " has no zero to pad with (P1): omit the padding value";
    return failure();
  }
  return cast<LayoutAttrInterface>(getLayout())
      .resolve(shape, elementType, emitError);
}

std::optional<SmallVector<int64_t>> PaddedAttr::getStatedShape() const {
  return cast<LayoutAttrInterface>(getLayout()).getStatedShape();
}

SmallVector<int64_t> PaddedAttr::getExampleShape() const {
  return cast<LayoutAttrInterface>(getLayout()).getExampleShape();
}

SmallVector<BoundedIndex> PaddedAttr::getStoredDims(ArrayRef<int64_t> shape,
                                                    Type elementType) const {
  return cast<LayoutAttrInterface>(getLayout())
      .getStoredDims(shape, elementType);
}

Attribute PaddedAttr::withTarget(Attribute target) const {
  auto layout = cast<LayoutAttrInterface>(getLayout());
  return get(getContext(), layout.withTarget(target), getValue());
}

TypedAttr PaddedAttr::getPadding(Type elementType) const {
  if (getValue())
    return getValue();
  if (auto floatType = dyn_cast<FloatType>(elementType))
    return FloatAttr::get(floatType, 0.0);
  return IntegerAttr::get(elementType, 0);
}
