//===- Convolutions.cpp - Convolutions as commands ------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A command has at most the stride 15 and the dilation 16. A convolution with a
// longer stride s becomes several with the stride s / p, each of which reads
// every p-th row or column of the input and has the kernel elements that meet
// these. One with a longer dilation becomes one command per kernel element.
//
//     stride 16, kernel 16: two commands with stride 8 and kernel 8, for the
//                           even and for the odd columns
//
//===----------------------------------------------------------------------===//

#include "FunctionEmitter.h"
#include "Layers.h"
#include "layout/Dialect/NPU/IR/DmaPlanning.h"
#include "mlir/Dialect/Linalg/IR/LinalgInterfaces.h"

using namespace mlir;
using namespace mlir::npu;

namespace {
/// A linalg op that is a convolution over one or two image dims, and the roles
/// of its operands and loops. A single image dim is W.
struct Convolution {
  unsigned input = 0, filter = 0;            // operand numbers
  std::optional<unsigned> n, image[2], k[2]; // loop numbers
  unsigned o = 0, i = 0;
  WindowDims window;
  AffineMap inputIndex; // from N, C, H, W to dims of the input
  LoopSizes inputRanges{1, 1, 1, 1};
};

/// The part of the kernel along H or W that one command computes: the `count`
/// elements first, first + step, .. The command sees only every `spacing`-th
/// row or column of the input, from the one that element `first` reads on.
/// `stride` and `dilation` count these.
struct KernelPart {
  int64_t first, step, count, spacing, stride, dilation;
};

/// The local address of weights and, for OKKernel, their strides. OKKernel has
/// weights in 2IC-mode, in which two input channels form a pair, and strides
/// count pairs.
struct PlacedWeights {
  TransferSide start;
  LoopSizes strides;
};

/// The operands of the command that computes one part of the kernel along H and
/// one along W.
struct ConvolutionPart {
  LoopSizes inputShape;
  TransferSide input;
  PlacedWeights weights;
};
} // namespace

/// The bytes of a pair of weights in 2IC-mode, to which weights are aligned.
static constexpr int64_t kPairBytes = 8;

/// Sets the map from N, C, H and W of the command to the dims of the input
/// (`conv.inputIndex`), and how many indices of each are read
/// (`conv.inputRanges`). Returns false if the loop of one of these four does
/// not index exactly one dim of the input.
static bool placeInput(linalg::LinalgOp op, Convolution &conv) {
  AffineMap map = op.getMatchingIndexingMap(&op->getOpOperand(conv.input));
  SmallVector<int64_t> all = op.getStaticLoopRanges();
  SmallVector<AffineExpr> index(map.getNumResults(),
                                getAffineConstantExpr(0, op.getContext()));
  const std::optional<unsigned> loops[] = {conv.n, conv.i, conv.image[0],
                                           conv.image[1]};
  for (auto [role, loop] : llvm::enumerate(loops)) {
    if (!loop)
      continue;
    std::optional<unsigned> d = findIndexedDim(map, *loop);
    if (!d)
      return false;
    index[*d] = getAffineDimExpr(role, op.getContext());
    // The command derives the output extent from that of the input, so the
    // input must be just as large as the windows need.
    conv.inputRanges[role] =
        role < 2 ? all[*loop] : conv.window.getReach(role - 2, all[*loop]);
  }
  conv.inputIndex = AffineMap::get(4, 0, index, op.getContext());
  return true;
}

static std::optional<Convolution> findConvolution(linalg::LinalgOp op) {
  auto factors = getFactors(op);
  FailureOr<linalg::ConvolutionDimensions> dims =
      linalg::inferConvolutionDims(op);
  if (!factors || failed(dims) || dims->outputChannel.size() != 1 ||
      dims->inputChannel.size() != 1 || !dims->depth.empty() ||
      dims->batch.size() > 1 || dims->outputImage.size() > 2 ||
      dims->outputImage.size() != dims->filterLoop.size())
    return std::nullopt;
  Convolution conv;
  std::tie(conv.input, conv.filter) = *factors;
  conv.o = dims->outputChannel[0];
  conv.i = dims->inputChannel[0];
  if (!dims->batch.empty())
    conv.n = dims->batch[0];
  if (op.getMatchingIndexingMap(&op->getOpOperand(conv.input))
          .isFunctionOfDim(conv.o))
    std::swap(conv.input, conv.filter);
  AffineMap map = op.getMatchingIndexingMap(&op->getOpOperand(conv.input));
  SmallVector<int64_t> all = op.getStaticLoopRanges();
  unsigned offset = 2 - dims->outputImage.size();
  for (auto [d, loop] : llvm::enumerate(dims->outputImage)) {
    unsigned k = dims->filterLoop[d], at = d + offset;
    std::optional<unsigned> dim = findIndexedDim(map, loop);
    if (!dim || dim != findIndexedDim(map, k))
      return std::nullopt;
    AffineExpr expr = map.getResult(*dim);
    conv.image[at] = loop;
    conv.k[at] = k;
    conv.window.kernel[at] = all[k];
    if (all[loop] > 1)
      conv.window.stride[at] = getStep(expr, op.getNumLoops(), loop);
    conv.window.dilation[at] = getStep(expr, op.getNumLoops(), k);
  }
  if (!placeInput(op, conv))
    return std::nullopt;
  return conv;
}

