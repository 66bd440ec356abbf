//===- Kernel.cpp - The ops that form one kernel --------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels/Kernel.h"
#include "Copies/CopyTiles.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::layout;

unsigned Stage::numInputs() const {
  linalg::LinalgOp linalgOp = op;
  return linalgOp.getNumDpsInputs();
}

/// Returns true if `op` reads the init element that an element of result `i`
/// replaces.
static bool looksAtInit(linalg::LinalgOp op, unsigned i) {
  // A reduction without iterations returns its init.
  return op.getNumReductionLoops() != 0 ||
         op.payloadUsesValueFromOperand(op.getDpsInitOperand(i));
}

bool Stage::readsInit(unsigned i) const { return looksAtInit(op, i); }

Type Stage::getType(unsigned i) const {
  Type type = operands[i].getType();
  return groups[i].empty() ? type
                           : tensor::CollapseShapeOp::inferCollapsedType(
                                 cast<RankedTensorType>(type), groups[i]);
}

void Stage::collapse(unsigned i, unsigned from, unsigned to, unsigned kept) {
  if (groups[i].empty())
    for (int64_t dim = 0, e = maps[i].getNumResults(); dim < e; ++dim)
      groups[i].push_back({dim});
  for (unsigned group = from + 1; group <= to; ++group)
    llvm::append_range(groups[i][from], groups[i][group]);
  groups[i].erase(groups[i].begin() + from + 1, groups[i].begin() + to + 1);
  for (unsigned result = to + 1; result-- > from;)
    if (result != kept)
      maps[i] = maps[i].dropResult(result);
}

SmallVector<Stage *> Kernel::stages() {
  SmallVector<Stage *> stages{&root};
  if (finish)
    stages.push_back(&*finish);
  for (SmallVector<Start> *each : {&starts, &finishStarts})
    for (Start &start : *each)
      if (auto *stage = std::get_if<Stage>(&start))
        stages.push_back(stage);
  return stages;
}

SmallVector<const Stage *> Kernel::stages() const {
  return llvm::to_vector_of<const Stage *>(
      const_cast<Kernel *>(this)->stages());
}

bool Kernel::hasReduction() const {
  return llvm::is_contained(iterators, utils::IteratorType::reduction);
}

Operation *layout::findCombiner(const Kernel &kernel) {
  linalg::LinalgOp root = kernel.root.op;
  SmallVector<Operation *> combiners;
  // Upstream's getNeutralElement does not support `index`, whose width is not
  // part of the type.
  if (root.getNumDpsInits() != 1 ||
      getElementTypeOrSelf(root.getDpsInitOperand(0)->get()).isIndex() ||
      !matchReduction(root.getRegionOutputArgs(), 0, combiners) ||
      combiners.size() != 1 || !linalg::getCombinerOpKind(combiners.front()))
    return nullptr;
  return combiners.front();
}

SmallVector<Operation *> layout::neededOps(Block *body, ArrayRef<Value> wanted,
                                           bool withEffects) {
  DenseSet<Operation *> needed;
  auto need = [&](Value value) {
    Operation *op = value.getDefiningOp();
    if (op && op->getBlock() == body)
      needed.insert(op);
  };
  llvm::for_each(wanted, need);
  SmallVector<Operation *> ops;
  for (Operation &op : llvm::reverse(body->without_terminator())) {
    if (!needed.contains(&op) && !(withEffects && !isMemoryEffectFree(&op)))
      continue;
    ops.push_back(&op);
    op.walk(
        [&](Operation *inner) { llvm::for_each(inner->getOperands(), need); });
  }
  std::reverse(ops.begin(), ops.end());
  return ops;
}

unsigned layout::bitsOf(Type type) {
  return type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
}

double layout::countOf(int64_t extent) {
  // Not a power of two: the rows of such a tensor share cache sets.
  return ShapedType::isDynamic(extent) ? 60.0 : static_cast<double>(extent);
}

