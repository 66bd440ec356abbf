//===- PackedDimsAttr.cpp - #layout.packed_dims ---------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Common.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::layout;

static ParseResult parseDim(AsmParser &parser, PackedDim &dim, SMLoc &loc) {
  loc = parser.getCurrentLocation();
  if (parseAtLeast(parser, dim.dim, 0, "a dim"))
    return failure();
  if (failed(parser.parseOptionalColon()))
    return success();
  dim.kind = succeeded(parser.parseOptionalKeyword("oddeven"))
                 ? PackedDim::OddEven
                 : PackedDim::Packed;
  loc = parser.getCurrentLocation();
  return parseAtLeast(parser, dim.extent, 1, "an extent");
}

Attribute PackedDimsAttr::parse(AsmParser &parser, Type) {
  SmallVector<PackedDim> dims;
  SmallVector<SMLoc> locs;
  if (parser.parseLess() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
        return parseDim(parser, dims.emplace_back(), locs.emplace_back());
      }))
    return {};
  auto report = [&](size_t entry, const Twine &message) {
    parser.emitError(locs[entry]) << message;
  };
  if (!checkPackedDims(dims, report) || parser.parseGreater())
    return {};
  return PackedDimsAttr::get(parser.getContext(), dims);
}

void PackedDimsAttr::print(AsmPrinter &printer) const {
  printer << "<[";
  llvm::interleaveComma(getDims(), printer.getStream());
  printer << "]>";
}

LogicalResult PackedDimsAttr::verify(EmitErrorFn emitError,
                                     ArrayRef<PackedDim> dims) {
  return success(checkPackedDims(dims, [&](size_t entry, const Twine &why) {
    emitError() << "entry " << entry << ": " << why;
  }));
}

FailureOr<LayoutMap> PackedDimsAttr::resolve(ArrayRef<int64_t> shape, Type,
                                             EmitErrorFn emitError) const {
  if (failed(checkMostDims(*this, shape, emitError)))
    return failure();
  auto stored = layout::getStoredDims(getDims(), shape, [&](const Twine &why) {
    if (emitError)
      emitError() << "layout " << *this
                  << " does not apply to this shape (L1): " << why;
  });
  if (!stored)
    return failure();
  BoundedIndex offset = group(*stored);
  return LayoutMap::get(shape.size(), "buffer",
                        {{"offset", offset.value, offset.extent}});
}

/// Returns an example of a shape that the layout applies to: the size of a dim
/// is the product of its parts of fixed extent, or 1 without any. Skips dim
/// numbers that exceed the largest rank of a layout.
SmallVector<int64_t> PackedDimsAttr::getExampleShape() const {
  constexpr int64_t maxRank = 64;
  SmallVector<int64_t> shape;
  for (const PackedDim &dim : getDims()) {
    if (dim.dim >= maxRank)
      continue;
    if (size_t(dim.dim) >= shape.size())
      shape.resize(dim.dim + 1, 1);
    int64_t &size = shape[dim.dim];
    if (dim.kind != PackedDim::Whole &&
        llvm::MulOverflow(size, dim.extent, size))
      size = std::numeric_limits<int64_t>::max();
  }
  return shape;
}

SmallVector<BoundedIndex> PackedDimsAttr::getStoredDims(ArrayRef<int64_t> shape,
                                                        Type) const {
  return *layout::getStoredDims(getDims(), shape, nullptr);
}
