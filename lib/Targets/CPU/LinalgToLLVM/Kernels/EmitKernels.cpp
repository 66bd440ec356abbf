//===- EmitKernels.cpp - Structured ops to register-blocked loops ---------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Upstream's tiling and vectorization are not used because they take one tile
// per op, which must divide the extents, and support no strided accesses.
// benchmarks/cpu-kernels/README.md compares both on convolutions and products.
//
//===----------------------------------------------------------------------===//

#include "Copies/CopyPadding.h"
#include "CpuParams.h"
#include "Emitters/FuseRows.h"
#include "Emitters/KernelEmitter.h"
#include "Emitters/Winograd.h"
#include "Kernels/FlushWeights.h"
#include "Kernels/PackStridedInputs.h"
#include "Kernels/PackWeights.h"
#include "Kernels/RowMaximum.h"
#include "layout/Targets/CPU/LinalgToLLVM/Passes.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::layout {
#define GEN_PASS_DEF_EMITKERNELSPASS
#include "layout/Targets/CPU/LinalgToLLVM/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;

/// Returns the size of `dim` from the type of `tensor` or from the op that
/// creates it, or a null result if it is unknown.
static OpFoldResult findSize(Value tensor, int64_t dim) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!type.isDynamicDim(dim))
    return Builder(tensor.getContext()).getIndexAttr(type.getDimSize(dim));
  Operation *op = tensor.getDefiningOp();
  if (auto empty = dyn_cast_or_null<tensor::EmptyOp>(op))
    return empty.getMixedSizes()[dim];
  if (auto insert = dyn_cast_or_null<tensor::InsertSliceOp>(op))
    return findSize(insert.getDest(), dim);
  if (auto compute = dyn_cast_or_null<linalg::LinalgOp>(op))
    return findSize(compute.getTiedOpOperand(cast<OpResult>(tensor))->get(),
                    dim);
  return {};
}

/// Replaces slices that are known to be the whole tensor by that tensor.
static void dropWholeSlices(Operation *root) {
  root->walk([](tensor::ExtractSliceOp slice) {
    if (slice.getType() != slice.getSourceType() || !slice.hasZeroOffset() ||
        !slice.hasUnitStride())
      return;
    for (auto [dim, size] : llvm::enumerate(slice.getMixedSizes()))
      if (OpFoldResult whole = findSize(slice.getSource(), dim);
          !whole || !isEqualConstantIntOrValue(size, whole))
        return;
    slice.replaceAllUsesWith(slice.getSource());
    slice.erase();
  });
}

namespace {
struct EmitKernels : layout::impl::EmitKernelsPassBase<EmitKernels> {
  using EmitKernelsPassBase::EmitKernelsPassBase;

  void runOnOperation() override {
    dropWholeSlices(getOperation());
    layout::CpuModelParams target = layout::getCpuParams(getOperation());
    getOperation()->walk(
        [](linalg::LinalgOp op) { layout::markDistancesFromMaximum(op); });
    layout::fuseRows(getOperation(), target, parallelLoops);
    getOperation()->walk(
        [](linalg::LinalgOp op) { layout::packStridedInputs(op); });
    SmallVector<linalg::LinalgOp> ops;
    getOperation()->walk([&](linalg::LinalgOp op) { ops.push_back(op); });
    layout::EmitOptions options{contractFMA, parallelLoops};
    IRRewriter builder(&getContext());
    // A producer with several uses is not fused, so uses by tensor.dim are
    // removed. Emitted kernels add more of them.
    for (linalg::LinalgOp op : llvm::reverse(ops))
      layout::replaceDimOfResults(builder, op);
    layout::FlushedConstants flushed;
    layout::PackedConstants packed;
    // Consumers first: a kernel includes its producers, which become dead.
    for (linalg::LinalgOp op : llvm::reverse(ops)) {
      layout::replaceDimOfResults(builder, op);
      if (isOpTriviallyDead(op)) {
        op->erase();
        continue;
      }
      if (layout::isPaddingOfCopy(op))
        continue;
      FailureOr<layout::Kernel> kernel = layout::matchKernel(op);
      if (failed(kernel))
        continue;
      layout::mergeLoops(*kernel);
      layout::KernelPlan plan =
          layout::planKernel(*kernel, target, parallelLoops);
      builder.setInsertionPoint(op);
      layout::flushSubnormalWeights(*kernel, builder, flushed);
      std::optional<layout::WinogradPlan> transforms;
      if (winograd && contractFMA)
        transforms = layout::planWinograd(*kernel, plan, target);
      SmallVector<Value> results;
      if (transforms) {
        results =
            layout::emitWinograd(builder, *kernel, plan, *transforms, options);
      } else {
        layout::packWeights(*kernel, plan, target, builder, packed);
        results = layout::emitKernel(builder, *kernel, plan, options);
      }
      op->replaceAllUsesWith(results);
      op->erase();
    }
  }
};
} // namespace
