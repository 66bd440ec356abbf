//===- PlanMemory.cpp - One arena for the temporaries of a function -------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Assigns memory to buffers. The lifetime of a buffer is the range of ops in
// the function's entry block from its first to its last use; a use inside a
// loop counts for the whole loop. Buffers are placed largest first, each at the
// lowest offset that is free during its lifetime. Without an arena, each buffer
// is freed after its last use, also in inner blocks, to avoid fragmentation.
//===----------------------------------------------------------------------===//

#include "Memory/Allocations.h"
#include "layout/Support/BorrowedBuffers.h"
#include "layout/Support/FirstFit.h"
#include "layout/Targets/CPU/LinalgToLLVM/Passes.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::layout {
#define GEN_PASS_DEF_PLANMEMORYPASS
#include "layout/Targets/CPU/LinalgToLLVM/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;

namespace {
struct Buffer {
  memref::AllocOp alloc;
  Operation *last = nullptr; // the last op of the block that uses it
  unsigned from = 0, to = 0; // positions in the block
  int64_t bytes = 0;
  int64_t offset = 0;
};
} // namespace

/// Sets the last use of `buffer` and its lifetime, as positions in `block`.
/// Returns false if the buffer may escape the function or be used through an
/// unsupported op.
static bool findUses(Buffer &buffer, Block &block,
                     const DenseMap<Operation *, unsigned> &position) {
  SmallVector<Value> worklist{buffer.alloc.getResult()};
  DenseSet<Value> seen;
  buffer.from = buffer.to = position.lookup(buffer.alloc);
  buffer.last = buffer.alloc;
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    for (Operation *user : value.getUsers()) {
      bool hasBuffers = llvm::any_of(user->getResultTypes(), [](Type type) {
        return isa<BaseMemRefType>(type);
      });
      if (isa<ViewLikeOpInterface>(user)) {
        llvm::append_range(worklist, user->getResults());
      } else if (hasBuffers || user->hasTrait<OpTrait::IsTerminator>() ||
                 user->getNumRegions() > 1 ||
                 (user->getNumRegions() == 1 && !isa<linalg::LinalgOp>(user)) ||
                 (!user->hasAttr(layout::kBorrowsAttrName) &&
                  (isa<CallOpInterface>(user) ||
                   !isa<MemoryEffectOpInterface>(user))) ||
                 hasEffect<MemoryEffects::Free>(user)) {
        return false;
      }
      Operation *top = block.findAncestorOpInBlock(*user);
      if (!top)
        return false;
      unsigned at = position.lookup(top);
      if (at > buffer.to) {
        buffer.to = at;
        buffer.last = top;
      }
    }
  }
  return true;
}

/// Returns the size in bytes, or std::nullopt if it is dynamic or exceeds 64
/// bits, or if the buffer is not row-major or does not hold numbers.
static std::optional<int64_t> bytesOf(MemRefType type) {
  if (!type.hasStaticShape() || !type.getLayout().isIdentity() ||
      !type.getElementType().isIntOrIndexOrFloat())
    return std::nullopt;
  int64_t bits = type.getElementType().isIndex()
                     ? 64
                     : type.getElementType().getIntOrFloatBitWidth();
  int64_t bytes = llvm::divideCeil(bits, 8);
  for (int64_t extent : type.getShape())
    if (llvm::MulOverflow(bytes, extent, bytes))
      return std::nullopt;
  return bytes;
}

/// Sets the offsets of `buffers` in the arena, in bytes, so that buffers that
/// are live at the same time do not overlap. Returns the size of the arena in
/// bytes.
static int64_t place(MutableArrayRef<Buffer> buffers, int64_t alignment) {
  SmallVector<Buffer *> order;
  for (Buffer &buffer : buffers)
    order.push_back(&buffer);
  llvm::stable_sort(order, [](const Buffer *a, const Buffer *b) {
    return a->bytes > b->bytes;
  });
  int64_t size = 0;
  SmallVector<Buffer *> placed; // sorted by offset
  for (Buffer *buffer : order) {
    buffer->offset = layout::findFirstFit(
        0, placed,
        [&](int64_t least) { return llvm::alignTo(least, alignment); },
        [&](const Buffer *other, int64_t place) -> std::optional<int64_t> {
          int64_t end = other->offset + other->bytes;
          if (other->to < buffer->from || buffer->to < other->from ||
              other->offset >= place + buffer->bytes || place >= end)
            return std::nullopt;
          return end;
        });
    size = std::max(size, buffer->offset + buffer->bytes);
    auto at =
        llvm::upper_bound(placed, buffer, [](const Buffer *a, const Buffer *b) {
          return a->offset < b->offset;
        });
    placed.insert(at, buffer);
  }
  return size;
}

