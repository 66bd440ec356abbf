//===- MapParser.cpp - The text of #layout.map ----------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   map    ::= `(` dims `)` replicas? `->` space `(` coords `)` stored?
//   replicas ::= `replicate` `(` name `:` int (`,` name `:` int)* `)`
//   coords ::= sum (`,` sum)*                     // a buffer: one dense group
//            | (name `=` sized) (`,` ..)*
//   dims   ::= name range? (`,` name range?)*     // ranges: of pieces only
//   range  ::= `=` size `to` size
//   stored ::= `stored` `(` sized (`,` sized)* `)`
//   sized  ::= sum (`extent` size)?
//   sum    ::= product (`+` product)*
//   product::= digit (`*` size-factor)* | size-product
//   digit  ::= primary (`floordiv` int | `mod` int)*
//   primary::= dim | `(` sum `)` | `pad` `(` sum `,` int `,` int `)`
//            | `[` sum (`,` sum)* `]` (`align` int)?
//            | `xor` `(` sum (`,` sum)* (`:` int)? `)`
//   size   ::= size-product (`+` size-product)*
//   factor ::= int | `size` `(` dim `)` | `ceil` `(` size `,` int `)`
//            | `(` size `)`
//
//===----------------------------------------------------------------------===//

#include "MapParser.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::layout;

namespace {

/// The maximum nesting depth of a map, so that hostile text cannot exhaust the
/// stack. Deeper nesting is a parse error.
constexpr unsigned kMaxDepth = 64;
constexpr unsigned kMaxRank = 64;

class MapParser {
public:
  explicit MapParser(AsmParser &parser) : parser(parser) {}

  FailureOr<LayoutMap> parse(StoredDims &stored);
  FailureOr<Piece> parsePiece();
  ParseResult parseDigits(ArrayRef<std::string> names,
                          std::vector<BoundedIndex> &digits);
  ParseResult parseDims();
  ArrayRef<std::string> getDims() const { return dims; }

private:
  ParseResult parseNewName();
  ParseResult parseRange();
  ParseResult parseReplicas();
  ParseResult parseDimName(unsigned &dim);
  ParseResult findDim(SMLoc loc, StringRef name, unsigned &dim);
  ParseResult parsePositive(int64_t &value, StringRef what);
  ParseResult parseSum(BoundedIndex &result);
  ParseResult parseSized(BoundedIndex &result);
  ParseResult parseStored(StoredDims &stored);
  ParseResult parseProduct(BoundedIndex &result, SizeExpr &stride);
  ParseResult parseDigit(BoundedIndex &result);
  ParseResult parseXor(BoundedIndex &result);
  ParseResult parsePrimary(BoundedIndex &result);
  ParseResult parseSize(SizeExpr &result);
  ParseResult parseSizeProduct(SizeExpr &result);
  /// Parses an integer, `size(dim)` or `ceil(size, k)`. If something else
  /// starts here, leaves it and returns success with an empty `result`.
  ParseResult parseOptionalSizeFactor(std::optional<SizeExpr> &result);
  ParseResult parseCoordinates(StringRef space, SMLoc spaceLoc,
                               std::vector<Coordinate> &coordinates);
  ParseResult orderCoordinates(StringRef space, SMLoc spaceLoc,
                               std::vector<Coordinate> &coordinates);

  /// Reads a keyword, or the one that `putBack` returned to the input after a
  /// lookahead. Returns false if there is none.
  bool takeKeyword(StringRef &keyword, SMLoc &loc) {
    loc = parser.getCurrentLocation();
    if (!pending.empty()) {
      keyword = pending;
      loc = pendingLoc;
      pending = {};
      return true;
    }
    return succeeded(parser.parseOptionalKeyword(&keyword));
  }
  void putBack(StringRef keyword, SMLoc loc) {
    pending = keyword;
    pendingLoc = loc;
  }

  AsmParser &parser;
  /// The ranges of the dims of a piece; null if ranges are not allowed.
  std::vector<DimRange> *ranges = nullptr;
  SmallVector<std::string> dims; // the first `rank` are logical, then replicas
  unsigned rank = 0;
  SmallVector<int64_t> replicas; // extents
  StringRef pending;
  SMLoc pendingLoc;
  unsigned depth = 0;
};

struct DepthGuard {
  DepthGuard(unsigned &depth) : depth(depth) { ++depth; }
  ~DepthGuard() { --depth; }
  unsigned &depth;
};

} // namespace

