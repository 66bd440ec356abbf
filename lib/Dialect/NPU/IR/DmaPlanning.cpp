//===- DmaPlanning.cpp - Transfer plans of copies and fills ---------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Dialect/NPU/IR/DmaPlanning.h"
#include "layout/Dialect/NPU/Utils/Tables.h"
#include "layout/Support/ThreadDiagnostics.h"
#include <numeric>

using namespace mlir;
using namespace mlir::npu;
using namespace mlir::layout;

/// The maximum iterations of the loops N, C, H and W on any chip, according to
/// OKKernel: of a command of the execution units, and of a DMA transfer.
static constexpr LoopSizes kMostOfCompute{65535, 4095, 65535, 65535};
static constexpr LoopSizes kMostOfTransfers{65535, 65535, 65535, 65535};

/// Returns the limits of a command of `chip`. `maxShape` has the limits of its
/// loops on any chip, which those of `chip` can only lower. Without a chip,
/// only `maxShape` limits it.
static TransferLimits getLimits(ChipAttr chip, const LoopSizes &maxShape) {
  TransferLimits limits;
  limits.maxShape = maxShape;
  // Copies within system memory have no chip.
  if (!chip)
    return limits;
  limits.npus = chip.getNpus();
  for (auto [most, ofChip] : llvm::zip(limits.maxShape, chip.getMaxShape()))
    most = std::min(most, ofChip);
  limits.maxStride = chip.getMaxStride().value_or(0);
  return limits;
}

WindowSplit npu::splitWindow(int64_t kernel, int64_t stride, int64_t dilation) {
  WindowSplit split;
  while (stride % split.spacing != 0 ||
         stride / split.spacing > kMostWindowStride)
    ++split.spacing;
  // Kernel elements of one part are a multiple of `spacing` positions apart.
  split.step = split.spacing / std::gcd(split.spacing, dilation);
  if (split.step * dilation / split.spacing > kMostWindowDilation)
    split.step = kernel;
  return split;
}

TransferLimits npu::getComputeLimits(ChipAttr chip) {
  TransferLimits limits = getLimits(chip, kMostOfCompute);
  if (!chip)
    return limits;
  int64_t most = chip.getMaxComputeStride();
  limits.maxStride = limits.maxStride ? std::min(limits.maxStride, most) : most;
  return limits;
}

TransferLimits npu::getTransferLimits(ChipAttr chip) {
  TransferLimits limits = getLimits(chip, kMostOfTransfers);
  if (chip)
    limits.alignment = chip.getDmaAlignment();
  return limits;
}

/// Returns the storage of a type. If there is none, passes the text of the
/// error to `error` instead of emitting a diagnostic.
static FailureOr<Storage> getQuietly(MemRefType type, FailureReason error) {
  std::string why;
  ThreadDiagnosticHandler handler(type.getContext(), [&](Diagnostic &diag) {
    why = diag.str();
    return success();
  });
  FailureOr<Storage> storage = getStorage(
      type, [&] { return emitError(UnknownLoc::get(type.getContext())); });
  if (failed(storage))
    error(why);
  return storage;
}

ChipAttr npu::findChip(func::FuncOp program) {
  ChipAttr chip;
  program.walk([&](AllocOp alloc) {
    auto layout =
        dyn_cast<NpuScatterAttr>(alloc.getMemref().getType().getLayout());
    if (layout)
      chip = dyn_cast_if_present<ChipAttr>(layout.getTarget());
    return chip ? WalkResult::interrupt() : WalkResult::advance();
  });
  return chip;
}

std::optional<CopiedBox> npu::getCopiedBox(CopyOp op, FailureReason error) {
  auto to = cast<MemRefType>(op.getDest().getType());
  FailureOr<Storage> source =
      getQuietly(cast<MemRefType>(op.getSource().getType()), error);
  FailureOr<Storage> dest = getQuietly(to, error);
  if (failed(source) || failed(dest))
    return std::nullopt;
  return CopiedBox{op.getReadMap(source->map), dest->map, to.getShape(),
                   dest->elementBytes};
}

std::optional<std::vector<Transfer>> npu::planMove(CopyOp op, ChipAttr chip,
                                                   FailureReason error) {
  std::optional<CopiedBox> box = getCopiedBox(op, error);
  if (!box)
    return std::nullopt;
  return planTransfers(box->from, box->to, box->sizes, box->elementBytes,
                       getTransferLimits(chip), error);
}

std::optional<std::vector<Transfer>> npu::planMove(FillOp op, ChipAttr chip,
                                                   FailureReason error) {
  auto type = cast<MemRefType>(op.getDest().getType());
  FailureOr<Storage> dest = getQuietly(type, error);
  if (failed(dest))
    return std::nullopt;
  return planTransfers(dest->map, dest->map, type.getShape(),
                       dest->elementBytes, getTransferLimits(chip), error);
}

bool npu::canBeStored(MemRefType type) {
  auto ignore = nullptr;
  FailureOr<Storage> storage = getQuietly(type, ignore);
  return succeeded(storage) &&
         planTransfers(storage->map, LayoutMap::rowMajor(type.getRank()),
                       type.getShape(), storage->elementBytes,
                       getTransferLimits(storage->target), ignore);
}

bool npu::haveSameCores(const LayoutMap &a, const LayoutMap &b, Sizes sizes) {
  auto getCores = [&](const LayoutMap &map) -> std::optional<Tables> {
    LayoutMap special = map.specialize(sizes);
    for (const Coordinate &coordinate : special.getCoordinates())
      if (map.getSpace() == "npu" && coordinate.name != "offset")
        return tabulate(coordinate.value, sizes);
    return std::nullopt;
  };
  std::optional<Tables> left = getCores(a), right = getCores(b);
  return left && right && *left == *right;
}
