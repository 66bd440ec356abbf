//===- MapAttr.cpp - The canonical map as an attribute --------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../MapParser.h"
#include "Common.h"

using namespace mlir;
using namespace mlir::layout;

Attribute MapAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess())
    return {};
  StoredDims stored;
  FailureOr<LayoutMap> map = parseLayoutMap(parser, stored);
  if (failed(map) || parser.parseGreater())
    return {};
  return parser.getChecked<MapAttr>(loc, parser.getContext(), *map,
                                    StoredDims::get(*map, stored.dims));
}

void MapAttr::print(AsmPrinter &printer) const {
  printer << '<';
  getMap().print(printer.getStream());
  getStored().print(getMap(), printer.getStream());
  printer << '>';
}

LogicalResult MapAttr::verify(EmitErrorFn emitError, LayoutMap map,
                              StoredDims stored) {
  if (!map)
    return emitError() << "a layout needs a map";
  if (map.hasOverflow())
    return emitError() << "the strides or extents of the layout do not fit 64 "
                          "bits (L1): use smaller factors";
  if (!stored.dims.empty() && !stored.fit(map))
    return emitError() << "the dims in 'stored' do not form the offset of "
                       << map.str()
                       << ": state its row-major digits with their extents, or "
                          "omit 'stored'";
  return success();
}

FailureOr<LayoutMap> MapAttr::resolve(ArrayRef<int64_t> shape, Type,
                                      EmitErrorFn emitError) const {
  if (failed(checkRank(*this, getMap().getRank(), shape, emitError)))
    return failure();
  return getMap();
}

std::optional<SmallVector<int64_t>> MapAttr::getStatedShape() const {
  return SmallVector<int64_t>(getMap().getRank(), ShapedType::kDynamic);
}

SmallVector<BoundedIndex> MapAttr::getStoredDims(ArrayRef<int64_t>,
                                                 Type) const {
  if (!getStored().dims.empty())
    return llvm::to_vector(getStored().dims);
  return getMap().getStoredDims();
}
