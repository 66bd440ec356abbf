//===- SpillTensors.cpp - Spill tensors to system memory ------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LiveBytes.h"
#include "LiveTensors.h"
#include "layout/Dialect/NPU/IR/DmaPlanning.h"
#include "layout/Dialect/NPU/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/STLExtras.h"

namespace mlir::npu {
#define GEN_PASS_DEF_NPUSPILLTENSORSPASS
#include "layout/Dialect/NPU/Transforms/Passes.h.inc"
} // namespace mlir::npu

using namespace mlir;
using namespace mlir::npu;

namespace {
/// An op of the block that accesses a tensor, also through views or in a
/// region, and its number in the block (`time`).
struct Use {
  Operation *op; // in the block of the function
  int64_t time;
};

/// An interval [begin, end) between two uses, in which the tensor is spilled.
struct Gap {
  int64_t begin, end;
};

/// Spills tensors of a function from local to system memory until all of them
/// fit.
class Spiller {
public:
  Spiller(func::FuncOp function, bool reusesHoles)
      : function(function), block(function.getBody().front()),
        builder(function.getContext()), tensors(reusesHoles) {}

  LogicalResult run();

private:
  SmallVector<Use> getUses(AllocOp alloc);
  SmallVector<unsigned> getLive(int64_t time);
  std::optional<Gap> spillOne(int64_t time);
  bool copyThroughOutside(int64_t time);
  bool sendOutside(CopyOp copy, AllocOp source, AllocOp dest);
  bool spillWhereFull(const AddressPlacement &bound);
  bool makeRoom();
  void split(AllocOp alloc, Operation *lastBefore);
  bool isSettled(Value memref, Operation *load);
  Operation *getOnlyWriter(AllocOp alloc);
  CopyOp getOnlyLoad(AllocOp alloc);
  linalg::LinalgOp getOnlyMaker(AllocOp alloc);
  void makeAgain(linalg::LinalgOp maker, AllocOp from, AllocOp to);
  bool loadSlice(OpOperand &use, AllocOp alloc, Value spillSlot);
  Value addScratch(Location loc, MemRefType type);
  Value getViewOn(Value view, AllocOp from, Value to, IRMapping &mapping);

  func::FuncOp function;
  Block &block;
  OpBuilder builder;
  LiveTensors tensors;           // as of the last collection
  DenseSet<Operation *> spilled; // the allocs changed since then
  llvm::DenseMap<Type, bool> storable;
  /// The ops that load spilled tensors again, or compute them again, each for
  /// the next use.
  DenseSet<Operation *> reloads;
  /// The stores of spilled tensors. Only ops of this set may be between such a
  /// store and the previous use of its tensor.
  DenseSet<Operation *> stores;
  int64_t numStored = 0, numLoaded = 0;
};
} // namespace

/// Calls `fn` for each use of a tensor and of its views, except the views
/// themselves.
static void forEachUse(AllocOp alloc, function_ref<void(OpOperand &)> fn) {
  SmallVector<Value> open{alloc.getMemref()};
  while (!open.empty()) {
    Value memref = open.pop_back_val();
    for (OpOperand &use : memref.getUses())
      if (isa<SubViewOp, ViewOp>(use.getOwner()))
        open.push_back(use.getOwner()->getResult(0));
      else
        fn(use);
  }
}

/// Returns the uses of a tensor in order, except its npu.dealloc.
SmallVector<Use> Spiller::getUses(AllocOp alloc) {
  SmallVector<Use> uses;
  forEachUse(alloc, [&](OpOperand &use) {
    Operation *op = block.findAncestorOpInBlock(*use.getOwner());
    if (!isa<DeallocOp>(op))
      uses.push_back({op, tensors.times.lookup(op)});
  });
  llvm::sort(uses, [](const Use &a, const Use &b) { return a.time < b.time; });
  return uses;
}

