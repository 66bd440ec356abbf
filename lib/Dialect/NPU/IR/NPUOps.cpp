//===- NPUOps.cpp - Allocation, transfers and regions ---------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Algebra/Views.h"
#include "layout/Dialect/NPU/IR/Storage.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::npu;
using namespace mlir::layout;

#define GET_OP_CLASSES
#include "layout/Dialect/NPU/IR/NPUOps.cpp.inc"

/// Returns the storage of an operand or result. If its type has none, emits an
/// error at `op` and fails.
static FailureOr<Storage> getStorage(Operation *op, Value memref) {
  return npu::getStorage(cast<MemRefType>(memref.getType()),
                         [&] { return op->emitOpError(); });
}

//===----------------------------------------------------------------------===//
// AllocOp
//===----------------------------------------------------------------------===//

std::optional<int64_t> AllocOp::getByte() {
  if (!getAddress())
    return std::nullopt;
  auto scatter = cast<NpuScatterAttr>(getMemref().getType().getLayout());
  return int64_t(*getAddress()) -
         scatter.getStart() * scatter.getTarget().getParams().bytesPerNpu;
}

/// Verifies that the address is in the core at which the layout starts, in the
/// requested bank, and a multiple of the alignments of the op and the layout.
/// Verifies that the tensor fits a core from there. Emits an error at `op` and
/// fails if one of these does not hold.
static LogicalResult verifyAddress(AllocOp op, const Storage &storage) {
  int64_t address = int64_t(*op.getAddress());
  int64_t cores = storage.target.getNpus();
  int64_t bytes = storage.target.getBytesPerNpu();
  if (address < 0 || address >= cores * bytes)
    return op.emitOpError()
           << "address " << address << " is not in one of the " << cores
           << " cores of " << bytes << " bytes: addresses are between 0 and "
           << cores * bytes - 1;
  int64_t start = getStartCore(storage);
  if (address / bytes != start)
    return op.emitOpError()
           << "address " << address << " is in core " << address / bytes
           << ", the layout starts at core " << start
           << ": its addresses are between " << start * bytes << " and "
           << (start + 1) * bytes - 1;
  int64_t byte = address % bytes;
  if (op.getAlignment() && byte % int64_t(*op.getAlignment()) != 0)
    return op.emitOpError() << "address " << address << " is byte " << byte
                            << " of a core, which is not a multiple of the "
                               "alignment "
                            << *op.getAlignment();
  std::optional<int64_t> bankBytes = storage.target.getBankBytes();
  if (op.getBank() && byte / *bankBytes != int64_t(*op.getBank()))
    return op.emitOpError()
           << "address " << address << " is in bank " << byte / *bankBytes
           << " of a core, but bank " << *op.getBank() << " is requested";
  // The layout checks the alignment of its mode and R + reserved <= S.
  return success(succeeded(getStorageAt(op.getMemref().getType(), byte,
                                        [&] { return op.emitOpError(); })));
}

LogicalResult AllocOp::verify() {
  MemRefType type = getMemref().getType();
  if (!isLocal(type))
    return emitOpError() << "allocates local memory: the memory space must be "
                            "#npu.memory<local>, found "
                         << type;
  FailureOr<Storage> storage = ::getStorage(*this, getMemref());
  if (failed(storage))
    return failure();
  if (storage->scatter.getOffset() != 0)
    return emitOpError() << "the layout must start at offset 0 of the "
                            "allocated memory, found "
                         << storage->scatter.getOffset()
                         << ": write the offset as part of the address";
  int64_t alignment = int64_t(getAlignment().value_or(1));
  if (alignment < 1 || !llvm::isPowerOf2_64(alignment))
    return emitOpError() << "alignment " << alignment
                         << " is not a power of two";
  if (getBank()) {
    int64_t bank = int64_t(*getBank());
    if (!storage->target.getBanks())
      return emitOpError()
             << "requests bank " << bank
             << ", but the target has no banks: state `banks` in #npu.target";
    if (bank < 0 || bank >= *storage->target.getBanks())
      return emitOpError() << "requests bank " << bank
                           << ", but banks are between 0 and "
                           << *storage->target.getBanks() - 1;
  }
  return getAddress() ? verifyAddress(*this, *storage) : success();
}

LogicalResult DeallocOp::verify() {
  if (getMemref().getDefiningOp<AllocOp>())
    return success();
  return emitOpError() << "needs the result of an npu.alloc of the same "
                          "function, not a view or an argument";
}

//===----------------------------------------------------------------------===//
// CopyOp
//===----------------------------------------------------------------------===//

LayoutMap CopyOp::getReadMap(const LayoutMap &source) {
  MemRefType from = getSource().getType(), to = getDest().getType();
  std::vector<IndexExpr> dims(from.getRank());
  std::vector<SizeExpr> sizeOf;
  for (int64_t size : from.getShape())
    sizeOf.push_back(SizeExpr(size));
  for (int64_t d = 0; d < to.getRank(); ++d) {
    int64_t s = getPermutation() ? (*getPermutation())[d] : d;
    bool repeated = from.getDimSize(s) == 1 && to.getDimSize(d) != 1;
    dims[s] = repeated ? IndexExpr() : IndexExpr::dim(d);
  }
  return source.substitute(to.getRank(), dims, sizeOf, to.getShape());
}

static LogicalResult verifyPermutation(CopyOp op) {
  int64_t rank = op.getDest().getType().getRank();
  ArrayRef<int64_t> permutation = *op.getPermutation();
  if (int64_t(permutation.size()) == rank && isPermutationVector(permutation))
    return success();
  return op.emitOpError() << "[" << permutation
                          << "] is not a permutation of the " << rank
                          << " dims";
}

