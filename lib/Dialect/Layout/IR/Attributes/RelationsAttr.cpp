//===- RelationsAttr.cpp - #layout.relations ------------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Common.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::layout;

namespace {

/// Parses the parameters of a `#layout.relations`, and records the location of
/// each axis name, in order, for errors.
struct RelationsParser {
  AsmParser &parser;
  RelationsText text;
  SmallVector<SMLoc> names;

  ParseResult parseName(std::string &name) {
    names.push_back(parser.getCurrentLocation());
    StringRef keyword;
    if (parser.parseKeyword(&keyword))
      return failure();
    name = keyword.str();
    return success();
  }

  ParseResult parseAxes(std::vector<NamedAxis> &axes, bool withExtents) {
    return parser.parseCommaSeparatedList(
        AsmParser::Delimiter::Paren, [&]() -> ParseResult {
          NamedAxis &axis = axes.emplace_back();
          if (parseName(axis.name))
            return failure();
          if (!withExtents || failed(parser.parseOptionalColon()))
            return success();
          return parseAtLeast(parser, axis.extent, 1, "an extent");
        });
  }

  ParseResult parseStored() {
    return parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, [&] {
      return parseName(text.stored.emplace_back());
    });
  }

  ParseResult parse() {
    if (parser.parseLess() || parseAxes(text.dims, /*withExtents=*/true))
      return failure();
    while (true) {
      SMLoc loc = parser.getCurrentLocation();
      StringRef keyword;
      if (failed(parser.parseOptionalComma()))
        return parser.emitError(loc)
               << "expected ', store (..)' at the end: it names the axes that "
                  "remain, slowest first";
      if (parser.getCurrentLocation(&loc) || parser.parseKeyword(&keyword))
        return failure();
      if (keyword == "store")
        return failure(parseStored() || parser.parseGreater());
      if (keyword != "split" && keyword != "fuse")
        return parser.emitError(loc)
               << "expected 'split', 'fuse' or 'store', found '" << keyword
               << "'";
      AxisRelation &relation = text.relations.emplace_back();
      if (keyword == "split") {
        relation.kind = AxisRelation::Split;
        if (parseName(relation.whole.name) || parser.parseArrow() ||
            parseAxes(relation.parts, /*withExtents=*/true))
          return failure();
      } else {
        relation.kind = AxisRelation::Fuse;
        if (parseAxes(relation.parts, /*withExtents=*/false) ||
            parser.parseArrow() || parseName(relation.whole.name))
          return failure();
      }
    }
  }
};

} // namespace

Attribute RelationsAttr::parse(AsmParser &parser, Type) {
  RelationsParser reader{parser, {}, {}};
  if (reader.parse())
    return {};
  auto report = [&](size_t name, const Twine &message) {
    parser.emitError(reader.names[name]) << message;
  };
  std::optional<Relations> relations =
      Relations::get(std::move(reader.text), report);
  if (!relations)
    return {};
  return RelationsAttr::get(parser.getContext(), *relations);
}

void RelationsAttr::print(AsmPrinter &printer) const {
  printer << '<';
  getRelations().print(printer.getStream());
  printer << '>';
}

LogicalResult RelationsAttr::verify(EmitErrorFn emitError,
                                    Relations relations) {
  if (!relations)
    return emitError() << "a layout needs relations";
  return success();
}

FailureOr<LayoutMap> RelationsAttr::resolve(ArrayRef<int64_t> shape, Type,
                                            EmitErrorFn emitError) const {
  const std::vector<NamedAxis> &dims = getRelations().getText().dims;
  if (failed(checkRank(*this, dims.size(), shape, emitError)))
    return failure();
  for (auto [d, size, dim] : llvm::enumerate(shape, dims)) {
    if (!dim.extent || size == dim.extent)
      continue;
    if (emitError)
      emitError() << "layout " << *this << " gives dim " << d << " ('"
                  << dim.name << "') the size " << dim.extent
                  << ", the tensor has "
                  << (ShapedType::isDynamic(size) ? "a dynamic size"
                                                  : std::to_string(size))
                  << " there (L1): drop the extent or change the size";
    return failure();
  }
  return getRelations().getMap();
}

SmallVector<BoundedIndex> RelationsAttr::getStoredDims(ArrayRef<int64_t>,
                                                       Type) const {
  return llvm::to_vector(getRelations().getStoredDims());
}

std::optional<SmallVector<int64_t>> RelationsAttr::getStatedShape() const {
  SmallVector<int64_t> shape;
  for (const NamedAxis &dim : getRelations().getText().dims)
    shape.push_back(dim.extent ? dim.extent : ShapedType::kDynamic);
  return shape;
}
