//===- BlockedAttr.cpp - #layout.blocked ----------------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Common.h"
#include "layout/Algebra/Families/Blocked.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::layout;

Attribute BlockedAttr::parse(AsmParser &parser, Type) {
  std::string logical, stored;
  SMLoc logicalLoc, storedLoc;
  if (parser.parseLess() || parser.getCurrentLocation(&logicalLoc) ||
      parser.parseString(&logical) || parser.parseKeyword("to") ||
      parser.getCurrentLocation(&storedLoc) || parser.parseString(&stored) ||
      parser.parseGreater())
    return {};
  auto report = [&](bool inStored, size_t column, const Twine &message) {
    parser.emitError(getLocInString(inStored ? storedLoc : logicalLoc, column))
        << message;
  };
  if (!parseBlocked(logical, stored, report))
    return {};
  return BlockedAttr::get(parser.getContext(), logical, stored);
}

void BlockedAttr::print(AsmPrinter &printer) const {
  printer << "<\"" << getLogical() << "\" to \"" << getStored() << "\">";
}

LogicalResult BlockedAttr::verify(EmitErrorFn emitError, StringRef logical,
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
                                          EmitErrorFn emitError) const {
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
                  << " there (L1): change the size, or give the logical axes "
                     "without parts";
    return failure();
  }
  return blocked.getMap();
}

std::optional<SmallVector<int64_t>> BlockedAttr::getStatedShape() const {
  SmallVector<int64_t> shape = getBlocked(*this).requiredSizes;
  llvm::replace(shape, int64_t(0), ShapedType::kDynamic);
  return shape;
}

SmallVector<BoundedIndex> BlockedAttr::getStoredDims(ArrayRef<int64_t>,
                                                     Type) const {
  return getBlocked(*this).stored;
}
