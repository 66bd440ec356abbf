//===- FuseRows.cpp - Chains of row ops in blocks of rows -----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Computes chains such as softmax in blocks of rows. A softmax is a maximum of
// each row, exponentials, their sum, and a division. As four kernels, each one
// reads the tensor from memory:
//
//   %m = max of rows %x       for each block of rows
//   %e = exp(%x - %m)    =>     %m = max of rows %x[block]
//   %s = sum of rows %e         %e = exp(%x[block] - %m)
//   %r = %e / %s                %s = sum of rows %e
//                               %r[block] = %e / %s
//
// A block of rows is still in L1 or L2 when the next op reads it. Ops are not
// matched by name, so that normalizations are such chains, too.
//
// Upstream's tileConsumerAndFuseProducersUsingSCF is not used because it
// computes a producer once for each of its users.
//
//===----------------------------------------------------------------------===//

#include "Emitters/FuseRows.h"
#include "Kernels/Kernel.h"
#include "Loops/ParallelLoops.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using layout::CpuModelParams;

namespace {

/// For each loop of an op, the number of the row dim that it iterates over, or
/// -1 if it iterates within a row.
using RowsOfLoops = SmallVector<int>;

/// An elementwise op and the ops that only it needs, directly or indirectly.
struct Chain {
  linalg::LinalgOp last;
  /// The loops of `last` that iterate over rows, outermost first.
  SmallVector<unsigned> rowLoops;
  /// All ops of the chain, `last` first. Each is mapped to a list: for each of
  /// its loops, the row dim over which it iterates, or -1.
  llvm::MapVector<Operation *, RowsOfLoops> members;
};

} // namespace

static int64_t getBytes(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.hasStaticShape())
    return 0;
  return type.getNumElements() *
         llvm::divideCeil(layout::bitsOf(type.getElementType()), 8);
}

/// Returns true if `op` computes one tensor in static loops of at least one
/// iteration, has no effects and no tensor.extract, and indexes each operand by
/// loops and constants only. Its tensors must hold numbers and have no
/// encodings. Returns false for a null op.
static bool isPlain(linalg::LinalgOp op) {
  return op && op.hasPureTensorSemantics() && op->getNumResults() == 1 &&
         !ShapedType::isDynamicShape(op.getStaticLoopRanges()) &&
         !llvm::is_contained(op.getStaticLoopRanges(), 0) &&
         !layout::hasEffects(op) &&
         op.getBlock()->getOps<tensor::ExtractOp>().empty() &&
         llvm::all_of(op->getOperandTypes(),
                      [](Type type) {
                        Type element = getElementTypeOrSelf(type);
                        auto tensor = dyn_cast<RankedTensorType>(type);
                        return element.isIntOrIndexOrFloat() &&
                               !(tensor && tensor.getEncoding());
                      }) &&
         llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) {
           return map.getNumSymbols() == 0 &&
                  llvm::all_of(
                      map.getResults(),
                      llvm::IsaPred<AffineDimExpr, AffineConstantExpr>);
         });
}

/// Returns the loop that `subscript`, a loop or a constant, names, or
/// std::nullopt for a constant.
static std::optional<unsigned> findLoop(AffineExpr subscript) {
  auto dim = dyn_cast<AffineDimExpr>(subscript);
  return dim ? std::optional(dim.getPosition()) : std::nullopt;
}

/// Returns true if `map` depends on each loop of more than one iteration.
static bool readsAll(AffineMap map, ArrayRef<int64_t> extents) {
  for (auto [loop, extent] : llvm::enumerate(extents))
    if (extent != 1 && !map.isFunctionOfDim(loop))
      return false;
  return true;
}

/// Returns the row dim of each loop of `producer`, which computes `operand`,
/// given those of the op that reads it. Returns std::nullopt if `operand` does
/// not have all `count` row dims, or if `producer` does not index each of them
/// by a loop of its own.
static std::optional<RowsOfLoops> findRows(linalg::LinalgOp producer,
                                           OpOperand &operand,
                                           const RowsOfLoops &consumerRows,
                                           unsigned count) {
  auto consumer = cast<linalg::LinalgOp>(operand.getOwner());
  AffineMap read = consumer.getMatchingIndexingMap(&operand);
  AffineMap written =
      producer.getMatchingIndexingMap(producer.getDpsInitOperand(0));
  RowsOfLoops rows(producer.getNumLoops(), -1);
  unsigned found = 0;
  for (auto [from, to] :
       llvm::zip_equal(read.getResults(), written.getResults())) {
    std::optional<unsigned> loop = findLoop(from), own = findLoop(to);
    if (!loop || consumerRows[*loop] < 0)
      continue;
    if (!own || rows[*own] >= 0)
      return std::nullopt;
    rows[*own] = consumerRows[*loop];
    ++found;
  }
  return found == count ? std::optional(std::move(rows)) : std::nullopt;
}

