//===- SplitMatmulBySlices.cpp - Products whose results are sliced --------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Splits a matmul whose result is used in slices, e.g. as queries, keys and
// values of an attention, into one matmul per slice. A slice of a result in the
// matrix layout is not in that layout, but a slice of constant weights is a
// constant. Upstream's patterns require that the matmul has one user.
//
//===----------------------------------------------------------------------===//

#include "Legalize/LegalizeLinalg.h"
#include "Tiling/TileAndFuse.h"
#include "layout/Dialect/NPU/IR/OkkFunctionMatcher.h"
#include "layout/Support/StatedSizes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::layout;

/// Returns the only dim along which all users of `tensor` slice it, into
/// disjoint slices. Returns std::nullopt if a user is not a slice or reads the
/// whole tensor, if slices overlap, or if they are along several dims.
static std::optional<unsigned> findCutDim(Value tensor) {
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  if (!type || !type.hasStaticShape() || type.getEncoding() ||
      tensor.use_empty())
    return std::nullopt;
  std::optional<unsigned> cut;
  SmallVector<std::pair<int64_t, int64_t>> ranges;
  for (Operation *user : tensor.getUsers()) {
    auto slice = dyn_cast<tensor::ExtractSliceOp>(user);
    if (!slice || !isStatedBox(slice))
      return std::nullopt;
    for (auto [d, size] : llvm::enumerate(slice.getStaticSizes())) {
      if (size == type.getDimSize(d))
        continue;
      if (cut.value_or(d) != d)
        return std::nullopt;
      cut = d;
      ranges.push_back({slice.getStaticOffset(d), size});
    }
  }
  llvm::sort(ranges);
  for (size_t i = 1; i < ranges.size(); ++i)
    if (ranges[i - 1].first + ranges[i - 1].second > ranges[i].first)
      return std::nullopt;
  bool isCutByAll =
      ranges.size() == size_t(llvm::range_size(tensor.getUsers()));
  return isCutByAll ? cut : std::nullopt;
}

namespace {
/// Creates slices of a computed tensor along one dim by slicing the ops that
/// compute it.
class Slicer {
public:
  explicit Slicer(OpBuilder &builder) : builder(builder) {}

  /// Returns true if `tensor` is computed from a matmul with a constant, by ops
  /// that can be sliced along `dim`.
  static bool comesOfProduct(Value tensor, unsigned dim);
  /// Creates ops that compute only `size` indices of `dim` of `tensor`, from
  /// `first` on. Fails if an op cannot be tiled.
  FailureOr<Value> make(Value tensor, unsigned dim, int64_t first,
                        int64_t size);

private:
  OpBuilder &builder;
};
} // namespace

/// Returns the loop that indexes `dim` of the only result. Returns std::nullopt
/// for ops with dynamic sizes or several results, and if an index of the result
/// is not a single loop.
static std::optional<unsigned> getLoop(linalg::LinalgOp op, unsigned dim) {
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (op.getNumDpsInits() != 1 || !op.hasPureTensorSemantics() ||
      op.hasDynamicShape() || !map.isProjectedPermutation())
    return std::nullopt;
  return map.getDimPosition(dim);
}

/// Returns the source dim that is split into result dim `dim` and inner dims,
/// and the product of the sizes of these inner ones. Returns std::nullopt if an
/// earlier dim of this split has more than one index.
static std::optional<std::pair<unsigned, int64_t>>
getSourceDim(tensor::ExpandShapeOp op, unsigned dim) {
  for (auto [d, group] : llvm::enumerate(op.getReassociationIndices())) {
    if (!llvm::is_contained(group, dim))
      continue;
    int64_t inside = 1;
    for (int64_t o : group) {
      int64_t size = op.getResultType().getDimSize(o);
      if (o < int64_t(dim) && size != 1)
        return std::nullopt;
      inside *= o > int64_t(dim) ? size : 1;
    }
    return std::make_pair(unsigned(d), inside);
  }
  return std::nullopt;
}

/// Returns the only input tensor that is not a constant, or a null value if
/// there are none or several.
static Value getVariable(linalg::LinalgOp op) {
  Value variable;
  for (OpOperand *input : op.getDpsInputOperands()) {
    Attribute value;
    if (!isa<RankedTensorType>(input->get().getType()) ||
        matchPattern(input->get(), m_Constant(&value)))
      continue;
    if (variable)
      return {};
    variable = input->get();
  }
  return variable;
}