/// Returns true if the op writes all of the tensor.
static bool writesAll(Operation *op, AllocOp alloc) {
  if (auto copy = dyn_cast<CopyOp>(op))
    return copy.getDest() == alloc.getMemref();
  if (auto fill = dyn_cast<FillOp>(op))
    return fill.getDest() == alloc.getMemref();
  auto compute = dyn_cast<linalg::LinalgOp>(op);
  return compute &&
         llvm::is_contained(compute.getDpsInits(), alloc.getMemref());
}

static bool writes(OpOperand &use) {
  Operation *op = use.getOwner();
  auto copy = dyn_cast<CopyOp>(op);
  auto compute = dyn_cast<linalg::LinalgOp>(op);
  return isa<FillOp>(op) || (copy && copy.getDest() == use.get()) ||
         (compute && llvm::is_contained(compute.getDpsInits(), use.get()));
}

/// Returns true if `memref`, the source of `load`, is system memory that
/// provably no op writes after `load`.
bool Spiller::isSettled(Value memref, Operation *load) {
  if (isLocal(cast<MemRefType>(memref.getType())))
    return false;
  if (isUnchanging(memref))
    return true;
  while (Operation *view = memref.getDefiningOp())
    memref = view->getOperand(0);
  auto argument = cast<BlockArgument>(memref);
  if (!function.getArgAttr(argument.getArgNumber(), kScratchArgument))
    return false;
  SmallVector<Value> open{memref};
  while (!open.empty()) {
    Value part = open.pop_back_val();
    for (OpOperand &use : part.getUses()) {
      Operation *op = use.getOwner();
      auto copy = dyn_cast<CopyOp>(op);
      if (isa<ViewLikeOpInterface>(op))
        open.push_back(op->getResult(0));
      else if (!(copy && copy.getDest() != use.get()) &&
               !block.findAncestorOpInBlock(*op)->isBeforeInBlock(load))
        return false;
    }
  }
  return true;
}

/// Returns the only op that writes the tensor, if it writes all of it, or else
/// nullptr.
Operation *Spiller::getOnlyWriter(AllocOp alloc) {
  SmallVector<Operation *> writers;
  forEachUse(alloc, [&](OpOperand &use) {
    if (writes(use))
      writers.push_back(use.getOwner());
  });
  return writers.size() == 1 && writesAll(writers.front(), alloc)
             ? writers.front()
             : nullptr;
}

CopyOp Spiller::getOnlyLoad(AllocOp alloc) {
  auto load = dyn_cast_if_present<CopyOp>(getOnlyWriter(alloc));
  return load && isSettled(load.getSource(), load) ? load : CopyOp();
}

/// Returns the only writer of the tensor if it is an elementwise op whose
/// inputs can be loaded again and together have no more bytes than the tensor.
/// Otherwise returns a null op. Executing it again moves fewer bytes than
/// storing the tensor and loading it again.
linalg::LinalgOp Spiller::getOnlyMaker(AllocOp alloc) {
  auto maker = dyn_cast_if_present<linalg::LinalgOp>(getOnlyWriter(alloc));
  if (!maker || maker.getNumReductionLoops() > 0 ||
      !maker.getMatchingIndexingMap(maker.getDpsInitOperand(0))
           .isPermutation() ||
      maker.payloadUsesValueFromOperand(maker.getDpsInitOperand(0)))
    return {};
  auto getBytes = [](Value memref) {
    auto type = cast<MemRefType>(memref.getType());
    return type.getNumElements() *
           llvm::divideCeil(type.getElementTypeBitWidth(), 8);
  };
  int64_t bytes = 0;
  for (Value operand : maker->getOperands()) {
    auto made = operand.getDefiningOp<AllocOp>();
    bool isInput = llvm::is_contained(maker.getDpsInputs(), operand);
    // Other outputs are work memory.
    if (!made || (isInput && !getOnlyLoad(made)) ||
        (!isInput && made != alloc && getUses(made).size() > 1))
      return {};
    bytes += isInput ? getBytes(operand) : 0;
  }
  return bytes <= getBytes(alloc) ? maker : linalg::LinalgOp();
}