/// Returns true if `op` can be computed in blocks of rows: it is elementwise or
/// reads each element of some input once, and each input that all rows share
/// has at most half the size of L1.
static bool isRowOp(linalg::LinalgOp op, const RowsOfLoops &rows,
                    const CpuModelParams &target) {
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  bool isReduction = op.getNumReductionLoops() != 0, readsOnce = !isReduction;
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    readsOnce |= readsAll(map, extents);
    bool hasRows = llvm::any_of(llvm::enumerate(rows), [&](auto row) {
      return row.value() >= 0 && map.isFunctionOfDim(row.index());
    });
    if (!hasRows && getBytes(input->get()) > target.l1Bytes / 2)
      return false;
  }
  return readsOnce;
}

/// Adds to `chain` the producers that only its ops use and that can be computed
/// in the same blocks of rows, up to 16 ops in all. A producer with a user that
/// is not in the chain is tried again when that user is added.
static void addProducers(Chain &chain, const CpuModelParams &target) {
  constexpr size_t kMostMembers = 16;
  SmallVector<Operation *> worklist{chain.last};
  while (!worklist.empty()) {
    auto consumer = cast<linalg::LinalgOp>(worklist.pop_back_val());
    for (OpOperand &operand : consumer->getOpOperands()) {
      auto producer = operand.get().getDefiningOp<linalg::LinalgOp>();
      if (!isPlain(producer) || chain.members.count(producer) ||
          chain.members.size() == kMostMembers ||
          producer->getBlock() != chain.last->getBlock())
        continue;
      std::optional<RowsOfLoops> rows;
      bool isOwn = llvm::all_of(producer->getUses(), [&](OpOperand &use) {
        auto *member = chain.members.find(use.getOwner());
        if (member == chain.members.end())
          return false;
        std::optional<RowsOfLoops> its =
            findRows(producer, use, member->second, chain.rowLoops.size());
        if (!its || (rows && *rows != *its))
          return false;
        rows = std::move(its);
        return true;
      });
      if (!isOwn || !isRowOp(producer, *rows, target))
        continue;
      chain.members.insert({producer, std::move(*rows)});
      worklist.push_back(producer);
    }
  }
}

/// Returns the number of bytes of reads and writes of memory that computing the
/// chain in blocks of rows saves, and the bytes of all its tensors together,
/// divided by the number of rows.
static std::pair<int64_t, int64_t> countBytes(const Chain &chain) {
  int64_t saved = 0, all = 0;
  llvm::SmallSetVector<Value, 8> tensors;
  auto isMember = [&](Operation *op) { return chain.members.count(op) != 0; };
  for (auto &[op, rows] : chain.members) {
    tensors.insert(op->getResult(0));
    for (OpOperand *input : cast<linalg::LinalgOp>(op).getDpsInputOperands())
      tensors.insert(input->get());
  }
  for (Value tensor : tensors) {
    int64_t uses = llvm::count_if(tensor.getUses(), [&](OpOperand &use) {
      return isMember(use.getOwner());
    });
    bool isInner = tensor.getDefiningOp() && isMember(tensor.getDefiningOp()) &&
                   tensor.getDefiningOp() != chain.last;
    all += getBytes(tensor);
    saved += getBytes(tensor) *
             (isInner ? uses + 1 : std::max<int64_t>(uses, 1) - 1);
  }
  linalg::LinalgOp last = chain.last;
  SmallVector<int64_t> extents = last.getStaticLoopRanges();
  int64_t count = 1;
  for (unsigned loop : chain.rowLoops)
    count *= extents[loop];
  return {saved, all / count};
}

