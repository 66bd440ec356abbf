//===- PrepareForCanonicalizer.cpp - Programs that upstream folds right ---===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each rewrite below avoids an upstream fold that creates invalid IR, and names
// the fold. It can be removed once the reproducer
// docs/upstream/canonicalize-*.mlir shows that upstream is fixed.
//
//===----------------------------------------------------------------------===//

#include "layout/Linalg/Passes.h"
#include "layout/Support/StatedSizes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"

namespace mlir::layout {
#define GEN_PASS_DEF_PREPAREFORCANONICALIZERPASS
#include "layout/Linalg/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;
using namespace mlir::layout;

/// Refines the types of a transposition by the sizes of both tensors and of a
/// cast of the result. Upstream's canonicalizer folds the cast into the op, and
/// then replaces an identity transposition by its input, which has another
/// type.
static void prepare(RewriterBase &rewriter, linalg::TransposeOp op) {
  if (!op.hasPureTensorSemantics())
    return;
  auto result = cast<RankedTensorType>(op->getResult(0).getType());
  auto input = cast<RankedTensorType>(op.getInput().getType());
  SmallVector<int64_t> known(result.getShape()), source(input.getShape());
  auto learn = [](int64_t &size, int64_t other) {
    if (ShapedType::isDynamic(size))
      size = other;
  };
  for (Operation *user : op->getUsers())
    if (auto behind = dyn_cast<tensor::CastOp>(user);
        behind && behind->getBlock() == op->getBlock())
      if (auto type = dyn_cast<RankedTensorType>(behind.getType()))
        for (auto [size, other] : llvm::zip_equal(known, type.getShape()))
          learn(size, other);
  for (auto [k, dim] : llvm::enumerate(op.getPermutation())) {
    learn(known[k], source[dim]);
    learn(source[dim], known[k]);
  }
  if (llvm::equal(known, result.getShape()) &&
      llvm::equal(source, input.getShape()))
    return;
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  Value from = rewriter.createOrFold<tensor::CastOp>(loc, input.clone(source),
                                                     op.getInput());
  Value init = rewriter.createOrFold<tensor::CastOp>(loc, result.clone(known),
                                                     op.getInit());
  auto refined = linalg::TransposeOp::create(rewriter, loc, from, init,
                                             op.getPermutation());
  rewriter.replaceOpWithNewOp<tensor::CastOp>(op, result,
                                              refined->getResult(0));
}

/// Returns the groups by which a reshape drops dims of size 1 from `sizes` to
/// leave `type`, or std::nullopt if it drops only the first of these dims.
/// Upstream's canonicalizer computes the type of a slice as if all slices did:
/// it makes 1x3 of the sizes [1, 1, 3] from 1x3 of the sizes [1, 3, 1].
static std::optional<SmallVector<ReassociationIndices>>
groupDroppedDims(ArrayRef<int64_t> sizes, RankedTensorType type) {
  auto dropped = computeRankReductionMask(sizes, type.getShape());
  if (!dropped || type.getRank() == 0 ||
      tensor::ExtractSliceOp::inferCanonicalRankReducedResultType(
          type.getRank(), type.clone(sizes), sizes)
              .getShape() == type.getShape())
    return std::nullopt;
  SmallVector<ReassociationIndices> groups(1);
  bool isFirst = true;
  for (int64_t dim = 0, rank = sizes.size(); dim < rank; ++dim) {
    if (!dropped->contains(dim) && !std::exchange(isFirst, false))
      groups.emplace_back();
    groups.back().push_back(dim);
  }
  return groups;
}

/// Drops dims from a slice by a reshape of its own (groupDroppedDims).
static void separateReshape(RewriterBase &rewriter,
                            tensor::ExtractSliceOp slice) {
  auto groups = groupDroppedDims(slice.getStaticSizes(), slice.getType());
  if (!groups)
    return;
  rewriter.setInsertionPoint(slice);
  Value whole = tensor::ExtractSliceOp::create(
      rewriter, slice.getLoc(), slice.getSource(), slice.getMixedOffsets(),
      slice.getMixedSizes(), slice.getMixedStrides());
  rewriter.replaceOpWithNewOp<tensor::CollapseShapeOp>(slice, slice.getType(),
                                                       whole, *groups);
}

/// Adds dims to the source of an insertion by a reshape of its own
/// (groupDroppedDims). `before` is the op to insert the reshape at.
template <typename Insertion>
static void separateReshape(RewriterBase &rewriter, Insertion op,
                            Operation *before) {
  RankedTensorType source = op.getSourceType();
  auto groups = groupDroppedDims(op.getStaticSizes(), source);
  if (!groups)
    return;
  rewriter.setInsertionPoint(before);
  Value wide = tensor::ExpandShapeOp::create(rewriter, op.getLoc(),
                                             source.clone(op.getStaticSizes()),
                                             op.getSource(), *groups);
  rewriter.modifyOpInPlace(op, [&] { op.getSourceMutable().assign(wide); });
}

static void prepare(RewriterBase &rewriter, tensor::InsertSliceOp op) {
  separateReshape(rewriter, op, op);
}

static void prepare(RewriterBase &rewriter, tensor::ParallelInsertSliceOp op) {
  separateReshape(rewriter, op, op->getParentOp());
}

/// Slices dims without tiles in the source of an unpack instead of its result.
/// Upstream's canonicalizer folds such a slice into the unpack, whose source is
/// then too large for the result.
static void prepare(RewriterBase &rewriter, tensor::ExtractSliceOp slice) {
  if (slice.getType().getRank() != slice.getSourceType().getRank())
    return separateReshape(rewriter, slice);
  auto unpack = slice.getSource().getDefiningOp<linalg::UnPackOp>();
  if (!unpack || !unpack.hasPureTensorSemantics())
    return;
  Location loc = slice.getLoc();
  rewriter.setInsertionPoint(slice);
  // The slices of the unpack's source and destination, and the slice `rest` of
  // the new unpack's result.
  struct Part {
    Part(OpBuilder &b, Location loc, Value tensor)
        : sizes(tensor::getMixedSizes(b, loc, tensor)),
          offsets(sizes.size(), b.getIndexAttr(0)),
          strides(sizes.size(), b.getIndexAttr(1)) {}
    SmallVector<OpFoldResult> sizes, offsets, strides;
  } source(rewriter, loc, unpack.getSource()),
      dest(rewriter, loc, unpack.getDest()), rest(dest);
  rest.sizes = slice.getMixedSizes();
  rest.offsets = slice.getMixedOffsets();
  rest.strides = slice.getMixedStrides();
  ArrayRef<int64_t> order = unpack.getOuterDimsPerm();
  bool cuts = false;
  for (unsigned k = 0, e = unpack.getDestRank(); k < e; ++k) {
    int64_t dim = order.empty() ? k : order[k];
    if (llvm::is_contained(unpack.getInnerDimsPos(), dim) ||
        dest.sizes[dim] == rest.sizes[dim])
      continue;
    cuts = true;
    source.sizes[k] = dest.sizes[dim] = rest.sizes[dim];
    source.offsets[k] = dest.offsets[dim] = rest.offsets[dim];
    source.strides[k] = dest.strides[dim] = rest.strides[dim];
    rest.offsets[dim] = rewriter.getIndexAttr(0);
    rest.strides[dim] = rewriter.getIndexAttr(1);
  }
  if (!cuts)
    return;
  auto take = [&](Value tensor, const Part &part) -> Value {
    return tensor::ExtractSliceOp::create(rewriter, loc, tensor, part.offsets,
                                          part.sizes, part.strides);
  };
  Value init = take(unpack.getDest(), dest);
  Value part = linalg::UnPackOp::create(
                   rewriter, loc, take(unpack.getSource(), source), init,
                   unpack.getInnerDimsPos(), unpack.getMixedTiles(),
                   unpack.getOuterDimsPerm())
                   .getResult();
  rewriter.replaceOpWithNewOp<tensor::ExtractSliceOp>(
      slice, slice.getType(), part, rest.offsets, rest.sizes, rest.strides);
}

/// Returns the sizes of the result of a reshape.
static SmallVector<OpFoldResult> getSizes(OpBuilder &b,
                                          tensor::ExpandShapeOp view) {
  return view.getMixedOutputShape();
}

static SmallVector<OpFoldResult> getSizes(OpBuilder &b,
                                          tensor::CollapseShapeOp view) {
  SmallVector<OpFoldResult> sizes;
  Location loc = view.getLoc();
  for (ReassociationIndices group : view.getReassociationIndices()) {
    OpFoldResult product = b.getIndexAttr(1);
    for (int64_t d : group) {
      OpFoldResult size = tensor::getMixedSize(b, loc, view.getSrc(), d);
      AffineExpr x = b.getAffineSymbolExpr(0), y = b.getAffineSymbolExpr(1);
      product =
          affine::makeComposedFoldedAffineApply(b, loc, x * y, {product, size});
    }
    sizes.push_back(product);
  }
  return sizes;
}

/// Replaces a view without elements by an empty tensor. Upstream folds views of
/// views whose ends have one type, but without elements the sizes may differ.
template <typename View>
static void prepare(RewriterBase &rewriter, View view) {
  RankedTensorType type = view.getResultType();
  if (!hasNoElements(type) && !hasNoElements(view.getSrcType()))
    return;
  rewriter.setInsertionPoint(view);
  SmallVector<Value> dynamic;
  for (auto [size, stated] :
       llvm::zip_equal(getSizes(rewriter, view), type.getShape()))
    if (ShapedType::isDynamic(stated))
      dynamic.push_back(
          getValueOrCreateConstantIndexOp(rewriter, view.getLoc(), size));
  rewriter.replaceOpWithNewOp<tensor::EmptyOp>(view, type, dynamic);
}

/// Removes the operands of a concatenation that have no elements, even if only
/// constants show it. Upstream lowers each operand to an insertion, and its
/// canonicalizer makes that of an empty last operand, whose offset is the size,
/// static and invalid.
static void prepare(RewriterBase &rewriter, tensor::ConcatOp concat) {
  SmallVector<Value> parts;
  auto dim = static_cast<int64_t>(concat.getDim());
  for (Value part : concat.getInputs()) {
    FailureOr<int64_t> size =
        cast<RankedTensorType>(part.getType()).getDimSize(dim);
    if (ShapedType::isDynamic(*size))
      size = ValueBoundsConstraintSet::computeConstantBound(
          presburger::BoundType::EQ, {part, dim});
    if (failed(size) || *size != 0)
      parts.push_back(part);
  }
  if (parts.size() == concat.getInputs().size())
    return;
  rewriter.setInsertionPoint(concat);
  RankedTensorType type = concat.getResultType();
  if (parts.empty()) {
    SmallVector<Value> dynamic;
    for (auto [d, size] : llvm::enumerate(type.getShape()))
      if (ShapedType::isDynamic(size))
        dynamic.push_back(rewriter.createOrFold<tensor::DimOp>(
            concat.getLoc(), concat.getInputs().front(), d));
    rewriter.replaceOpWithNewOp<tensor::EmptyOp>(concat, type, dynamic);
    return;
  }
  rewriter.replaceOpWithNewOp<tensor::ConcatOp>(concat, concat.getResultType(),
                                                dim, parts);
}

/// Replaces a cast that contradicts the cast before it, in a branch or a loop,
/// which does not run then, by an assertion that fails. One of a function's body
/// remains, as an error of the lowering. Upstream folds both casts into one that
/// is invalid.
static void prepare(RewriterBase &rewriter, tensor::CastOp op) {
  auto type = dyn_cast<RankedTensorType>(op.getType());
  TensorType contradicted = getContradictedType(op);
  if (!type || !contradicted ||
      !isa<RankedTensorType>(op.getSource().getType()) ||
      isa<FunctionOpInterface>(op->getParentOp()))
    return;
  rewriter.setInsertionPoint(op);
  std::string message;
  llvm::raw_string_ostream(message)
      << op->getName() << " casts a " << contradicted << " to a " << type;
  Value no = arith::ConstantOp::create(rewriter, op.getLoc(),
                                       rewriter.getBoolAttr(false));
  cf::AssertOp::create(rewriter, op.getLoc(), no, message);
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(rewriter, op.getLoc(), op.getSource());
  for (auto [size, stated] : llvm::zip_equal(sizes, type.getShape()))
    if (!ShapedType::isDynamic(stated))
      size = rewriter.getIndexAttr(stated);
  rewriter.replaceOpWithNewOp<tensor::EmptyOp>(op, sizes,
                                               type.getElementType());
}

//===----------------------------------------------------------------------===//
// Assertions
//===----------------------------------------------------------------------===//

/// Returns all ops under `root` with an effect other than that of an assertion,
/// and those whose regions contain one.
static DenseSet<Operation *> findEffects(Operation *root) {
  DenseSet<Operation *> found;
  root->walk([&](Operation *op) {
    if (isa<cf::AssertOp>(op) ||
        op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() ||
        isMemoryEffectFree(op))
      return;
    while (op && op != root && found.insert(op).second)
      op = op->getParentOp();
  });
  return found;
}

/// Returns true if `op` computes scalars of scalars or sizes and may do so
/// earlier. An assertion may guard the access of a tensor.extract.
static bool isMovableScalarOp(Operation *op) {
  auto isScalar = [](Type type) { return type.isIntOrIndexOrFloat(); };
  return op->getNumRegions() == 0 && isPure(op) &&
         llvm::all_of(op->getResultTypes(), isScalar) &&
         (isa<tensor::DimOp>(op) ||
          llvm::all_of(op->getOperandTypes(), isScalar));
}

/// Returns the size that `dim` reads, computed from what its source is computed
/// from, or a null value if it can not be.
static Value getSizeOfOperands(RewriterBase &rewriter, tensor::DimOp dim) {
  std::optional<int64_t> index = dim.getConstantIndex();
  auto source = dyn_cast<OpResult>(dim.getSource());
  auto type = dyn_cast<RankedTensorType>(dim.getSource().getType());
  if (!index || !source || !type || *index < 0 || *index >= type.getRank() ||
      !isa<ReifyRankedShapedTypeOpInterface>(source.getOwner()))
    return nullptr;
  rewriter.setInsertionPoint(dim);
  FailureOr<OpFoldResult> size = reifyDimOfResult(
      rewriter, source.getOwner(), source.getResultNumber(), *index);
  if (failed(size))
    return nullptr;
  return getValueOrCreateConstantIndexOp(rewriter, dim.getLoc(), *size);
}

/// Returns the assertions of `block` and the scalar ops that compute their
/// conditions.
static DenseSet<Operation *> findAssertions(RewriterBase &rewriter,
                                            Block &block) {
  DenseSet<Operation *> found;
  for (Operation *op = &block.back(); op; op = op->getPrevNode()) {
    if (isa<cf::AssertOp>(op))
      found.insert(op);
    if (!found.contains(op))
      continue;
    auto dim = dyn_cast<tensor::DimOp>(op);
    Value size = dim ? getSizeOfOperands(rewriter, dim) : nullptr;
    if (size)
      rewriter.replaceAllUsesWith(dim.getResult(), size);
    for (Value operand : size ? ValueRange(size) : op->getOperands())
      if (Operation *def = operand.getDefiningOp();
          def && def->getBlock() == &block && isMovableScalarOp(def))
        found.insert(def);
    if (size)
      found.erase(op);
  }
  return found;
}

/// Moves the assertions of `block` to just after what their conditions need,
/// but not over ops with effects. Upstream's canonicalizer gives the static
/// sizes of a tensor.cast to the ops that compute its source, which lie before
/// the assertion that the cast relies on.
static void moveAssertionsUp(RewriterBase &rewriter, Block &block,
                             const DenseSet<Operation *> &effects) {
  DenseSet<Operation *> moved = findAssertions(rewriter, block);
  // Places are numbered by the ops that stay; 0 is the start of the block.
  DenseMap<Operation *, int64_t> placeOf;
  SmallVector<Operation *> lastAt(1);
  int64_t lastEffect = 0;
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (!moved.contains(&op)) {
      placeOf[&op] = lastAt.size();
      if (effects.contains(&op))
        lastEffect = lastAt.size();
      lastAt.push_back(&op);
      continue;
    }
    int64_t place = lastEffect;
    for (Value operand : op.getOperands())
      if (Operation *def = operand.getDefiningOp())
        place = std::max(place, placeOf.lookup(def));
    placeOf[&op] = place;
    if (Operation *last = lastAt[place])
      op.moveAfter(last);
    else
      op.moveBefore(&block, block.begin());
    lastAt[place] = &op;
  }
}

