//===- LinalgRules.cpp - Layout rules of linalg ---------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rules of structured ops from their iterator types and indexing maps.
// linalg.fill only writes, rows of softmax are independent, and packing without
// padding is a view. Winograd transforms have no rule.
//
//===----------------------------------------------------------------------===//

#include "layout/Interfaces/LayoutOpInterface.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/DialectRegistry.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::layout;

static constexpr llvm::StringLiteral kHasMemory =
    "it reads or writes memory, not only tensors";

/// Returns the number of ops in the body, not counting constants and
/// linalg.index.
static int64_t countScalarOps(linalg::LinalgOp op) {
  int64_t count = 0;
  for (Operation &inner : op.getBlock()->without_terminator())
    count += !inner.hasTrait<OpTrait::ConstantLike>() &&
             !isa<linalg::IndexOp>(inner);
  return count;
}

/// Returns the size of each loop: that of the first operand dim that it indexes
/// by itself, or dynamic if there is none.
static SmallVector<int64_t> getLoopSizes(linalg::LinalgOp op,
                                         ArrayRef<AffineMap> maps) {
  SmallVector<std::optional<int64_t>> found(op.getNumLoops());
  for (auto [operand, map] : llvm::zip(op->getOperands(), maps))
    if (auto type = dyn_cast<RankedTensorType>(operand.getType()))
      for (auto [expr, size] : llvm::zip(map.getResults(), type.getShape()))
        if (auto loop = dyn_cast<AffineDimExpr>(expr))
          if (std::optional<int64_t> &known = found[loop.getPosition()]; !known)
            known = size;
  SmallVector<int64_t> sizes;
  for (std::optional<int64_t> size : found)
    sizes.push_back(size.value_or(ShapedType::kDynamic));
  return sizes;
}

/// Returns true if the init of result `r` is a linalg.fill with a
/// floating-point constant that is not NaN.
static bool startsFromNumber(linalg::LinalgOp op, unsigned r) {
  auto fill = op.getDpsInits()[r].getDefiningOp<linalg::FillOp>();
  APFloat value(0.0f);
  return fill && matchPattern(fill.getInputs()[0], m_ConstantFloat(&value)) &&
         !value.isNaN();
}

/// Returns the reduction that combines the values of result `r`, or
/// std::nullopt if the body does not combine them by one known op.
static std::optional<Reduction> findReduction(linalg::LinalgOp op, unsigned r) {
  SmallVector<Operation *> combiners;
  if (!matchReduction(op.getRegionOutputArgs(), r, combiners) ||
      combiners.size() != 1)
    return std::nullopt;
  return llvm::TypeSwitch<Operation *, std::optional<Reduction>>(combiners[0])
      .Case<arith::AddFOp, arith::AddIOp>(
          [](Operation *) { return Reduction::Sum; })
      .Case<arith::MaximumFOp, arith::MaxSIOp>(
          [](Operation *) { return Reduction::Max; })
      .Case<arith::MinimumFOp, arith::MinSIOp>(
          [](Operation *) { return Reduction::Min; })
      // Starting from a number, results are numbers, on which the ops agree.
      .Case<arith::MaxNumFOp>([&](Operation *) {
        return startsFromNumber(op, r) ? std::optional(Reduction::Max)
                                       : std::nullopt;
      })
      .Case<arith::MinNumFOp>([&](Operation *) {
        return startsFromNumber(op, r) ? std::optional(Reduction::Min)
                                       : std::nullopt;
      })
      .Default([](Operation *) { return std::nullopt; });
}

static OpLayoutRule getStructuredRule(linalg::LinalgOp op) {
  if (!op.hasPureTensorSemantics())
    return OpaqueRule{kHasMemory};
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  if (llvm::any_of(maps, [](AffineMap map) { return map.getNumSymbols(); }))
    return OpaqueRule{"an indexing map has symbols"};

  LoopsRule rule;
  for (auto [iterator, size] :
       llvm::zip(op.getIteratorTypesArray(), getLoopSizes(op, maps)))
    rule.loops.push_back({iterator, size, false});
  for (OpOperand &operand : op->getOpOperands()) {
    bool isTensor = isa<RankedTensorType>(operand.get().getType());
    rule.operandMaps.push_back(isTensor ? maps[operand.getOperandNumber()]
                                        : AffineMap());
    rule.isRead.push_back(isTensor && op.payloadUsesValueFromOperand(&operand));
  }
  for (auto [r, init] : llvm::enumerate(op.getDpsInitsMutable())) {
    rule.resultMaps.push_back(maps[init.getOperandNumber()]);
    rule.combiners.push_back(findReduction(op, r));
    rule.inits.push_back(init.getOperandNumber());
  }
  rule.opsPerPoint = countScalarOps(op);
  findTileableLoops(rule);
  // The body reads the loop index, which a tiled loop does not have.
  op.getBlock()->walk([&](linalg::IndexOp index) {
    rule.loops[index.getDim()].tileable = false;
  });
  return rule;
}