/// Returns the chain that ends in `op`, an elementwise op that reads the result
/// of another linalg op with fewer dims, e.g. one number for each row. Returns
/// std::nullopt for other ops, or if the chain has no reduction or saves reads
/// and writes of at most half the size of L2.
static std::optional<Chain> findChain(linalg::LinalgOp op,
                                      const CpuModelParams &target) {
  if (!isPlain(op) || op.getNumReductionLoops() != 0)
    return std::nullopt;
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  if (!readsAll(op.getMatchingIndexingMap(op.getDpsInitOperand(0)), extents))
    return std::nullopt;
  for (OpOperand *input : op.getDpsInputOperands()) {
    if (!isPlain(input->get().getDefiningOp<linalg::LinalgOp>()))
      continue;
    AffineMap map = op.getMatchingIndexingMap(input);
    Chain chain{op, {}, {}};
    for (auto [loop, extent] : llvm::enumerate(extents)) {
      if (extent != 1 && !map.isFunctionOfDim(loop))
        break;
      if (extent != 1)
        chain.rowLoops.push_back(loop);
    }
    if (chain.rowLoops.empty() || readsAll(map, extents))
      continue;
    RowsOfLoops rows(op.getNumLoops(), -1);
    for (auto [number, loop] : llvm::enumerate(chain.rowLoops))
      rows[loop] = number;
    if (!isRowOp(op, rows, target))
      return std::nullopt;
    chain.members.insert({op, std::move(rows)});
    addProducers(chain, target);
    bool hasReduction = llvm::any_of(chain.members, [](auto &member) {
      return cast<linalg::LinalgOp>(member.first).getNumReductionLoops() != 0;
    });
    if (hasReduction && countBytes(chain).first > target.l2Bytes / 2)
      return chain;
  }
  return std::nullopt;
}

/// Returns the number of rows of a block along the innermost row loop: the
/// largest divisor of its extent that is at most 8 and with which the rows of
/// all tensors take at most a quarter of L2, but at least 1.
static int64_t chooseBlock(const Chain &chain, const CpuModelParams &target) {
  // The maximum number of rows. Their sums are accumulated at the same time,
  // because each addition to one sum waits for the previous one.
  constexpr int64_t kMostRows = 8;
  linalg::LinalgOp last = chain.last;
  int64_t extent = last.getStaticLoopRanges()[chain.rowLoops.back()];
  int64_t rowBytes = std::max<int64_t>(countBytes(chain).second, 1);
  int64_t most =
      std::clamp<int64_t>(target.l2Bytes / 4 / rowBytes, 1, kMostRows);
  while (extent % most != 0)
    --most;
  return most;
}

/// Returns the slice of `tensor`, which `map` indexes, for a block of rows, or
/// `tensor` itself if it has no row dim. The slice of an empty tensor is a new,
/// smaller empty tensor.
static Value slice(OpBuilder &b, Location loc, Value tensor, AffineMap map,
                   const RowsOfLoops &rows, ArrayRef<OpFoldResult> offsets,
                   ArrayRef<int64_t> sizes) {
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  if (!type)
    return tensor;
  SmallVector<OpFoldResult> from, shape;
  bool isPart = false;
  for (auto [subscript, extent] :
       llvm::zip(map.getResults(), type.getShape())) {
    std::optional<unsigned> loop = findLoop(subscript);
    bool isRow = loop && rows[*loop] >= 0;
    from.push_back(isRow ? offsets[rows[*loop]] : b.getIndexAttr(0));
    shape.push_back(b.getIndexAttr(isRow ? sizes[rows[*loop]] : extent));
    isPart |= isRow;
  }
  if (!isPart)
    return tensor;
  if (tensor.getDefiningOp<tensor::EmptyOp>())
    return tensor::EmptyOp::create(b, loc, shape, type.getElementType());
  SmallVector<OpFoldResult> ones(shape.size(), b.getIndexAttr(1));
  return tensor::ExtractSliceOp::create(b, loc, tensor, from, shape, ones);
}

/// Adds the offsets of a block to the results of linalg.index for row loops in
/// the body of `op`.
static void moveIndices(OpBuilder &b, linalg::LinalgOp op,
                        const RowsOfLoops &rows,
                        ArrayRef<OpFoldResult> offsets) {
  OpBuilder::InsertionGuard guard(b);
  for (auto index : llvm::to_vector(op.getBlock()->getOps<linalg::IndexOp>())) {
    int row = rows[index.getDim()];
    if (row < 0)
      continue;
    b.setInsertionPointAfter(index);
    auto moved = arith::AddIOp::create(b, index.getLoc(), index,
                                       cast<Value>(offsets[row]));
    index.getResult().replaceAllUsesExcept(moved, moved);
  }
}

/// Returns the ops of the chain in program order.
static SmallVector<Operation *> getSortedMembers(const Chain &chain) {
  SmallVector<Operation *> ops(llvm::make_first_range(chain.members));
  llvm::sort(ops, [](Operation *first, Operation *second) {
    return first->isBeforeInBlock(second);
  });
  return ops;
}

