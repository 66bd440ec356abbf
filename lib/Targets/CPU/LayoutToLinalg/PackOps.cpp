//===- PackOps.cpp - Conversions as linalg.pack and unpack ----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PackOps.h"
#include "layout/Analysis/CopyPlan.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Interfaces/ReachedStorage.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace mlir::layout;

namespace {

/// Describes a pack or unpack: one operand of a copy has axes that are divided
/// into tiles, and the other operand has the resulting digits as axes.
struct Packing {
  SmallVector<int64_t> outerDimsPerm, innerDimsPos, innerTiles;
  /// `packed` has the digits in the order of the packed tensor of linalg.pack:
  /// outer dims, then tiles. `stored` has them in the order in which the other
  /// operand of the copy stores them.
  SmallVector<unsigned> packed, stored;
  /// True if tiles do not divide an axis, so that the packed tensor has
  /// padding.
  bool isNonDivisible = false;
};

} // namespace

/// Returns the number of positions of one tile of `axis`, the product of its
/// digits after the first. Returns std::nullopt if it is dynamic, or if the
/// extent of the first digit is not the number of such tiles that cover the
/// axis.
static std::optional<int64_t> getTile(const IterationSpace &space,
                                      const AxisAccess &axis) {
  int64_t tile = 1;
  for (unsigned digit : ArrayRef(axis.digits).drop_front()) {
    std::optional<int64_t> extent = space.digits[digit].extent.getConstant();
    if (!extent)
      return std::nullopt;
    tile *= *extent;
  }
  if (axis.extent.ceilDiv(tile) != space.digits[axis.digits.front()].extent)
    return std::nullopt;
  return tile;
}

/// Returns the packing in which the axes of `operand` are divided into tiles:
/// operand 0, the source, for a pack, and operand 1, the result, for an unpack.
/// Returns std::nullopt if there is none. Also returns std::nullopt if tiles
/// divide the axes and the other operand has another order than the pack,
/// because reshapes and a transposition then suffice.
static std::optional<Packing> getPacking(const IterationSpace &space,
                                         unsigned operand) {
  Packing packing;
  for (const AxisAccess &axis : space.operands[1 - operand]) {
    if (!isExact(axis))
      return std::nullopt;
    llvm::append_range(packing.stored, axis.digits);
  }
  ArrayRef<AxisAccess> axes = space.operands[operand];
  for (auto [a, axis] : llvm::enumerate(axes)) {
    packing.isNonDivisible |= !isExact(axis);
    packing.outerDimsPerm.push_back(a);
    if (axis.digits.size() > 1)
      packing.innerDimsPos.push_back(a);
    if (axis.digits.empty() || !getTile(space, axis))
      return std::nullopt;
  }

  // Sorts axes by the order of their digits in the other operand.
  auto sortBy = [&](unsigned digit, SmallVectorImpl<int64_t> &dims) {
    llvm::stable_sort(dims, [&](int64_t a, int64_t b) {
      return llvm::find(packing.stored, axes[a].digits[digit]) <
             llvm::find(packing.stored, axes[b].digits[digit]);
    });
  };
  sortBy(0, packing.outerDimsPerm);
  sortBy(1, packing.innerDimsPos);
  for (int64_t a : packing.outerDimsPerm)
    packing.packed.push_back(axes[a].digits.front());
  for (int64_t a : packing.innerDimsPos) {
    packing.innerTiles.push_back(*getTile(space, axes[a]));
    llvm::append_range(packing.packed, ArrayRef(axes[a].digits).drop_front());
  }
  if (packing.innerDimsPos.empty() ||
      !std::is_permutation(packing.packed.begin(), packing.packed.end(),
                           packing.stored.begin(), packing.stored.end()) ||
      (packing.packed != packing.stored && !packing.isNonDivisible))
    return std::nullopt;
  return packing;
}

/// Returns true if the pack writes all padding whose value `to` states.
static bool writesStatedPadding(const IterationSpace &space,
                                RankedTensorType to) {
  for (auto [dim, digits] : llvm::enumerate(space.digitsOf)) {
    SizeExpr size = SizeExpr::dim(dim).specialize(to.getShape());
    if (space.isPadded[dim] &&
        llvm::none_of(space.operands[0], [&](const AxisAccess &axis) {
          return axis.digits.front() == digits.front() && axis.extent == size;
        }))
      return false;
  }
  return true;
}

