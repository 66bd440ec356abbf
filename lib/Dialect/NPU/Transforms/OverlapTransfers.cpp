//===- OverlapTransfers.cpp - Run transfers in parallel with computation --===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LiveMemory.h"
#include "LiveTensors.h"
#include "OpTimes.h"
#include "layout/Dialect/NPU/IR/Storage.h"
#include "layout/Dialect/NPU/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Remarks.h"

namespace mlir::npu {
#define GEN_PASS_DEF_NPUOVERLAPTRANSFERSPASS
#include "layout/Dialect/NPU/Transforms/Passes.h.inc"
} // namespace mlir::npu

using namespace mlir;
using namespace mlir::npu;
using layout::addCosts;
using layout::Cost;

/// The maximum number of computations that are tried to run in parallel with
/// one load, for linear time.
static constexpr unsigned kMostTried = 64;

namespace {
/// Moves loads and stores of a function into parallel regions with
/// computations.
class Overlapper {
public:
  Overlapper(func::FuncOp function, bool reusesHoles)
      : function(function), block(function.getBody().front()),
        builder(function.getContext()), tensors(reusesHoles) {}

  LogicalResult run();

private:
  SmallVector<CopyOp> getLoads(linalg::LinalgOp compute);
  SmallVector<CopyOp> getStores(linalg::LinalgOp compute);
  std::optional<SmallVector<Operation *>> getNeeded(CopyOp load,
                                                    Operation *before);
  bool delayStore(CopyOp store, linalg::LinalgOp compute);
  /// The transfers that run in parallel with an op, and the cycles of both
  /// engines.
  struct Region {
    linalg::LinalgOp compute;
    Cost computation = 0, transfers = 0;
    SmallVector<CopyOp> stores;
    /// The loads, each with the ops that move with it, in reverse order: the
    /// load itself, then what it depends on, e.g. its npu.alloc.
    SmallVector<std::pair<CopyOp, SmallVector<Operation *>>> loads;
  };
  SmallVector<unsigned> getChoices(CopyOp load, Cost cycles, unsigned last);
  bool advanceLoad(CopyOp load, unsigned last);
  void choose();
  void join(linalg::LinalgOp compute, ArrayRef<CopyOp> transfers);
  void join(const Region &region);
  LogicalResult keepPlaces();
  void report();

  func::FuncOp function;
  Block &block;
  OpBuilder builder;
  LiveTensors tensors; // the initial live ranges; `memory` has the current ones
  llvm::DenseMap<Operation *, unsigned> indices; // of allocs in `tensors`
  std::optional<LiveMemory> memory;
  std::optional<OpTimes> opTimes;
  std::vector<Region> regions; // one per op that computes
  int64_t numTransfers = 0, numRegions = 0;
};
} // namespace

/// Returns the loads of whole tensors from unchanging system memory between
/// `compute` and the next op or parallel region that computes.
SmallVector<CopyOp> Overlapper::getLoads(linalg::LinalgOp compute) {
  SmallVector<CopyOp> loads;
  Operation *op = compute->getNextNode();
  for (; op && !isa<linalg::LinalgOp, ParallelOp>(op); op = op->getNextNode()) {
    auto copy = dyn_cast<CopyOp>(op);
    if (copy && copy.getDest().getDefiningOp<AllocOp>() &&
        !isLocal(copy.getSource().getType()) && isUnchanging(copy.getSource()))
      loads.push_back(copy);
  }
  return loads;
}

/// Returns, in program order, the stores between the previous op or parallel
/// region that computes and `compute` that can run in parallel with `compute`.
/// Each one stores a local tensor to a whole argument that no other op
/// accesses. No op from the store up to `compute`, inclusive, writes this
/// tensor.
SmallVector<CopyOp> Overlapper::getStores(linalg::LinalgOp compute) {
  SmallVector<CopyOp> stores;
  // The memory that `compute` and the ops between it and a store write.
  llvm::SmallPtrSet<Value, 8> written;
  for (Value init : compute.getDpsInits())
    written.insert(getViewedMemory(init));
  Operation *op = compute->getPrevNode();
  for (; op && !isa<linalg::LinalgOp, ParallelOp>(op); op = op->getPrevNode()) {
    if (auto fill = dyn_cast<FillOp>(op))
      written.insert(getViewedMemory(fill.getDest()));
    auto copy = dyn_cast<CopyOp>(op);
    if (!copy)
      continue;
    written.insert(getViewedMemory(copy.getDest()));
    // The destination must be a result that no other op of the program
    // accesses.
    auto argument = dyn_cast<BlockArgument>(copy.getDest());
    if (argument && argument.hasOneUse() &&
        isLocal(copy.getSource().getType()) &&
        !isLocal(copy.getDest().getType()) &&
        !written.contains(getViewedMemory(copy.getSource())))
      stores.push_back(copy);
  }
  std::reverse(stores.begin(), stores.end());
  return stores;
}