/// Returns the input of the last op whose elements it replaces one by one by
/// those of its result, computed by an elementwise op of the chain, e.g. the
/// exponentials of a softmax. Returns nullptr if there is none.
static OpOperand *findReplaced(const Chain &chain) {
  linalg::LinalgOp last = chain.last;
  if (!isa<linalg::GenericOp>(last.getOperation()))
    return nullptr;
  OpOperand *init = last.getDpsInitOperand(0);
  if (last.payloadUsesValueFromOperand(init))
    return nullptr;
  for (OpOperand *input : last.getDpsInputOperands()) {
    auto producer = input->get().getDefiningOp<linalg::LinalgOp>();
    if (producer && chain.members.contains(producer) &&
        producer.getNumReductionLoops() == 0 &&
        !producer.payloadUsesValueFromOperand(producer.getDpsInitOperand(0)) &&
        input->get().getType() == last->getResult(0).getType() &&
        last.getMatchingIndexingMap(input) ==
            last.getMatchingIndexingMap(init) &&
        llvm::count(last->getOperands(), input->get()) == 1)
      return input;
  }
  return nullptr;
}

/// Removes input `number` of `op`, which is the same tensor as its init. The
/// body reads the element of the init instead. Returns the new op, which
/// replaces `op`.
static linalg::GenericOp readInit(RewriterBase &b, linalg::GenericOp op,
                                  unsigned number) {
  SmallVector<Value> inputs(op.getInputs());
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  inputs.erase(inputs.begin() + number);
  maps.erase(maps.begin() + number);
  auto made = linalg::GenericOp::create(b, op.getLoc(), op.getResultTypes(),
                                        inputs, op.getOutputs(), maps,
                                        op.getIteratorTypesArray());
  made.getRegion().takeBody(op.getRegion());
  Block *body = made.getBody();
  body->getArgument(number).replaceAllUsesWith(
      body->getArgument(body->getNumArguments() - 1));
  body->eraseArgument(number);
  b.replaceOp(op, made);
  return made;
}

/// Emits the ops of the chain for one block of rows, in program order, and
/// returns `result` with the block inserted. What the last op replaces is
/// computed in the memory of the result, so that a block has one tensor less.
static Value emitBlock(RewriterBase &b, const Chain &chain, Value result,
                       ArrayRef<OpFoldResult> offsets,
                       ArrayRef<int64_t> sizes) {
  IRMapping parts;
  OpOperand *replaced = findReplaced(chain);
  linalg::LinalgOp last = chain.last;
  AffineMap resultMap = last.getMatchingIndexingMap(last.getDpsInitOperand(0));
  const RowsOfLoops &resultRows = chain.members.find(last)->second;
  tensor::ExtractSliceOp written;
  for (Operation *each : getSortedMembers(chain)) {
    auto op = cast<linalg::LinalgOp>(each);
    const RowsOfLoops &rows = chain.members.find(each)->second;
    Location loc = op.getLoc();
    SmallVector<Value> operands;
    for (OpOperand &operand : each->getOpOperands()) {
      Value value = operand.get();
      if (Value part = parts.lookupOrNull(value)) {
        operands.push_back(part);
        continue;
      }
      bool isResult =
          op.isDpsInit(&operand) &&
          (replaced ? each == replaced->get().getDefiningOp() : each == last);
      if (isResult) {
        Value part =
            slice(b, loc, result, resultMap, resultRows, offsets, sizes);
        written = part.getDefiningOp<tensor::ExtractSliceOp>();
        operands.push_back(part);
      } else if (replaced && each == last && op.isDpsInit(&operand)) {
        operands.push_back(parts.lookup(replaced->get()));
      } else {
        operands.push_back(slice(b, loc, value,
                                 op.getMatchingIndexingMap(&operand), rows,
                                 offsets, sizes));
      }
    }
    auto block = cast<linalg::LinalgOp>(
        clone(b, each, operands.back().getType(), operands));
    moveIndices(b, block, rows, offsets);
    if (replaced && each == last)
      block = readInit(b, cast<linalg::GenericOp>(block.getOperation()),
                       replaced->getOperandNumber());
    parts.map(each->getResult(0), block->getResult(0));
  }
  return tensor::InsertSliceOp::create(
      b, last.getLoc(), parts.lookup(last->getResult(0)), result,
      written.getMixedOffsets(), written.getMixedSizes(),
      written.getMixedStrides());
}