void layout::replaceDimOfResults(RewriterBase &rewriter, linalg::LinalgOp op) {
  for (OpResult result : op->getResults())
    for (Operation *user : llvm::make_early_inc_range(result.getUsers()))
      if (auto dim = dyn_cast<tensor::DimOp>(user))
        rewriter.modifyOpInPlace(dim, [&] {
          dim.getSourceMutable().assign(op.getTiedOpOperand(result)->get());
        });
}

/// Returns a stage for `op` whose kernel dims are the loops of `op`.
static Stage ownStage(linalg::LinalgOp op) {
  Stage stage;
  stage.op = op;
  stage.operands = op->getOperands();
  stage.groups.resize(op->getNumOperands());
  stage.maps = op.getIndexingMapsArray();
  stage.dims = llvm::to_vector(llvm::seq<unsigned>(0, op.getNumLoops()));
  return stage;
}

/// Returns the stage that computes `op` in a kernel, with its loops replaced by
/// kernel dims. One tensor is indexed by `opMap` in `op` and by `kernelMap` in
/// the kernel. Returns std::nullopt if `op` has a reduction, or if `opMap` is
/// not a permutation of all loops.
static std::optional<Stage> joinedStage(linalg::LinalgOp op, AffineMap opMap,
                                        AffineMap kernelMap) {
  if (!opMap.isPermutation() || op.getNumLoops() != op.getNumParallelLoops())
    return std::nullopt;
  MLIRContext *context = op->getContext();
  SmallVector<AffineExpr> replacement(op.getNumLoops());
  SmallVector<unsigned> dims(op.getNumLoops());
  for (auto [own, kernel] :
       llvm::zip_equal(opMap.getResults(), kernelMap.getResults())) {
    unsigned ownDim = cast<AffineDimExpr>(own).getPosition();
    replacement[ownDim] = kernel;
    dims[ownDim] = cast<AffineDimExpr>(kernel).getPosition();
  }
  Stage stage;
  stage.op = op;
  stage.operands = op->getOperands();
  stage.groups.resize(op->getNumOperands());
  stage.dims = dims;
  for (AffineMap map : op.getIndexingMapsArray()) {
    SmallVector<AffineExpr> results;
    for (AffineExpr result : map.getResults())
      results.push_back(result.replaceDims(replacement));
    stage.maps.push_back(
        AffineMap::get(kernelMap.getNumDims(), 0, results, context));
  }
  return stage;
}

bool layout::hasEffects(linalg::LinalgOp op) {
  return llvm::any_of(
      op.getBlock()->without_terminator(),
      [](Operation &inner) { return !isMemoryEffectFree(&inner); });
}

Value layout::overwrittenBy(Value value) {
  auto op = value.getDefiningOp<linalg::LinalgOp>();
  unsigned result = op ? cast<OpResult>(value).getResultNumber() : 0;
  if (!op || !op.hasPureTensorSemantics() || looksAtInit(op, result))
    return nullptr;
  return op.getDpsInitOperand(result)->get();
}

/// Returns true if the op has only scalars and tensors of numbers, no
/// encodings, no symbols in maps, and results indexed by exactly the parallel
/// dims. Transposing copies are left to layout-cpu-tile-transposes.
static bool isUsable(linalg::LinalgOp op) {
  if (!op.hasPureTensorSemantics() || op.getNumDpsInits() == 0 ||
      layout::isCopyBetweenOrders(op))
    return false;
  for (BlockArgument element : op.getBlock()->getArguments())
    if (!element.getType().isIntOrIndexOrFloat())
      return false;
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<RankedTensorType>(operand.get().getType());
    if (type && type.getEncoding())
      return false;
  }
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  for (AffineMap map : op.getIndexingMapsArray())
    if (map.getNumSymbols() != 0)
      return false;
  for (OpOperand &init : op.getDpsInitsMutable()) {
    AffineMap map = op.getMatchingIndexingMap(&init);
    if (!map.isProjectedPermutation() ||
        map.getNumResults() != op.getNumParallelLoops() ||
        llvm::any_of(map.getResults(), [&](AffineExpr expr) {
          return iterators[cast<AffineDimExpr>(expr).getPosition()] !=
                 utils::IteratorType::parallel;
        }))
      return false;
  }
  return true;
}