/// Clones `maker`, an elementwise op, so that it writes `to` instead of `from`.
/// Before it, loads its inputs again into new tensors, which are freed after
/// it, as is its work memory.
void Spiller::makeAgain(linalg::LinalgOp maker, AllocOp from, AllocOp to) {
  IRMapping mapping;
  mapping.map(from.getMemref(), to.getMemref());
  SmallVector<Value> freed;
  for (Value operand : maker->getOperands()) {
    if (mapping.contains(operand))
      continue;
    auto alloc = operand.getDefiningOp<AllocOp>();
    builder.clone(*alloc, mapping);
    freed.push_back(mapping.lookup(operand));
    if (CopyOp load = getOnlyLoad(alloc)) {
      builder.clone(*load, mapping);
      ++numLoaded;
    }
  }
  reloads.insert(builder.clone(*maker, mapping));
  for (Value memref : freed)
    DeallocOp::create(builder, maker.getLoc(), memref);
}

/// Adds an argument to the function for a temporary in system memory with the
/// elements of a memref, and returns it.
Value Spiller::addScratch(Location loc, MemRefType type) {
  auto outside = MemRefType::get(type.getShape(), type.getElementType(),
                                 MemRefLayoutAttrInterface(),
                                 MemoryAttr::get(type.getContext(), "system"));
  unsigned index = function.getNumArguments();
  NamedAttribute role(builder.getStringAttr(kScratchArgument),
                      builder.getUnitAttr());
  (void)function.insertArgument(index, outside,
                                builder.getDictionaryAttr({role}), loc);
  return function.getArgument(index);
}

/// Returns the view of `to` that corresponds to `view`, a view of `from`, by
/// cloning its ops. `mapping` holds the views that were cloned before.
Value Spiller::getViewOn(Value view, AllocOp from, Value to,
                         IRMapping &mapping) {
  if (view == from.getMemref())
    return to;
  if (Value known = mapping.lookupOrNull(view))
    return known;
  Operation *op = view.getDefiningOp();
  Value source = getViewOn(op->getOperand(0), from, to, mapping);
  Operation *copied = builder.clone(*op);
  copied->setOperand(0, source);
  mapping.map(view, copied->getResult(0));
  return copied->getResult(0);
}

/// Replaces an npu.copy that reads a slice of the spilled tensor as `use` and
/// writes another local tensor. The new one loads the slice from `spillSlot`,
/// the spilled tensor in system memory. Returns false, with no change, if it is
/// another use or DMA cannot load the slice.
bool Spiller::loadSlice(OpOperand &use, AllocOp alloc, Value spillSlot) {
  auto copy = dyn_cast<CopyOp>(use.getOwner());
  auto slice = use.get().getDefiningOp<SubViewOp>();
  if (!copy || !slice || slice.getSource() != alloc.getMemref() ||
      copy.getSource() != use.get() || !isLocal(copy.getDest().getType()) ||
      getViewedMemory(copy.getDest()) == alloc.getMemref())
    return false;
  builder.setInsertionPoint(copy);
  auto attrs = [&](ArrayRef<int64_t> values) {
    return getAsIndexOpFoldResult(builder.getContext(), values);
  };
  Value part = memref::SubViewOp::create(
      builder, copy.getLoc(), spillSlot, attrs(slice.getOffsets()),
      attrs(slice.getSizes()), attrs(slice.getStrides()));
  auto load =
      CopyOp::create(builder, copy.getLoc(), part, copy.getDest(),
                     copy.getPermutationAttr(), copy.getBroadcastAttr());
  bool isPossible = planMove(load, tensors.chip, nullptr).has_value();
  if (isPossible) {
    copy.erase();
    ++numLoaded;
  } else {
    load.erase();
    part.getDefiningOp()->erase();
  }
  return isPossible;
}

