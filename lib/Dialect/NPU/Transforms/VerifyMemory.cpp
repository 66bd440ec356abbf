//===- VerifyMemory.cpp - Tensors of local memory do not share bytes ------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Algebra/Evaluator.h"
#include "layout/Algebra/Proof.h"
#include "layout/Dialect/NPU/IR/Storage.h"
#include "layout/Dialect/NPU/Transforms/Passes.h"

namespace mlir::npu {
#define GEN_PASS_DEF_NPUVERIFYMEMORYPASS
#include "layout/Dialect/NPU/Transforms/Passes.h.inc"
} // namespace mlir::npu

using namespace mlir;
using namespace mlir::npu;
using namespace mlir::layout;

namespace {
/// Bytes [begin, end) of one unit; unit -1 stands for all of them.
struct Bytes {
  int64_t unit, begin, end;
};

/// A tensor, or a view of one, and what it owns.
struct Owner {
  Operation *op;
  std::vector<Bytes> bytes;
  ChipAttr target;
};
} // namespace

//===----------------------------------------------------------------------===//
// What a memref owns
//===----------------------------------------------------------------------===//

/// The byte that a view of local memory counts from; nothing where it is open.
static std::optional<int64_t> getBaseByte(Value memref) {
  auto alloc = getViewedMemory(memref).getDefiningOp<AllocOp>();
  return alloc ? alloc.getByte() : std::nullopt;
}

static std::vector<Bytes> getRows(const Storage &storage,
                                  ArrayRef<int64_t> shape) {
  return {{-1, storage.scatter.getOffset(), getReservedBytes(storage, shape)}};
}

/// The bytes of every element, neighbours joined; all rows where there are too
/// many elements to look at.
static std::vector<Bytes> getElements(const Storage &storage,
                                      ArrayRef<int64_t> shape) {
  int64_t count = ShapedType::getNumElements(shape);
  std::optional<Evaluator> evaluator =
      Evaluator::ofCoordinates(storage.map, shape);
  if (!evaluator || count > kMaxPoints)
    return getRows(storage, shape);
  std::vector<Bytes> bytes;
  SmallVector<int64_t> index(shape.size(), 0);
  int64_t size = storage.elementBytes;
  for (int64_t i = 0; i < count; ++i) {
    int64_t at[2];
    evaluator->evaluate(index.data(), at);
    int64_t begin = at[1] * size;
    if (!bytes.empty() && bytes.back().unit == at[0] &&
        bytes.back().end == begin)
      bytes.back().end += size;
    else
      bytes.push_back({at[0], begin, begin + size});
    for (int d = int(shape.size()) - 1; d >= 0 && ++index[d] == shape[d]; --d)
      index[d] = 0;
  }
  llvm::sort(bytes, [](const Bytes &a, const Bytes &b) {
    return std::pair(a.unit, a.begin) < std::pair(b.unit, b.begin);
  });
  return bytes;
}

static std::optional<Owner> getOwner(Operation *op, Value memref, int64_t byte,
                                     bool exactBytes) {
  auto type = cast<MemRefType>(memref.getType());
  FailureOr<Storage> storage =
      getStorageAt(type, byte, [&] { return op->emitOpError(); });
  if (failed(storage))
    return std::nullopt;
  return Owner{op,
               exactBytes ? getElements(*storage, type.getShape())
                          : getRows(*storage, type.getShape()),
               storage->target};
}

/// The first bytes that both own. Both lists are sorted, and the pieces of one
/// do not overlap.
static std::optional<Bytes> getShared(const Owner &a, const Owner &b) {
  // All units are owned as one piece.
  for (const auto &[rows, other] : {std::pair(&a, &b), std::pair(&b, &a)})
    if (!rows->bytes.empty() && rows->bytes.front().unit < 0)
      for (const Bytes &bytes : other->bytes) {
        int64_t begin = std::max(rows->bytes.front().begin, bytes.begin);
        int64_t end = std::min(rows->bytes.front().end, bytes.end);
        if (begin < end)
          return Bytes{bytes.unit, begin, end};
      }
  for (auto x = a.bytes.begin(), y = b.bytes.begin();
       x != a.bytes.end() && y != b.bytes.end();) {
    int64_t begin = std::max(x->begin, y->begin);
    int64_t end = std::min(x->end, y->end);
    if (x->unit == y->unit && begin < end)
      return Bytes{x->unit, begin, end};
    if (std::pair(x->unit, x->end) < std::pair(y->unit, y->end))
      ++x;
    else
      ++y;
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// The walk
//===----------------------------------------------------------------------===//

static void describe(InFlightDiagnostic &diag, const Bytes &shared) {
  diag << "bytes " << shared.begin << " to " << shared.end - 1 << " of ";
  if (shared.unit < 0)
    diag << "every unit";
  else
    diag << "unit " << shared.unit;
}

static LogicalResult verifyAlloc(AllocOp alloc, SmallVectorImpl<Owner> &live,
                                 bool exactBytes) {
  std::optional<int64_t> byte = alloc.getByte();
  if (!byte)
    return success();
  std::optional<Owner> owner =
      getOwner(alloc, alloc.getMemref(), *byte, exactBytes);
  if (!owner)
    return failure();
  for (const Owner &other : live) {
    if (other.target != owner->target)
      return alloc.emitOpError()
             << "is on " << owner->target
             << ", another tensor of the function on " << other.target;
    std::optional<Bytes> shared = getShared(*owner, other);
    if (!shared)
      continue;
    InFlightDiagnostic diag = alloc.emitOpError();
    diag << "overlaps a tensor that is still alive: both own ";
    describe(diag, *shared);
    diag << (exactBytes ? "" : ", holes included");
    diag.attachNote(other.op->getLoc()) << "the other tensor is here";
    return diag;
  }
  live.push_back(std::move(*owner));
  return success();
}

/// A transfer between two views of one tensor.
static LogicalResult verifyCopy(CopyOp copy) {
  Value source = copy.getSource(), dest = copy.getDest();
  if (!isLocal(copy.getSource().getType()) ||
      getViewedMemory(source) != getViewedMemory(dest))
    return success();
  int64_t byte = getBaseByte(source).value_or(0);
  std::optional<Owner> read = getOwner(copy, source, byte, true);
  std::optional<Owner> written = getOwner(copy, dest, byte, true);
  if (!read || !written)
    return failure();
  std::optional<Bytes> shared = getShared(*read, *written);
  if (!shared)
    return success();
  InFlightDiagnostic diag = copy.emitOpError();
  diag << "reads what it writes: ";
  describe(diag, *shared);
  return diag;
}

/// Tensors of a block live to its end; what an enclosing block holds is alive.
static LogicalResult verifyBlock(Block &block, SmallVector<Owner> live,
                                 bool exactBytes) {
  for (Operation &op : block) {
    if (auto alloc = dyn_cast<AllocOp>(op)) {
      if (failed(verifyAlloc(alloc, live, exactBytes)))
        return failure();
    } else if (auto dealloc = dyn_cast<DeallocOp>(op)) {
      Operation *alloc = dealloc.getMemref().getDefiningOp();
      llvm::erase_if(live, [&](const Owner &o) { return o.op == alloc; });
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
