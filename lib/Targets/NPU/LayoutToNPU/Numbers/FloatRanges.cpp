//===- FloatRanges.cpp - Bounds of f32 values -----------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Numbers/FloatRanges.h"
#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Support/ConstantBytes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;
using namespace mlir::layout;

/// The number of values, one depending on the next, that are followed to find a
/// range; ranges beyond are unbounded. Bounds that an op relies on are close to
/// it, and chains of ops can be thousands long.
static constexpr unsigned kMostDepth = 64;
/// The bytes of the largest constant whose elements are read. Elements of
/// larger ones, e.g. weights, may be any float: sums over them have no useful
/// bounds.
static constexpr size_t kMostConstantBytes = 1 << 20;
static constexpr float kInfinity = std::numeric_limits<float>::infinity();

bool FloatRange::excludesMinusZero() const {
  return low > 0 || high < 0 || (low == 0 && !std::signbit(low));
}

/// Returns the lesser of two numbers other than NaN, with -0 less than +0.
static float getLess(float a, float b) {
  return a == b ? (std::signbit(a) ? a : b) : std::min(a, b);
}
static float getGreater(float a, float b) {
  return a == b ? (std::signbit(a) ? b : a) : std::max(a, b);
}

FloatRange FloatRange::join(const FloatRange &other) const {
  return {getLess(low, other.low), getGreater(high, other.high)};
}

/// Returns the range of the elements of a constant that are not NaN, or all
/// floats if the elements are not known or exceed kMostConstantBytes.
static FloatRange ofConstant(Attribute value) {
  if (auto number = dyn_cast<FloatAttr>(value)) {
    float only = number.getValue().convertToFloat();
    return std::isnan(only) ? FloatRange::none() : FloatRange::of(only);
  }
  auto numbers = dyn_cast<ElementsAttr>(value);
  std::optional<ArrayRef<char>> bytes;
  if (numbers && numbers.getElementType().isF32())
    bytes = getConstantBytes(numbers);
  if (!bytes || bytes->size() > kMostConstantBytes)
    return {};
  FloatRange range = FloatRange::none();
  for (size_t i = 0; i + sizeof(float) <= bytes->size(); i += sizeof(float)) {
    float number;
    std::memcpy(&number, bytes->data() + i, sizeof(number));
    if (!std::isnan(number))
      range = range.join(FloatRange::of(number));
  }
  return range;
}

//===----------------------------------------------------------------------===//
// Differences to a maximum
//===----------------------------------------------------------------------===//

namespace {
/// A read of a tensor: the map from loops to the element that is read.
struct Access {
  Value tensor;
  AffineMap map;
};
} // namespace

static std::optional<Access> getAccess(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto op = argument
                ? dyn_cast<linalg::LinalgOp>(argument.getOwner()->getParentOp())
                : linalg::LinalgOp();
  if (!op || int64_t(argument.getArgNumber()) >= op.getNumDpsInputs())
    return std::nullopt;
  OpOperand &operand = op->getOpOperand(argument.getArgNumber());
  if (!isa<RankedTensorType>(operand.get().getType()))
    return std::nullopt;
  return Access{operand.get(), op.getMatchingIndexingMap(&operand)};
}

/// Returns the read of the tensor from which `access.tensor` is made by
/// reshapes that only add or drop dims of size 1.
static Access skipUnitReshapes(Access access) {
  while (Operation *op = access.tensor.getDefiningOp()) {
    if (!isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op))
      break;
    auto from = cast<RankedTensorType>(op->getOperand(0).getType());
    auto to = cast<RankedTensorType>(access.tensor.getType());
    SmallVector<AffineExpr> kept, exprs;
    for (auto [expr, size] :
         llvm::zip_equal(access.map.getResults(), to.getShape()))
      if (size != 1)
        kept.push_back(expr);
    unsigned next = 0;
    AffineExpr zero = getAffineConstantExpr(0, op->getContext());
    for (int64_t size : from.getShape())
      exprs.push_back(size == 1            ? zero
                      : next < kept.size() ? kept[next++]
                                           : AffineExpr());
    auto getSizes = [](RankedTensorType type) {
      return llvm::filter_to_vector(type.getShape(),
                                    [](int64_t size) { return size != 1; });
    };
    if (getSizes(from) != getSizes(to))
      break;
    access = {op->getOperand(0), AffineMap::get(access.map.getNumDims(), 0,
                                                exprs, op->getContext())};
  }
  return access;
}