/// Frees a tensor after `lastBefore`, and before that stores it unless it can
/// be loaded or computed again. Its later uses get a new tensor, except copies
/// of slices, which load the slice from system memory.
void Spiller::split(AllocOp alloc, Operation *lastBefore) {
  Location loc = alloc.getLoc();
  SmallVector<DeallocOp> deallocs;
  SmallVector<std::pair<Operation *, OpOperand *>> later;
  forEachUse(alloc, [&](OpOperand &use) {
    Operation *op = block.findAncestorOpInBlock(*use.getOwner());
    if (auto dealloc = dyn_cast<DeallocOp>(use.getOwner()))
      deallocs.push_back(dealloc);
    else if (lastBefore->isBeforeInBlock(op))
      later.push_back({op, &use});
  });
  llvm::stable_sort(later, [](const auto &a, const auto &b) {
    return a.first->isBeforeInBlock(b.first);
  });
  CopyOp load = getOnlyLoad(alloc);
  linalg::LinalgOp maker = getOnlyMaker(alloc);
  builder.setInsertionPointAfter(lastBefore);
  Value spillSlot = load ? load.getSource() : Value();
  // If an earlier spill stores the tensor later on and it is unchanged until
  // then, move that store up instead of adding another one.
  auto *store = llvm::find_if(later, [&](auto &use) {
    return stores.contains(use.first) || writes(*use.second);
  });
  if (store != later.end() && stores.contains(store->first)) {
    auto copy = cast<CopyOp>(store->first);
    copy->moveAfter(lastBefore);
    builder.setInsertionPointAfter(copy);
    spillSlot = copy.getDest();
    later.erase(store);
  } else if (!load && !maker) {
    spillSlot = addScratch(loc, alloc.getMemref().getType());
    stores.insert(CopyOp::create(builder, loc, alloc.getMemref(), spillSlot,
                                 DenseI64ArrayAttr(), UnitAttr()));
    ++numStored;
  }
  DeallocOp::create(builder, loc, alloc.getMemref());
  bool isAlike = !load || (!load.getPermutation() && !load.getBroadcast());
  auto *first = llvm::find_if_not(later, [&](auto &use) {
    return isAlike && spillSlot && loadSlice(*use.second, alloc, spillSlot);
  });
  if (first == later.end()) {
    for (DeallocOp dealloc : deallocs)
      dealloc.erase();
  } else {
    builder.setInsertionPoint(first->first);
    auto again = cast<AllocOp>(builder.clone(*alloc));
    if (maker) {
      makeAgain(maker, alloc, again);
    } else {
      reloads.insert(
          CopyOp::create(builder, loc, spillSlot, again.getMemref(),
                         load ? load.getPermutationAttr() : DenseI64ArrayAttr(),
                         load ? load.getBroadcastAttr() : UnitAttr()));
      ++numLoaded;
    }
    IRMapping mapping;
    for (auto &[op, use] : llvm::make_range(first, later.end()))
      use->set(getViewOn(use->get(), alloc, again.getMemref(), mapping));
    for (DeallocOp dealloc : deallocs)
      dealloc.getMemrefMutable().assign(again.getMemref());
  }
  // Erase the views of the tensor that have no more users.
  for (Operation *user : llvm::make_early_inc_range(alloc->getUsers()))
    if (isa<SubViewOp, ViewOp>(user) && user->use_empty())
      user->erase();
}

/// Returns the indices of the tensors that are live at `time`.
SmallVector<unsigned> Spiller::getLive(int64_t time) {
  SmallVector<unsigned> live;
  for (auto [i, each] : llvm::enumerate(tensors.blocks))
    if (each.begin <= time && time < each.end)
      live.push_back(i);
  return live;
}

