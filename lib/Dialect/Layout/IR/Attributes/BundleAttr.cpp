//===- BundleAttr.cpp - #layout.bundle ------------------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   bundle    ::= string (`,` name `=` int)*             // a named format
//               | decode `(` dims `)` (`,` component)+ (`,` paddings)?
//   component ::= name `:` type (`excess` int)? (`fraction` int)?
//                 `[` sized (`,` sized)* `]` `in` stream pieces
//   pieces    ::= piece | `{` piece (`,` piece)* `}`
//   piece     ::= a map (MapParser.cpp) whose dims may have ranges
//   paddings  ::= `padding` `(` stream `=` int (`,` ..)* `)`
//
//===----------------------------------------------------------------------===//

#include "../MapParser.h"
#include "Common.h"
#include "layout/Algebra/Bits.h"
#include "layout/Dialect/Layout/IR/Bundle.h"
#include "mlir/AsmParser/AsmParser.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::layout;

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// Parses the parameters of a named format, and replaces the name by the format
/// that it stands for.
static ParseResult parseNamed(AsmParser &parser, StringRef name, SMLoc loc,
                              Bundle &bundle) {
  std::vector<std::pair<std::string, int64_t>> parameters;
  while (succeeded(parser.parseOptionalComma())) {
    StringRef parameter;
    int64_t value;
    if (parser.parseKeyword(&parameter) || parser.parseEqual() ||
        parseAtLeast(parser, value, 1, "a parameter of a format"))
      return failure();
    parameters.push_back({parameter.str(), value});
  }
  std::string why;
  std::string text = getFormatText(name, parameters, why);
  if (text.empty())
    return parser.emitError(loc) << why;
  auto expanded = dyn_cast_or_null<BundleAttr>(
      parseAttribute("#layout.bundle<" + text + ">", parser.getContext()));
  if (!expanded)
    return parser.emitError(loc)
           << "format '" << name << "' does not exist with these parameters";
  bundle = *expanded.getBundle();
  bundle.name = name.str();
  bundle.parameters = std::move(parameters);
  return success();
}

static ParseResult parsePieces(AsmParser &parser, std::vector<Piece> &pieces) {
  auto parseOne = [&]() -> ParseResult {
    FailureOr<Piece> piece = parsePiece(parser);
    if (succeeded(piece))
      pieces.push_back(std::move(*piece));
    return failure(failed(piece));
  };
  if (failed(parser.parseOptionalLBrace()))
    return parseOne();
  do {
    if (parseOne())
      return failure();
  } while (succeeded(parser.parseOptionalComma()));
  return parser.parseRBrace();
}

/// Parses a component after its name.
static ParseResult parseComponent(AsmParser &parser, ArrayRef<std::string> dims,
                                  BundleComponent &component) {
  StringRef stream;
  if (parser.parseColon() || parser.parseType(component.element))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("excess")) &&
      parser.parseInteger(component.excess))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("fraction")) &&
      parser.parseInteger(component.fraction))
    return failure();
  if (parseDigits(parser, dims, component.index) || parser.parseKeyword("in") ||
      parser.parseKeyword(&stream))
    return failure();
  component.stream = stream.str();
  return parsePieces(parser, component.pieces);
}

static ParseResult parsePaddings(AsmParser &parser,
                                 std::vector<StreamPadding> &paddings) {
  return parser.parseCommaSeparatedList(
      AsmParser::Delimiter::Paren, [&]() -> ParseResult {
        StringRef stream;
        int64_t byte;
        if (parser.parseKeyword(&stream) || parser.parseEqual() ||
            parseAtLeast(parser, byte, 0, "a byte of padding"))
          return failure();
        paddings.push_back({stream.str(), byte});
        return success();
      });
}

static ParseResult parseExplicit(AsmParser &parser, Bundle &bundle) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef keyword;
  SmallVector<std::string> dims;
  if (parser.parseKeyword(&keyword))
    return failure();
  std::optional<Decode> decode = getDecode(keyword);
  if (!decode)
    return parser.emitError(loc)
           << "unknown decode function '" << keyword
           << "' (B5): use value, scale, scale2, zero, min or min2";
  if (parseDimNames(parser, dims))
    return failure();
  bundle.decode = *decode;
  bundle.rank = dims.size();
  while (succeeded(parser.parseOptionalComma())) {
    if (parser.parseKeyword(&keyword))
      return failure();
    // A component may have the name `padding`, too.
    if (keyword == "padding" && bundle.paddings.empty() &&
        !bundle.components.empty()) {
      if (parsePaddings(parser, bundle.paddings))
        return failure();
      break;
    }
    BundleComponent &component = bundle.components.emplace_back();
    component.name = keyword.str();
    if (parseComponent(parser, dims, component))
      return failure();
  }
  return success();
}