/// Returns true if `op` may be computed in the kernel of its only user. An op
/// with effects, such as an assertion, would not become dead, so that its
/// effects would happen twice.
static bool canBeTaken(linalg::LinalgOp op) {
  return op && op->hasOneUse() && op->getNumResults() == 1 && isUsable(op) &&
         !layout::hasEffects(op);
}

/// Returns the initial value of the accumulator of result `i` of `stage`: the
/// scalar of a fill, the results of an elementwise producer if the kernel can
/// compute it, or else the elements of the init tensor. It is unspecified if
/// the op does not read its init.
static Start findStart(const Stage &stage, unsigned i) {
  if (!stage.readsInit(i))
    return {};
  linalg::LinalgOp op = stage.op;
  OpOperand *init = op.getDpsInitOperand(i);
  TensorStart old{init->get()};
  if (auto fill = old.tensor.getDefiningOp<linalg::FillOp>()) {
    if (fill.hasPureTensorSemantics())
      return SplatStart{fill.value()};
    return old;
  }
  auto producer = old.tensor.getDefiningOp<linalg::LinalgOp>();
  if (!canBeTaken(producer))
    return old;
  Stage own = ownStage(producer);
  AffineMap resultMap = own.maps.back();
  // Only producers that compute from inputs: one that reads an init would need
  // an initial value, too.
  if (own.readsInit(0))
    return old;
  if (auto joined =
          joinedStage(producer, resultMap, stage.maps[stage.numInputs() + i]))
    return std::move(*joined);
  return old;
}

/// Returns the extents of the loops of `op`. An extent is static if it is
/// static in the type of any operand that the loop indexes: later steps drop
/// dims of size 1 in the type of an operand, whose loops must then have the
/// static extent 1.
static SmallVector<int64_t> getExtents(linalg::LinalgOp op) {
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  for (OpOperand &operand : op->getOpOperands())
    for (auto [expr, size] :
         llvm::zip_equal(op.getMatchingIndexingMap(&operand).getResults(),
                         op.getShape(&operand)))
      if (auto dim = dyn_cast<AffineDimExpr>(expr);
          dim && !ShapedType::isDynamic(size))
        extents[dim.getPosition()] = size;
  return extents;
}

FailureOr<Kernel> layout::matchKernel(linalg::LinalgOp op) {
  if (!isUsable(op))
    return failure();
  Kernel kernel;
  kernel.root = ownStage(op);

  // The root of an elementwise op is its nearest producer with a reduction.
  if (op.getNumLoops() == op.getNumParallelLoops()) {
    linalg::LinalgOp nearest;
    for (OpOperand *operand : op.getDpsInputOperands()) {
      auto producer = operand->get().getDefiningOp<linalg::LinalgOp>();
      if (!canBeTaken(producer) || producer->getBlock() != op->getBlock() ||
          producer.getNumReductionLoops() == 0)
        continue;
      if (nearest && !nearest->isBeforeInBlock(producer))
        continue;
      Stage root = ownStage(producer);
      std::optional<Stage> finish =
          joinedStage(op, op.getMatchingIndexingMap(operand), root.maps.back());
      if (!finish)
        continue;
      nearest = producer;
      kernel.root = std::move(root);
      kernel.finish = std::move(finish);
      kernel.finishOperand = operand->getOperandNumber();
    }
  }

  kernel.iterators = kernel.root.op.getIteratorTypesArray();
  kernel.extents = getExtents(kernel.root.op);
  kernel.merged.resize(kernel.extents.size());
  for (unsigned i = 0, e = kernel.root.op.getNumDpsInits(); i < e; ++i)
    kernel.starts.push_back(findStart(kernel.root, i));
  if (kernel.finish)
    for (unsigned i = 0, e = op.getNumDpsInits(); i < e; ++i)
      kernel.finishStarts.push_back(findStart(*kernel.finish, i));
  return kernel;
}
