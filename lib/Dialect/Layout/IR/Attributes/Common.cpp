//===- Common.cpp - Shared helpers of layout attributes -------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Common.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::layout;

/// The maximum number of dims of a layout, which is that of the parser of
/// `#layout.map`.
static constexpr size_t kMostDims = 64;

LogicalResult layout::checkMostDims(Attribute layout, ArrayRef<int64_t> shape,
                                    EmitErrorFn emitError) {
  if (shape.size() <= kMostDims)
    return success();
  if (emitError)
    emitError() << "layout " << layout << " on a tensor of rank "
                << shape.size() << ": layouts have at most " << kMostDims
                << " dims (L1): collapse some of them";
  return failure();
}

LogicalResult layout::checkRank(Attribute layout, unsigned rank,
                                ArrayRef<int64_t> shape,
                                EmitErrorFn emitError) {
  if (rank == shape.size())
    return checkMostDims(layout, shape, emitError);
  if (emitError)
    emitError() << "layout " << layout << " has " << rank
                << " dims, the tensor has rank " << shape.size()
                << " (L1): write the layout over the dims of the tensor";
  return failure();
}

SMLoc layout::getLocInString(SMLoc literal, size_t column) {
  // The lexer has checked the closing quote and the escapes.
  const char *at = literal.getPointer() + 1;
  for (; column > 0 && *at != '"'; --column) {
    if (*at++ == '\\')
      at += llvm::isHexDigit(at[0]) && llvm::isHexDigit(at[1]) ? 2 : 1;
  }
  return SMLoc::getFromPointer(at);
}

ParseResult layout::parseAtLeast(AsmParser &parser, int64_t &value,
                                 int64_t least, StringRef what) {
  SMLoc loc = parser.getCurrentLocation();
  // AsmParser::parseInteger accepts `true` and `false`, as -1 and 0.
  if (succeeded(parser.parseOptionalKeyword("true")) ||
      succeeded(parser.parseOptionalKeyword("false")))
    return parser.emitError(loc) << "expected a number, found a truth value";
  if (parser.parseInteger(value))
    return failure();
  if (value < least)
    return parser.emitError(loc)
           << what << " must be at least " << least << ", found " << value;
  return success();
}
