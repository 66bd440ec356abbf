//===- Reductions.cpp - Reductions that functions compute -----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A reduction that is not a window function needs a command for each index.
// OKKernel's windows cover two dims of a rank-4 tensor, and have a maximum but
// no minimum:
//
//   s[a, b] += x[a, b, c, d, e]    becomes a sum of x[a, b, cde]
//   m[a] = min(m[a], x[a, b])      becomes -max(-m[a], -x[a, b])
//
// The maximum starts from -infinity; any other init is combined afterwards.
//
// A matmul sums over one dim of each factor. Several dims are collapsed to one,
// and a factor in which they are not adjacent is transposed first:
//
//   s[a, n] += x[k, a, l] * w[k, l, n]   becomes x'[a, kl] * w[kl, n]
//
//===----------------------------------------------------------------------===//

#include "Legalize/LegalizeLinalg.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Dialect/NPU/IR/OkkFunctionMatcher.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::layout;

/// The rank of the tensors of OKKernel's window functions.
static constexpr unsigned kDimsOfWindows = 4;
/// The number of commands of a minimum that is computed as a negated maximum:
/// two negations and the maximum. Minima and maxima over at most so many
/// elements are not rewritten.
static constexpr int64_t kCommands = 3;

/// Returns the OKKernel function of a reduction of a single f32 input by a sum,
/// maximum or minimum, or std::nullopt for other ops.
static std::optional<npu::ElementFunction>
findReducingFunction(linalg::LinalgOp op) {
  if (op->getNumOperands() != 2 || op.getNumDpsInits() != 1 ||
      op.getNumReductionLoops() == 0 || !op.hasPureTensorSemantics() ||
      op.hasDynamicShape() || !getElementTypeOrSelf(op->getResult(0)).isF32())
    return std::nullopt;
  std::optional<npu::ElementFunction> function = npu::getElementFunction(op);
  if (!function || !llvm::is_contained({"add", "max", "min"}, function->name) ||
      function->arguments[0].operand + function->arguments[1].operand != 1)
    return std::nullopt;
  return function;
}

/// Collapses adjacent reduction loops of an op to one, if all operands have the
/// dims that they index in this order.
static void collapse(linalg::LinalgOp op) {
  auto kinds = op.getIteratorTypesArray();
  SmallVector<ReassociationIndices> groups;
  for (auto [loop, kind] : llvm::enumerate(kinds))
    if (kind == utils::IteratorType::reduction && loop > 0 &&
        kinds[loop - 1] == kind)
      groups.back().push_back(loop);
    else
      groups.push_back({int64_t(loop)});
  for (const ReassociationIndices &group : groups)
    if (!linalg::areDimSequencesPreserved(op.getIndexingMapsArray(), group))
      return;
  IRRewriter rewriter(op.getContext());
  rewriter.setInsertionPoint(op);
  if (!isa<linalg::GenericOp>(*op))
    op = cast<linalg::LinalgOp>(
        linalg::generalizeNamedOp(rewriter, op)->getOperation());
  rewriter.setInsertionPoint(op);
  FailureOr<linalg::CollapseResult> collapsed =
      linalg::collapseOpIterationDims(op, groups, rewriter);
  if (succeeded(collapsed))
    rewriter.replaceOp(op, collapsed->results);
}

static Value negate(OpBuilder &builder, Location loc, Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  Value empty = tensor::EmptyOp::create(builder, loc, type.getShape(),
                                        type.getElementType());
  APFloat number(0.0f);
  auto fill = tensor.getDefiningOp<linalg::FillOp>();
  if (!fill || !matchPattern(fill.getInputs()[0], m_ConstantFloat(&number)))
    return linalg::NegFOp::create(builder, loc, TypeRange{type},
                                  ValueRange{tensor}, ValueRange{empty})
        .getResult(0);
  Value negated = arith::ConstantOp::create(
      builder, loc, builder.getFloatAttr(type.getElementType(), -number));
  return linalg::FillOp::create(builder, loc, negated, empty).getResult(0);
}