/// Marks an op so that buffer deallocation ignores it.
static void markManual(Operation *op) {
  op->setAttr(bufferization::BufferizationDialect::kManualDeallocation,
              UnitAttr::get(op->getContext()));
}

/// Frees a buffer by a memref.dealloc after its last use, and marks the
/// allocation and the deallocation so that upstream's buffer deallocation
/// ignores both.
static void freeAfterUse(Buffer buffer) {
  OpBuilder b(buffer.last->getContext());
  b.setInsertionPointAfter(buffer.last);
  markManual(memref::DeallocOp::create(b, buffer.alloc.getLoc(), buffer.alloc));
  markManual(buffer.alloc);
}

/// Returns the buffers that `block` allocates, except those that may escape,
/// that unsupported ops use, or that are marked so that buffer deallocation
/// ignores them.
static SmallVector<Buffer> findBuffers(Block &block) {
  DenseMap<Operation *, unsigned> position;
  for (auto [i, op] : llvm::enumerate(block))
    position[&op] = i;
  SmallVector<Buffer> buffers;
  for (auto alloc : block.getOps<memref::AllocOp>()) {
    Buffer buffer{alloc};
    if (!alloc->hasAttr(
            bufferization::BufferizationDialect::kManualDeallocation) &&
        findUses(buffer, block, position))
      buffers.push_back(buffer);
  }
  return buffers;
}

namespace {
struct PlanMemory : layout::impl::PlanMemoryPassBase<PlanMemory> {
  using PlanMemoryPassBase::PlanMemoryPassBase;

  void runOnOperation() override {
    FunctionOpInterface function = getOperation();
    if (!llvm::isPowerOf2_32(alignment)) {
      function->emitError("layout-cpu-plan-memory: alignment is ")
          << alignment.getValue() << ", which is not a power of two";
      return signalPassFailure();
    }
    if (!arena) {
      // The own buffers of kernels are freed by layout-cpu-free-buffers.
      function->walk([&](Block *block) {
        bool isEntry = block->getParentOp() == function;
        for (Buffer buffer : findBuffers(*block))
          if (isEntry || !layout::takesOwnMemory(buffer.alloc))
            freeAfterUse(buffer);
      });
      return;
    }
    if (function.isExternal() || !function.getFunctionBody().hasOneBlock())
      return;
    Block &block = function.getFunctionBody().front();
    SmallVector<Buffer> fixed;
    for (Buffer buffer : findBuffers(block)) {
      if (std::optional<int64_t> bytes = bytesOf(buffer.alloc.getType())) {
        buffer.bytes = *bytes;
        fixed.push_back(buffer);
        continue;
      }
      freeAfterUse(buffer);
    }
    if (fixed.empty())
      return;

    int64_t size = place(fixed, alignment);
    OpBuilder b = OpBuilder::atBlockBegin(&block);
    Location loc = function->getLoc();
    auto type = MemRefType::get({size}, b.getIntegerType(8));
    auto memory =
        memref::AllocOp::create(b, loc, type, b.getI64IntegerAttr(alignment));
    markManual(memory);
    for (Buffer &buffer : fixed) {
      b.setInsertionPoint(buffer.alloc);
      Value offset = arith::ConstantIndexOp::create(b, buffer.alloc.getLoc(),
                                                    buffer.offset);
      Value view = memref::ViewOp::create(
          b, buffer.alloc.getLoc(), buffer.alloc.getType(), memory, offset, {});
      buffer.alloc.replaceAllUsesWith(view);
      buffer.alloc.erase();
    }
    b.setInsertionPoint(block.getTerminator());
    markManual(memref::DeallocOp::create(b, loc, memory));
  }
};
} // namespace
