//===- NPUDialect.cpp - The npu dialect -----------------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Dialect/NPU/IR/NPU.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::npu;

#include "layout/Dialect/NPU/IR/NPUDialect.cpp.inc"
#include "layout/Dialect/NPU/IR/NPUEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "layout/Dialect/NPU/IR/NPUAttributes.cpp.inc"

namespace {
/// Lets `#layout.map` be the layout of a memref in system memory, e.g. of a
/// constant in the order of local memory.
struct MapOfMemRef
    : MemRefLayoutAttrInterface::ExternalModel<MapOfMemRef, layout::MapAttr> {
  /// Returns an affine map of unknown strides. Digits are not affine, but
  /// upstream passes query a map. They leave memrefs with unknown strides alone.
  AffineMap getAffineMap(Attribute attr) const {
    unsigned rank = cast<layout::MapAttr>(attr).getMap().getRank();
    AffineExpr sum = getAffineConstantExpr(0, attr.getContext());
    for (unsigned d = 0; d < rank; ++d)
      sum = sum + getAffineDimExpr(d, attr.getContext()) *
                      getAffineSymbolExpr(d, attr.getContext());
    return AffineMap::get(rank, rank, sum);
  }

  bool isIdentity(Attribute) const { return false; }

  LogicalResult
  verifyLayout(Attribute attr, ArrayRef<int64_t> shape,
               function_ref<InFlightDiagnostic()> emitError) const {
    unsigned rank = cast<layout::MapAttr>(attr).getMap().getRank();
    if (rank == shape.size())
      return success();
    return emitError() << attr << " is of rank " << rank
                       << ", but the shape has " << shape.size() << " dims";
  }

  LogicalResult getStridesAndOffset(Attribute, ArrayRef<int64_t>,
                                    SmallVectorImpl<int64_t> &,
                                    int64_t &) const {
    return failure();
  }
};
} // namespace

void NPUDialect::initialize() {
  layout::MapAttr::attachInterface<MapOfMemRef>(*getContext());
  addAttributes<
#define GET_ATTRDEF_LIST
#include "layout/Dialect/NPU/IR/NPUAttributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "layout/Dialect/NPU/IR/NPUOps.cpp.inc"
      >();
}
