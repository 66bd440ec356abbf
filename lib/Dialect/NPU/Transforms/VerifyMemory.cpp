//===- VerifyMemory.cpp - Verify that tensors do not share bytes ----------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorBytes.h"
#include "layout/Dialect/NPU/IR/NPU.h"
#include "layout/Dialect/NPU/Transforms/Passes.h"

namespace mlir::npu {
#define GEN_PASS_DEF_NPUVERIFYMEMORYPASS
#include "layout/Dialect/NPU/Transforms/Passes.h.inc"
} // namespace mlir::npu

using namespace mlir;
using namespace mlir::npu;

namespace {
/// A live tensor, the bytes that it owns, and its chip.
struct Owner {
  AllocOp op;
  OwnedBytes bytes;
  ChipAttr target;
};
} // namespace

static void describe(InFlightDiagnostic &diag, const Bytes &shared) {
  diag << "bytes " << shared.begin << " to " << shared.end - 1 << " of ";
  if (shared.core == kEveryCore)
    diag << "every core";
  else
    diag << "core " << shared.core;
}

/// Returns true if the bytes of the elements of two tensors with addresses are
/// known and the tensors share none of them.
static bool haveOwnElements(AllocOp a, AllocOp b) {
  FailureOr<OwnedBytes> left = getOwnedBytes(a, *a.getByte(), true);
  FailureOr<OwnedBytes> right = getOwnedBytes(b, *b.getByte(), true);
  return succeeded(left) && succeeded(right) &&
         !findShared(*left, 0, *right, 0);
}

static LogicalResult verifyAlloc(AllocOp alloc, SmallVectorImpl<Owner> &live,
                                 bool exactBytes) {
  std::optional<int64_t> byte = alloc.getByte();
  if (!byte)
    return success();
  FailureOr<OwnedBytes> bytes = getOwnedBytes(alloc, *byte, exactBytes);
  if (failed(bytes))
    return failure();
  auto scatter =
      cast<layout::NpuScatterAttr>(alloc.getMemref().getType().getLayout());
  Owner owner{alloc, std::move(*bytes), cast<ChipAttr>(scatter.getTarget())};
  for (Owner &other : live) {
    if (other.target != owner.target)
      return alloc.emitOpError()
             << "is on " << owner.target
             << ", another tensor of the function on " << other.target;
    std::optional<SharedBytes> shared =
        findShared(owner.bytes, 0, other.bytes, 0);
    if (!shared)
      continue;
    InFlightDiagnostic diag = alloc.emitOpError();
    diag << "overlaps a tensor that is still live: both own ";
    describe(diag, shared->first);
    if (!exactBytes) {
      diag << ", holes included";
      if (haveOwnElements(alloc, other.op))
        diag << "; their elements do not overlap, which `exact-bytes` allows";
    }
    diag.attachNote(other.op.getLoc()) << "the other tensor is here";
    return diag;
  }
  live.push_back(std::move(owner));
  return success();
}

/// Verifies that a transfer between views of one tensor does not read bytes
/// that it writes. Otherwise emits an error at `copy` and fails.
static LogicalResult verifyCopy(CopyOp copy) {
  Value source = copy.getSource(), dest = copy.getDest();
  if (!isLocal(copy.getSource().getType()) ||
      getViewedMemory(source) != getViewedMemory(dest))
    return success();
  auto alloc = getViewedMemory(source).getDefiningOp<AllocOp>();
  int64_t byte = alloc ? alloc.getByte().value_or(0) : 0;
  auto getBytes = [&](Value memref) -> FailureOr<OwnedBytes> {
    auto type = cast<MemRefType>(memref.getType());
    FailureOr<Storage> storage =
        getStorageAt(type, byte, [&] { return copy.emitOpError(); });
    if (failed(storage))
      return failure();
    return getElements(*storage, type.getShape());
  };
  FailureOr<OwnedBytes> read = getBytes(source), written = getBytes(dest);
  if (failed(read) || failed(written))
    return failure();
  std::optional<SharedBytes> shared = findShared(*read, 0, *written, 0);
  if (!shared)
    return success();
  InFlightDiagnostic diag = copy.emitOpError();
  diag << "reads what it writes: ";
  describe(diag, shared->first);
  return diag;
}

/// Verifies the ops of a block in order. Emits an error and fails at the first
/// npu.alloc with an address whose bytes a live tensor owns or that is on
/// another chip, or npu.copy that reads bytes it writes. `live` holds the
/// tensors of enclosing blocks; tensors of this block are live up to their
/// npu.dealloc or to its end.
static LogicalResult verifyBlock(Block &block, SmallVector<Owner> live,
                                 bool exactBytes) {
  for (Operation &op : block) {
    if (auto alloc = dyn_cast<AllocOp>(op)) {
      if (failed(verifyAlloc(alloc, live, exactBytes)))
        return failure();
    } else if (auto dealloc = dyn_cast<DeallocOp>(op)) {
      Operation *alloc = dealloc.getMemref().getDefiningOp();
      llvm::erase_if(
          live, [&](Owner &owner) { return owner.op.getOperation() == alloc; });
    } else if (auto copy = dyn_cast<CopyOp>(op)) {
      if (failed(verifyCopy(copy)))
        return failure();
    }
    for (Region &region : op.getRegions())
      for (Block &inner : region)
        if (failed(verifyBlock(inner, live, exactBytes)))
          return failure();
  }
  return success();
}

LogicalResult npu::verifyMemory(func::FuncOp function, bool exactBytes) {
  for (Block &block : function.getBody())
    if (failed(verifyBlock(block, {}, exactBytes)))
      return failure();
  return success();
}

namespace {
struct NPUVerifyMemoryPass
    : public npu::impl::NPUVerifyMemoryPassBase<NPUVerifyMemoryPass> {
  using NPUVerifyMemoryPassBase::NPUVerifyMemoryPassBase;

  void runOnOperation() override {
    if (failed(verifyMemory(getOperation(), exactBytes)))
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
