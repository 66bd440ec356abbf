//===- SlicePatterns.cpp - Slices and concatenations ----------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A slice of laid-out tensors becomes a slice of storage if it consists of
// whole axes (WholeAxes.h). Otherwise, the result's storage is gathered.
//
//===----------------------------------------------------------------------===//

#include "Gather.h"
#include "Patterns.h"
#include "layout/Algebra/Proof.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Interfaces/DroppedDims.h"
#include "layout/Interfaces/WholeAxes.h"
#include "layout/Support/StatedSizes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::layout;

namespace {

/// Returns the dims of `whole` of which a slice may not read all indices.
llvm::SmallBitVector findSliced(OffsetSizeAndStrideOpInterface slice,
                                RankedTensorType whole) {
  llvm::SmallBitVector sliced(whole.getRank());
  for (unsigned d = 0; d < sliced.size(); ++d) {
    std::optional<int64_t> size = getConstantIntValue(slice.getMixedSizes()[d]);
    sliced[d] = !isConstantIntValue(slice.getMixedOffsets()[d], 0) ||
                !isConstantIntValue(slice.getMixedStrides()[d], 1) || !size ||
                *size != whole.getDimSize(d);
  }
  return sliced;
}

/// Returns true if the offset and size of a slice of `whole` in dim `d` are
/// constants that cut it into whole tiles of `divisor` indices, at stride 1.
/// The last tile may be incomplete if it ends with the tensor.
bool takesTiles(OffsetSizeAndStrideOpInterface slice, RankedTensorType whole,
                unsigned d, int64_t divisor) {
  std::optional<int64_t> offset =
      getConstantIntValue(slice.getMixedOffsets()[d]);
  std::optional<int64_t> size = getConstantIntValue(slice.getMixedSizes()[d]);
  return offset && size && isConstantIntValue(slice.getMixedStrides()[d], 1) &&
         *offset % divisor == 0 &&
         (*size % divisor == 0 || *offset + *size == whole.getDimSize(d));
}

/// A slice of laid-out tensors as offsets, sizes and strides along the dims of
/// the physical tensor.
struct PhysicalSlice {
  SmallVector<OpFoldResult> offsets, sizes, strides;
  /// The type of the slice of the physical tensor, without the axes of dropped
  /// dims.
  RankedTensorType type;
  /// The extents of the slice, one per dim of `type`.
  SmallVector<OpFoldResult> extents;
};

/// Returns `slice` as a slice of `storage`, the physical tensor of type
/// `whole`. `part` is the type of the slice without the `dropped` dims. Returns
/// std::nullopt if the layout of `part` is not provably that of `whole`, or if
/// the slice does not consist of whole axes or whole tiles.
std::optional<PhysicalSlice>
getPhysicalSlice(OpBuilder &b, Location loc,
                 OffsetSizeAndStrideOpInterface slice,
                 const llvm::SmallBitVector &dropped, RankedTensorType whole,
                 RankedTensorType part, Value storage) {
  FailureOr<LayoutMap> map = getLayoutMap(whole), ofPart = getLayoutMap(part);
  if (failed(map) || failed(ofPart) ||
      equalOn(dropDims(*map, dropped), *ofPart, part.getShape()) !=
          ProofResult::Proved)
    return std::nullopt;
  SmallVector<int64_t> shape;
  unsigned next = 0;
  for (unsigned d = 0; d < dropped.size(); ++d)
    shape.push_back(dropped[d] ? 1 : part.getDimSize(next++));
  RankedTensorType kept =
      withLayout(RankedTensorType::get(shape, part.getElementType()), *map);
  llvm::SmallBitVector sliced = findSliced(slice, whole);
  std::optional<WholeAxes> axes = findWholeAxes(
      whole, kept, sliced |= dropped, [&](unsigned d, int64_t divisor) {
        return takesTiles(slice, whole, d, divisor);
      });
  if (!axes)
    return std::nullopt;
  SmallVector<OpFoldResult> all = tensor::getMixedSizes(b, loc, storage);
  SmallVector<OpFoldResult> zeros(all.size(), b.getIndexAttr(0));
  SmallVector<OpFoldResult> ones(all.size(), b.getIndexAttr(1));
  PhysicalSlice result;
  result.offsets = axes->permute(slice.getMixedOffsets(), zeros);
  result.sizes = axes->permute(slice.getMixedSizes(), all);
  result.strides = axes->permute(slice.getMixedStrides(), ones);
  SmallVector<int64_t> extents;
  for (auto [a, extent] : llvm::enumerate(getPhysicalType(kept)->getShape()))
    if (std::optional<unsigned> dim = axes->dimOfAxis[a];
        !dim || !dropped[*dim]) {
      extents.push_back(extent);
      result.extents.push_back(result.sizes[a]);
    }
  result.type = RankedTensorType::get(extents, part.getElementType());
  return result;
}

struct ExtractSlicePattern : ReasonedPattern<tensor::ExtractSliceOp> {
  using ReasonedPattern::ReasonedPattern;

