//===- Common.cpp - What the layout attributes share ----------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Common.h"

using namespace mlir;
using namespace mlir::layout;

LogicalResult layout::checkRank(Attribute layout, unsigned rank,
                                ArrayRef<int64_t> shape,
                                EmitErrorFn emitError) {
  if (rank == shape.size())
    return success();
  if (emitError)
    emitError() << "layout " << layout << " has " << rank
                << " dims, the tensor has rank " << shape.size()
                << " (L1): write the layout over the dims of the tensor";
  return failure();
}

ParseResult layout::parseAtLeast(AsmParser &parser, int64_t &value,
                                 int64_t least, StringRef what) {
  SMLoc loc = parser.getCurrentLocation();
  // The lexer reads these as the integers -1 and 0.
  if (succeeded(parser.parseOptionalKeyword("true")) ||
      succeeded(parser.parseOptionalKeyword("false")))
    return parser.emitError(loc) << "expected a number, found a truth value";
  if (parser.parseInteger(value))
    return failure();
  if (value < least)
    return parser.emitError(loc)
           << what << " is at least " << least << ", found " << value;
  return success();
}