ParseResult MapParser::parseNewName() {
  SMLoc loc = parser.getCurrentLocation();
  StringRef name;
  if (parser.parseKeyword(&name))
    return failure();
  // AsmParser::parseInteger accepts `true` and `false`, as -1 and 0.
  if (name == "true" || name == "false")
    return parser.emitError(loc) << "a dim cannot be named '" << name << "'";
  if (llvm::is_contained(dims, name))
    return parser.emitError(loc) << "dim '" << name << "' is repeated";
  if (dims.size() == kMaxRank)
    return parser.emitError(loc)
           << "a layout has at most " << kMaxRank << " dims";
  dims.push_back(name.str());
  return success();
}

ParseResult MapParser::parseDims() {
  return parser.parseCommaSeparatedList(
      AsmParser::Delimiter::Paren,
      [&]() -> ParseResult { return failure(parseNewName() || parseRange()); });
}

/// Parses the optional range of the last dim, e.g. `= 4 to size(r)`.
ParseResult MapParser::parseRange() {
  rank = dims.size();
  if (!ranges)
    return success();
  DimRange &range = ranges->emplace_back();
  range.end = SizeExpr::dim(rank - 1);
  if (failed(parser.parseOptionalEqual()))
    return success();
  return failure(parseSize(range.begin) || parser.parseKeyword("to") ||
                 parseSize(range.end));
}

/// Sets `rank` to the number of logical dims, which were parsed before, and
/// parses the optional replica dims, e.g. `replicate(r : 4)`.
ParseResult MapParser::parseReplicas() {
  rank = dims.size();
  if (failed(parser.parseOptionalKeyword("replicate")))
    return success();
  if (parser.parseLParen())
    return failure();
  do {
    int64_t extent;
    if (parseNewName() || parser.parseColon() ||
        parsePositive(extent, "the extent of a replica"))
      return failure();
    replicas.push_back(extent);
  } while (succeeded(parser.parseOptionalComma()));
  return parser.parseRParen();
}

ParseResult MapParser::findDim(SMLoc loc, StringRef name, unsigned &dim) {
  auto it = llvm::find(dims, name);
  if (it == dims.end())
    return parser.emitError(loc)
           << "unknown dim '" << name << "'; the dims are ("
           << llvm::join(dims, ", ") << ")";
  dim = it - dims.begin();
  return success();
}

ParseResult MapParser::parseDimName(unsigned &dim) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef name;
  return failure(parser.parseKeyword(&name) || findDim(loc, name, dim));
}

ParseResult MapParser::parsePositive(int64_t &value, StringRef what) {
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseInteger(value))
    return failure();
  if (value < 1)
    return parser.emitError(loc)
           << what << " must be at least 1, found " << value;
  return success();
}

ParseResult
MapParser::parseOptionalSizeFactor(std::optional<SizeExpr> &result) {
  DepthGuard guard(depth);
  SMLoc loc = parser.getCurrentLocation();
  if (depth > kMaxDepth)
    return parser.emitError(loc) << "the layout is nested too deeply";
  int64_t value;
  if (pending.empty()) {
    if (succeeded(parser.parseOptionalKeyword("true")) ||
        succeeded(parser.parseOptionalKeyword("false")))
      return parser.emitError(loc) << "expected a number, found a truth value";
    OptionalParseResult integer = parser.parseOptionalInteger(value);
    if (integer.has_value()) {
      if (failed(*integer))
        return failure();
      result = SizeExpr(value);
      return success();
    }
  }
  StringRef keyword;
  if (!takeKeyword(keyword, loc))
    return success();
  bool isFunction = keyword == "size" || keyword == "ceil";
  if (!isFunction || llvm::is_contained(dims, keyword) ||
      failed(parser.parseOptionalLParen())) {
    putBack(keyword, loc);
    return success();
  }
  if (keyword == "size") {
    unsigned dim;
    if (parseDimName(dim) || parser.parseRParen())
      return failure();
    result = dim < rank ? SizeExpr::dim(dim) : SizeExpr(replicas[dim - rank]);
    return success();
  }
  SizeExpr num;
  int64_t den;
  if (parseSize(num) || parser.parseComma() ||
      parsePositive(den, "the divisor of 'ceil'") || parser.parseRParen())
    return failure();
  result = num.ceilDiv(den);
  return success();
}