/// Spills the live tensor with uses before and after `time`, but none at it,
/// whose next use is the latest. Skips tensors with a fixed address, those that
/// makeRoom spilled already or the previous use reloaded, and those that can
/// neither be stored nor made again. Returns the interval in which it is
/// spilled, or std::nullopt if none is left.
std::optional<Gap> Spiller::spillOne(int64_t time) {
  AllocOp victim;
  Use before{}, after{};
  bool isMadeInParts = false;
  for (unsigned i : getLive(time)) {
    AllocOp alloc = tensors.allocs[i];
    if (tensors.blocks[i].place || spilled.contains(alloc))
      continue;
    SmallVector<Use> uses = getUses(alloc);
    auto next =
        llvm::find_if(uses, [&](const Use &use) { return use.time >= time; });
    if (next == uses.begin() || next == uses.end() || next->time == time)
      continue;
    // A reload for that use would not shorten the live range. Moving a store
    // past other stores could repeat forever.
    if (reloads.contains(std::prev(next)->op) || stores.contains(next->op))
      continue;
    if (victim && next->time <= after.time)
      continue;
    if (!getOnlyLoad(alloc) && !getOnlyMaker(alloc)) {
      MemRefType type = alloc.getMemref().getType();
      auto [known, isNew] = storable.try_emplace(type, false);
      if (isNew)
        known->second = canBeStored(type);
      if (!known->second)
        continue;
    }
    // `split` clones the views of the tensor.
    victim = alloc;
    before = *std::prev(next);
    after = *next;
    isMadeInParts = !writesAll(uses.front().op, alloc);
  }
  if (!victim)
    return std::nullopt;
  // A tensor that is written in parts is filled with zeros first, because the
  // store reads all of it.
  if (isMadeInParts) {
    builder.setInsertionPointAfter(victim);
    Type element = victim.getMemref().getType().getElementType();
    FillOp::create(builder, victim.getLoc(),
                   cast<TypedAttr>(builder.getZeroAttr(element)),
                   victim.getMemref(), Engine::DMA);
  }
  split(victim, before.op);
  spilled.insert(victim);
  return Gap{before.time, after.time};
}

/// Replaces `copy`, between two tensors in local memory, by a store of the
/// source to system memory and a load of the destination. Returns false, with
/// no change, if an op uses the destination before or if DMA cannot move one of
/// the tensors.
bool Spiller::sendOutside(CopyOp copy, AllocOp source, AllocOp dest) {
  // A tensor with an earlier use can be spilled itself.
  if (getUses(dest).front().op != copy ||
      !canBeStored(copy.getSource().getType()) ||
      !canBeStored(copy.getDest().getType()))
    return false;
  // Move the destination and its views to the copy.
  SmallVector<Operation *> views;
  for (Value view = copy.getDest(); view != dest.getMemref();
       view = view.getDefiningOp()->getOperand(0))
    views.push_back(view.getDefiningOp());
  if (llvm::any_of(dest->getUsers(), [&](Operation *user) {
        return user->isBeforeInBlock(copy) && !llvm::is_contained(views, user);
      }))
    return false;
  builder.setInsertionPoint(copy);
  Value spillSlot = addScratch(copy.getLoc(), copy.getSource().getType());
  CopyOp::create(builder, copy.getLoc(), copy.getSource(), spillSlot,
                 DenseI64ArrayAttr(), UnitAttr());
  if (getUses(source).back().op == copy)
    for (Operation *user : llvm::make_early_inc_range(source->getUsers()))
      if (isa<DeallocOp>(user))
        user->moveBefore(copy);
  dest->moveBefore(copy);
  for (Operation *view : llvm::reverse(views))
    view->moveBefore(copy);
  copy.getSourceMutable().assign(spillSlot);
  reloads.insert(copy);
  ++numStored;
  ++numLoaded;
  return true;
}

/// Finds a copy between two tensors that are live at `time` and together exceed
/// a core. Splits it into a store and a load, so that the source is freed
/// before the destination is allocated. Returns false if there is no such copy
/// that sendOutside can split.
bool Spiller::copyThroughOutside(int64_t time) {
  llvm::DenseMap<Operation *, int64_t> bytes; // of the live tensors
  SmallVector<AllocOp> live;
  for (unsigned i : getLive(time)) {
    live.push_back(tensors.allocs[i]);
    bytes[live.back()] = tensors.blocks[i].size;
  }
  for (AllocOp dest : live)
    for (const Use &use : getUses(dest)) {
      auto copy = dyn_cast<CopyOp>(use.op);
      if (!copy || !isLocal(copy.getSource().getType()) ||
          getViewedMemory(copy.getDest()) != dest.getMemref())
        continue;
      auto source = getViewedMemory(copy.getSource()).getDefiningOp<AllocOp>();
      auto other = bytes.find(source);
      if (source != dest && other != bytes.end() &&
          other->second + bytes[dest] > tensors.chip.getBytesPerNpu() &&
          sendOutside(copy, source, dest))
        return true;
    }
  return false;
}