  LogicalResult
  matchAndRewrite(tensor::ExtractSliceOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    RankedTensorType from = op.getSourceType(), to = op.getType();
    ValueRange source = adaptor.getSource();
    llvm::SmallBitVector dropped = op.getDroppedDims();
    SmallVector<OpFoldResult> sizes;
    for (auto [d, size] : llvm::enumerate(op.getMixedSizes()))
      if (!dropped[d])
        sizes.push_back(size);
    std::optional<PhysicalSlice> slice;
    if (carriesPadding(from, to))
      slice = getPhysicalSlice(rewriter, loc, op, dropped, from, to,
                               source.front());
    Value result;
    if (slice) {
      result = tensor::ExtractSliceOp::create(rewriter, loc, slice->type,
                                              source.front(), slice->offsets,
                                              slice->sizes, slice->strides);
      result = reinterpretShape(rewriter, loc, result, *getPhysicalType(to),
                                getPhysicalSizes(rewriter, loc, to, sizes));
    } else {
      SmallVector<OpFoldResult> fromSizes =
          getLogicalSizes(rewriter, loc, from, source);
      auto element = [&](OpBuilder &b, Location loc, ValueRange index) {
        SmallVector<Value> inner;
        unsigned next = 0;
        AffineExpr i = b.getAffineDimExpr(0);
        AffineExpr offset = b.getAffineSymbolExpr(0);
        AffineExpr stride = b.getAffineSymbolExpr(1);
        for (unsigned d = 0; d < dropped.size(); ++d) {
          OpFoldResult at = dropped[d] ? OpFoldResult(b.getIndexAttr(0))
                                       : OpFoldResult(index[next++]);
          inner.push_back(getValueOrCreateConstantIndexOp(
              b, loc,
              affine::makeComposedFoldedAffineApply(
                  b, loc, i * stride + offset,
                  {at, op.getMixedOffsets()[d], op.getMixedStrides()[d]})));
        }
        return extractElement(b, loc, from, source.front(), inner, fromSizes);
      };
      result = emitGather(rewriter, loc, to, sizes, element);
    }
    rewriter.replaceOpWithMultiple(
        op, {withCarriedSizes(rewriter, loc, to, result, sizes)});
    return success();
  }
};

struct InsertSlicePattern : ReasonedPattern<tensor::InsertSliceOp> {
  using ReasonedPattern::ReasonedPattern;

