//===- PaddingTaps.cpp - Reduction steps that read only padding -----------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Emitters/PaddingTaps.h"
#include "Emitters/MaskHoisting.h"
#include "layout/Support/ConstantBytes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::layout;

/// The minimum share of steps that read only padding for a loop to skip them.
/// Skipping costs time, because loops whose bounds are computed are not
/// unrolled.
static constexpr double kLeastShare = 0.05;

/// Returns the values in the body of argument `x` that are constants if `x` is
/// `at`.
static DenseMap<Value, Attribute> evaluateAt(BlockArgument x, Attribute at) {
  DenseMap<Value, Attribute> constants{{x, at}};
  for (Operation &op : x.getOwner()->without_terminator()) {
    if (op.getNumResults() != 1 || op.getNumRegions() != 0)
      continue;
    SmallVector<Attribute> operands;
    for (Value operand : op.getOperands()) {
      Attribute &constant = constants[operand];
      if (!constant)
        matchPattern(operand, m_Constant(&constant));
      operands.push_back(constant);
    }
    SmallVector<OpFoldResult> results;
    if (!llvm::is_contained(operands, Attribute()) &&
        succeeded(op.fold(operands, results)) && results.size() == 1)
      constants[op.getResult(0)] = dyn_cast<Attribute>(results.front());
  }
  return constants;
}

static bool isZero(Attribute value) {
  if (auto number = dyn_cast_or_null<FloatAttr>(value))
    return number.getValue().isZero();
  auto number = dyn_cast_or_null<IntegerAttr>(value);
  return number && number.getValue().isZero();
}

/// Returns true if all elements of `tensor` are known to be finite: they are
/// integers, or floats of a constant without infinity and NaN.
static bool isFinite(Value tensor) {
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  if (!type)
    return false;
  auto element = dyn_cast<FloatType>(type.getElementType());
  if (!element)
    return type.getElementType().isIntOrIndex();
  Attribute constant;
  if (!matchPattern(tensor, m_Constant(&constant)))
    return false;
  std::optional<ArrayRef<char>> bytes = getConstantBytes(constant);
  unsigned width = element.getWidth() / 8;
  if (!bytes || bytes->empty() ||
      !(element.isF32() || element.isF16() || element.isBF16() ||
        element.isF64()))
    return false;
  // A number is finite if not all bits of its exponent are set.
  unsigned fraction = element.getFPMantissaWidth() - 1;
  uint64_t exponent = llvm::maskTrailingOnes<uint64_t>(8 * width - 1) &
                      ~llvm::maskTrailingOnes<uint64_t>(fraction);
  for (size_t at = 0; at + width <= bytes->size(); at += width) {
    uint64_t bits = 0;
    std::memcpy(&bits, bytes->data() + at, width);
    if ((bits & exponent) == exponent)
      return false;
  }
  return true;
}

/// Returns true if the body adds to its accumulator a product that is zero if
/// input `number` is `at`.
static bool addsNothingAt(const Kernel &kernel, unsigned number, Attribute at) {
  linalg::LinalgOp op = kernel.root.op;
  Block *body = op.getBlock();
  if (op.getNumDpsInits() != 1 || hasEffects(op))
    return false;
  Value next = body->getTerminator()->getOperand(0);
  if (std::optional<HoistedMasks> masks = findHoistableMasks(kernel, {}))
    next = masks->next;
  Operation *sum = next.getDefiningOp();
  if (!isa_and_nonnull<arith::AddFOp, arith::AddIOp>(sum))
    return false;
  Value old = op.getRegionOutputArgs()[0];
  unsigned added = sum->getOperand(0) == old ? 1 : 0;
  Operation *product = sum->getOperand(added).getDefiningOp();
  if (sum->getOperand(1 - added) != old ||
      !isa_and_nonnull<arith::MulFOp, arith::MulIOp>(product))
    return false;
  DenseMap<Value, Attribute> constants =
      evaluateAt(body->getArgument(number), at);
  for (unsigned factor : {0u, 1u}) {
    if (!isZero(constants.lookup(product->getOperand(factor))))
      continue;
    // Zero times infinity would be NaN.
    Value other = product->getOperand(1 - factor);
    while (Operation *extended = other.getDefiningOp()) {
      if (!isa<arith::ExtFOp>(extended))
        break;
      other = extended->getOperand(0);
    }
    auto argument = dyn_cast<BlockArgument>(other);
    if (isa<arith::MulIOp>(product) ||
        (argument && argument.getOwner() == body &&
         argument.getArgNumber() < kernel.root.numInputs() &&
         isFinite(op.getDpsInputOperand(argument.getArgNumber())->get())))
      return true;
  }
  return false;
}