/// Returns true if the init of a maximum or minimum is a fill with the neutral
/// element (-inf or inf), from which window functions start.
static bool startsFromNothing(linalg::LinalgOp op) {
  APFloat number(0.0f);
  auto fill = op->getOperand(1).getDefiningOp<linalg::FillOp>();
  return fill && matchPattern(fill.getInputs()[0], m_ConstantFloat(&number)) &&
         npu::startsFromNothing(op, number);
}

static void negateMinimum(linalg::LinalgOp op, unsigned first) {
  bool ignoresNaN = isa<arith::MinNumFOp>(
      op.getBlock()->getTerminator()->getOperand(0).getDefiningOp());
  OpBuilder builder(op);
  Location loc = op.getLoc();
  Value input = negate(builder, loc, op->getOperand(0));
  Value init = negate(builder, loc, op->getOperand(1));
  auto largest = linalg::GenericOp::create(
      builder, loc, init.getType(), input, init, op.getIndexingMapsArray(),
      op.getIteratorTypesArray(),
      [&](OpBuilder &inner, Location at, ValueRange values) {
        Value x = values[first], y = values[1 - first];
        Value max = ignoresNaN
                        ? Value(arith::MaxNumFOp::create(inner, at, x, y))
                        : arith::MaximumFOp::create(inner, at, x, y);
        linalg::YieldOp::create(inner, at, max);
      });
  op->getResult(0).replaceAllUsesWith(
      negate(builder, loc, largest.getResult(0)));
  op.erase();
}

/// Splits a maximum or minimum with another init than the neutral element: the
/// reduction starts from the neutral element, and a second op combines its
/// result with the init.
static void reduceFirst(linalg::LinalgOp op, bool isMax) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  Value init = op->getOperand(1);
  auto type = cast<RankedTensorType>(init.getType());
  Value number = arith::ConstantOp::create(
      builder, loc,
      builder.getFloatAttr(
          type.getElementType(),
          APFloat::getInf(APFloat::IEEEsingle(), /*Negative=*/isMax)));
  Value empty = tensor::EmptyOp::create(builder, loc, type.getShape(),
                                        type.getElementType());
  op->setOperand(
      1, linalg::FillOp::create(builder, loc, number, empty).getResult(0));
  builder.setInsertionPointAfter(op);
  AffineMap all = builder.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> kinds(type.getRank(),
                                         utils::IteratorType::parallel);
  auto both = linalg::GenericOp::create(
      builder, loc, TypeRange(type), ValueRange{op->getResult(0), init},
      ValueRange(empty), ArrayRef{all, all, all}, kinds,
      [&](OpBuilder &inner, Location at, ValueRange values) {
        IRMapping mapping;
        mapping.map(op.getBlock()->getArguments(), values.take_front(2));
        Operation *last =
            op.getBlock()->getTerminator()->getOperand(0).getDefiningOp();
        linalg::YieldOp::create(inner, at,
                                inner.clone(*last, mapping)->getResult(0));
      });
  op->getResult(0).replaceAllUsesExcept(both.getResult(0), both);
}

template <typename Rewrite>
static void rewriteAll(func::FuncOp function, Rewrite rewrite) {
  SmallVector<linalg::LinalgOp> ops;
  function.walk([&](linalg::LinalgOp op) {
    if (findReducingFunction(op))
      ops.push_back(op);
  });
  for (linalg::LinalgOp op : ops)
    rewrite(op);
}

/// Returns the index expressions of a factor of a product, whose indexing map
/// is `map`, that are one of the summed loops `loops`. They are in the order of
/// the factor's dims.
static SmallVector<AffineExpr> getSummed(AffineMap map,
                                         ArrayRef<unsigned> loops) {
  return llvm::filter_to_vector(map.getResults(), [&](AffineExpr dim) {
    return llvm::is_contained(loops, cast<AffineDimExpr>(dim).getPosition());
  });
}