namespace {
template <typename OpTy>
struct StructuredModel
    : LayoutOpInterface::ExternalModel<StructuredModel<OpTy>, OpTy> {
  OpLayoutRule getLayoutRule(Operation *op) const {
    return getStructuredRule(cast<linalg::LinalgOp>(op));
  }
};

struct FillModel : LayoutOpInterface::ExternalModel<FillModel, linalg::FillOp> {
  OpLayoutRule getLayoutRule(Operation *op) const {
    OpLayoutRule rule = getStructuredRule(cast<linalg::LinalgOp>(op));
    if (auto *loops = std::get_if<LoopsRule>(&rule))
      loops->onlyWrites = true;
    return rule;
  }
};

/// The rule of softmax: one loop per dim, of which all but the normalized dim
/// may be tiled, in any combination of layouts.
struct SoftmaxModel
    : LayoutOpInterface::ExternalModel<SoftmaxModel, linalg::SoftmaxOp> {
  OpLayoutRule getLayoutRule(Operation *op) const {
    auto softmax = cast<linalg::SoftmaxOp>(op);
    if (!softmax.hasPureTensorSemantics())
      return OpaqueRule{kHasMemory};
    LoopsRule rule = getElementwiseRule(op);
    rule.loops[softmax.getDimension()].tileable = false;
    rule.runsAnywhere = true;
    // The destination is not read.
    rule.isRead.back() = false;
    // maximum, difference, exponential, sum and division
    rule.opsPerPoint = 5;
    return rule;
  }
};

/// Returns the dims of the unpacked tensor of a pack or unpack op as functions
/// of those of the packed tensor, and the inverse. Returns std::nullopt if the
/// tiles are not proven to divide the sizes, so that there may be padding.
template <typename OpTy>
std::optional<std::pair<IndexView, IndexView>>
getPackViews(OpTy op, RankedTensorType plain, RankedTensorType packed) {
  unsigned rank = plain.getRank();
  ArrayRef<int64_t> perm = op.getOuterDimsPerm();
  IndexView toPlain, toPacked;
  toPlain.rank = packed.getRank();
  toPacked.rank = rank;
  toPlain.sizes.assign(packed.getShape().begin(), packed.getShape().end());
  toPacked.sizes.assign(plain.getShape().begin(), plain.getShape().end());
  toPlain.dims.resize(rank);
  toPlain.sizeOf.resize(rank);
  toPacked.dims.resize(packed.getRank());
  toPacked.sizeOf.resize(packed.getRank());
  auto sizeOf = [](RankedTensorType type, unsigned d) {
    return type.isDynamicDim(d) ? SizeExpr::dim(d)
                                : SizeExpr(type.getDimSize(d));
  };
  for (unsigned outer = 0; outer < rank; ++outer) {
    unsigned d = perm.empty() ? outer : perm[outer];
    auto tiled = llvm::find(op.getInnerDimsPos(), int64_t(d));
    if (tiled == op.getInnerDimsPos().end()) {
      toPlain.dims[d] = IndexExpr::dim(outer);
      toPlain.sizeOf[d] = sizeOf(packed, outer);
      toPacked.dims[outer] = IndexExpr::dim(d);
      toPacked.sizeOf[outer] = sizeOf(plain, d);
      continue;
    }
    unsigned k = tiled - op.getInnerDimsPos().begin();
    unsigned inner = rank + k;
    int64_t tile = op.getStaticInnerTiles()[k];
    int64_t size = plain.getDimSize(d);
    if (ShapedType::isDynamic(tile) || ShapedType::isDynamic(size) ||
        size % tile != 0 || packed.getDimSize(outer) != size / tile)
      return std::nullopt;
    toPlain.dims[d] = add(scale(IndexExpr::dim(outer), SizeExpr(tile)),
                          IndexExpr::dim(inner));
    toPlain.sizeOf[d] = SizeExpr(size);
    toPacked.dims[outer] = takeDigit(IndexExpr::dim(d), tile, 0);
    toPacked.sizeOf[outer] = SizeExpr(size / tile);
    toPacked.dims[inner] = takeDigit(IndexExpr::dim(d), 1, tile);
    toPacked.sizeOf[inner] = SizeExpr(tile);
  }
  return std::make_pair(std::move(toPlain), std::move(toPacked));
}

/// The rule of linalg.pack and linalg.unpack: a view if the tiles divide the
/// sizes. Otherwise tensors keep their types.
template <typename OpTy>
struct PackModel : LayoutOpInterface::ExternalModel<PackModel<OpTy>, OpTy> {
  OpLayoutRule getLayoutRule(Operation *op) const {
    constexpr bool isPack = std::is_same_v<OpTy, linalg::PackOp>;
    auto source = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
    if (!source || op->getNumResults() != 1)
      return OpaqueRule{kHasMemory};
    auto result = cast<RankedTensorType>(op->getResult(0).getType());
    auto views = getPackViews(cast<OpTy>(op), isPack ? source : result,
                              isPack ? result : source);
    if (!views)
      return OpaqueRule{
          "its tiles are not proven to divide the sizes, so it may pad"};
    auto &[toPlain, toPacked] = *views;
    if (!isPack)
      std::swap(toPlain, toPacked);
    return ViewRule{toPlain, toPacked, /*isOfRowMajor=*/false};
  }
};

template <typename OpTy> void attach(MLIRContext *context) {
  if constexpr (std::is_same_v<OpTy, linalg::FillOp>)
    OpTy::template attachInterface<FillModel>(*context);
  else
    OpTy::template attachInterface<StructuredModel<OpTy>>(*context);
}

template <typename... OpTys> void attachAll(MLIRContext *context) {
  (attach<OpTys>(context), ...);
}
} // namespace

void layout::registerLinalgLayoutRules(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, linalg::LinalgDialect *) {
    attachAll<
#define GET_OP_LIST
#include "mlir/Dialect/Linalg/IR/LinalgStructuredOps.cpp.inc"
        >(context);
    linalg::SoftmaxOp::attachInterface<SoftmaxModel>(*context);
    linalg::PackOp::attachInterface<PackModel<linalg::PackOp>>(*context);
    linalg::UnPackOp::attachInterface<PackModel<linalg::UnPackOp>>(*context);
  });
}
