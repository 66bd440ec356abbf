//===- LegalizeForVulkan.cpp - Expand what GLSL.std.450 lacks -------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Vulkan/VulkanPatterns.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace mlir::layout;

LogicalResult layout::legalizeForVulkan(gpu::GPUModuleOp module) {
  RewritePatternSet patterns(module.getContext());
  populatePolynomialApproximateErfPattern(patterns);
  populatePolynomialApproximateErfcPattern(patterns);
  if (failed(applyPatternsGreedily(module, std::move(patterns))) ||
      failed(legalizeForOpenCL(module)))
    return failure();
  for (auto kernel : module.getOps<gpu::GPUFuncOp>())
    markStoredImages(kernel);
  return success();
}
