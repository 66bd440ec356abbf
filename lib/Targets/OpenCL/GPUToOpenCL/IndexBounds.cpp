//===- IndexBounds.cpp - Bounds of kernel indices -------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "IndexBounds.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::layout;

/// The maximal number of terms of a bound; a bound with more is treated as
/// unknown.
constexpr size_t kMostTerms = 32;

//===----------------------------------------------------------------------===//
// Bound
//===----------------------------------------------------------------------===//

Bound::Bound(double constant) {
  if (constant != 0)
    terms[{}] = constant;
}

Bound Bound::symbol(unsigned number) {
  std::vector<int> powers(number + 1);
  powers.back() = 1;
  Bound result;
  result.terms[powers] = 1;
  return result;
}

Bound Bound::operator+(const Bound &other) const {
  Bound sum = *this;
  for (const auto &[powers, coefficient] : other.terms)
    if ((sum.terms[powers] += coefficient) == 0)
      sum.terms.erase(powers);
  return sum;
}

static std::vector<int> addPowers(const std::vector<int> &a,
                                  const std::vector<int> &b, int sign) {
  std::vector<int> sum = a;
  sum.resize(std::max(a.size(), b.size()));
  for (auto [i, power] : llvm::enumerate(b))
    sum[i] += sign * power;
  while (!sum.empty() && sum.back() == 0)
    sum.pop_back();
  return sum;
}

Bound Bound::operator*(const Bound &other) const {
  Bound product;
  for (const auto &[powers, coefficient] : terms)
    for (const auto &[otherPowers, factor] : other.terms) {
      Bound term;
      term.terms[addPowers(powers, otherPowers, 1)] = coefficient * factor;
      product = product + term;
    }
  return product;
}

std::optional<Bound> Bound::dividedBy(const Bound &divisor) const {
  if (divisor.terms.size() != 1)
    return std::nullopt;
  const auto &[powers, factor] = *divisor.terms.begin();
  Bound quotient;
  for (const auto &[own, coefficient] : terms)
    quotient.terms[addPowers(own, powers, -1)] = coefficient / factor;
  return quotient;
}

double Bound::getConstantTerm() const {
  auto constant = terms.find({});
  return constant == terms.end() ? 0 : constant->second;
}

std::optional<double> Bound::getConstant() const {
  bool isConstant =
      terms.empty() || (terms.size() == 1 && terms.begin()->first.empty());
  return isConstant ? std::optional<double>(getConstantTerm()) : std::nullopt;
}

bool Bound::isAtLeast(const Bound &other) const {
  return llvm::all_of((*this - other).terms,
                      [](const auto &term) { return term.second >= 0; });
}

Bound Bound::above(const Bound &a, const Bound &b) {
  Bound result;
  for (auto [one, other] : {std::pair(&a, &b), std::pair(&b, &a)})
    for (const auto &[powers, coefficient] : one->terms) {
      auto same = other->terms.find(powers);
      double least = same == other->terms.end() ? 0 : same->second;
      if (double most = std::max(coefficient, least))
        result.terms[powers] = most;
    }
  return result;
}

Bound Bound::below(const Bound &a, const Bound &b) {
  return above(a * -1.0, b * -1.0) * -1.0;
}