/// Extends the live range of the tensor that `store` reads to the end of
/// `compute`, so that both ops can run in parallel. Returns false, with no
/// change, if the tensor then has no place in local memory or no npu.alloc
/// makes it.
bool Overlapper::delayStore(CopyOp store, linalg::LinalgOp compute) {
  Operation *alloc = getViewedMemory(store.getSource()).getDefiningOp();
  auto known = indices.find(alloc);
  if (known == indices.end() ||
      !memory->grow(known->second, tensors.times[store],
                    tensors.times[compute] + 1))
    return false;
  for (Operation *user : alloc->getUsers())
    if (isa<DeallocOp>(user) && user->isBeforeInBlock(compute))
      user->moveAfter(compute);
  return true;
}

/// Returns a load and the ops at or after the op `before` on which it depends,
/// last op first: they must move with it. Returns std::nullopt if one of them,
/// other than an npu.alloc, has side effects, or if ops before the load still
/// use the memory that it overwrites.
std::optional<SmallVector<Operation *>>
Overlapper::getNeeded(CopyOp load, Operation *before) {
  SmallVector<Operation *> needed{load};
  llvm::SmallPtrSet<Operation *, 8> seen{load};
  for (size_t i = 0; i < needed.size(); ++i)
    for (Value operand : needed[i]->getOperands()) {
      Operation *op = operand.getDefiningOp();
      if (!op || op->isBeforeInBlock(before))
        continue;
      if (!isa<AllocOp>(op) && !isMemoryEffectFree(op))
        return std::nullopt;
      if (seen.insert(op).second)
        needed.push_back(op);
    }
  // A load must not overwrite earlier contents that are in use.
  for (Operation *user : load.getDest().getUsers())
    if (user != load &&
        block.findAncestorOpInBlock(*user)->isBeforeInBlock(load))
      return std::nullopt;
  return needed;
}

/// Returns the numbers of the regions in which a load may run, one or two, best
/// first. Considers `last` and, backwards, the regions before it to which the
/// load can move. The best one is the latest whose computation hides all
/// `cycles` of the load, or else the one that hides most. If that is not
/// `last`, `last` follows.
SmallVector<unsigned> Overlapper::getChoices(CopyOp load, Cost cycles,
                                             unsigned last) {
  unsigned best = last;
  Cost hidden = 0;
  for (unsigned i = last, tried = 0; tried < kMostTried; --i, ++tried) {
    const Region &region = regions[i];
    Cost left = std::max<Cost>(region.computation - region.transfers, 0);
    if (!getNeeded(load, region.compute))
      break;
    if (std::min(left, cycles) > hidden) {
      hidden = std::min(left, cycles);
      best = i;
    }
    if (hidden == cycles || i == 0)
      break;
  }
  SmallVector<unsigned> choices{best};
  if (best != last)
    choices.push_back(last);
  return choices;
}

/// Adds a load to a region, at the latest that of `last`; `join` moves it there
/// afterwards. Returns false, and leaves the load where it is, if there is a
/// dependence or the memory is full.
bool Overlapper::advanceLoad(CopyOp load, unsigned last) {
  unsigned index = indices.lookup(load.getDest().getDefiningOp());
  Cost cycles = opTimes->getCycles(load);
  for (unsigned choice : getChoices(load, cycles, last)) {
    Region &region = regions[choice];
    std::optional<SmallVector<Operation *>> needed =
        getNeeded(load, region.compute);
    int64_t time = tensors.times[region.compute];
    if (!needed || !memory->grow(index, time, time + 1))
      continue;
    region.loads.push_back({load, std::move(*needed)});
    region.transfers = addCosts(region.transfers, cycles);
    return true;
  }
  return false;
}

