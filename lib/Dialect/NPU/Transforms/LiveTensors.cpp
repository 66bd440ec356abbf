//===- LiveTensors.cpp - Live ranges of tensors in local memory -----------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LiveTensors.h"
#include "TensorBytes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include <numeric>

using namespace mlir;
using namespace mlir::npu;

LogicalResult LiveTensors::collect(func::FuncOp function) {
  allocs.clear();
  blocks.clear();
  times.clear();
  if (function.getBody().empty())
    return success();
  if (!function.getBody().hasOneBlock())
    return function.emitOpError()
           << "has several blocks: live ranges of tensors in local memory need "
              "a single block";
  Block &block = function.getBody().front();
  DenseMap<Operation *, int64_t> ends;
  int64_t time = 0;
  WalkResult walked = function.walk([&](AllocOp alloc) {
    if (alloc->getBlock() == &block)
      return WalkResult::advance();
    alloc.emitOpError() << "is in a region: live ranges of tensors in local "
                           "memory are in the function's block";
    return WalkResult::interrupt();
  });
  if (walked.wasInterrupted())
    return failure();
  for (Operation &op : block)
    times[&op] = time++;
  for (Operation &op : block)
    if (auto dealloc = dyn_cast<DeallocOp>(op))
      ends[dealloc.getMemref().getDefiningOp()] = times[&op];
  for (AllocOp alloc : block.getOps<AllocOp>()) {
    auto known = described.find(alloc);
    if (known == described.end()) {
      FailureOr<PlacedBlock> found = describe(alloc);
      if (failed(found))
        return failure();
      known = described.try_emplace(alloc, std::move(*found)).first;
    }
    allocs.push_back(alloc);
    blocks.push_back(known->second);
    blocks.back().begin = times[alloc];
    blocks.back().end = ends.count(alloc) ? ends[alloc] : time;
  }
  return success();
}

/// Returns the size, the fixed place, the alignment and the limit of a tensor,
/// and with `reusesHoles` the bytes of its elements; not its live range. Emits
/// an error and fails if its type is invalid or on another chip.
FailureOr<PlacedBlock> LiveTensors::describe(AllocOp alloc) {
  MemRefType type = alloc.getMemref().getType();
  FailureOr<Storage> storage =
      getStorage(type, [&] { return alloc.emitOpError(); });
  if (failed(storage))
    return failure();
  if (!chip)
    chip = storage->target;
  if (chip != storage->target)
    return alloc.emitOpError()
           << "is on " << storage->target
           << ", another tensor of the function on " << chip;
  PlacedBlock block;
  block.size = getReservedBytes(*storage, type.getShape());
  block.place = alloc.getByte();
  block.limit = chip.getBytesPerNpu();
  int64_t first = 0;
  if (std::optional<uint64_t> bank = alloc.getBank()) {
    first = int64_t(*bank) * *chip.getBankBytes();
    // The tensor begins in the bank but may end in a later one.
    block.limit =
        std::min(*block.limit, first + *chip.getBankBytes() - 1 + block.size);
  }
  int64_t start = getStartCore(*storage) * chip.getBytesPerNpu();
  int64_t step = getAlignment(*storage);
  // The DMA engine has its own alignment.
  int64_t alignment = std::lcm(int64_t(alloc.getAlignment().value_or(1)),
                               chip.getDmaAlignment());
  block.fit = [=](int64_t least) {
    least = std::max(least, first);
    // The layout aligns the address, and the attribute `alignment` of the op
    // the byte in a core.
    int64_t byte = (start + least + step - 1) / step * step - start;
    for (int64_t tried = 0; byte % alignment != 0 && tried < alignment; ++tried)
      byte += step;
    return byte;
  };
  if (reusesHoles) {
    FailureOr<OwnedBytes> owned = getOwnedBytes(alloc, 0, true);
    if (failed(owned))
      return failure();
    block.owned = std::make_shared<OwnedBytes>(std::move(*owned));
  }
  return block;
}

bool npu::isUnchanging(Value memref) {
  while (Operation *op = memref.getDefiningOp()) {
    if (isa<memref::GetGlobalOp>(op))
      return true;
    if (!isa<memref::SubViewOp, memref::ExpandShapeOp, memref::CollapseShapeOp,
             memref::CastOp>(op))
      return false;
    memref = op->getOperand(0);
  }
  auto argument = cast<BlockArgument>(memref);
  auto function = cast<func::FuncOp>(argument.getOwner()->getParentOp());
  DictionaryAttr attrs = function.getArgAttrDict(argument.getArgNumber());
  return !attrs || (!attrs.contains(kResultArgument) &&
                    !attrs.contains(kScratchArgument));
}
