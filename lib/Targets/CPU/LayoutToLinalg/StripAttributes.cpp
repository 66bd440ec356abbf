//===- StripAttributes.cpp - Strip layout attributes ----------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Targets/CPU/LayoutToLinalg/Passes.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::layout {
#define GEN_PASS_DEF_STRIPATTRIBUTESPASS
#include "layout/Targets/CPU/LayoutToLinalg/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;
using namespace mlir::layout;

/// Returns true if `op` is a named elementwise op. Fills, copies and
/// transpositions are excluded: they compute nothing and are stable upstream.
static bool isNamedElementwise(linalg::LinalgOp op) {
  return !isa<linalg::GenericOp, linalg::MapOp>(op) &&
         linalg::isElementwise(op) && !llvm::hasSingleElement(*op.getBlock());
}

static DictionaryAttr withoutRecords(DictionaryAttr attributes) {
  return DictionaryAttr::get(
      attributes.getContext(),
      llvm::to_vector(
          llvm::make_filter_range(attributes, [](NamedAttribute attribute) {
            return attribute.getName().strref().split('.').first !=
                   LayoutDialect::getDialectNamespace();
          })));
}

static void removeRecords(Operation *op) {
  op->setDiscardableAttrs(withoutRecords(op->getDiscardableAttrDictionary()));
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function)
    return;
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (DictionaryAttr attributes = function.getArgAttrDict(i))
      function.setArgAttrs(i, withoutRecords(attributes));
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (DictionaryAttr attributes = function.getResultAttrDict(i))
      function.setResultAttrs(i, withoutRecords(attributes));
}

/// Checks that `op`, its attributes and its types are not of the layout
/// dialect. Emits an error for the first that is, and fails.
static LogicalResult check(Operation *op) {
  auto isOurs = [](Dialect *dialect) {
    return isa_and_nonnull<LayoutDialect>(dialect);
  };
  if (isOurs(op->getDialect()))
    return op->emitOpError("remains, which no other compiler supports");
  AttrTypeWalker walker;
  auto visit = [&](auto part) -> WalkResult {
    if (!isOurs(&part.getDialect()))
      return WalkResult::advance();
    op->emitOpError("has ")
        << part << " left, which no other compiler supports";
    return WalkResult::interrupt();
  };
  walker.addWalk([&](Attribute attribute) { return visit(attribute); });
  walker.addWalk([&](Type type) { return visit(type); });
  if (walker.walk(op->getAttrDictionary()).wasInterrupted())
    return failure();
  SmallVector<Type> types(op->getResultTypes());
  for (Region &region : op->getRegions())
    for (Block &block : region)
      llvm::append_range(types, block.getArgumentTypes());
  for (Type type : types)
    if (walker.walk(type).wasInterrupted())
      return failure();
  return success();
}

namespace {
struct StripAttributes
    : layout::impl::StripAttributesPassBase<StripAttributes> {
  void runOnOperation() override {
    SmallVector<linalg::LinalgOp> named;
    bool complete = true;
    getOperation()->walk([&](Operation *op) {
      removeRecords(op);
      complete &= succeeded(check(op));
      if (auto structured = dyn_cast<linalg::LinalgOp>(op);
          structured && isNamedElementwise(structured))
        named.push_back(structured);
    });
    if (!complete)
      return signalPassFailure();
    IRRewriter rewriter(&getContext());
    for (linalg::LinalgOp op : named) {
      rewriter.setInsertionPoint(op);
      if (failed(linalg::generalizeNamedOp(rewriter, op)))
        return signalPassFailure();
    }
  }
};
} // namespace