/// Returns the input over which `op` takes the maximum, or a null pointer for
/// other ops.
static OpOperand *getMaximized(linalg::LinalgOp op) {
  if (op.getNumDpsInits() != 1 || op.getNumReductionLoops() == 0)
    return nullptr;
  Value yielded = op.getBlock()->getTerminator()->getOperand(0);
  Operation *max = yielded.getDefiningOp();
  if (!isa_and_nonnull<arith::MaximumFOp, arith::MaxNumFOp>(max))
    return nullptr;
  Value out = op.getBlock()->getArgument(op.getNumDpsInputs());
  for (unsigned i : {0, 1}) {
    auto argument = dyn_cast<BlockArgument>(max->getOperand(i));
    if (argument && max->getOperand(1 - i) == out && argument != out)
      return &op->getOpOperand(argument.getArgNumber());
  }
  return nullptr;
}

/// Returns true if every element of the tensor is read: each dim is indexed by
/// a loop or has size 1.
static bool readsAll(const Access &read) {
  auto type = cast<RankedTensorType>(read.tensor.getType());
  return llvm::all_of(llvm::zip_equal(read.map.getResults(), type.getShape()),
                      [](auto dim) {
                        auto [expr, size] = dim;
                        return size == 1 || isa<AffineDimExpr>(expr);
                      });
}

