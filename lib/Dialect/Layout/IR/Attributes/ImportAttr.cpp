//===- ImportAttr.cpp - #layout.import ------------------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Common.h"
#include "layout/Interop/Interop.h"

using namespace mlir;
using namespace mlir::layout;

Attribute ImportAttr::parse(AsmParser &parser, Type) {
  StringRef name;
  std::string text;
  SMLoc nameLoc, textLoc;
  if (parser.parseLess() || parser.getCurrentLocation(&nameLoc) ||
      parser.parseKeyword(&name))
    return {};
  std::optional<Notation> notation = layout::getNotation(name);
  if (!notation) {
    parser.emitError(nameLoc)
        << "unknown notation '" << name
        << "': known notations are xla, onednn, cute and triton";
    return {};
  }
  if (parser.parseComma() || parser.getCurrentLocation(&textLoc) ||
      parser.parseString(&text) || parser.parseGreater())
    return {};
  auto report = [&](size_t column, const Twine &message) {
    parser.emitError(getLocInString(textLoc, column)) << message;
  };
  if (!parseAs(*notation, text, report))
    return {};
  return ImportAttr::get(parser.getContext(), *notation, text);
}

void ImportAttr::print(AsmPrinter &printer) const {
  printer << '<' << layout::getName(getNotation()) << ", \"" << getText()
          << "\">";
}

LogicalResult ImportAttr::verify(EmitErrorFn emitError, Notation notation,
                                 StringRef text) {
  auto report = [&](size_t column, const Twine &why) {
    emitError() << "column " << column + 1 << " of \"" << text << "\": " << why;
  };
  return success(parseAs(notation, text, report).has_value());
}

static ImportedLayout getImported(ImportAttr attr) {
  return *parseAs(attr.getNotation(), attr.getText(),
                  [](size_t, const Twine &) {});
}

FailureOr<LayoutMap> ImportAttr::resolve(ArrayRef<int64_t> shape, Type,
                                         EmitErrorFn emitError) const {
  if (failed(checkMostDims(*this, shape, emitError)))
    return failure();
  std::optional<LayoutMap> map =
      layout::getMap(getImported(*this), shape, [&](const Twine &why) {
        if (emitError)
          emitError() << "layout " << *this << ": " << why;
      });
  if (!map)
    return failure();
  return *map;
}

SmallVector<BoundedIndex> ImportAttr::getStoredDims(ArrayRef<int64_t> shape,
                                                    Type type) const {
  return resolve(shape, type, nullptr)->getStoredDims();
}

std::optional<SmallVector<int64_t>> ImportAttr::getStatedShape() const {
  return layout::getStatedShape(getImported(*this));
}

SmallVector<int64_t> ImportAttr::getExampleShape() const {
  return layout::getExampleShape(getImported(*this));
}
