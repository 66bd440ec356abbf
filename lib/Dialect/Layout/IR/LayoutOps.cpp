//===- LayoutOps.cpp - Layout ops -----------------------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;
using namespace mlir::layout;

#define GET_OP_CLASSES
#include "layout/Dialect/Layout/IR/LayoutOps.cpp.inc"

/// Verifies that `type` has a layout or no encoding; the storage of any other
/// encoding is unknown. Otherwise emits an error at `op` and fails.
static LogicalResult verifyIsLayout(Operation *op, RankedTensorType type) {
  if (!type.getEncoding() || hasLayout(type))
    return success();
  return op->emitOpError()
         << "takes plain tensors and tensors with a layout, found the encoding "
         << type.getEncoding();
}

//===----------------------------------------------------------------------===//
// ConvertOp
//===----------------------------------------------------------------------===//

LogicalResult ConvertOp::verify() {
  RankedTensorType from = getSource().getType(), to = getResult().getType();
  if (failed(verifyIsLayout(*this, from)) || failed(verifyIsLayout(*this, to)))
    return failure();
  if (from.getElementType() != to.getElementType())
    return emitOpError() << "keeps the element type, found "
                         << from.getElementType() << " and "
                         << to.getElementType();
  if (from.getShape() != to.getShape())
    return emitOpError() << "keeps the logical shape, found " << from << " and "
                         << to
                         << "; only the layout of the two types may differ";
  if (isa_and_present<PartialAttr>(to.getEncoding()) && from != to)
    return emitOpError()
           << "reduces partial sums and cannot create them (P4), found " << to
           << ": create them with layout.storage_view";
  return success();
}

OpFoldResult ConvertOp::fold(FoldAdaptor adaptor) {
  if (getSource().getType() == getResult().getType())
    return getSource();
  // A chain folds into one conversion; the intermediate layouts have no effect.
  if (auto inner = getSource().getDefiningOp<ConvertOp>()) {
    if (inner.getSource().getType() == getResult().getType())
      return inner.getSource();
    getSourceMutable().assign(inner.getSource());
    return getResult();
  }
  // Constant partial sums must be reduced, not only retyped.
  if (isa_and_present<PartialAttr>(getSource().getType().getEncoding()))
    return {};
  auto elements = dyn_cast_if_present<ElementsAttr>(adaptor.getSource());
  return elements ? retypeElements(elements, getResult().getType())
                  : OpFoldResult();
}

//===----------------------------------------------------------------------===//
// StorageViewOp
//===----------------------------------------------------------------------===//

LogicalResult StorageViewOp::verify() {
  RankedTensorType from = getSource().getType(), to = getResult().getType();
  if (failed(verifyIsLayout(*this, from)) || failed(verifyIsLayout(*this, to)))
    return failure();
  // A plain tensor is its own storage.
  if (from == to && !hasLayout(from))
    return success();
  if (hasLayout(from) == hasLayout(to))
    return emitOpError()
           << "needs one tensor with a layout and one plain tensor, found "
           << from << " and " << to;
  RankedTensorType laidOut = hasLayout(from) ? from : to;
  RankedTensorType plain = hasLayout(from) ? to : from;
  FailureOr<RankedTensorType> storage = getStorageType(laidOut);
  // In spaces other than linear memory, the plain tensor may also be the
  // physical type, which has one dim per axis instead of one per coordinate.
  FailureOr<LayoutMap> map = getLayoutMap(laidOut);
  bool showsAxes = succeeded(map) && map->getSpace() != "buffer" &&
                   succeeded(storage) && *getPhysicalType(laidOut) == plain;
  if (failed(storage) || (*storage != plain && !showsAxes)) {
    InFlightDiagnostic diag = emitOpError();
    diag << "the storage of " << laidOut << " is ";
    if (succeeded(storage))
      diag << *storage;
    else
      diag << "unknown";
    return diag << ", found " << plain;
  }
  if (hasLayout(to) && getPadding(to))
    return emitOpError()
           << "must not state a padding value, because what the padding of "
              "plain storage holds is unknown (P3): read it without one and "
              "use layout.convert to set it";
  return success();
}

OpFoldResult StorageViewOp::fold(FoldAdaptor) {
  if (getSource().getType() == getResult().getType())
    return getSource();
  auto inner = getSource().getDefiningOp<StorageViewOp>();
  if (inner && inner.getSource().getType() == getResult().getType())
    return inner.getSource();
  return {};
}