/// Reshapes `value`, a dim of which may have several of the digits `from`, to
/// one dim per digit, and transposes these dims to the order `to`. Returns
/// `value` itself, not reshaped, if the orders are equal.
static Value transposeDigits(OpBuilder &b, Location loc,
                             const IterationSpace &space, Value value,
                             ArrayRef<unsigned> from, ArrayRef<unsigned> to) {
  if (from == to)
    return value;
  auto getType = [&](ArrayRef<unsigned> digits) {
    SmallVector<int64_t> shape;
    for (unsigned digit : digits)
      shape.push_back(*space.digits[digit].extent.getConstant());
    return cast<RankedTensorType>(value.getType()).clone(shape);
  };
  SmallVector<int64_t> permutation;
  for (unsigned digit : to)
    permutation.push_back(llvm::find(from, digit) - from.begin());
  Value expanded = reinterpretShape(b, loc, value, getType(from));
  Value init = tensor::EmptyOp::create(b, loc, getType(to), ValueRange());
  return linalg::TransposeOp::create(b, loc, expanded, init, permutation)
      ->getResult(0);
}

/// Returns the type of the packed tensor of linalg.pack, which has the elements
/// of a storage of type `stored` in another order. Returns a null type if it is
/// dynamic and differs from `stored`.
static RankedTensorType getPackedType(const IterationSpace &space,
                                      const Packing &packing,
                                      RankedTensorType stored) {
  size_t numOuter = packing.outerDimsPerm.size();
  size_t rank = numOuter + packing.innerTiles.size();
  // Every digit is an axis in both operands.
  if (packing.packed == packing.stored && packing.packed.size() == rank &&
      rank == size_t(stored.getRank()))
    return stored;
  if (!stored.hasStaticShape())
    return {};
  SmallVector<int64_t> shape;
  for (unsigned digit : ArrayRef(packing.packed).take_front(numOuter))
    shape.push_back(*space.digits[digit].extent.getConstant());
  llvm::append_range(shape, packing.innerTiles);
  return stored.clone(shape);
}

Value layout::emitPackOps(OpBuilder &b, Location loc, const CopyPlan &copy,
                          Value source, RankedTensorType to,
                          ArrayRef<OpFoldResult> sizes) {
  const IterationSpace &space = copy.space;
  // A plan without elements has no digits.
  if (space.operands.empty())
    return {};
  std::optional<Packing> packing = getPacking(space, 0);
  bool isPack = packing.has_value();
  if (!isPack)
    packing = getPacking(space, 1);
  if (!packing ||
      (statesPadding(to) && !(isPack && writesStatedPadding(space, to))))
    return {};
  std::optional<Value> padding;
  if (isPack && packing->isNonDivisible) {
    if (!hasFiller(to))
      return {};
    padding = createFiller(b, loc, to);
  }
  RankedTensorType result = *getPhysicalType(to);
  RankedTensorType packedType =
      getPackedType(space, *packing,
                    isPack ? result : cast<RankedTensorType>(source.getType()));
  if (!packedType)
    return {};

  SmallVector<OpFoldResult> tiles =
      getAsIndexOpFoldResult(b.getContext(), packing->innerTiles);
  ArrayRef<int64_t> outer = packing->outerDimsPerm;
  if (isIdentityPermutation(outer))
    outer = {};
  if (!isPack) {
    Value packed = transposeDigits(b, loc, space, source, packing->stored,
                                   packing->packed);
    return linalg::UnPackOp::create(
               b, loc, reinterpretShape(b, loc, packed, packedType),
               createEmpty(b, loc, to, sizes), packing->innerDimsPos, tiles,
               outer)
        ->getResult(0);
  }
  Value init = packedType == result
                   ? createEmpty(b, loc, to, sizes)
                   : tensor::EmptyOp::create(b, loc, packedType, ValueRange());
  Value packed =
      linalg::PackOp::create(b, loc, source, init, packing->innerDimsPos, tiles,
                             padding, outer)
          ->getResult(0);
  return reinterpretShape(
      b, loc,
      transposeDigits(b, loc, space, packed, packing->packed, packing->stored),
      result);
}
