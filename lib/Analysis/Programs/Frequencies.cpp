//===- Frequencies.cpp - Frequencies of blocks and blocks for copies ------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Analysis/ControlFlow.h"
#include "mlir/Analysis/CFGLoopInfo.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace mlir::layout;

constexpr int64_t kMost = int64_t(1) << 32;

/// Returns, per block of a region, the number of loops formed by branches that
/// contain it.
static llvm::DenseMap<Block *, unsigned> getLoopDepths(Region *region) {
  llvm::DenseMap<Block *, unsigned> depths;
  DominanceInfo dominance(region->getParentOp());
  CFGLoopInfo loops(dominance.getDomTree(region));
  for (Block &block : *region)
    depths[&block] = loops.getLoopDepth(&block);
  return depths;
}

struct Frequencies::Cache {
  Operation *root;
  int64_t assumedTrips;
  llvm::DenseMap<Region *, int64_t> ofRegion;
  llvm::DenseMap<Block *, int64_t> ofBlock; // of regions with several blocks
  /// The ops below the root that call each function.
  llvm::DenseMap<Operation *, SmallVector<Operation *>> calls;
  Block *lastBlock = nullptr;
  int64_t last = 1;
};

Frequencies::Frequencies(Operation *root, int64_t assumedTrips)
    : cache(std::make_unique<Cache>()) {
  cache->root = root;
  cache->assumedTrips = assumedTrips;
  SymbolTableCollection tables;
  root->walk([&](Operation *op) {
    ++numOps;
    auto call = dyn_cast<CallOpInterface>(op);
    if (!call)
      return;
    if (Operation *callee = call.resolveCallableInTable(&tables))
      cache->calls[callee].push_back(call);
  });
}

Frequencies::~Frequencies() = default;

static int64_t multiply(int64_t a, int64_t b) {
  return b > kMost / a ? kMost : a * b;
}

/// Returns the sum of the frequencies of all calls of a function, plus one if
/// it is public. At least 1 and at most kMost.
int64_t Frequencies::computeForFunction(Operation *function) {
  auto symbol = dyn_cast<SymbolOpInterface>(function);
  auto it = cache->calls.find(function);
  if (it == cache->calls.end())
    return 1;
  int64_t total = !symbol || symbol.isPublic();
  for (Operation *call : it->second)
    total = std::min(kMost, total + get(call->getBlock()));
  return std::max<int64_t>(total, 1);
}

int64_t Frequencies::computeForRegion(Region *region) {
  Operation *op = region->getParentOp();
  if (!op || op == cache->root)
    return 1;
  if (isa<FunctionOpInterface>(op))
    return computeForFunction(op);
  if (!op->getBlock())
    return 1;
  int64_t around = get(op->getBlock());
  auto loop = dyn_cast<LoopLikeOpInterface>(op);
  if (!loop || !llvm::is_contained(loop.getLoopRegions(), region))
    return around;
  std::optional<APInt> trips = loop.getStaticTripCount();
  int64_t count = trips && trips->getActiveBits() < 63 ? trips->getZExtValue()
                                                       : cache->assumedTrips;
  return multiply(around, std::max<int64_t>(count, 1));
}

int64_t Frequencies::get(Block *block) {
  if (block == cache->lastBlock)
    return cache->last;
  Region *region = block->getParent();
  auto [it, isNew] = cache->ofRegion.try_emplace(region, 1);
  // A recursive function counts as called once while it is being computed.
  if (isNew)
    cache->ofRegion[region] = computeForRegion(region);
  int64_t result = cache->ofRegion[region];
  if (!region->hasOneBlock()) {
    auto known = cache->ofBlock.find(block);
    if (known == cache->ofBlock.end()) {
      for (auto [inner, depth] : getLoopDepths(region)) {
        int64_t frequency = result;
        for (unsigned i = 0; i < depth; ++i)
          frequency = multiply(frequency, cache->assumedTrips);
        cache->ofBlock[inner] = frequency;
      }
      known = cache->ofBlock.find(block);
    }
    result = known->second;
  }
  cache->lastBlock = block;
  return cache->last = result;
}

/// Returns true if the regions of `op` run at most once per run of `op`, and
/// can use values defined outside.
static bool isPassedOnce(Operation *op) {
  return isa<RegionBranchOpInterface>(op) && !isa<LoopLikeOpInterface>(op) &&
         !op->hasTrait<OpTrait::IsIsolatedFromAbove>();
}

unsigned CopyPlacement::getDepthInRegion(Block *block) {
  Region *region = block->getParent();
  if (region->hasOneBlock())
    return 0;
  auto it = depths.find(region);
  if (it == depths.end())
    it = depths.try_emplace(region, getLoopDepths(region)).first;
  return it->second.lookup(block);
}

Block *CopyPlacement::find(Value value, ArrayRef<Operation *> users) {
  Block *block = value.getParentBlock();
  while (true) {
    // Shortcut: most uses are in the block of the definition.
    if (llvm::any_of(
            users, [&](Operation *user) { return user->getBlock() == block; }))
      return block;
    Region *region = block->getParent();
    Operation *around = region->findAncestorOpInRegion(*users.front());
    Block *common = around->getBlock();
    bool isOneOp = true;
    for (Operation *user : users.drop_front()) {
      Operation *ancestor = region->findAncestorOpInRegion(*user);
      if (ancestor->getBlock() != common)
        return block;
      isOneOp &= ancestor == around;
    }
    if (common != block) {
      // Another block of the region may be in a loop of branches.
      if (getDepthInRegion(common) > getDepthInRegion(block))
        return block;
      block = common;
      continue;
    }
    if (!isOneOp || !isPassedOnce(around))
      return block;
    // All users are below one op. Checks if they are in one of its regions.
    Region *inner = nullptr;
    for (Operation *user : users) {
      while (user->getParentOp() != around)
        user = user->getParentOp();
      if (inner && inner != user->getParentRegion())
        return block;
      inner = user->getParentRegion();
    }
    if (!inner->hasOneBlock())
      return block;
    block = &inner->front();
  }
}

unsigned CopyPlacement::getLoopDepth(Block *block) {
  unsigned depth = 0;
  for (; block; block = block->getParentOp()->getBlock()) {
    depth += getDepthInRegion(block);
    Region *region = block->getParent();
    Operation *op = region->getParentOp();
    if (!op || op->hasTrait<OpTrait::IsIsolatedFromAbove>())
      return depth;
    if (auto loop = dyn_cast<LoopLikeOpInterface>(op))
      depth += llvm::is_contained(loop.getLoopRegions(), region);
  }
  return depth;
}
