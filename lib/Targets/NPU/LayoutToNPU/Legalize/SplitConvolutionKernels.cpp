//===- SplitConvolutionKernels.cpp - Kernels within the limits ------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A command of TPU-KERNEL has the whole kernel of a convolution, without
// strides. So a convolution whose window exceeds the limits of a command
// becomes a sum of several, each with every step-th element of the kernel:
//
//     stride 16, kernel 16, dilation 1: four convolutions with stride 16,
//     kernel 8 and dilation 2, for even and odd rows and columns
//
// These commands see every other row and column of the input, so that their
// stride is 8 and their dilation 1. Slices of constant kernels fold.
//
//===----------------------------------------------------------------------===//

#include "Legalize/LegalizeLinalg.h"
#include "layout/Dialect/NPU/IR/DmaPlanning.h"
#include "layout/Dialect/NPU/Utils/Commands.h"
#include "mlir/Dialect/Linalg/IR/LinalgInterfaces.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::layout;

namespace {
/// One image dim of a convolution: its loop, that of the kernel, the dims of
/// the image and of the kernel that they index, and the step between the kernel
/// elements of a part.
struct SplitDim {
  unsigned out, tap, imageDim, kernelDim;
  int64_t stride, dilation, step;
};
} // namespace

/// Returns the image dims of a convolution over input 0 with the kernel in
/// input 1, or std::nullopt if `op` is another op, or if no part of the kernel
/// is needed.
static std::optional<SmallVector<SplitDim>> findSplit(linalg::LinalgOp op) {
  FailureOr<linalg::ConvolutionDimensions> dims =
      linalg::inferConvolutionDims(op);
  if (failed(dims) || op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1 ||
      !op.hasPureTensorSemantics() || op.hasDynamicShape() ||
      op.hasIndexSemantics() || dims->outputChannel.empty() ||
      dims->outputImage.size() != dims->filterLoop.size() ||
      llvm::is_contained(op.getStaticLoopRanges(), 0))
    return std::nullopt;
  AffineMap image = op.getMatchingIndexingMap(op.getDpsInputOperand(0));
  AffineMap kernel = op.getMatchingIndexingMap(op.getDpsInputOperand(1));
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  SmallVector<SplitDim> split;
  bool isNeeded = false;
  for (auto [i, loops] :
       llvm::enumerate(llvm::zip_equal(dims->outputImage, dims->filterLoop))) {
    auto [out, tap] = loops;
    std::optional<unsigned> imageDim = npu::findIndexedDim(image, out),
                            kernelDim = npu::findIndexedDim(kernel, tap);
    if (!imageDim || imageDim != npu::findIndexedDim(image, tap) ||
        !kernelDim || !isa<AffineDimExpr>(kernel.getResult(*kernelDim)))
      return std::nullopt;
    SplitDim dim{
        out, tap, *imageDim, *kernelDim, dims->strides[i], dims->dilations[i],
        1};
    // A result of one row or column needs no stride.
    int64_t stride = ranges[out] > 1 ? dim.stride : 1;
    dim.step = std::min(
        npu::splitWindow(ranges[tap], stride, dim.dilation).step, ranges[tap]);
    isNeeded |= dim.step > 1;
    split.push_back(dim);
  }
  return isNeeded ? std::make_optional(split) : std::nullopt;
}

/// Returns the convolution of the kernel elements first, first + step, .. of
/// each image dim, added to `init`.
static Value makePart(linalg::LinalgOp op, ArrayRef<SplitDim> dims,
                      ArrayRef<int64_t> first, Value init) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  Value image = op->getOperand(0), kernel = op->getOperand(1);
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  SmallVector<AffineExpr> index(maps[0].getResults());
  for (auto [dim, start] : llvm::zip_equal(dims, first)) {
    int64_t count = llvm::divideCeil(ranges[dim.tap] - start, dim.step);
    int64_t dilation = dim.dilation * dim.step;
    kernel =
        takeRange(builder, loc, kernel, dim.kernelDim, start, count, dim.step);
    image = takeRange(builder, loc, image, dim.imageDim, start * dim.dilation,
                      (ranges[dim.out] - 1) * dim.stride +
                          (count - 1) * dilation + 1);
    index[dim.imageDim] = builder.getAffineDimExpr(dim.out) * dim.stride +
                          builder.getAffineDimExpr(dim.tap) * dilation;
  }
  maps[0] = AffineMap::get(op.getNumLoops(), 0, index, op.getContext());
  auto part = linalg::GenericOp::create(
      builder, loc, TypeRange(init.getType()), ValueRange{image, kernel},
      ValueRange(init), maps, op.getIteratorTypesArray());
  IRMapping mapping;
  op->getRegion(0).cloneInto(&part.getRegion(), mapping);
  return part.getResult(0);
}

void layout::splitConvolutionKernels(func::FuncOp function) {
  SmallVector<std::pair<linalg::LinalgOp, SmallVector<SplitDim>>> ops;
  function.walk([&](linalg::LinalgOp op) {
    if (auto dims = findSplit(op))
      ops.push_back({op, std::move(*dims)});
  });
  for (auto &[op, dims] : ops) {
    Value sum = op.getDpsInits()[0];
    SmallVector<int64_t> first(dims.size(), 0);
    for (bool isLast = false; !isLast;) {
      sum = makePart(op, dims, first, sum);
      isLast = true;
      for (unsigned d = dims.size(); d-- > 0 && isLast;) {
        isLast = ++first[d] == dims[d].step;
        if (isLast)
          first[d] = 0;
      }
    }
    op->getResult(0).replaceAllUsesWith(sum);
    op->erase();
  }
}
