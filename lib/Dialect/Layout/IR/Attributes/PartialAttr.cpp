//===- PartialAttr.cpp - #layout.partial ----------------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Common.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::layout;

Attribute PartialAttr::parse(AsmParser &parser, Type) {
  SMLoc loc, axesLoc;
  Attribute layout;
  StringRef name;
  SmallVector<StringAttr> axes;
  if (parser.parseLess() || parser.parseAttribute(layout) ||
      parser.parseComma() || parser.getCurrentLocation(&loc) ||
      parser.parseKeyword(&name))
    return {};
  std::optional<Reduction> reduction = layout::getReduction(name);
  if (!reduction) {
    parser.emitError(loc) << "expected a reduction, sum, max or min, found '"
                          << name << "'";
    return {};
  }
  if (parser.parseComma() || parser.getCurrentLocation(&axesLoc) ||
      parser.parseCommaSeparatedList(
          AsmParser::Delimiter::Square,
          [&]() -> ParseResult {
            StringRef axis;
            if (parser.parseKeyword(&axis))
              return failure();
            axes.push_back(parser.getBuilder().getStringAttr(axis));
            return success();
          }) ||
      parser.parseGreater())
    return {};
  return parser.getChecked<PartialAttr>(axesLoc, parser.getContext(), layout,
                                        *reduction, ArrayRef<StringAttr>(axes));
}

void PartialAttr::print(AsmPrinter &printer) const {
  printer << '<' << getLayout() << ", " << getName(getReduction()) << ", [";
  llvm::interleaveComma(getAxes(), printer,
                        [&](StringAttr axis) { printer << axis.getValue(); });
  printer << "]>";
}

LogicalResult PartialAttr::verify(EmitErrorFn emitError, Attribute layout,
                                  Reduction, ArrayRef<StringAttr> axes) {
  if (!isa_and_nonnull<LayoutAttrInterface>(layout) || isa<PartialAttr>(layout))
    return emitError() << "expected a layout inside #layout.partial, found "
                       << layout
                       << ": name all axes in one #layout.partial (P4)";
  if (axes.empty())
    return emitError() << "#layout.partial names no axis of the mesh (P4): "
                          "name one, or remove it if replicas are copies";
  for (auto [i, axis] : llvm::enumerate(axes))
    if (llvm::is_contained(axes.take_front(i), axis))
      return emitError() << "axis " << axis << " is repeated (P4)";
  return success();
}

FailureOr<LayoutMap> PartialAttr::resolve(ArrayRef<int64_t> shape,
                                          Type elementType,
                                          EmitErrorFn emitError) const {
  FailureOr<LayoutMap> map = cast<LayoutAttrInterface>(getLayout())
                                 .resolve(shape, elementType, emitError);
  if (failed(map))
    return failure();
  auto fail = [&](const Twine &why) {
    if (emitError)
      emitError() << "layout " << *this << " " << why;
    return failure();
  };
  // Without an element type only the map is queried.
  if (elementType && !elementType.isIntOrFloat())
    return fail(
        "has parts of elements that are not numbers (P4): reduce them first");
  for (StringAttr axis : getAxes())
    if (!getReplicaAlong(*map, axis))
      return fail("has no replicas along '" + axis.getValue() +
                  "' (P4): name axes of the mesh that split no dim and have "
                  "more than one position");
  return map;
}

std::optional<SmallVector<int64_t>> PartialAttr::getStatedShape() const {
  return cast<LayoutAttrInterface>(getLayout()).getStatedShape();
}

SmallVector<int64_t> PartialAttr::getExampleShape() const {
  return cast<LayoutAttrInterface>(getLayout()).getExampleShape();
}

SmallVector<BoundedIndex> PartialAttr::getStoredDims(ArrayRef<int64_t> shape,
                                                     Type elementType) const {
  return cast<LayoutAttrInterface>(getLayout())
      .getStoredDims(shape, elementType);
}

Attribute PartialAttr::withTarget(Attribute target) const {
  auto layout = cast<LayoutAttrInterface>(getLayout());
  return get(getContext(), layout.withTarget(target), getReduction(),
             getAxes());
}

TypedAttr PartialAttr::getPadding(Type elementType) const {
  return cast<LayoutAttrInterface>(getLayout()).getPadding(elementType);
}
