//===- RgbaImageAttr.cpp - #layout.rgba_image -----------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Common.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::layout;

Attribute RgbaImageAttr::parse(AsmParser &parser, Type) {
  SMLoc kindLoc;
  StringRef name;
  if (parser.parseLess() || parser.getCurrentLocation(&kindLoc) ||
      parser.parseKeyword(&name))
    return {};
  std::optional<RgbaImageKind> kind = getRgbaImageKind(name);
  if (!kind) {
    parser.emitError(kindLoc)
        << "unknown kind of image '" << name << "'; known kinds are "
        << llvm::join(getRgbaImageNames(), ", ");
    return {};
  }
  std::optional<SmallVector<unsigned>> order{std::in_place};
  if (succeeded(parser.parseOptionalComma())) {
    SMLoc loc = parser.getCurrentLocation();
    std::string letters;
    if (parser.parseString(&letters))
      return {};
    order = parseOrder(*kind, letters, [&](size_t column, const Twine &why) {
      parser.emitError(getLocInString(loc, column)) << why;
    });
  }
  if (!order || parser.parseGreater())
    return {};
  return RgbaImageAttr::get(parser.getContext(), *kind, *order);
}

void RgbaImageAttr::print(AsmPrinter &printer) const {
  printer << '<' << getName(getKind());
  if (!getOrder().empty()) {
    printer << ", \"";
    for (unsigned axis : getOrder())
      printer << getLetters(getKind())[axis];
    printer << '"';
  }
  printer << '>';
}

LogicalResult RgbaImageAttr::verify(EmitErrorFn emitError, RgbaImageKind kind,
                                    ArrayRef<unsigned> order) {
  size_t count = getLetters(kind).size();
  SmallVector<unsigned> sorted(order);
  llvm::sort(sorted);
  if (order.empty() || llvm::equal(sorted, llvm::seq<unsigned>(count)))
    return success();
  return emitError() << "the order of " << getName(kind)
                     << " must name each of its " << count << " axes once";
}

FailureOr<LayoutMap> RgbaImageAttr::resolve(ArrayRef<int64_t> shape, Type,
                                            EmitErrorFn emitError) const {
  std::optional<RgbaImage> image =
      getRgbaImage(getKind(), getOrder(), shape, [&](const Twine &why) {
        if (emitError)
          emitError() << "layout " << *this
                      << " does not apply to this shape (L1): " << why;
      });
  if (!image)
    return failure();
  return image->getMap(shape.size());
}

SmallVector<BoundedIndex> RgbaImageAttr::getStoredDims(ArrayRef<int64_t> shape,
                                                       Type type) const {
  return resolve(shape, type, nullptr)->getStoredDims();
}

/// Returns an example of a shape that the layout applies to: a size of 1 for
/// each dim, which every kind of image accepts.
SmallVector<int64_t> RgbaImageAttr::getExampleShape() const {
  return SmallVector<int64_t>(getLetters(getKind()).size(), 1);
}

std::optional<SmallVector<int64_t>> RgbaImageAttr::getStatedShape() const {
  return layout::getStatedShape(getKind(), getOrder());
}
