//===- LayoutToGPU.cpp - Lower tensors to device memory -------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Targets/OpenCL/LayoutToGPU/LayoutToGPU.h"
#include "HostBoundary.h"
#include "ImageFallback.h"
#include "Kernels.h"
#include "Sizes.h"
#include "TensorStorage.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Dialect/Layout/Transforms/Passes.h"
#include "layout/Linalg/Passes.h"
#include "layout/Support/StatedSizes.h"
#include "layout/Targets/OpenCL/GPUToOpenCL/Passes.h"
#include "layout/Targets/OpenCL/ImageLayouts.h"
#include "layout/Targets/OpenCL/LayoutToGPU/Passes.h"
#include "mlir/Dialect/ControlFlow/Transforms/StructuralTypeConversions.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Func/Transforms/FuncConversions.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/IR/Iterators.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::layout {
#define GEN_PASS_DEF_CONVERTLAYOUTTOGPUPASS
#include "layout/Targets/OpenCL/LayoutToGPU/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;
using namespace mlir::layout;

static bool isTensor(Type type) { return isa<TensorType>(type); }

static LogicalResult report(Operation *op, StringRef reason) {
  InFlightDiagnostic diag = op->emitError("convert-layout-to-gpu: '");
  diag << op->getName() << "' cannot become a kernel";
  for (Type type : op->getResultTypes())
    if (isTensor(type)) {
      diag << " that computes " << type;
      break;
    }
  return diag << ": " << reason;
}

/// Emits a kernel for each stored tensor of the module, in program order. Emits
/// an error and fails if an op cannot become a kernel.
static LogicalResult emitKernels(ModuleOp module, OpenClTargetAttr target) {
  FusionPlan plan(module);
  OpBuilder b(module.getContext());
  SmallVector<gpu::GPUModuleOp, 2> modules;
  auto addModule = [&](StringRef name) {
    auto kernels = gpu::GPUModuleOp::create(b, module.getLoc(), name);
    if (target && target.getHalfArithmetic())
      kernels->setAttr(kHalfArithmeticAttrName, b.getUnitAttr());
    if (target && target.getFma())
      kernels->setAttr(kFmaAttrName, b.getUnitAttr());
    if (target && target.getAddressBits() != 64)
      kernels->setAttr(kAddressBitsAttrName,
                       b.getI64IntegerAttr(target.getAddressBits()));
    SymbolTable(module).insert(kernels);
    modules.push_back(kernels);
    return kernels;
  };
  KernelEmitter emitter(addModule("kernels"), plan, target);
  // A driver compiles this module only when one of its kernels is launched.
  KernelEmitter fallback(addModule("fallback_kernels"), plan, target,
                         "_on_buffers");
  module->setAttr(gpu::GPUDialect::getContainerModuleAttrName(),
                  b.getUnitAttr());

  SmallVector<Operation *> ops;
  for (auto func : module.getOps<func::FuncOp>())
    func.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (getComputeKind(op) != ComputeKind::None)
        ops.push_back(op);
    });
  for (Operation *op : ops)
    for (OpResult result : op->getResults()) {
      if (!plan.isStored(result))
        continue;
      bool isFallback =
          op->getParentOfType<func::FuncOp>()->hasAttr(kFallbackAttrName);
      std::string whyNot;
      if (failed((isFallback ? fallback : emitter).store(result, whyNot)))
        return report(op, whyNot);
    }
  llvm::erase_if(modules, [](gpu::GPUModuleOp kernels) {
    bool isEmpty = kernels.getBody()->empty();
    if (isEmpty)
      kernels.erase();
    return isEmpty;
  });
  if (modules.empty())
    module->removeAttr(gpu::GPUDialect::getContainerModuleAttrName());
  for (auto func : module.getOps<func::FuncOp>())
    func->removeAttr(kFallbackAttrName);

  resolveSizes(module);
  // Users are erased first.
  for (Operation *op : llvm::reverse(ops))
    if (op->use_empty())
      op->erase();
  return success();
}

namespace {

/// Replaces a tensor.dim of a dynamic size by the size that follows the device
/// memory among the converted values of the tensor.
struct DimPattern : OpConversionPattern<tensor::DimOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(tensor::DimOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getSource().getType());
    std::optional<int64_t> dim = op.getConstantIndex();
    if (!dim || !type.isDynamicDim(*dim))
      return rewriter.notifyMatchFailure(op, "no dynamic dim is named");
    rewriter.replaceOp(op,
                       adaptor.getSource()[1 + type.getDynamicDimIndex(*dim)]);
    return success();
  }
};

} // namespace