/// Moves all assertions under `root` up.
static void moveAssertionsUp(RewriterBase &rewriter, Operation *root) {
  SetVector<Block *> blocks;
  root->walk([&](cf::AssertOp op) { blocks.insert(op->getBlock()); });
  if (blocks.empty())
    return;
  DenseSet<Operation *> effects = findEffects(root);
  for (Block *block : blocks)
    moveAssertionsUp(rewriter, *block, effects);
}

/// Rewrites all ops of type `OpTy` under `root` that the canonicalizer would
/// make invalid.
template <typename OpTy>
static void prepareAll(RewriterBase &rewriter, Operation *root) {
  SmallVector<OpTy> ops;
  root->walk([&](OpTy op) { ops.push_back(op); });
  for (OpTy op : ops)
    prepare(rewriter, op);
}

namespace {
struct PrepareForCanonicalizer
    : layout::impl::PrepareForCanonicalizerPassBase<PrepareForCanonicalizer> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    moveAssertionsUp(rewriter, getOperation());
    prepareAll<tensor::CastOp>(rewriter, getOperation());
    prepareAll<tensor::ExpandShapeOp>(rewriter, getOperation());
    prepareAll<tensor::CollapseShapeOp>(rewriter, getOperation());
    prepareAll<linalg::TransposeOp>(rewriter, getOperation());
    prepareAll<tensor::ExtractSliceOp>(rewriter, getOperation());
    prepareAll<tensor::InsertSliceOp>(rewriter, getOperation());
    prepareAll<tensor::ParallelInsertSliceOp>(rewriter, getOperation());
    prepareAll<tensor::ConcatOp>(rewriter, getOperation());
  }
};
} // namespace