bool Slicer::comesOfProduct(Value tensor, unsigned dim) {
  if (auto expand = tensor.getDefiningOp<tensor::ExpandShapeOp>()) {
    auto source = getSourceDim(expand, dim);
    return source && expand.getSrc().hasOneUse() &&
           comesOfProduct(expand.getSrc(), source->first);
  }
  auto op = tensor.getDefiningOp<linalg::LinalgOp>();
  std::optional<unsigned> loop = op ? getLoop(op, dim) : std::nullopt;
  if (!loop)
    return false;
  if (npu::isProductOfMatrices(op)) {
    // Constants that the loop indexes are sliced at compile time.
    return llvm::all_of(op.getDpsInputOperands(), [&](OpOperand *input) {
      Attribute value;
      return !op.getMatchingIndexingMap(input).isFunctionOfDim(*loop) ||
             matchPattern(input->get(), m_Constant(&value));
    });
  }
  Value source = getVariable(op);
  if (!source || !source.hasOneUse() || op.getNumReductionLoops() > 0 ||
      op.hasIndexSemantics())
    return false;
  OpOperand &use = *source.use_begin();
  std::optional<unsigned> along;
  for (auto [d, expr] :
       llvm::enumerate(op.getMatchingIndexingMap(&use).getResults())) {
    if (!expr.isFunctionOfDim(*loop))
      continue;
    // The loop must be the index of exactly one dim of the source.
    if (along || !isa<AffineDimExpr>(expr))
      return false;
    along = d;
  }
  return along && comesOfProduct(source, *along);
}

FailureOr<Value> Slicer::make(Value tensor, unsigned dim, int64_t first,
                              int64_t size) {
  if (auto expand = tensor.getDefiningOp<tensor::ExpandShapeOp>()) {
    auto [of, inside] = *getSourceDim(expand, dim);
    FailureOr<Value> source =
        make(expand.getSrc(), of, first * inside, size * inside);
    if (failed(source))
      return failure();
    SmallVector<int64_t> shape(expand.getResultType().getShape());
    shape[dim] = size;
    auto type =
        RankedTensorType::get(shape, expand.getResultType().getElementType());
    return tensor::ExpandShapeOp::create(builder, expand.getLoc(), type,
                                         *source,
                                         expand.getReassociationIndices())
        .getResult();
  }
  auto op = cast<linalg::LinalgOp>(tensor.getDefiningOp());
  unsigned loop = *getLoop(op, dim);
  SmallVector<int64_t> firsts(op.getNumLoops(), 0),
      extents = op.getStaticLoopRanges();
  firsts[loop] = first;
  extents[loop] = size;
  FailureOr<linalg::LinalgOp> part = makeBox(builder, op, firsts, extents);
  if (failed(part))
    return failure();
  if (npu::isProductOfMatrices(op))
    return (*part)->getResult(0);
  // `part` reads a slice of `source`, of which also only a slice is computed.
  Value source = getVariable(op);
  for (OpOperand &operand : (*part)->getOpOperands()) {
    auto slice = operand.get().getDefiningOp<tensor::ExtractSliceOp>();
    if (!slice || slice.getSource() != source)
      continue;
    auto whole = slice.getSourceType().getShape();
    unsigned cut = 0;
    while (slice.getStaticSize(cut) == whole[cut])
      ++cut;
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(slice);
    FailureOr<Value> made =
        make(source, cut, slice.getStaticOffset(cut), slice.getStaticSize(cut));
    if (failed(made))
      return failure();
    operand.set(*made);
    slice.erase();
  }
  return (*part)->getResult(0);
}

void layout::splitMatmulsBySlices(func::FuncOp function) {
  SmallVector<std::pair<Value, unsigned>> found;
  function.walk([&](Operation *op) {
    for (Value result : op->getResults())
      if (std::optional<unsigned> dim = findCutDim(result);
          dim && Slicer::comesOfProduct(result, *dim))
        found.push_back({result, *dim});
  });
  for (auto [tensor, dim] : found) {
    for (Operation *user : llvm::make_early_inc_range(tensor.getUsers())) {
      auto slice = cast<tensor::ExtractSliceOp>(user);
      OpBuilder builder(tensor.getDefiningOp());
      FailureOr<Value> part = Slicer(builder).make(
          tensor, dim, slice.getStaticOffset(dim), slice.getStaticSize(dim));
      if (failed(part))
        continue;
      Value result = *part;
      if (slice.getType() != result.getType())
        result = tensor::CollapseShapeOp::create(
            builder, slice.getLoc(), slice.getType(), result,
            *getReassociationIndicesForCollapse(
                cast<RankedTensorType>(result.getType()).getShape(),
                slice.getType().getShape()));
      slice.replaceAllUsesWith(result);
      slice.erase();
    }
  }
  IRRewriter rewriter(function.getContext());
  if (!found.empty())
    (void)runRegionDCE(rewriter, function.getBody());
}