ParseResult MapParser::parseSizeProduct(SizeExpr &result) {
  result = SizeExpr(1);
  do {
    std::optional<SizeExpr> factor;
    if (parseOptionalSizeFactor(factor))
      return failure();
    if (!factor) {
      if (!pending.empty() || failed(parser.parseOptionalLParen()))
        return parser.emitError(parser.getCurrentLocation())
               << "expected a size: an integer, size(dim) or ceil(size, k)";
      factor.emplace();
      if (parseSize(*factor) || parser.parseRParen())
        return failure();
    }
    result = result * *factor;
  } while (succeeded(parser.parseOptionalStar()));
  return success();
}

ParseResult MapParser::parseSize(SizeExpr &result) {
  DepthGuard guard(depth);
  if (depth > kMaxDepth)
    return parser.emitError(parser.getCurrentLocation())
           << "the layout is nested too deeply";
  result = SizeExpr(0);
  do {
    SizeExpr term;
    if (parseSizeProduct(term))
      return failure();
    result = result + term;
  } while (succeeded(parser.parseOptionalPlus()));
  return success();
}

ParseResult MapParser::parsePrimary(BoundedIndex &result) {
  DepthGuard guard(depth);
  SMLoc loc = parser.getCurrentLocation();
  if (depth > kMaxDepth)
    return parser.emitError(loc) << "the layout is nested too deeply";
  if (pending.empty()) {
    if (succeeded(parser.parseOptionalLParen()))
      return failure(parseSum(result) || parser.parseRParen());
    if (succeeded(parser.parseOptionalLSquare())) {
      SmallVector<BoundedIndex> elements;
      do {
        if (parseSum(elements.emplace_back()))
          return failure();
      } while (succeeded(parser.parseOptionalComma()));
      if (parser.parseRSquare())
        return failure();
      result = group(elements);
      if (succeeded(parser.parseOptionalKeyword("align"))) {
        int64_t k;
        if (parsePositive(k, "an alignment"))
          return failure();
        result = align(result, k);
      }
      return success();
    }
  }
  StringRef keyword;
  if (!takeKeyword(keyword, loc))
    return parser.emitError(loc)
           << "expected a dim, a group '[..]', '(', 'pad(' or 'xor('";
  if (keyword == "xor" && !llvm::is_contained(dims, keyword))
    return parseXor(result);
  if (keyword == "pad" && !llvm::is_contained(dims, keyword)) {
    int64_t lo, hi;
    SMLoc loLoc, hiLoc;
    if (parser.parseLParen() || parseSum(result) || parser.parseComma() ||
        parser.getCurrentLocation(&loLoc) || parser.parseInteger(lo) ||
        parser.parseComma() || parser.getCurrentLocation(&hiLoc) ||
        parser.parseInteger(hi) || parser.parseRParen())
      return failure();
    if (lo < 0 || hi < 0)
      return parser.emitError(lo < 0 ? loLoc : hiLoc)
             << "padding must not be negative: a layout cannot drop elements";
    result = pad(result, lo, hi);
    return success();
  }
  unsigned dim;
  if (findDim(loc, keyword, dim))
    return failure();
  result = BoundedIndex::dim(dim);
  if (dim >= rank)
    result = mod(result, replicas[dim - rank]);
  return success();
}

/// Returns the default extent of a swizzle: the constant extent that all
/// operands share, or std::nullopt if they differ or are dynamic.
static std::optional<int64_t> getCommonExtent(ArrayRef<BoundedIndex> operands) {
  std::optional<int64_t> common;
  for (const BoundedIndex &operand : operands) {
    std::optional<int64_t> extent = operand.extent.getConstant();
    if (!extent || (common && *common != *extent))
      return std::nullopt;
    common = extent;
  }
  return common;
}