/// Returns the taps along a padded dim with the subscript `subscript`, without
/// `low` and `size`. Returns std::nullopt unless the subscript is linear with
/// positive factors and has exactly one reduction loop of several iterations.
/// This loop must not be on vector lanes or split into parts.
static std::optional<InnerTaps>
findTaps(const Kernel &kernel, const KernelPlan &plan, AffineExpr subscript) {
  MLIRContext *context = subscript.getContext();
  unsigned dims = kernel.extents.size();
  std::optional<InnerTaps> taps;
  for (unsigned dim = 0; dim < dims; ++dim) {
    if (!subscript.isFunctionOfDim(dim))
      continue;
    auto at = [&](int64_t position) {
      return simplifyAffineExpr(
          subscript.replace(getAffineDimExpr(dim, context),
                            getAffineConstantExpr(position, context)),
          dims, 0);
    };
    auto factor = dyn_cast<AffineConstantExpr>(
        simplifyAffineExpr(at(1) - at(0), dims, 0));
    if (!factor || factor.getValue() < 0 || !subscript.isPureAffine() ||
        simplifyAffineExpr(at(2) - at(1), dims, 0) != factor)
      return std::nullopt;
    if (kernel.isParallel(dim) || kernel.extents[dim] == 1)
      continue;
    if (taps || plan.lane == dim || (plan.parts && plan.parts->dim == dim))
      return std::nullopt;
    taps = InnerTaps{dim, factor.getValue(), at(0), 0, {}};
  }
  return taps;
}

/// Returns the share of the iterations of the loop over `taps` that tiles of
/// `plan` skip, with assumed extents if these are dynamic. Returns 0 if
/// `taps.rest` does not depend on exactly one dim.
static double shareOfPadding(const Kernel &kernel, const KernelPlan &plan,
                             const InnerTaps &taps) {
  std::optional<unsigned> slides;
  for (unsigned dim = 0, e = kernel.extents.size(); dim < e; ++dim) {
    if (!taps.rest.isFunctionOfDim(dim))
      continue;
    if (slides)
      return 0;
    slides = dim;
  }
  if (!slides)
    return 0;
  MLIRContext *context = taps.rest.getContext();
  auto restAt = [&](int64_t position) {
    return cast<AffineConstantExpr>(
               simplifyAffineExpr(
                   taps.rest.replace(getAffineDimExpr(*slides, context),
                                     getAffineConstantExpr(position, context)),
                   kernel.extents.size(), 0))
        .getValue();
  };
  auto extent = static_cast<int64_t>(countOf(kernel.extents[*slides]));
  auto steps = static_cast<int64_t>(countOf(kernel.extents[taps.dim]));
  int64_t size = getConstantIntValue(taps.size).value_or(
      restAt(extent - 1) + 1 + (steps - 1) * taps.factor - 2 * taps.low);
  int64_t kept = 0, all = 0;
  for (int64_t from = 0; from < extent; from += plan.tile[*slides]) {
    int64_t last = std::min(from + plan.tile[*slides], extent) - 1;
    for (int64_t tap = 0; tap < steps; ++tap, ++all)
      kept += tap * taps.factor + restAt(last) >= taps.low &&
              tap * taps.factor + restAt(from) < taps.low + size;
  }
  return 1 - double(kept) / all;
}

SmallVector<InnerTaps> layout::findInnerTaps(const Kernel &kernel,
                                             const KernelPlan &plan) {
  SmallVector<InnerTaps> found;
  for (unsigned i = 0, e = kernel.root.numInputs(); i < e; ++i) {
    Value tensor = kernel.root.operands[i];
    auto insert = tensor.getDefiningOp<tensor::InsertSliceOp>();
    auto fill = insert ? insert.getDest().getDefiningOp<linalg::FillOp>()
                       : linalg::FillOp();
    Attribute padding;
    if (!fill || !matchPattern(fill.value(), m_Constant(&padding)) ||
        !kernel.root.groups[i].empty() || !insert.hasUnitStride() ||
        insert.getSourceType().getRank() != insert.getType().getRank())
      continue;
    for (auto [dim, subscript] :
         llvm::enumerate(kernel.root.maps[i].getResults())) {
      std::optional<InnerTaps> taps = findTaps(kernel, plan, subscript);
      if (!taps || insert.isDynamicOffset(dim))
        continue;
      taps->low = insert.getStaticOffset(dim);
      taps->size = insert.getMixedSizes()[dim];
      if (shareOfPadding(kernel, plan, *taps) >= kLeastShare)
        found.push_back(*taps);
    }
    if (!found.empty() && addsNothingAt(kernel, i, padding))
      return found;
    found.clear();
  }
  return found;
}