Attribute BundleAttr::parse(AsmParser &parser, Type) {
  Bundle bundle;
  std::string name;
  SMLoc loc;
  if (parser.parseLess() || parser.getCurrentLocation(&loc))
    return {};
  ParseResult parsed = succeeded(parser.parseOptionalString(&name))
                           ? parseNamed(parser, name, loc, bundle)
                           : parseExplicit(parser, bundle);
  if (parsed || parser.parseGreater())
    return {};
  return parser.getChecked<BundleAttr>(loc, parser.getContext(),
                                       BundleRef(std::move(bundle)));
}

void BundleAttr::print(AsmPrinter &printer) const {
  printer << '<';
  getBundle()->print(printer.getStream());
  printer << '>';
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

static LogicalResult verifyComponent(const Bundle &bundle,
                                     const BundleComponent &component,
                                     EmitErrorFn emitError) {
  auto fail = [&](const Twine &why) {
    return emitError() << "component '" << component.name << "' " << why;
  };
  auto integer = dyn_cast<IntegerType>(component.element);
  if (integer ? integer.isSignless() || integer.getWidth() > 32
              : !isa<FloatType>(component.element) || component.getWidth() > 32)
    return fail("has codes of another type than floats and integers with a "
                "sign, of at most 32 bits (B2): write ui4 or si8 for integers");
  if (!integer && (component.excess || component.fraction))
    return fail("has an excess or a fraction, which only integer codes have "
                "(B2): remove it");
  if (std::abs(component.excess) > (int64_t(1) << 31) ||
      component.fraction < 0 || component.fraction > 126)
    return fail("has an excess that does not fit 32 bits, or a fraction that "
                "is not in [0, 126] (B2)");
  StringRef overflow = "has strides, ranges or extents that do not fit 64 bits "
                       "(L1): use smaller factors";
  if (llvm::any_of(component.index, [](const BoundedIndex &digit) {
        return digit.value.hasOverflow() || digit.extent.isOverflow();
      }))
    return fail(overflow);
  if (component.pieces.empty())
    return fail("has no map (B3): state one, or several in braces");
  for (const Piece &piece : component.pieces) {
    if (piece.map.getSpace() != kBitsSpace)
      return fail("has a map into space '" + piece.map.getSpace() +
                  "' (B1): codes are stored in space 'bits'");
    if (piece.map.getRank() != component.index.size() + 1)
      return fail("has an index of " + Twine(component.index.size()) +
                  " digits and a map of " + Twine(piece.map.getRank()) +
                  " dims (B1): the map has one more, the bit of a code");
    if (!piece.map.getReplicas().empty())
      return fail("has replicas (B1): a bundle stores each code once");
    if (piece.map.hasOverflow() ||
        llvm::any_of(piece.ranges, [](const DimRange &range) {
          return range.begin.isOverflow() || range.end.isOverflow();
        }))
      return fail(overflow);
  }
  return success();
}

LogicalResult BundleAttr::verify(EmitErrorFn emitError, BundleRef bundle) {
  if (!bundle)
    return emitError() << "a bundle needs components";
  ArrayRef<StringRef> names = getComponentNames(bundle->decode);
  for (StringRef name : names)
    if (llvm::count_if(bundle->components, [&](const BundleComponent &c) {
          return c.name == name;
        }) != 1)
      return emitError() << "decode function '" << getName(bundle->decode)
                         << "' needs one component '" << name << "' (B5)";
  for (const BundleComponent &component : bundle->components) {
    if (!llvm::is_contained(names, component.name))
      return emitError() << "decode function '" << getName(bundle->decode)
                         << "' does not read a component '" << component.name
                         << "' (B5): it reads " << llvm::join(names, ", ");
    if (failed(verifyComponent(*bundle, component, emitError)))
      return failure();
  }
  for (auto [i, padding] : llvm::enumerate(bundle->paddings)) {
    if (!llvm::is_contained(bundle->getStreams(), padding.stream))
      return emitError() << "'padding' names a stream '" << padding.stream
                         << "' that no component is in (B6)";
    if (padding.byte > 255)
      return emitError() << "padding of stream '" << padding.stream << "' is "
                         << padding.byte << " (B6): state a byte, 0 to 255";
    for (const StreamPadding &other : ArrayRef(bundle->paddings).take_front(i))
      if (other.stream == padding.stream)
        return emitError() << "the padding of stream '" << padding.stream
                           << "' is stated twice (B6)";
  }
  return success();
}

LogicalResult BundleAttr::verifyEncoding(ArrayRef<int64_t> shape,
                                         Type elementType,
                                         EmitErrorFn emitError) const {
  return verifyBundle(*getBundle(), *this, shape, elementType, emitError);
}