/// Converts the tensor types of functions, calls and control flow to device
/// memory and sizes. Emits an error at each op that still has tensors, and
/// fails.
static LogicalResult convertStructure(ModuleOp module) {
  MLIRContext *context = module.getContext();
  TypeConverter converter;
  populateDeviceConversion(converter);
  RewritePatternSet patterns(context);
  patterns.add<DimPattern>(converter, context);
  populateAnyFunctionOpInterfaceTypeConversionPattern(patterns, converter);
  populateCallOpTypeConversionPattern(patterns, converter);
  populateReturnOpTypeConversionPattern(patterns, converter);
  scf::populateSCFStructuralTypeConversions(converter, patterns);
  cf::populateCFStructuralTypeConversions(converter, patterns);

  auto isLegal = [](Operation *op) {
    if (isa<UnrealizedConversionCastOp>(op))
      return true;
    if (auto func = dyn_cast<func::FuncOp>(op))
      return llvm::none_of(func.getArgumentTypes(), isTensor) &&
             llvm::none_of(func.getResultTypes(), isTensor);
    if (llvm::any_of(op->getOperandTypes(), isTensor) ||
        llvm::any_of(op->getResultTypes(), isTensor))
      return false;
    return llvm::none_of(op->getRegions(), [](Region &region) {
      return !region.empty() &&
             llvm::any_of(region.front().getArgumentTypes(), isTensor);
    });
  };
  ConversionTarget target(*context);
  target.markUnknownOpDynamicallyLegal(
      [&](Operation *op) -> std::optional<bool> {
        if (isLegal(op))
          return true;
        return std::nullopt;
      });
  ConversionConfig config;
  config.foldingMode = DialectConversionFoldingMode::Never;
  config.buildMaterializations = false;
  if (failed(
          applyPartialConversion(module, target, std::move(patterns), config)))
    return failure();

  SmallVector<UnrealizedConversionCastOp> casts;
  module.walk([&](UnrealizedConversionCastOp op) { casts.push_back(op); });
  reconcileUnrealizedCasts(casts);
  bool complete = true;
  module.walk([&](Operation *op) {
    if (isa<UnrealizedConversionCastOp>(op) || isLegal(op))
      return;
    complete = false;
    (void)report(op, ("no kernel supports this op" + kRewrite).str());
  });
  return success(complete);
}

/// Emits an error and fails if an image exceeds the limits of the target or has
/// an element type without a channel type. Dynamic sizes count as 1.
static LogicalResult checkImages(ModuleOp module, OpenClTargetAttr target) {
  auto check = [&](Value value, Location loc) -> LogicalResult {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    FailureOr<TensorStorage> storage = failure();
    if (type && hasLayout(type))
      storage = getTensorStorage(type);
    if (failed(storage)) // reported by the lowering
      return success();
    // Dynamic sizes are at least one.
    SmallVector<int64_t> least(type.getShape());
    llvm::replace(least, ShapedType::kDynamic, int64_t(1));
    auto stored = RankedTensorType::get(least, storage->getStoredElement());
    ImageFit fit = ImageFit::get(storage->map, stored, target);
    if (fit.answer != ImageFit::Verdict::TooLarge &&
        fit.answer != ImageFit::Verdict::ElementType)
      return success();
    std::string what;
    llvm::raw_string_ostream os(what);
    describe(fit, stored, os);
    return emitError(loc) << "convert-layout-to-gpu: " << type << " is " << what
                          << "; choose another image map, or a buffer";
  };
  WalkResult walked = module.walk([&](Operation *op) {
    for (Value result : op->getResults())
      if (failed(check(result, op->getLoc())))
        return WalkResult::interrupt();
    for (Region &region : op->getRegions())
      for (BlockArgument argument : region.getArguments())
        if (failed(check(argument, argument.getLoc())))
          return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}

LogicalResult layout::convertLayoutToGPU(ModuleOp module,
                                         OpenClTargetAttr target) {
  if (target && failed(checkImages(module, target)))
    return failure();
  WalkResult walked = module.walk(
      [](Operation *op) { return WalkResult(layout::checkStatedSizes(op)); });
  if (walked.wasInterrupted())
    return failure();
  if (failed(decomposeAggregates(module, [](Operation *) { return true; })) ||
      failed(exposeStorage(module)))
    return failure();
  if (target && target.getImageFallback())
    addImageFallbacks(module, target);
  if (failed(convertHostBoundary(module)) ||
      failed(convertHostElements(module)) || failed(convertConstants(module)) ||
      failed(emitKernels(module, target)) || failed(convertStructure(module)))
    return failure();
  insertDeallocations(module);
  module->removeAttr(kTargetAttr);
  return success();
}

namespace {

struct ConvertLayoutToGPU
    : layout::impl::ConvertLayoutToGPUPassBase<ConvertLayoutToGPU> {
  using ConvertLayoutToGPUPassBase::ConvertLayoutToGPUPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<TargetInterface> wanted = layout::findTarget(module, target);
    if (failed(wanted))
      return signalPassFailure();
    auto device = dyn_cast_if_present<OpenClTargetAttr>(*wanted);
    if (*wanted && !device) {
      module.emitError() << "convert-layout-to-gpu is for targets "
                            "#layout.opencl<..>, found "
                         << *wanted;
      return signalPassFailure();
    }
    if (failed(convertLayoutToGPU(module, device)))
      signalPassFailure();
  }
};

} // namespace