void Overlapper::join(linalg::LinalgOp compute, ArrayRef<CopyOp> transfers) {
  builder.setInsertionPoint(compute);
  auto parallel = ParallelOp::create(builder, compute.getLoc());
  Block *body = &parallel.getBody().emplaceBlock();
  compute->moveBefore(body, body->end());
  for (CopyOp transfer : transfers)
    transfer->moveBefore(body, body->end());
}

/// Chooses the stores and loads that run in parallel with each op that
/// computes, in program order. Only npu.dealloc ops move here; `join` moves the
/// stores, the loads and the ops that loads need afterwards.
void Overlapper::choose() {
  for (linalg::LinalgOp compute : block.getOps<linalg::LinalgOp>())
    regions.push_back({compute, opTimes->getCycles(compute), 0, {}, {}});
  for (unsigned i = 0, e = regions.size(); i < e; ++i) {
    for (CopyOp store : getStores(regions[i].compute)) {
      if (!delayStore(store, regions[i].compute))
        continue;
      regions[i].stores.push_back(store);
      regions[i].transfers =
          addCosts(regions[i].transfers, opTimes->getCycles(store));
    }
    for (CopyOp load : getLoads(regions[i].compute))
      advanceLoad(load, i);
  }
}

void Overlapper::join(const Region &region) {
  SmallVector<CopyOp> transfers(region.stores);
  for (const auto &[load, needed] : region.loads) {
    for (Operation *op : llvm::reverse(needed))
      if (!op->isBeforeInBlock(region.compute))
        op->moveBefore(region.compute);
    transfers.push_back(load);
  }
  if (transfers.empty())
    return;
  join(region.compute, transfers);
  numTransfers += transfers.size();
  ++numRegions;
}

/// Sets the addresses of all npu.alloc ops to those found while transfers were
/// moved, if a new search finds no placement of all tensors. Otherwise sets
/// none: npu-assign-addresses then finds them. Emits an error and fails only if
/// the tensors cannot be collected.
LogicalResult Overlapper::keepPlaces() {
  LiveTensors now(tensors.reusesHoles);
  if (failed(now.collect(function)))
    return failure();
  if (placeBlocks(now.blocks, /*anyWillDo=*/true))
    return success();
  for (AllocOp alloc : now.allocs) {
    auto scatter =
        cast<layout::NpuScatterAttr>(alloc.getMemref().getType().getLayout());
    int64_t place = memory->getPlaces()[indices.lookup(alloc)];
    alloc.setAddressAttr(builder.getI64IntegerAttr(
        scatter.getStart() * tensors.chip.getBytesPerNpu() + place));
  }
  return success();
}

void Overlapper::report() {
  remark::passed(function.getLoc(),
                 remark::RemarkOpts::name("Overlap").category("npu").function(
                     function.getName()))
      << "transfers overlap with compute"
      << remark::metric("Transfers", numTransfers)
      << remark::metric("Regions", numRegions);
}

LogicalResult Overlapper::run() {
  if (failed(tensors.collect(function)))
    return failure();
  std::optional<AddressPlacement> placement = placeBlocks(tensors.blocks);
  // npu-assign-addresses reports a missing placement.
  if (!placement || tensors.allocs.empty())
    return success();
  memory.emplace(tensors.blocks, placement->places);
  for (auto [i, alloc] : llvm::enumerate(tensors.allocs))
    indices[alloc] = i;
  opTimes.emplace(tensors.chip);
  choose();
  for (const Region &region : regions)
    join(region);
  if (!numRegions)
    return success();
  report();
  return keepPlaces();
}

namespace {
struct NPUOverlapTransfersPass
    : public npu::impl::NPUOverlapTransfersPassBase<NPUOverlapTransfersPass> {
  using NPUOverlapTransfersPassBase::NPUOverlapTransfersPassBase;

  void runOnOperation() override {
    if (getOperation().isDeclaration())
      return;
    if (!getOperation().getBody().hasOneBlock())
      return;
    if (failed(Overlapper(getOperation(), reuseHoles).run()))
      signalPassFailure();
  }
};
} // namespace