ParseResult MapParser::parseXor(BoundedIndex &result) {
  SmallVector<BoundedIndex> operands;
  SMLoc loc;
  if (parser.parseLParen())
    return failure();
  do {
    if (parseSum(operands.emplace_back()))
      return failure();
  } while (succeeded(parser.parseOptionalComma()));
  int64_t extent;
  if (succeeded(parser.parseOptionalColon())) {
    if (parser.getCurrentLocation(&loc) || parser.parseInteger(extent))
      return failure();
  } else {
    loc = parser.getCurrentLocation();
    std::optional<int64_t> common = getCommonExtent(operands);
    if (!common)
      return parser.emitError(loc)
             << "the operands of 'xor' have no common constant extent: state "
                "it, as in xor(a, b : 4)";
    extent = *common;
  }
  if (extent < 1 || !llvm::isPowerOf2_64(extent))
    return parser.emitError(loc)
           << "the extent of 'xor' must be a power of two, found " << extent;
  if (parser.parseRParen())
    return failure();
  result = xorOf(operands, extent);
  return success();
}

ParseResult MapParser::parseDigit(BoundedIndex &result) {
  if (parsePrimary(result))
    return failure();
  while (true) {
    int64_t k;
    if (succeeded(parser.parseOptionalKeyword("floordiv"))) {
      if (parsePositive(k, "the divisor of 'floordiv'"))
        return failure();
      result = floorDiv(result, k);
    } else if (succeeded(parser.parseOptionalKeyword("mod"))) {
      if (parsePositive(k, "the divisor of 'mod'"))
        return failure();
      result = mod(result, k);
    } else {
      return success();
    }
  }
}

ParseResult MapParser::parseProduct(BoundedIndex &result, SizeExpr &stride) {
  std::optional<SizeExpr> constant;
  if (parseOptionalSizeFactor(constant))
    return failure();
  if (!constant && parseDigit(result))
    return failure();
  stride = SizeExpr(1);
  if (succeeded(parser.parseOptionalStar()) && parseSizeProduct(stride))
    return failure();
  if (constant) {
    result = BoundedIndex::constant(*constant * stride);
    stride = SizeExpr(1);
  }
  return success();
}

ParseResult MapParser::parseSum(BoundedIndex &result) {
  DepthGuard guard(depth);
  if (depth > kMaxDepth)
    return parser.emitError(parser.getCurrentLocation())
           << "the layout is nested too deeply";
  SmallVector<std::pair<BoundedIndex, SizeExpr>> elements;
  do {
    auto &[element, stride] = elements.emplace_back();
    if (parseProduct(element, stride))
      return failure();
  } while (succeeded(parser.parseOptionalPlus()));
  result = place(elements);
  return success();
}

/// Returns the coordinate names of a predefined space in order, or an empty
/// list for any other space.
static ArrayRef<StringRef> getKnownCoordinates(StringRef space) {
  static const StringRef buffer[] = {"offset"};
  static const StringRef bits[] = {"bit"};
  static const StringRef image2d[] = {"x", "y", "lane"};
  static const StringRef image2dArray[] = {"x", "y", "slice", "lane"};
  static const StringRef image3d[] = {"x", "y", "z", "lane"};
  static const StringRef npu[] = {"npu", "offset"};
  if (space == "buffer")
    return buffer;
  if (space == "bits")
    return bits;
  if (space == "image2d")
    return image2d;
  if (space == "image2d_array")
    return image2dArray;
  if (space == "image3d")
    return image3d;
  if (space == "npu")
    return npu;
  return {};
}

ParseResult MapParser::orderCoordinates(StringRef space, SMLoc spaceLoc,
                                        std::vector<Coordinate> &coordinates) {
  ArrayRef<StringRef> known = getKnownCoordinates(space);
  if (known.empty())
    return success();
  std::vector<Coordinate> ordered;
  for (StringRef name : known) {
    auto it = llvm::find_if(
        coordinates, [&](const Coordinate &c) { return c.name == name; });
    if (it == coordinates.end())
      return parser.emitError(spaceLoc)
             << "space '" << space << "' needs the coordinate '" << name << "'";
    ordered.push_back(std::move(*it));
    coordinates.erase(it);
  }
  if (!coordinates.empty())
    return parser.emitError(spaceLoc)
           << "space '" << space << "' has no coordinate '"
           << coordinates.front().name << "'; it has "
           << llvm::join(known, ", ");
  coordinates = std::move(ordered);
  return success();
}