/// Returns the weights if local memory has them in 2IC-mode: input channel 2 i
/// + 1 is 4 bytes after channel 2 i, and all strides are whole pairs. Otherwise
/// returns std::nullopt. `find` returns the box of the weights for a map and
/// sizes of N, C, H and W.
std::optional<PlacedWeights> static findPairs(
    linalg::LinalgOp op, const Convolution &conv, int64_t npus,
    llvm::function_ref<std::optional<TransferSide>(AffineMap, LoopSizes)>
        find) {
  SmallVector<int64_t> all = op.getStaticLoopRanges();
  LoopSizes ranges{1, all[conv.o], conv.window.kernel[0],
                   conv.window.kernel[1]};
  auto findHalf = [&](int64_t first) {
    LoopPlaces places(op);
    places.set(conv.o, 1u);
    places.set(conv.i, getAffineDimExpr(0, op.getContext()) * 2 + first);
    for (int d : {0, 1})
      if (conv.k[d])
        places.set(*conv.k[d], unsigned(d + 2));
    ranges[0] = (all[conv.i] + 1 - first) / 2;
    return find(places.getIndex(op->getOpOperand(conv.filter)), ranges);
  };
  std::optional<TransferSide> even = findHalf(0);
  if (!even)
    return std::nullopt;
  LoopSizes pairRanges = ranges, strides = even->strides;
  auto isWalked = [&](const LoopSizes &box, int d) {
    return box[d] > 1 && (d != 1 || even->core + box[1] > npus);
  };
  for (int d = 0; d < 4; ++d) {
    if (isWalked(pairRanges, d) && strides[d] % 2 != 0)
      return std::nullopt;
    strides[d] = std::max<int64_t>(strides[d] / 2, 1);
  }
  if (all[conv.i] > 1) {
    std::optional<TransferSide> odd = findHalf(1);
    if (!odd || odd->core != even->core || odd->byte != even->byte + 4)
      return std::nullopt;
    for (int d = 0; d < 4; ++d)
      if (isWalked(ranges, d) && odd->strides[d] != even->strides[d])
        return std::nullopt;
  }
  return PlacedWeights{*even, strides};
}

/// Returns the weights if local memory has them in the order of TPU-KERNEL: the
/// output channels of a core follow each other without gaps, and so do the
/// windows of their input channels. Otherwise returns std::nullopt. `find`
/// returns the box of the weights for a map and sizes of N, C, H and W.
static std::optional<PlacedWeights> findByOutput(
    linalg::LinalgOp op, const Convolution &conv, int64_t npus,
    llvm::function_ref<std::optional<TransferSide>(AffineMap, LoopSizes)>
        find) {
  SmallVector<int64_t> all = op.getStaticLoopRanges();
  LoopPlaces places(op);
  places.set(conv.i, 0u);
  places.set(conv.o, 1u);
  for (int d : {0, 1})
    if (conv.k[d])
      places.set(*conv.k[d], unsigned(d + 2));
  const int64_t window = conv.window.kernel[0] * conv.window.kernel[1];
  const LoopSizes ranges{all[conv.i], all[conv.o], conv.window.kernel[0],
                         conv.window.kernel[1]},
      wanted{window, all[conv.i] * window, conv.window.kernel[1], 1};
  std::optional<TransferSide> box =
      find(places.getIndex(op->getOpOperand(conv.filter)), ranges);
  if (!box || findUnaligned(*box, ranges, wanted, npus))
    return std::nullopt;
  return PlacedWeights{*box, wanted};
}

/// Splits the kernel along H (d = 0) or W (d = 1) into parts whose strides are
/// at most 15 and whose dilations are at most 16, the limits of a command.
static SmallVector<KernelPart> splitKernel(const WindowDims &window, int d) {
  int64_t kernel = window.kernel[d], stride = window.stride[d],
          dilation = window.dilation[d];
  auto [spacing, step] = splitWindow(kernel, stride, dilation);
  SmallVector<KernelPart> parts;
  for (int64_t first = 0; first < std::min(step, kernel); ++first) {
    int64_t count = llvm::divideCeil(kernel - first, step);
    parts.push_back({first, step, count, spacing, stride / spacing,
                     count > 1 ? step * dilation / spacing : 1});
  }
  return parts;
}