/// Spills one tensor in each interval in which more bytes are live than a core
/// has, or with `reusesHoles` only at the time of `bound`. May split a copy
/// instead of the first spill (copyThroughOutside). Skips intervals in which a
/// tensor is already spilled. Stops after spills in an eighth of the intervals,
/// at least one, so that later choices see the effect of long spills. Returns
/// false if there is no change.
bool Spiller::spillWhereFull(const AddressPlacement &bound) {
  SmallVector<Gap> changed;
  SmallVector<LiveBytes> fullest{{bound.lowerBoundAt, bound.lowerBound}};
  // Sums of sizes do not account for tensors in holes.
  if (!tensors.reusesHoles)
    fullest = getFullest(tensors.blocks, tensors.chip.getBytesPerNpu());
  // In program order, long spills help the intervals that follow.
  llvm::sort(fullest, [](const LiveBytes &a, const LiveBytes &b) {
    return a.time < b.time;
  });
  for (const LiveBytes &full : fullest) {
    if (changed.size() > fullest.size() / 8)
      break;
    if (llvm::any_of(changed, [&](const Gap &gap) {
          return gap.begin <= full.time && full.time < gap.end;
        }))
      continue;
    // copyThroughOutside moves ops, which invalidates the collected times.
    if (changed.empty() && copyThroughOutside(full.time))
      return true;
    if (std::optional<Gap> gap = spillOne(full.time))
      changed.push_back(*gap);
  }
  return !changed.empty();
}

/// Spills a tensor or splits a copy if not all tensors fit in a core, and
/// returns true: more may have to be spilled, so the caller calls it again.
/// Returns false if all fit, or if no change is possible.
bool Spiller::makeRoom() {
  spilled.clear();
  AddressPlacement bound = boundBlocks(tensors.blocks);
  if (bound.lowerBound > tensors.chip.getBytesPerNpu())
    return spillWhereFull(bound);
  if (placeBlocks(tensors.blocks, /*anyWillDo=*/true))
    return false;
  // The free bytes suffice but are fragmented: a reloaded tensor may be placed
  // elsewhere.
  std::optional<int64_t> unplaced = findUnplaced(tensors.blocks);
  if (unplaced && (copyThroughOutside(*unplaced) || spillOne(*unplaced)))
    return true;
  std::vector<LiveBytes> fullest = getLiveBytes(tensors.blocks);
  llvm::stable_sort(fullest, isFuller);
  return llvm::any_of(fullest, [&](const LiveBytes &each) {
    return spillOne(each.time).has_value();
  });
}

LogicalResult Spiller::run() {
  do {
    if (failed(tensors.collect(function)))
      return failure();
  } while (!tensors.allocs.empty() && makeRoom());
  if (numLoaded)
    remark::passed(function.getLoc(),
                   remark::RemarkOpts::name("Spill").category("npu").function(
                       function.getName()))
        << "tensors spilled" << remark::metric("Stored", numStored)
        << remark::metric("Loaded", numLoaded);
  return success();
}

namespace {
struct NPUSpillTensorsPass
    : public npu::impl::NPUSpillTensorsPassBase<NPUSpillTensorsPass> {
  using NPUSpillTensorsPassBase::NPUSpillTensorsPassBase;

  void runOnOperation() override {
    if (!getOperation().isDeclaration() &&
        failed(Spiller(getOperation(), reuseHoles).run()))
      signalPassFailure();
  }
};
} // namespace