  LogicalResult
  matchAndRewrite(tensor::InsertSliceOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    RankedTensorType from = op.getSourceType(), to = op.getType();
    ValueRange source = adaptor.getSource(), dest = adaptor.getDest();
    llvm::SmallBitVector dropped = op.getDroppedDims();
    SmallVector<OpFoldResult> sizes = getLogicalSizes(rewriter, loc, to, dest);
    std::optional<PhysicalSlice> slice;
    if (carriesPadding(from, to))
      slice =
          getPhysicalSlice(rewriter, loc, op, dropped, to, from, dest.front());
    Value result;
    if (slice) {
      Value part = reinterpretShape(rewriter, loc, source.front(), slice->type,
                                    slice->extents);
      result = tensor::InsertSliceOp::create(rewriter, loc, part, dest.front(),
                                             slice->offsets, slice->sizes,
                                             slice->strides);
    } else {
      result = gather(op, source, dest, sizes, dropped, rewriter);
    }
    rewriter.replaceOpWithMultiple(
        op, {withCarriedSizes(rewriter, loc, to, result, sizes)});
    return success();
  }

private:
  /// Emits a gather that reads each element of the result from the inserted
  /// tensor or from the destination.
  static Value gather(tensor::InsertSliceOp op, ValueRange source,
                      ValueRange dest, ArrayRef<OpFoldResult> sizes,
                      const llvm::SmallBitVector &dropped,
                      ConversionPatternRewriter &rewriter);
};

} // namespace

Value InsertSlicePattern::gather(tensor::InsertSliceOp op, ValueRange source,
                                 ValueRange dest, ArrayRef<OpFoldResult> sizes,
                                 const llvm::SmallBitVector &dropped,
                                 ConversionPatternRewriter &rewriter) {
  Location loc = op.getLoc();
  RankedTensorType from = op.getSourceType(), to = op.getType();
  auto asValues = [&](ArrayRef<OpFoldResult> numbers) {
    return getValueOrCreateConstantIndexOp(rewriter, loc, numbers);
  };
  SmallVector<Value> offsets = asValues(op.getMixedOffsets());
  SmallVector<Value> extents = asValues(op.getMixedSizes());
  SmallVector<Value> strides = asValues(op.getMixedStrides());
  SmallVector<OpFoldResult> fromSizes =
      getLogicalSizes(rewriter, loc, from, source);
  auto element = [&](OpBuilder &b, Location loc, ValueRange index) -> Value {
    Value valid, zero = arith::ConstantIndexOp::create(b, loc, 0);
    auto require = [&](arith::CmpIPredicate predicate, Value x, Value y) {
      Value holds = arith::CmpIOp::create(b, loc, predicate, x, y);
      valid = valid ? arith::AndIOp::create(b, loc, valid, holds) : holds;
    };
    SmallVector<Value> inner;
    for (unsigned d = 0; d < dropped.size(); ++d) {
      Value at = arith::SubIOp::create(b, loc, index[d], offsets[d]);
      Value quotient = at;
      if (!isConstantIntValue(op.getMixedStrides()[d], 1)) {
        // Division truncates toward zero, but `at` is tested to be at least 0.
        quotient = arith::DivSIOp::create(b, loc, at, strides[d]);
        Value rest = arith::RemSIOp::create(b, loc, at, strides[d]);
        require(arith::CmpIPredicate::eq, rest, zero);
      }
      require(arith::CmpIPredicate::sge, at, zero);
      require(arith::CmpIPredicate::slt, quotient, extents[d]);
      if (!dropped[d])
        inner.push_back(quotient);
    }
    auto inside = [&](OpBuilder &b, Location loc) {
      return extractElement(b, loc, from, source.front(), inner, fromSizes);
    };
    auto outside = [&](OpBuilder &b, Location loc) {
      return extractElement(b, loc, to, dest.front(), index, sizes);
    };
    return emitChoice(b, loc, valid, inside, outside);
  };
  return emitGather(rewriter, loc, to, sizes, element);
}

//===----------------------------------------------------------------------===//
// Slices put side by side
//===----------------------------------------------------------------------===//