static ConvolutionPart takePart(const Convolution &conv,
                                std::array<KernelPart, 2> parts,
                                const TransferSide &input,
                                const PlacedWeights &weights,
                                const LoopSizes &outputs) {
  ConvolutionPart result{conv.inputRanges, input, weights};
  for (auto [d, part] : llvm::enumerate(parts)) {
    unsigned place = d + 2;
    int64_t &inputStride = result.input.strides[place],
            &pairStride = result.weights.strides[place];
    result.input.byte += 4 * part.first * conv.window.dilation[d] * inputStride;
    result.weights.start.byte += kPairBytes * part.first * pairStride;
    inputStride *= part.spacing;
    pairStride *= part.step;
    result.inputShape[place] = (outputs[place] - 1) * part.stride +
                               (part.count - 1) * part.dilation + 1;
  }
  return result;
}

bool FunctionEmitter::emitAsConvolution(linalg::LinalgOp op,
                                        ArrayRef<Operand> operands) {
  std::optional<Convolution> conv = findConvolution(op);
  if (!conv)
    return false;
  OpOperand &input = op->getOpOperand(conv->input),
            &filter = op->getOpOperand(conv->filter),
            &output = *op.getDpsInitOperand(0);
  SmallVector<int64_t> all = op.getStaticLoopRanges();
  LoopPlaces places(op);
  LoopSizes outRanges{1, 1, 1, 1};
  const std::optional<unsigned> loops[] = {conv->n, conv->o, conv->image[0],
                                           conv->image[1]};
  for (auto [role, loop] : llvm::enumerate(loops))
    if (loop) {
      places.set(*loop, unsigned(role));
      outRanges[role] = all[*loop];
    }
  std::optional<TransferSide> to = findAligned(
      operands[output.getOperandNumber()], places.getIndex(output), outRanges);
  std::optional<TransferSide> from =
      findBox(operands[conv->input], conv->inputIndex, conv->inputRanges);
  auto findWeights = [&](AffineMap index, LoopSizes ranges) {
    return findBox(operands[conv->filter], index, ranges);
  };
  std::optional<PlacedWeights> weights =
      calls.isTpu() ? findByOutput(op, *conv, chip.getNpus(), findWeights)
                    : findPairs(op, *conv, chip.getNpus(), findWeights);
  if (!to || !from || !weights || to->core != weights->start.core ||
      (!calls.isTpu() && weights->start.byte % kPairBytes != 0))
    return false;
  SmallVector<KernelPart> parts[2];
  for (int d : {0, 1}) {
    parts[d] = splitKernel(conv->window, d);
    // TPU-KERNEL has no strides of weights.
    if (parts[d].front().spacing * from->strides[d + 2] >
            getComputeLimits(chip).maxStride ||
        (calls.isTpu() && parts[d].size() > 1))
      return false;
  }
  for (const KernelPart &h : parts[0])
    for (const KernelPart &w : parts[1]) {
      ConvolutionPart part =
          takePart(*conv, {h, w}, *from, *weights, outRanges);
      SmallVector<Value> arguments{
          getAddress(output.get(), *to), getAddress(input.get(), part.input),
          getAddress(filter.get(), part.weights.start),
          calls.getLocalAddress(0), // no bias: accumulates into the result
          calls.getDim4(part.inputShape)};
      Value outputs = calls.getInt(outRanges[1]);
      Value inputStride = calls.getDim4(part.input.strides);
      Value pairStride =
          calls.isTpu() ? Value() : calls.getDim4(part.weights.strides);
      Value stride = calls.getDim2(h.stride, w.stride),
            dilation = calls.getDim2(h.dilation, w.dilation);
      if (calls.isTpu()) {
        Value type = calls.getEnumerator("DT_FP32");
        arguments.append({inputStride, outputs, calls.getDim2(h.count, w.count),
                          calls.getNoPadding(), stride, dilation, type, type,
                          calls.getBool(false), calls.getBool(true)});
        calls.call("tpu_bdc_fp_conv2d", arguments);
        continue;
      }
      arguments.append({outputs, calls.getInt(h.count), calls.getInt(w.count),
                        inputStride, pairStride, calls.getBool(false),
                        calls.getBool(true), calls.getNull(), stride,
                        dilation});
      calls.call("okk_bdc_conv2d", arguments);
    }
  return true;
}