/// Emits loops over blocks of rows that compute the chain, and replaces the
/// uses of its result. The caller erases the ops.
static void emitLoops(RewriterBase &rewriter, const Chain &chain,
                      const CpuModelParams &target, bool parallelLoops) {
  linalg::LinalgOp last = chain.last;
  Location loc = last.getLoc();
  rewriter.setInsertionPoint(last);
  SmallVector<int64_t> extents = last.getStaticLoopRanges();
  SmallVector<int64_t> sizes(chain.rowLoops.size(), 1);
  sizes.back() = chooseBlock(chain, target);
  auto makeIndex = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(rewriter, loc, value);
  };
  SmallVector<Value> from, to, steps;
  for (auto [loop, size] : llvm::zip_equal(chain.rowLoops, sizes)) {
    from.push_back(makeIndex(0));
    to.push_back(makeIndex(extents[loop]));
    steps.push_back(makeIndex(size));
  }
  // Threads write different rows of the result.
  int64_t vectorSize = std::max<int64_t>(1, target.vectorBits / 32);
  bool isShared = parallelLoops && layout::isWorthThreads(last, vectorSize);
  scf::LoopNest nest = scf::buildLoopNest(
      rewriter, loc, from, to, steps, last.getDpsInitOperand(0)->get(),
      [&](OpBuilder &, Location, ValueRange rows, ValueRange results) {
        SmallVector<OpFoldResult> offsets = getAsOpFoldResult(rows);
        return scf::ValueVector{
            emitBlock(rewriter, chain, results[0], offsets, sizes)};
      });
  if (isShared)
    llvm::for_each(nest.loops, layout::markParallel);
  rewriter.replaceAllUsesWith(last->getResult(0), nest.results[0]);
}

/// Replaces an operand of `op` by the result of a linalg op of which it is a
/// reshape, if the reshape only adds or removes unit dims. Adapts the indexing
/// map of the operand.
static void readWithoutUnitDims(linalg::GenericOp op, OpOperand &operand) {
  Operation *reshape = operand.get().getDefiningOp();
  if (!isa_and_nonnull<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(reshape))
    return;
  Value source = reshape->getOperand(0);
  auto to = cast<RankedTensorType>(operand.get().getType());
  auto from = cast<RankedTensorType>(source.getType());
  if (!source.getDefiningOp<linalg::LinalgOp>() || !to.hasStaticShape() ||
      !from.hasStaticShape())
    return;
  AffineMap map = op.getMatchingIndexingMap(&operand);
  SmallVector<AffineExpr> subscripts;
  for (auto [extent, subscript] :
       llvm::zip_equal(to.getShape(), map.getResults()))
    if (extent != 1)
      subscripts.push_back(subscript);
  auto next = subscripts.begin();
  SmallVector<int64_t> moving;
  SmallVector<AffineExpr> results;
  for (int64_t extent : from.getShape()) {
    if (extent != 1 && next == subscripts.end())
      return;
    results.push_back(extent == 1 ? getAffineConstantExpr(0, op.getContext())
                                  : *next++);
    if (extent != 1)
      moving.push_back(extent);
  }
  auto kept = llvm::make_filter_range(
      to.getShape(), [](int64_t extent) { return extent != 1; });
  if (!llvm::equal(kept, moving))
    return;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  maps[operand.getOperandNumber()] =
      AffineMap::get(map.getNumDims(), 0, results, op.getContext());
  // The maps must still determine the extents of all loops.
  if (!inversePermutation(concatAffineMaps(maps, op.getContext())))
    return;
  operand.set(source);
  if (reshape->use_empty())
    reshape->erase();
  op.setIndexingMapsAttr(Builder(op.getContext()).getAffineMapArrayAttr(maps));
}

void layout::fuseRows(Operation *function, const CpuModelParams &target,
                      bool parallelLoops) {
  SmallVector<linalg::LinalgOp> ops;
  function->walk([&](linalg::LinalgOp op) { ops.push_back(op); });
  for (linalg::LinalgOp op : ops)
    if (auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
        generic && op.hasPureTensorSemantics())
      for (OpOperand *input : op.getDpsInputOperands())
        readWithoutUnitDims(generic, *input);
  IRRewriter rewriter(function->getContext());
  DenseSet<Operation *> erased;
  // Visit the last op first, because a chain includes its producers.
  for (linalg::LinalgOp op : llvm::reverse(ops)) {
    if (erased.contains(op))
      continue;
    std::optional<Chain> chain = findChain(op, target);
    if (!chain)
      continue;
    emitLoops(rewriter, *chain, target, parallelLoops);
    // Users are erased before their producers.
    SmallVector<Operation *> members = getSortedMembers(*chain);
    for (Operation *member : llvm::reverse(members)) {
      erased.insert(member);
      rewriter.eraseOp(member);
    }
  }
}