/// Returns true if `b`, a value of a body, is an element of a tensor of maxima,
/// and `a` is one of the elements over which this maximum is taken.
static bool isMaximumOver(Value b, Value a) {
  std::optional<Access> most = getAccess(b), element = getAccess(a);
  if (!most || !element)
    return false;
  *most = skipUnitReshapes(*most);
  *element = skipUnitReshapes(*element);
  auto op = most->tensor.getDefiningOp<linalg::LinalgOp>();
  OpOperand *input = op ? getMaximized(op) : nullptr;
  if (!input)
    return false;
  Access read =
      skipUnitReshapes({input->get(), op.getMatchingIndexingMap(input)});
  AffineMap written = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (read.tensor != element->tensor || !readsAll(read) ||
      !written.isProjectedPermutation())
    return false;
  // The iteration that reads `a` must write the maximum `b`.
  auto type = cast<RankedTensorType>(most->tensor.getType());
  for (auto [dim, at, size] : llvm::zip_equal(
           written.getResults(), most->map.getResults(), type.getShape())) {
    std::optional<unsigned> position = read.map.getResultPosition(dim);
    if (size != 1 && (!position || element->map.getResult(*position) != at))
      return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Ops of bodies
//===----------------------------------------------------------------------===//

/// Returns true if both values are the same element of the same tensor.
static bool isSame(Value a, Value b) {
  if (a == b)
    return true;
  std::optional<Access> left = getAccess(a), right = getAccess(b);
  return left && right && left->tensor == right->tensor &&
         left->map == right->map && a.getParentBlock() == b.getParentBlock();
}

FloatRange FloatRanges::ofDifference(Operation *op, FloatRange a,
                                     FloatRange b) {
  FloatRange range{a.low - b.high, a.high - b.low};
  if (isMaximumOver(op->getOperand(1), op->getOperand(0)))
    range.high = std::min(range.high, 0.0f);
  return range;
}

FloatRange FloatRanges::ofProduct(Operation *op, FloatRange a, FloatRange b) {
  // 0 * inf is NaN, which ranges ignore, so it counts as 0 for the bounds.
  auto multiply = [](float x, float y) {
    return x == 0 || y == 0 ? 0.0f : x * y;
  };
  bool isSquare = isSame(op->getOperand(0), op->getOperand(1));
  FloatRange range = FloatRange::none();
  for (float x : {a.low, a.high})
    for (float y : {b.low, b.high})
      range = range.join(FloatRange::of(multiply(x, y)));
  bool isPositive =
      isSquare || (a.low >= 0 && b.low >= 0 && a.excludesMinusZero() &&
                   b.excludesMinusZero());
  if (isPositive)
    range.low = isSquare ? 0.0f : std::max(range.low, 0.0f);
  else if (range.low == 0)
    range.low = -0.0f;
  return range;
}

/// Returns the range of an increasing function `fn` on `range`.
template <typename Fn> static FloatRange map(FloatRange range, Fn fn) {
  return {fn(range.low), fn(range.high)};
}

static FloatRange ofQuotient(FloatRange a, FloatRange b) {
  // Divisors that may be below the smallest normal number may be 0 or underflow
  // to it.
  if (!(b.low >= std::numeric_limits<float>::min()))
    return {};
  FloatRange range = FloatRange::none();
  for (float x : {a.low, a.high})
    for (float y : {b.low, b.high})
      range = range.join(
          FloatRange::of(std::isinf(x) && std::isinf(y) ? x : x / y));
  return range;
}

/// Returns the value of an operand that is a constant other than NaN, or
/// std::nullopt if there is none.
static std::optional<float> getNumber(Operation *op) {
  APFloat number(0.0f);
  for (Value operand : op->getOperands())
    if (matchPattern(operand, m_ConstantFloat(&number)) && !number.isNaN())
      return number.convertToFloat();
  return std::nullopt;
}

FloatRange FloatRanges::ofArith(Operation *op) {
  auto in = [&](unsigned i) { return get(op->getOperand(i)); };
  return llvm::TypeSwitch<Operation *, FloatRange>(op)
      .Case<arith::AddFOp>([&](auto) {
        FloatRange a = in(0), b = in(1);
        return FloatRange{a.low + b.low, a.high + b.high};
      })
      .Case<arith::SubFOp>([&](auto) { return ofDifference(op, in(0), in(1)); })
      .Case<arith::MulFOp>([&](auto) { return ofProduct(op, in(0), in(1)); })
      .Case<arith::DivFOp>([&](auto) { return ofQuotient(in(0), in(1)); })
      .Case<arith::NegFOp>([&](auto) {
        FloatRange a = in(0);
        return FloatRange{-a.high, -a.low};
      })
      // If one operand is NaN, the result may be the other one, whatever its
      // value.
      .Case<arith::MaximumFOp, arith::MaxNumFOp>([&](auto) {
        FloatRange both = in(0).join(in(1));
        both.low = std::max(both.low, getNumber(op).value_or(both.low));
        return both;
      })
      .Case<arith::MinimumFOp, arith::MinNumFOp>([&](auto) {
        FloatRange both = in(0).join(in(1));
        both.high = std::min(both.high, getNumber(op).value_or(both.high));
        return both;
      })
      .Case<arith::SelectOp>([&](auto) { return in(1).join(in(2)); })
      .Case<math::ExpOp>(
          [&](auto) { return map(in(0), [](float x) { return std::exp(x); }); })
      .Case<math::TanhOp>([&](auto) {
        return map(in(0), [](float x) { return std::tanh(x); });
      })
      .Case<math::SqrtOp>([&](auto) {
        return map(in(0),
                   [](float x) { return x > 0 ? std::sqrt(x) : x * 0.0f; });
      })
      .Case<math::AbsFOp>([&](auto) {
        FloatRange a = in(0);
        return FloatRange{a.low > 0    ? a.low
                          : a.high < 0 ? -a.high
                                       : 0.0f,
                          std::max(std::abs(a.low), std::abs(a.high))};
      })
      .Case<arith::SIToFPOp, arith::UIToFPOp>([&](auto cast) {
        unsigned bits =
            getElementTypeOrSelf(cast.getIn()).getIntOrFloatBitWidth();
        bool isSigned = isa<arith::SIToFPOp>(op);
        return FloatRange{isSigned ? -std::ldexp(1.0f, int(bits) - 1) : 0.0f,
                          std::ldexp(1.0f, int(bits) - isSigned)};
      })
      .Default([](Operation *) { return FloatRange(); });
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

/// Returns the range of a sum, maximum or minimum of all elements and the init,
/// or all floats for other reductions.
FloatRange FloatRanges::ofReduction(linalg::LinalgOp op, unsigned result) {
  Block *block = op.getBlock();
  Operation *last = block->getTerminator()->getOperand(result).getDefiningOp();
  Value out = block->getArgument(op.getNumDpsInputs() + result);
  if (!last || last->getNumOperands() != 2)
    return {};
  unsigned term = last->getOperand(0) == out ? 1 : 0;
  if (last->getOperand(1 - term) != out || last->getOperand(term) == out)
    return {};
  FloatRange each = get(last->getOperand(term)),
             start = get(op.getDpsInits()[result]);
  if (isa<arith::MaximumFOp, arith::MaxNumFOp, arith::MinimumFOp,
          arith::MinNumFOp>(last))
    return each.join(start);
  if (!isa<arith::AddFOp>(last))
    return {};
  double trips = 1;
  SmallVector<unsigned> reduced;
  op.getReductionDims(reduced);
  for (unsigned loop : reduced)
    trips *= double(op.getStaticLoopRanges()[loop]);
  if (op.hasDynamicShape() || each.isEmpty())
    return {};
  // A sum of positive terms is at least one term, and a sum with negative ones
  // at least `trips` times the lowest; likewise for the highest.
  return {start.low + float(std::min(trips * each.low, double(each.low))),
          start.high + float(std::max(trips * each.high, double(each.high)))};
}

FloatRange FloatRanges::ofResult(linalg::LinalgOp op, unsigned result) {
  Block *block = op.getBlock();
  if (op.getNumReductionLoops() > 0)
    return ofReduction(op, result);
  FloatRange range = get(block->getTerminator()->getOperand(result));
  // Elements of the result that no iteration writes keep those of the init.
  OpOperand *init = op.getDpsInitOperand(result);
  if (!op.getMatchingIndexingMap(init).isPermutation())
    range = range.join(get(init->get()));
  return range;
}

FloatRange FloatRanges::ofArgument(BlockArgument argument) {
  auto op = dyn_cast<linalg::LinalgOp>(argument.getOwner()->getParentOp());
  // An accumulator of a reduction has other values than the init.
  if (!op || (int64_t(argument.getArgNumber()) >= op.getNumDpsInputs() &&
              op.getNumReductionLoops() > 0))
    return {};
  return get(op->getOperand(argument.getArgNumber()));
}

FloatRange FloatRanges::compute(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return ofArgument(argument);
  Operation *op = value.getDefiningOp();
  Attribute constant;
  if (matchPattern(value, m_Constant(&constant)))
    return ofConstant(constant);
  auto in = [&](unsigned i) { return get(op->getOperand(i)); };
  if (auto compute = dyn_cast<linalg::LinalgOp>(op))
    return ofResult(compute, cast<OpResult>(value).getResultNumber());
  if (isa<tensor::EmptyOp>(op))
    return FloatRange::none();
  if (isa<tensor::ExtractSliceOp, tensor::ExpandShapeOp,
          tensor::CollapseShapeOp, tensor::CastOp, tensor::ExtractOp,
          layout::ConvertOp>(op))
    return in(0);
  if (isa<tensor::InsertSliceOp>(op))
    return in(0).join(in(1));
  if (isa<tensor::ConcatOp>(op)) {
    FloatRange range = FloatRange::none();
    for (Value input : op->getOperands())
      range = range.join(get(input));
    return range;
  }
  if (auto pad = dyn_cast<tensor::PadOp>(op)) {
    Value padding = pad.getConstantPaddingValue();
    return padding ? in(0).join(get(padding)) : FloatRange();
  }
  return ofArith(op);
}

FloatRange FloatRanges::get(Value value) {
  if (!getElementTypeOrSelf(value).isF32() || depth >= kMostDepth)
    return {};
  if (auto known = ranges.find(value); known != ranges.end())
    return known->second;
  ++depth;
  FloatRange range = compute(value);
  --depth;
  // A bound that is NaN, e.g. a difference of infinities, is unknown.
  if (std::isnan(range.low))
    range.low = -kInfinity;
  if (std::isnan(range.high))
    range.high = kInfinity;
  return ranges[value] = range;
}
