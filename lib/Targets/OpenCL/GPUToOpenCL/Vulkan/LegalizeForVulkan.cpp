//===- LegalizeForVulkan.cpp - Expand what GLSL.std.450 lacks -------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "IndexBounds.h"
#include "Vulkan/VulkanPatterns.h"
#include "layout/Targets/OpenCL/GPUToOpenCL/Passes.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace mlir::layout;

/// Returns true if a kernel has an argument of indices, or computes with
/// indices because layout-opencl-narrow-kernel-indices has not proven that they
/// fit into 32 bits.
static bool needsWideIndices(gpu::GPUModuleOp module) {
  for (auto kernel : module.getOps<gpu::GPUFuncOp>())
    if (llvm::any_of(kernel.getBody().getArgumentTypes(), [](Type type) {
          return getElementTypeOrSelf(type).isIndex();
        }))
      return true;
  return module
      .walk([](Operation *op) {
        return computesWithIndices(op) ? WalkResult::interrupt()
                                       : WalkResult::advance();
      })
      .wasInterrupted();
}

LogicalResult layout::legalizeForVulkan(gpu::GPUModuleOp module) {
  RewritePatternSet patterns(module.getContext());
  populatePolynomialApproximateErfPattern(patterns);
  populatePolynomialApproximateErfcPattern(patterns);
  if (failed(applyPatternsGreedily(module, std::move(patterns))) ||
      failed(legalizeForOpenCL(module)))
    return failure();
  // Then no kernel needs the capability Int64 for its indices.
  if (!needsWideIndices(module))
    module->setAttr(kAddressBitsAttrName,
                    Builder(module.getContext()).getI64IntegerAttr(32));
  for (auto kernel : module.getOps<gpu::GPUFuncOp>())
    markStoredImages(kernel);
  return success();
}