namespace {
/// Lowers tensor.parallel_insert_slice to an insertion into the physical
/// tensor. Other threads write the rest of it, so a gather is not possible. The
/// op is not lowered if the part is not a slice of the physical tensor, or does
/// not state its padding.
struct ParallelInsertSlicePattern
    : ReasonedPattern<tensor::ParallelInsertSliceOp> {
  using ReasonedPattern::ReasonedPattern;

  LogicalResult
  matchAndRewrite(tensor::ParallelInsertSliceOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    RankedTensorType from = op.getSourceType(), to = op.getDestType();
    if (!carriesPadding(from, to))
      return reasons.fail(rewriter, op,
                          "the part does not state the padding of the whole");
    // The block of `op` may hold only ops of this kind.
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(op->getParentOp());
    std::optional<PhysicalSlice> slice =
        getPhysicalSlice(rewriter, loc, op, op.getDroppedDims(), to, from,
                         adaptor.getDest().front());
    if (!slice)
      return reasons.fail(
          rewriter, op, "the part is not a slice of the storage of the whole");
    Value part = reinterpretShape(rewriter, loc, adaptor.getSource().front(),
                                  slice->type, slice->extents);
    rewriter.setInsertionPoint(op);
    rewriter.replaceOpWithNewOp<tensor::ParallelInsertSliceOp>(
        op, part, adaptor.getDest().front(), slice->offsets, slice->sizes,
        slice->strides);
    return success();
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Concatenations
//===----------------------------------------------------------------------===//

namespace {
/// Rewrites a concatenation to tensor.insert_slice ops into a tensor.empty.
/// Other patterns lower both.
struct ConcatPattern : OpConversionPattern<tensor::ConcatOp> {
  ConcatPattern(const TypeConverter &converter, MLIRContext *context, Reasons &)
      : OpConversionPattern(converter, context) {}

  LogicalResult
  matchAndRewrite(tensor::ConcatOp op, OneToNOpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    RankedTensorType type = op.getResultType();
    unsigned dim = op.getDim();
    AffineExpr x, y;
    bindDims(getContext(), x, y);

    SmallVector<SmallVector<OpFoldResult>> sizes;
    SmallVector<OpFoldResult> offsets{rewriter.getIndexAttr(0)};
    for (Value input : op.getInputs()) {
      sizes.push_back(tensor::getMixedSizes(rewriter, loc, input));
      offsets.push_back(affine::makeComposedFoldedAffineApply(
          rewriter, loc, x + y, {offsets.back(), sizes.back()[dim]}));
    }
    SmallVector<Value> dynamicSizes;
    for (unsigned d = 0; d < type.getRank(); ++d)
      if (type.isDynamicDim(d))
        dynamicSizes.push_back(getValueOrCreateConstantIndexOp(
            rewriter, loc, d == dim ? offsets.back() : sizes.front()[d]));
    Value result = tensor::EmptyOp::create(rewriter, loc, type, dynamicSizes);
    SmallVector<OpFoldResult> at(type.getRank(), rewriter.getIndexAttr(0));
    SmallVector<OpFoldResult> ones(type.getRank(), rewriter.getIndexAttr(1));
    for (auto [i, input] : llvm::enumerate(op.getInputs())) {
      // Operands without elements have no valid offsets, even if a dim of
      // another operand has a size.
      if (hasNoElements(cast<RankedTensorType>(input.getType())) ||
          hasNoElements(type))
        continue;
      at[dim] = offsets[i];
      result = tensor::InsertSliceOp::create(rewriter, loc, input, result, at,
                                             sizes[i], ones);
    }
    rewriter.replaceOp(op, result);
    return success();
  }
};
} // namespace

void layout::populateSlicePatterns(const TypeConverter &converter,
                                   RewritePatternSet &patterns,
                                   Reasons &reasons) {
  patterns.add<ConcatPattern, ExtractSlicePattern, InsertSlicePattern,
               ParallelInsertSlicePattern>(converter, patterns.getContext(),
                                           reasons);
}