Value Bound::emit(OpBuilder &b, Location loc,
                  function_ref<Value(unsigned)> symbolOf) const {
  auto constant = [&](double value) {
    return arith::ConstantOp::create(b, loc, b.getF64FloatAttr(value));
  };
  Value sum = constant(getConstantTerm());
  for (const auto &[powers, coefficient] : terms) {
    if (powers.empty())
      continue;
    Value product = constant(coefficient);
    for (auto [number, power] : llvm::enumerate(powers)) {
      for (int i = 0; i < power; ++i)
        product = arith::MulFOp::create(b, loc, product, symbolOf(number));
      for (int i = 0; i > power; --i)
        product = arith::DivFOp::create(b, loc, product, symbolOf(number));
    }
    sum = arith::AddFOp::create(b, loc, sum, product);
  }
  return sum;
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

using Bounds = IndexBounds::Range;

/// Returns an upper bound of the absolute value of an index in the range `x`.
static Bound getMagnitude(const Bounds &x) {
  return Bound::above(Bound::above(x.most, x.least * -1.0), 0);
}

/// Returns the smaller of two valid upper bounds, or the one with fewer terms
/// if neither is proven to be smaller.
static const Bound &tighter(const Bound &a, const Bound &b) {
  if (a.isAtLeast(b))
    return b;
  if (b.isAtLeast(a))
    return a;
  return a.getNumTerms() < b.getNumTerms() ? a : b;
}

static Bounds multiply(const Bounds &x, const Bounds &y) {
  if (x.isNotNegative() && y.isNotNegative())
    return {x.least * y.least, x.most * y.most};
  for (auto [factor, other] : {std::pair(x, y), std::pair(y, x)}) {
    std::optional<double> least = factor.least.getConstant();
    if (!least || least != factor.most.getConstant())
      continue;
    Bounds product{other.least * *least, other.most * *least};
    if (*least < 0)
      std::swap(product.least, product.most);
    return product;
  }
  Bound most = getMagnitude(x) * getMagnitude(y);
  return {most * -1.0, most};
}

/// Returns the range of x / divisor, for a divisor of at least one: rounded
/// down if `x` is not negative, else rounded in any direction.
static Bounds divide(const Bounds &x, const Bounds &divisor) {
  auto quotient = [&](const Bound &bound) {
    // A divisor is at least one.
    return bound.dividedBy(divisor.least).value_or(bound);
  };
  if (!x.isNotNegative()) {
    Bound most = quotient(getMagnitude(x)) + 1;
    return {most * -1.0, most};
  }
  Bound least;
  if (divisor.most.getConstant()) {
    std::optional<Bound> rounded =
        (x.least - divisor.most + 1).dividedBy(divisor.most);
    if (rounded && rounded->isNotNegative())
      least = *rounded;
  }
  return {least, quotient(x.most)};
}

static Bounds takeRemainder(const Bounds &x, const Bounds &divisor) {
  Bound last = divisor.most - 1;
  if (x.isNotNegative())
    return {0, tighter(last, x.most)};
  return {last * -1.0, last};
}

/// Returns false if the ranges of its operands prove that `condition`, a signed
/// less-than, is false; else std::nullopt.
static std::optional<bool> decide(Value condition, const IndexBounds &bounds) {
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  if (!compare || compare.getPredicate() != arith::CmpIPredicate::slt)
    return std::nullopt;
  const Bounds *x = bounds.find(compare.getLhs()),
               *y = bounds.find(compare.getRhs());
  if (x && y && x->least.isAtLeast(y->most))
    return false;
  return std::nullopt;
}

static bool isIndex(Value value) { return value.getType().isIndex(); }

std::optional<Bounds> IndexBounds::compute(Operation *op) const {
  if (std::optional<int64_t> constant = getConstantIntValue(op->getResult(0)))
    return Bounds{double(*constant), double(*constant)};
  SmallVector<Bounds> given;
  for (Value operand : op->getOperands()) {
    if (!isIndex(operand))
      continue;
    const Bounds *range = find(operand);
    if (!range)
      return std::nullopt;
    given.push_back(*range);
  }
  if (given.size() != 2)
    return std::nullopt;
  const Bounds &x = given[0], &y = given[1];
  bool areNotNegative = x.isNotNegative() && y.isNotNegative();
  auto ifNotNegative = [&](const Bounds &range) {
    return areNotNegative ? std::optional(range) : std::nullopt;
  };
  return TypeSwitch<Operation *, std::optional<Bounds>>(op)
      .Case([&](arith::AddIOp) {
        return Bounds{x.least + y.least, x.most + y.most};
      })
      .Case([&](arith::SubIOp) {
        return Bounds{x.least - y.most, x.most - y.least};
      })
      .Case([&](arith::MulIOp) { return multiply(x, y); })
      .Case([&](arith::DivUIOp) { return ifNotNegative(divide(x, y)); })
      .Case([&](arith::RemUIOp) { return ifNotNegative(takeRemainder(x, y)); })
      .Case<arith::DivSIOp, arith::FloorDivSIOp>(
          [&](Operation *) -> std::optional<Bounds> {
            if (!y.isNotNegative())
              return std::nullopt;
            return divide(x, y);
          })
      .Case([&](arith::RemSIOp) -> std::optional<Bounds> {
        if (!y.isNotNegative())
          return std::nullopt;
        return takeRemainder(x, y);
      })
      .Case<arith::CeilDivUIOp, arith::CeilDivSIOp>([&](Operation *) {
        return ifNotNegative({0, divide(x, y).most + 1});
      })
      .Case([&](arith::MinSIOp) {
        return Bounds{Bound::below(x.least, y.least), tighter(x.most, y.most)};
      })
      .Case([&](arith::MaxSIOp) {
        bool takesSecond = y.least.isAtLeast(x.least) ||
                           (!x.isNotNegative() && y.isNotNegative());
        return Bounds{takesSecond ? y.least : x.least,
                      Bound::above(x.most, y.most)};
      })
      .Case([&](arith::MinUIOp) {
        return ifNotNegative({0, tighter(x.most, y.most)});
      })
      .Case([&](arith::MaxUIOp) {
        return ifNotNegative({x.least, Bound::above(x.most, y.most)});
      })
      .Case([&](arith::AndIOp) {
        return ifNotNegative({0, tighter(x.most, y.most)});
      })
      .Case<arith::OrIOp, arith::XOrIOp>(
          [&](Operation *) { return ifNotNegative({0, x.most + y.most}); })
      .Case([&](arith::SelectOp select) {
        if (decide(select.getCondition(), *this) == false)
          return y;
        return Bounds{Bound::below(x.least, y.least),
                      Bound::above(x.most, y.most)};
      })
      .Default([](Operation *) { return std::nullopt; });
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

const Bounds *IndexBounds::find(Value index) const {
  auto range = ranges.find(index);
  return range == ranges.end() ? nullptr : &range->second;
}

bool IndexBounds::include(const Bounds &range) {
  Bound magnitude = getMagnitude(range);
  if (range.most.getNumTerms() > kMostTerms ||
      range.least.getNumTerms() > kMostTerms ||
      magnitude.getConstantTerm() >= kLimit)
    return false;
  largest = Bound::above(largest, magnitude);
  return true;
}

void IndexBounds::add(Value index, const std::optional<Bounds> &range) {
  if (range && include(*range))
    ranges.try_emplace(index, *range);
}

/// Returns the range of ids along `dimension`: below `items` or, if that is -1,
/// below the number of work-groups, a symbol, times their size `group`. Returns
/// std::nullopt if both are -1.
static std::optional<Bounds> getPositions(unsigned dimension, int64_t items,
                                          int64_t group) {
  if (items >= 0)
    return Bounds{0, double(std::max<int64_t>(items - 1, 0))};
  if (group < 0)
    return std::nullopt;
  return Bounds{0, Bound::symbol(dimension) * double(group) - 1};
}

bool layout::computesWithIndices(Operation *op) {
  return isa<arith::ArithDialect>(op->getDialect()) &&
         !isa<arith::ConstantOp, arith::IndexCastOp, arith::IndexCastUIOp>(
             op) &&
         llvm::any_of(op->getOperands(), isIndex);
}

void IndexBounds::addOp(Operation *op, const Grid &grid) {
  if (auto id = dyn_cast<gpu::GlobalIdOp>(op)) {
    auto dimension = static_cast<unsigned>(id.getDimension());
    add(id, getPositions(dimension, grid[dimension], grid[dimension + 3]));
  } else if (auto id = dyn_cast<gpu::ThreadIdOp>(op)) {
    auto dimension = static_cast<unsigned>(id.getDimension());
    if (int64_t group = grid[dimension + 3]; group >= 0)
      add(id, getPositions(dimension, group, group));
  } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
    const Bounds *begin = find(loop.getLowerBound()),
                 *end = find(loop.getUpperBound()),
                 *step = find(loop.getStep());
    if (!isIndex(loop.getInductionVar()) || !begin || !end || !step)
      return;
    // The index must fit in 32 bits after the last iteration, too.
    if (!include({begin->least, end->most + step->most}))
      return;
    add(loop.getInductionVar(), Bounds{begin->least, end->most - 1});
    ops.push_back(op);
    return;
  } else if (op->getNumResults() == 1 && isIndex(op->getResult(0))) {
    add(op->getResult(0), compute(op));
  }
  auto isKnown = [&](Value value) { return !isIndex(value) || find(value); };
  if (computesWithIndices(op) && llvm::all_of(op->getOperands(), isKnown) &&
      llvm::all_of(op->getResults(), isKnown))
    ops.push_back(op);
}

IndexBounds::IndexBounds(gpu::GPUFuncOp kernel, const Grid &grid) {
  Block &entry = kernel.getBody().front();
  for (BlockArgument argument : entry.getArguments())
    if (isIndex(argument)) {
      Bound size = Bound::symbol(kNumGroupSymbols + argument.getArgNumber());
      add(argument, Bounds{size, size});
    }
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) { addOp(op, grid); });
}
