//===- LayoutOps.cpp - Layout ops -----------------------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Dialect/Layout/IR/Bundle.h"
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
static const Bundle *getBundle(RankedTensorType type) {
  auto bundle = dyn_cast_if_present<BundleAttr>(type.getEncoding());
  return bundle ? &*bundle.getBundle() : nullptr;
}

/// Verifies a conversion of which at least one side has a bundle: both have
/// bundles of the same values, or a bundle is decoded to a plain tensor (B7).
static LogicalResult verifyBundles(ConvertOp op, RankedTensorType from,
                                   RankedTensorType to) {
  const Bundle *source = getBundle(from), *result = getBundle(to);
  if (!source || (!result && to.getEncoding()))
    return op.emitOpError()
           << "cannot convert " << from << " to " << to
           << " (B7): a conversion decodes a bundle to a plain tensor or "
              "repacks it, and never quantizes";
  if (!result)
    return success();
  std::string why = findDifferentValues(*source, *result);
  if (why.empty())
    return success();
  InFlightDiagnostic diag = op.emitOpError()
                            << "cannot convert between bundles of different "
                               "values (B7): "
                            << why << "; decode and quantize instead";
  for (auto [name, bundle] :
       {std::pair("source", source), {"result", result}}) {
    std::string text;
    llvm::raw_string_ostream os(text);
    bundle->print(os, /*expanded=*/true);
    diag.attachNote() << "the " << name << " is #layout.bundle<" << text << ">";
  }
  return diag;
}

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
  bool hasBundle = getBundle(from) || getBundle(to);
  if (!hasBundle && (failed(verifyIsLayout(*this, from)) ||
                     failed(verifyIsLayout(*this, to))))
    return failure();
  if (from.getElementType() != to.getElementType())
    return emitOpError() << "keeps the element type, found "
                         << from.getElementType() << " and "
                         << to.getElementType();
  if (from.getShape() != to.getShape())
    return emitOpError() << "keeps the logical shape, found " << from << " and "
                         << to
                         << "; only the layout of the two types may differ";
  if (hasBundle)
    return verifyBundles(*this, from, to);
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

//===----------------------------------------------------------------------===//
// AssembleOp and StreamsOp
//===----------------------------------------------------------------------===//

/// Verifies that `streams` are the plain tensors of bytes that hold `type`, a
/// tensor with a bundle.
static LogicalResult verifyStreams(Operation *op, RankedTensorType type,
                                   TypeRange streams) {
  const Bundle *bundle = getBundle(type);
  if (!bundle)
    return op->emitOpError()
           << "takes a tensor with a #layout.bundle, found " << type;
  auto placed =
      placeBundle(*bundle, type.getEncoding(), type.getShape(), nullptr);
  std::optional<SmallVector<int64_t>> bytes = getStreamBytes(*bundle, *placed);
  SmallVector<Type> expected;
  for (int64_t count : *bytes)
    expected.push_back(
        RankedTensorType::get(count, IntegerType::get(op->getContext(), 8)));
  if (llvm::equal(streams, expected))
    return success();
  return op->emitOpError() << "needs the streams (" << expected << ") of "
                           << type << " (B1), found (" << streams << ")";
}

LogicalResult AssembleOp::verify() {
  RankedTensorType type = getResult().getType();
  if (const Bundle *bundle = getBundle(type);
      bundle && !bundle->paddings.empty())
    return emitOpError() << "must not state padding, because what the streams "
                            "hold there is unknown (B6): assemble without it "
                            "and use layout.convert";
  return verifyStreams(*this, type, getStreams().getTypes());
}

LogicalResult StreamsOp::verify() {
  return verifyStreams(*this, getSource().getType(), getStreams().getTypes());
}