ParseResult MapParser::parseCoordinates(StringRef space, SMLoc spaceLoc,
                                        std::vector<Coordinate> &coordinates) {
  if (parser.parseLParen())
    return failure();
  bool closed = succeeded(parser.parseOptionalRParen());
  StringRef keyword;
  SMLoc loc;
  bool named = false;
  if (!closed && takeKeyword(keyword, loc)) {
    named = succeeded(parser.parseOptionalEqual());
    if (!named)
      putBack(keyword, loc);
  }
  if (!named) {
    // buffer(a, b, c) and bits(a, b, c) are one dense group.
    ArrayRef<StringRef> known = getKnownCoordinates(space);
    if (known.size() != 1)
      return parser.emitError(spaceLoc) << "the coordinates of space '" << space
                                        << "' are named: write name = value";
    SmallVector<BoundedIndex> elements;
    if (!closed) {
      do {
        if (parseSum(elements.emplace_back()))
          return failure();
      } while (succeeded(parser.parseOptionalComma()));
      if (parser.parseRParen())
        return failure();
    }
    BoundedIndex offset = group(elements);
    coordinates.push_back({known[0].str(), offset.value, offset.extent});
    return success();
  }
  while (true) {
    if (llvm::any_of(coordinates, [&](const Coordinate &coordinate) {
          return coordinate.name == keyword;
        }))
      return parser.emitError(loc)
             << "coordinate '" << keyword << "' is repeated";
    BoundedIndex value;
    if (parseSized(value))
      return failure();
    coordinates.push_back({keyword.str(), value.value, value.extent});
    if (failed(parser.parseOptionalComma()))
      break;
    loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&keyword) || parser.parseEqual())
      return failure();
  }
  return failure(parser.parseRParen() ||
                 orderCoordinates(space, spaceLoc, coordinates));
}

ParseResult MapParser::parseSized(BoundedIndex &result) {
  return failure(parseSum(result) ||
                 (succeeded(parser.parseOptionalKeyword("extent")) &&
                  parseSize(result.extent)));
}

ParseResult MapParser::parseStored(StoredDims &stored) {
  if (failed(parser.parseOptionalKeyword("stored")))
    return success();
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, [&] {
    return parseSized(stored.dims.emplace_back());
  });
}

FailureOr<LayoutMap> MapParser::parse(StoredDims &stored) {
  SMLoc spaceLoc;
  StringRef space;
  std::vector<Coordinate> coordinates;
  if (parseDims() || parseReplicas() || parser.parseArrow() ||
      parser.getCurrentLocation(&spaceLoc) || parser.parseKeyword(&space) ||
      parseCoordinates(space, spaceLoc, coordinates) || parseStored(stored))
    return failure();
  return LayoutMap::get(rank, space, std::move(coordinates), replicas);
}

FailureOr<Piece> MapParser::parsePiece() {
  Piece piece;
  ranges = &piece.ranges;
  StoredDims stored;
  SMLoc loc = parser.getCurrentLocation();
  FailureOr<LayoutMap> map = parse(stored);
  if (failed(map))
    return failure();
  if (!stored.dims.empty())
    return parser.emitError(loc) << "a map in a bundle has no 'stored' dims";
  piece.map = *map;
  return piece;
}

ParseResult MapParser::parseDigits(ArrayRef<std::string> names,
                                   std::vector<BoundedIndex> &digits) {
  dims.assign(names.begin(), names.end());
  rank = dims.size();
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
    return parseSized(digits.emplace_back());
  });
}

FailureOr<Piece> layout::parsePiece(AsmParser &parser) {
  return MapParser(parser).parsePiece();
}

ParseResult layout::parseDigits(AsmParser &parser, ArrayRef<std::string> dims,
                                std::vector<BoundedIndex> &digits) {
  return MapParser(parser).parseDigits(dims, digits);
}

ParseResult layout::parseDimNames(AsmParser &parser,
                                  SmallVectorImpl<std::string> &dims) {
  MapParser reader(parser);
  if (reader.parseDims())
    return failure();
  dims.assign(reader.getDims().begin(), reader.getDims().end());
  return success();
}

FailureOr<LayoutMap> layout::parseLayoutMap(AsmParser &parser,
                                            StoredDims &stored) {
  return MapParser(parser).parse(stored);
}