/// Transposes a factor of a product so that the dims indexed by `summed` are
/// last, and returns its new indexing map.
static AffineMap transposeFactor(OpBuilder &builder, OpOperand &factor,
                                 AffineMap map, ArrayRef<AffineExpr> summed) {
  SmallVector<AffineExpr> dims =
      llvm::filter_to_vector(map.getResults(), [&](AffineExpr dim) {
        return !llvm::is_contained(summed, dim);
      });
  llvm::append_range(dims, summed);
  SmallVector<int64_t> order;
  for (AffineExpr dim : dims)
    order.push_back(*map.getResultPosition(dim));
  factor.set(
      transpose(builder, factor.getOwner()->getLoc(), factor.get(), order));
  return AffineMap::get(map.getNumDims(), 0, dims, builder.getContext());
}

static void sumOverOneLoop(linalg::LinalgOp op) {
  FailureOr<linalg::ContractionDimensions> dims = npu::getProductDims(op);
  if (failed(dims) || dims->k.size() < 2 || !npu::isProductOfMatrices(op) ||
      !llvm::all_of(op.getIndexingMapsArray(),
                    [](AffineMap map) { return map.isProjectedPermutation(); }))
    return;
  IRRewriter rewriter(op.getContext());
  rewriter.setInsertionPoint(op);
  auto product = dyn_cast<linalg::GenericOp>(*op);
  if (!product)
    product = *linalg::generalizeNamedOp(rewriter, op);
  rewriter.setInsertionPoint(product);
  SmallVector<AffineMap> maps = product.getIndexingMapsArray();
  // Use the order of a factor that is not constant, as constants are transposed
  // at compile time.
  bool isSecond = matchPattern(product.getInputs()[0], m_Constant());
  SmallVector<AffineExpr> summed = getSummed(maps[isSecond], dims->k);
  auto loops = llvm::map_to_vector(summed, [](AffineExpr dim) {
    return cast<AffineDimExpr>(dim).getPosition();
  });
  ReassociationIndices sequence(loops.begin(), loops.end());
  for (OpOperand *factor : product.getDpsInputOperands())
    if (AffineMap &map = maps[factor->getOperandNumber()];
        !linalg::isDimSequencePreserved(map, sequence))
      map = transposeFactor(rewriter, *factor, map, summed);
  product.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
  // The summed loops become the innermost ones.
  SmallVector<unsigned> order;
  SmallVector<ReassociationIndices> groups;
  for (unsigned loop = 0, e = product.getNumLoops(); loop < e; ++loop)
    if (!llvm::is_contained(loops, loop)) {
      groups.push_back({int64_t(order.size())});
      order.push_back(loop);
    }
  auto last = llvm::seq<int64_t>(order.size(), product.getNumLoops());
  groups.emplace_back(last.begin(), last.end());
  llvm::append_range(order, loops);
  product = *linalg::interchangeGenericOp(rewriter, product, order);
  rewriter.setInsertionPoint(product);
  FailureOr<linalg::CollapseResult> collapsed = linalg::collapseOpIterationDims(
      cast<linalg::LinalgOp>(product.getOperation()), groups, rewriter);
  if (succeeded(collapsed))
    rewriter.replaceOp(product, collapsed->results);
}

void layout::rewriteReductions(func::FuncOp function) {
  function.walk([](linalg::LinalgOp op) {
    if (op.hasPureTensorSemantics() && !op.hasDynamicShape() &&
        !llvm::any_of(op->getOperandTypes(), hasLayout))
      sumOverOneLoop(op);
  });
  rewriteAll(function, [](linalg::LinalgOp op) {
    if (op.getNumLoops() > kDimsOfWindows || op.getNumParallelLoops() == 0)
      collapse(op);
  });
  rewriteAll(function, [](linalg::LinalgOp op) {
    std::optional<npu::ElementFunction> function = findReducingFunction(op);
    int64_t trips = 1;
    for (auto [size, kind] :
         llvm::zip_equal(op.getStaticLoopRanges(), op.getIteratorTypesArray()))
      if (kind == utils::IteratorType::reduction)
        trips *= size;
    if (function->name == "add" || trips <= kCommands)
      return;
    if (!startsFromNothing(op))
      reduceFirst(op, function->name == "max");
    if (function->name == "min")
      negateMinimum(op, function->arguments[0].operand);
  });
}