/// Verifies that the memory of `type` is system memory, local memory, or one
/// that `target` lists. Accepts every memory without a `target`. Otherwise
/// emits an error at `op` and fails.
static LogicalResult verifyMemoryOf(Operation *op, MemRefType type,
                                    ChipAttr target) {
  MemoryAttr memory = getMemory(type);
  if (!target || memory.isLocal() || memory.isSystem() ||
      target.getMemoryBytes(memory.getName()))
    return success();
  return op->emitOpError() << "memory '" << memory.getName()
                           << "' is not a memory of " << target
                           << ": list it in `memories`";
}

LogicalResult CopyOp::verify() {
  MemRefType from = getSource().getType(), to = getDest().getType();
  FailureOr<Storage> read = ::getStorage(*this, getSource());
  FailureOr<Storage> written = ::getStorage(*this, getDest());
  if (failed(read) || failed(written))
    return failure();
  if (from.getElementType() != to.getElementType())
    return emitOpError() << "keeps the element type, found "
                         << from.getElementType() << " and "
                         << to.getElementType()
                         << ": npu.view changes the type of the same bytes";
  if (from.getRank() != to.getRank())
    return emitOpError() << "keeps the rank, found " << from << " and " << to;
  if (getPermutation() && failed(verifyPermutation(*this)))
    return failure();
  for (int64_t d = 0; d < to.getRank(); ++d) {
    int64_t s = getPermutation() ? (*getPermutation())[d] : d;
    int64_t source = from.getDimSize(s), dest = to.getDimSize(d);
    if (source == dest || (getBroadcast() && source == 1))
      continue;
    InFlightDiagnostic diag = emitOpError();
    diag << "dim " << d << " of the destination has size " << dest << ", dim "
         << s << " of the source " << source;
    if (source == 1)
      diag << ": write `broadcast` to repeat it";
    return diag;
  }
  if (read->isLocal() && written->isLocal() && read->target != written->target)
    return emitOpError() << "moves data between two chips, " << read->target
                         << " and " << written->target;
  if (failed(verifyMemoryOf(*this, from, written->target)) ||
      failed(verifyMemoryOf(*this, to, read->target)))
    return failure();
  if (getSource() == getDest())
    return emitOpError() << "source and destination are the same memory";
  return success();
}

//===----------------------------------------------------------------------===//
// FillOp
//===----------------------------------------------------------------------===//

LogicalResult FillOp::verify() {
  FailureOr<Storage> storage = ::getStorage(*this, getDest());
  if (failed(storage))
    return failure();
  MemRefType type = getDest().getType();
  if (cast<TypedAttr>(getValue()).getType() != type.getElementType() ||
      !isa<IntegerAttr, FloatAttr>(getValue()))
    return emitOpError() << "writes a constant of the element type "
                         << type.getElementType() << ", found " << getValue();
  if (getEngine() == Engine::Compute && !storage->isLocal())
    return emitOpError() << "execution units reach local memory only: fill "
                         << type << " on dma";
  return success();
}

//===----------------------------------------------------------------------===//
// ParallelOp
//===----------------------------------------------------------------------===//

namespace {
/// A read or write (`isWrite`) of memory by an op in npu.parallel, and the
/// engine that runs the op: DMA or the execution units.
struct Access {
  Operation *op;
  Value memory;
  bool isWrite;
  Engine engine;
};
} // namespace

static void collectAccesses(Operation *op, SmallVectorImpl<Access> &accesses) {
  if (auto copy = dyn_cast<CopyOp>(op)) {
    accesses.push_back(
        {op, getViewedMemory(copy.getSource()), false, Engine::DMA});
    accesses.push_back(
        {op, getViewedMemory(copy.getDest()), true, Engine::DMA});
  } else if (auto fill = dyn_cast<FillOp>(op)) {
    accesses.push_back(
        {op, getViewedMemory(fill.getDest()), true, fill.getEngine()});
  } else if (auto effects = dyn_cast<MemoryEffectOpInterface>(op)) {
    // Ops of other dialects run on the execution units.
    SmallVector<MemoryEffects::EffectInstance> instances;
    effects.getEffects(instances);
    for (const MemoryEffects::EffectInstance &effect : instances)
      if (Value memory = effect.getValue())
        accesses.push_back({op, getViewedMemory(memory),
                            !isa<MemoryEffects::Read>(effect.getEffect()),
                            Engine::Compute});
  }
}

LogicalResult ParallelOp::verifyRegions() {
  SmallVector<Access> accesses;
  for (Operation &op : getBody().front()) {
    if (isa<AllocOp, DeallocOp, ParallelOp>(op)) {
      InFlightDiagnostic diag = op.emitOpError()
                                << "must not be inside npu.parallel: the order "
                                   "of two engines is unknown there";
      diag.attachNote(getLoc()) << "the region is here";
      return diag;
    }
    collectAccesses(&op, accesses);
  }
  for (const Access &first : accesses) {
    for (const Access &second : accesses) {
      if (!first.isWrite || first.engine == second.engine ||
          first.memory != second.memory)
        continue;
      InFlightDiagnostic diag =
          second.op->emitOpError()
          << (second.isWrite ? "writes" : "reads")
          << " what the other engine writes in the same npu.parallel";
      diag.attachNote(first.op->getLoc()) << "it is written here";
      return diag;
    }
  }
  return success();
}
