//===- SolveSwizzles.cpp - Solve swizzles for digits ----------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proofs/SolveSwizzles.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir::layout;
using llvm::ArrayRef;

using Lookup = llvm::function_ref<std::optional<Formula>(const Digit &)>;

/// The maximal number of linear equations over GF(2) that are solved for the
/// bits of digits, because the time of elimination is cubic in it. With more
/// equations, no bits are solved.
constexpr size_t kMaxEquations = 512;

std::optional<Formula> mlir::layout::lookupSum(const IndexExpr &x,
                                               Lookup lookup) {
  Formula sum = IndexExpr(x.constant);
  for (const DigitTerm &term : x.terms) {
    std::optional<Formula> digit = lookup(term.digit);
    if (!digit)
      return std::nullopt;
    if (sum && *digit)
      sum = add(*sum, scale(**digit, term.stride));
    else
      sum = std::nullopt;
  }
  return sum;
}

/// Returns the xor of the lowest `bits` bits of all formulas, or std::nullopt
/// if one is unknown.
static Formula xorAll(ArrayRef<Formula> formulas, unsigned bits) {
  llvm::SmallVector<IndexExpr> operands;
  for (const Formula &formula : formulas) {
    if (!formula)
      return std::nullopt;
    operands.push_back(*formula);
  }
  return xorBits(operands, bits);
}

/// Solves a swizzle of known value for its only operand that is not determined:
/// the xor of the swizzle and the other operands. Returns std::nullopt unless
/// exactly one operand is not determined, and it is a single digit.
static std::optional<KnownDigit> solveOperand(const KnownDigit &known,
                                              Lookup lookup, Sizes sizes) {
  const Swizzle &swizzle = *known.digit.swizzle;
  std::optional<Digit> unknown;
  llvm::SmallVector<Formula> formulas{known.formula,
                                      IndexExpr(SizeExpr(swizzle.constant))};
  for (const IndexExpr &operand : swizzle.operands) {
    IndexExpr value = takeDigit(operand, 1, swizzle.getExtent(), sizes);
    if (std::optional<Formula> formula = lookupSum(value, lookup)) {
      formulas.push_back(*formula);
      continue;
    }
    const Digit *digit = value.getSingleDigit();
    if (unknown || !digit)
      return std::nullopt;
    unknown = *digit;
  }
  if (!unknown)
    return std::nullopt;
  return KnownDigit{*unknown, xorAll(formulas, swizzle.bits)};
}

namespace {

/// Linear equations over GF(2): the xor of some unknown bits of digits is the
/// xor of known formulas.
class BitSystem {
public:
  BitSystem(Lookup lookup, Sizes sizes) : lookup(lookup), sizes(sizes) {}

  void addSwizzle(const KnownDigit &known);
  std::vector<KnownDigit> solve();

private:
  unsigned getVariable(const Digit &digit);

  struct Equation {
    llvm::SmallVector<unsigned> variables; // may repeat
    llvm::SmallVector<Formula> value;
  };

  Lookup lookup;
  Sizes sizes;
  std::vector<Digit> variables;
  std::vector<Equation> equations;
};

} // namespace

unsigned BitSystem::getVariable(const Digit &digit) {
  auto it = llvm::find_if(variables, [&](const Digit &variable) {
    return variable.compare(digit) == 0;
  });
  if (it == variables.end()) {
    variables.push_back(digit);
    return variables.size() - 1;
  }
  return it - variables.begin();
}

void BitSystem::addSwizzle(const KnownDigit &known) {
  const Swizzle &swizzle = *known.digit.swizzle;
  for (unsigned bit = 0; bit < swizzle.bits; ++bit) {
    int64_t divisor = int64_t(1) << bit;
    Equation equation;
    equation.value.push_back(
        known.formula ? Formula(takeDigit(*known.formula, divisor, 2))
                      : Formula());
    equation.value.push_back(
        IndexExpr(SizeExpr((swizzle.constant >> bit) & 1)));
    bool isUsable = true;
    for (const IndexExpr &operand : swizzle.operands) {
      IndexExpr value = takeDigit(operand, divisor, 2, sizes);
      if (std::optional<Formula> formula = lookupSum(value, lookup))
        equation.value.push_back(*formula);
      else if (const Digit *digit = value.getSingleDigit())
        equation.variables.push_back(getVariable(*digit));
      else
        isUsable = false;
    }
    if (isUsable)
      equations.push_back(std::move(equation));
  }
}

std::vector<KnownDigit> BitSystem::solve() {
  if (equations.size() > kMaxEquations)
    return {};
  // One row per equation: a bit per variable that occurs, and then a bit per
  // equation that was added to it.
  size_t width = variables.size(), count = equations.size();
  std::vector<llvm::BitVector> rows(count, llvm::BitVector(width + count));
  for (size_t r = 0; r < count; ++r) {
    for (unsigned variable : equations[r].variables)
      rows[r].flip(variable);
    rows[r].set(width + r);
  }
  size_t rank = 0;
  for (size_t v = 0; v < width && rank < count; ++v) {
    auto pivot =
        std::find_if(rows.begin() + rank, rows.end(),
                     [&](const llvm::BitVector &row) { return row[v]; });
    if (pivot == rows.end())
      continue;
    std::swap(*pivot, rows[rank]);
    for (size_t r = 0; r < count; ++r)
      if (r != rank && rows[r][v])
        rows[r] ^= rows[rank];
    ++rank;
  }
  std::vector<KnownDigit> solved;
  for (size_t r = 0; r < rank; ++r) {
    int variable = rows[r].find_first();
    int next = rows[r].find_next(variable);
    if (next >= 0 && size_t(next) < width)
      continue;
    llvm::SmallVector<Formula> formulas;
    for (size_t e = 0; e < count; ++e)
      if (rows[r][width + e])
        llvm::append_range(formulas, equations[e].value);
    solved.push_back({variables[variable], xorAll(formulas, 1)});
  }
  return solved;
}

std::vector<KnownDigit> mlir::layout::solveSwizzles(ArrayRef<KnownDigit> known,
                                                    Lookup lookup,
                                                    Sizes sizes) {
  std::vector<KnownDigit> solved;
  BitSystem system(lookup, sizes);
  for (const KnownDigit &digit : known) {
    if (!digit.digit.swizzle || !digit.digit.isWholeSource())
      continue;
    if (std::optional<KnownDigit> operand = solveOperand(digit, lookup, sizes))
      solved.push_back(std::move(*operand));
    else
      system.addSwizzle(digit);
  }
  if (solved.empty())
    solved = system.solve();
  return solved;
}
