//===- LayoutToLinalg.cpp - Laid-out tensors to physical tensors ----------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Targets/CPU/LayoutToLinalg/LayoutToLinalg.h"
#include "Patterns.h"
#include "layout/Dialect/Layout/IR/Bundle.h"
#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Linalg/Passes.h"
#include "layout/Targets/CPU/LayoutToLinalg/Passes.h"
#include "mlir/Dialect/ControlFlow/Transforms/StructuralTypeConversions.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Func/Transforms/FuncConversions.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/IR/Iterators.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::layout {
#define GEN_PASS_DEF_CONVERTLAYOUTTOLINALGPASS
#include "layout/Targets/CPU/LayoutToLinalg/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;
using namespace mlir::layout;

/// Returns the first laid-out type of `op`: of its operands, results or entry
/// block arguments (branches handle those of other blocks), or in a type that
/// it states, e.g. that of a function or a global. Returns a null type if there
/// is none. Nested types count, because e.g. a tuple has no physical form
/// either.
static RankedTensorType findLaidOutType(Operation *op) {
  RankedTensorType found;
  auto look = [&](Type type) {
    if (!found && isa<RankedTensorType>(type)) {
      if (hasLayout(type))
        found = cast<RankedTensorType>(type);
      return;
    }
    type.walk([&](RankedTensorType inner) {
      if (!found && hasLayout(inner))
        found = inner;
    });
  };
  llvm::for_each(op->getOperandTypes(), look);
  llvm::for_each(op->getResultTypes(), look);
  for (Region &region : op->getRegions())
    if (!region.empty())
      llvm::for_each(region.front().getArgumentTypes(), look);
  if (auto function = dyn_cast<FunctionOpInterface>(op)) {
    llvm::for_each(function.getArgumentTypes(), look);
    llvm::for_each(function.getResultTypes(), look);
  }
  if (std::optional<RegisteredOperationName> info = op->getRegisteredInfo())
    for (StringAttr name : info->getAttributeNames())
      if (auto stated = dyn_cast_if_present<TypeAttr>(
              op->getInherentAttr(name).value_or(Attribute())))
        look(stated.getValue());
  return found;
}

static bool isLegal(Operation *op) {
  return !isa_and_nonnull<LayoutDialect>(op->getDialect()) &&
         !findLaidOutType(op);
}

/// Returns true if `op` is elementwise on tensors, with layouts or without. All
/// such ops become linalg ops.
static bool isElementwiseOnTensors(Operation *op) {
  return OpTrait::hasElementwiseMappableTraits(op) &&
         llvm::any_of(op->getOperandTypes(), llvm::IsaPred<RankedTensorType>);
}

/// Emits an error at `op`, which no pattern lowered, with its laid-out type,
/// the `reason` of its pattern and the remedy.
static void report(Operation *op, StringRef reason) {
  RankedTensorType type = findLaidOutType(op);
  FailureOr<LayoutMap> map = failure();
  if (type)
    map = getLayoutMap(type);
  InFlightDiagnostic diag = op->emitError();
  diag << "convert-layout-to-linalg: '" << op->getName() << "' ";
  if (succeeded(map) && map->getSpace() != "buffer") {
    diag << "has the type " << type << " in the space '" << map->getSpace()
         << "', which this pass does not lower: ";
    if (map->getSpace() == "image2d")
      diag << "run convert-layout-to-gpu";
    else if (map->getSpace() == "npu")
      diag << "run convert-layout-to-npu";
    else
      diag << "run the pass of the target that has this space";
    return;
  }
  diag << "cannot be lowered";
  if (type)
    diag << " with a value of type " << type;
  if (!reason.empty())
    diag << ": " << reason;
  else
    diag << ": no pattern supports this op on storage, and it does not "
            "implement linalg::AggregatedOpInterface";
  diag << "; convert its tensors to other layouts, or to plain tensors, by "
          "layout.convert before and after it";
}

/// Reports an op on a bundle, which has no storage in one tensor.
static LogicalResult checkBundles(Operation *root) {
  WalkResult walked = root->walk([](Operation *op) {
    if (llvm::none_of(op->getOperandTypes(), isBundle) &&
        llvm::none_of(op->getResultTypes(), isBundle))
      return WalkResult::advance();
    op->emitError() << "convert-layout-to-linalg: '" << op->getName()
                    << "' has a tensor with a #layout.bundle: run "
                       "layout-prepare-lower-bundles first";
    return WalkResult::interrupt();
  });
  return failure(walked.wasInterrupted());
}

LogicalResult layout::convertLayoutToLinalg(Operation *root, bool packOps) {
  if (failed(checkBundles(root)))
    return failure();
  if (failed(decomposeAggregates(root, [](Operation *op) {
        return !isa<linalg::LinalgDialect>(op->getDialect());
      })))
    return failure();
  MLIRContext *context = root->getContext();
  TypeConverter converter;
  populateStorageConversion(converter);
  Reasons reasons;
  RewritePatternSet patterns(context);
  populateStructuredPatterns(converter, patterns, reasons);
  populateTensorPatterns(converter, patterns, reasons);
  populateSlicePatterns(converter, patterns, reasons);
  populateForallPattern(converter, patterns, reasons);
  populateSoftmaxPattern(converter, patterns, reasons);
  populateViewPatterns(converter, patterns, reasons);
  populateConvertPatterns(converter, patterns, reasons, packOps);
  populateConstantPatterns(converter, patterns, reasons);
  populateAnyFunctionOpInterfaceTypeConversionPattern(patterns, converter);
  populateFunctionBoundaryPatterns(converter, patterns);
  populateCallOpTypeConversionPattern(patterns, converter);
  populateReturnOpTypeConversionPattern(patterns, converter);
  scf::populateSCFStructuralTypeConversions(converter, patterns);
  cf::populateCFStructuralTypeConversions(converter, patterns);

  // Illegal ops have unknown legality, so that they may remain. Those with
  // layouts are reported below with the reason of their pattern.
  ConversionTarget target(*context);
  target.markUnknownOpDynamicallyLegal(
      [](Operation *op) -> std::optional<bool> {
        if (isLegal(op) && !isElementwiseOnTensors(op))
          return true;
        return std::nullopt;
      });
  FunctionBoundaries boundaries(root);
  ConversionConfig config;
  config.foldingMode = DialectConversionFoldingMode::Never;
  config.buildMaterializations = false;
  if (failed(applyPartialConversion(root, target, std::move(patterns), config)))
    return failure();

  boundaries.expose(converter);
  bool complete = true;
  root->walk([&](Operation *op) {
    if (isa<UnrealizedConversionCastOp>(op) || isLegal(op))
      return;
    complete = false;
    report(op, reasons.lookup(op));
  });
  if (!complete ||
      failed(decomposeAggregates(root, [](Operation *) { return true; })))
    return failure();

  // Removes converted constants, tensors that only had a shape, and unused
  // sizes. Users come first, so that one walk removes chains.
  root->walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
    if (isOpTriviallyDead(op))
      op->erase();
  });
  return success();
}

namespace {

struct ConvertLayoutToLinalg
    : layout::impl::ConvertLayoutToLinalgPassBase<ConvertLayoutToLinalg> {
  using ConvertLayoutToLinalgPassBase::ConvertLayoutToLinalgPassBase;

  void runOnOperation() override {
    if (failed(convertLayoutToLinalg(getOperation(), packOps)))
      signalPassFailure();
  }
};

} // namespace
