//===- SizeExpr.cpp - Sizes known only when a shape is --------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Algebra/SizeExpr.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <limits>
#include <numeric>

using namespace mlir::layout;
using llvm::ArrayRef;

namespace {

/// Products of more sizes than this are not expanded in proofs.
constexpr size_t kMaxExpandedDegree = 8;

int compareFactors(ArrayRef<SizeExpr::Atom> a, ArrayRef<SizeExpr::Atom> b) {
  // Higher degree first, then by atoms: a monomial order, which exact division
  // needs.
  if (a.size() != b.size())
    return a.size() > b.size() ? -1 : 1;
  for (auto [x, y] : llvm::zip(a, b))
    if (int c = x.compare(y))
      return c;
  return 0;
}

} // namespace

int SizeExpr::Atom::compare(const Atom &other) const {
  if (!ceil || !other.ceil) {
    if (ceil || other.ceil)
      return ceil ? 1 : -1;
    return dim == other.dim ? 0 : (dim < other.dim ? -1 : 1);
  }
  if (ceil == other.ceil)
    return 0;
  if (ceil->den != other.ceil->den)
    return ceil->den < other.ceil->den ? -1 : 1;
  return ceil->num.compare(other.ceil->num);
}

SizeExpr::SizeExpr(int64_t c) {
  if (c != 0)
    terms.push_back(Term{c, {}});
}

SizeExpr SizeExpr::dim(unsigned d) {
  SizeExpr result;
  Atom atom;
  atom.dim = d;
  result.terms.push_back(Term{1, {atom}});
  return result;
}

SizeExpr SizeExpr::overflow() {
  SizeExpr result;
  result.overflowed = true;
  return result;
}

bool SizeExpr::isConstant() const { return getConstant().has_value(); }

bool SizeExpr::isConstantEqual(int64_t c) const {
  std::optional<int64_t> value = getConstant();
  return value && *value == c;
}

std::optional<int64_t> SizeExpr::getConstant() const {
  if (overflowed)
    return std::nullopt;
  if (terms.empty())
    return 0;
  if (terms.size() == 1 && terms.front().factors.empty())
    return terms.front().coeff;
  return std::nullopt;
}

void SizeExpr::addTerm(const Term &term) {
  if (overflowed || term.coeff == 0)
    return;
  auto it = llvm::lower_bound(terms, term, [](const Term &a, const Term &b) {
    return compareFactors(a.factors, b.factors) < 0;
  });
  if (it == terms.end() || compareFactors(it->factors, term.factors) != 0) {
    terms.insert(it, term);
    return;
  }
  if (llvm::AddOverflow(it->coeff, term.coeff, it->coeff)) {
    *this = overflow();
    return;
  }
  if (it->coeff == 0)
    terms.erase(it);
}

SizeExpr SizeExpr::operator+(const SizeExpr &other) const {
  if (overflowed || other.overflowed)
    return overflow();
  SizeExpr result = *this;
  for (const Term &term : other.terms)
    result.addTerm(term);
  return result;
}

SizeExpr SizeExpr::operator-(const SizeExpr &other) const {
  return *this + other * SizeExpr(-1);
}

SizeExpr SizeExpr::operator*(const SizeExpr &other) const {
  if (overflowed || other.overflowed)
    return overflow();
  SizeExpr result;
  for (const Term &a : terms) {
    for (const Term &b : other.terms) {
      Term product;
      if (llvm::MulOverflow(a.coeff, b.coeff, product.coeff))
        return overflow();
      product.factors = a.factors;
      llvm::append_range(product.factors, b.factors);
      llvm::sort(product.factors,
                 [](const Atom &x, const Atom &y) { return x.compare(y) < 0; });
      result.addTerm(product);
      if (result.overflowed)
        return result;
    }
  }
  return result;
}

int64_t SizeExpr::content() const {
  int64_t g = 0;
  for (const Term &term : terms)
    g = std::gcd(g, term.coeff);
  return g;
}

SizeExpr SizeExpr::ceilDiv(int64_t den) const {
  if (overflowed || den < 1)
    return overflow();
  if (den == 1)
    return *this;
  // ceil((k * p + r) / k) is p + ceil(r / k): split off what divides.
  SizeExpr whole, rest;
  for (const Term &term : terms) {
    if (term.coeff % den == 0)
      whole.addTerm(Term{term.coeff / den, term.factors});
    else
      rest.addTerm(term);
  }
  if (std::optional<int64_t> c = rest.getConstant())
    return whole + SizeExpr(llvm::divideCeilSigned(*c, den));
  int64_t g = std::gcd(rest.content(), den);
  if (g > 1) {
    for (Term &term : rest.terms)
      term.coeff /= g;
    den /= g;
  }
  if (den == 1)
    return whole + rest;
  // ceil(ceil(p, a), b) is ceil(p, a * b).
  if (rest.terms.size() == 1 && rest.terms[0].coeff == 1 &&
      rest.terms[0].factors.size() == 1 && rest.terms[0].factors[0].ceil) {
    std::shared_ptr<const Ceil> inner = rest.terms[0].factors[0].ceil;
    int64_t product;
    if (llvm::MulOverflow(inner->den, den, product))
      return overflow();
    return whole + inner->num.ceilDiv(product);
  }
  Atom atom;
  auto ceil = std::make_shared<Ceil>();
  ceil->num = rest;
  ceil->den = den;
  atom.ceil = std::move(ceil);
  SizeExpr result = whole;
  result.addTerm(Term{1, {atom}});
  return result;
}

std::optional<SizeExpr> SizeExpr::exactQuotient(const SizeExpr &divisor) const {
  if (overflowed || divisor.overflowed || divisor.terms.empty())
    return std::nullopt;
  SizeExpr quotient, rest = *this;
  const Term &lead = divisor.terms.front();
  while (!rest.terms.empty()) {
    const Term &head = rest.terms.front();
    if (head.coeff % lead.coeff != 0)
      return std::nullopt;
    // head.factors minus lead.factors, as sorted multisets.
    Term step{head.coeff / lead.coeff, {}};
    size_t i = 0;
    for (const Atom &factor : head.factors) {
      if (i < lead.factors.size() && factor.compare(lead.factors[i]) == 0)
        ++i;
      else
        step.factors.push_back(factor);
    }
    if (i != lead.factors.size())
      return std::nullopt;
    SizeExpr stepExpr;
    stepExpr.addTerm(step);
    SizeExpr next = rest - stepExpr * divisor;
    // Each step must cancel the head, or the division does not terminate.
    if (next.overflowed ||
        (!next.terms.empty() &&
         compareFactors(next.terms.front().factors, head.factors) <= 0))
      return std::nullopt;
    quotient = quotient + stepExpr;
    rest = std::move(next);
  }
  return quotient;
}

/// Whether `factors` are among those of `other`.
static bool divides(const SizeExpr::Term &term, const SizeExpr::Term &other) {
  size_t i = 0;
  for (const SizeExpr::Atom &factor : other.factors)
    if (i < term.factors.size() && factor.compare(term.factors[i]) == 0)
      ++i;
  return i == term.factors.size();
}

bool SizeExpr::isPositiveForm() const {
  // Variables are at least 1, so a term outweighs its divisors: where every
  // negative term is paid for by such terms, nothing needs to be expanded.
  std::vector<Term> positive, negative;
  size_t degree = 0;
  for (const Term &term : terms) {
    (term.coeff > 0 ? positive : negative).push_back(term);
    degree = std::max(degree, term.factors.size());
  }
  bool isPaid = llvm::all_of(negative, [&](Term &debt) {
    for (Term &term : positive) {
      if (debt.coeff == 0 || !divides(debt, term))
        continue;
      if (debt.coeff == std::numeric_limits<int64_t>::min())
        return false;
      int64_t paid = std::min(term.coeff, -debt.coeff);
      term.coeff -= paid;
      debt.coeff += paid;
    }
    return debt.coeff == 0;
  });
  if (isPaid)
    return true;
  // The expansion below doubles with each degree.
  if (degree > kMaxExpandedDegree)
    return false;

  // With every variable v >= 1 written as 1 + t, t >= 0, non-negative
  // coefficients prove the polynomial non-negative.
  SizeExpr shifted;
  for (const Term &term : terms) {
    SizeExpr product(term.coeff);
    for (const Atom &atom : term.factors) {
      SizeExpr variable(1);
      variable.addTerm(Term{1, {atom}});
      product = product * variable;
    }
    shifted = shifted + product;
  }
  return !shifted.overflowed &&
         llvm::all_of(shifted.terms,
                      [](const Term &term) { return term.coeff >= 0; });
}

/// A lower bound of `expr`: den * ceil(p, den) is at least p, so in terms with
/// a positive coefficient that den divides, p may stand for it. Factors are
/// tried in the order of `largestFirst`, as one coefficient pays for one.
SizeExpr SizeExpr::dropSlack(bool largestFirst) const {
  SizeExpr result;
  for (const Term &term : terms) {
    int64_t coeff = term.coeff;
    llvm::SmallVector<Atom, 3> factors = term.factors;
    llvm::stable_sort(factors, [&](const Atom &a, const Atom &b) {
      int64_t x = a.ceil ? a.ceil->den : 0, y = b.ceil ? b.ceil->den : 0;
      return largestFirst ? x > y : x < y;
    });
    SizeExpr product(1);
    for (const Atom &atom : factors) {
      SizeExpr variable;
      if (atom.ceil && coeff > 0 && coeff % atom.ceil->den == 0) {
        coeff /= atom.ceil->den;
        variable = atom.ceil->num;
      } else {
        variable.addTerm(Term{1, {atom}});
      }
      product = product * variable;
    }
    result = result + product * SizeExpr(coeff);
  }
  return result;
}

bool SizeExpr::isProvablyAtLeast(const SizeExpr &other) const {
  SizeExpr difference = *this - other;
  if (difference.overflowed)
    return false;
  if (std::optional<int64_t> constant = difference.getConstant())
    return *constant >= 0;
  // A ceiling is at least 1 only where what it divides is.
  for (const Term &term : difference.terms)
    for (const Atom &atom : term.factors)
      if (atom.ceil && !atom.ceil->num.isProvablyAtLeast(1))
        return false;
  return difference.isPositiveForm() ||
         difference.dropSlack(/*largestFirst=*/true).isPositiveForm() ||
         difference.dropSlack(/*largestFirst=*/false).isPositiveForm();
}

std::optional<int64_t> SizeExpr::evaluate(ArrayRef<int64_t> sizes) const {
  if (overflowed)
    return std::nullopt;
  int64_t sum = 0;
  for (const Term &term : terms) {
    int64_t product = term.coeff;
    for (const Atom &atom : term.factors) {
      int64_t value;
      if (atom.ceil) {
        std::optional<int64_t> num = atom.ceil->num.evaluate(sizes);
        if (!num)
          return std::nullopt;
        value = llvm::divideCeilSigned(*num, atom.ceil->den);
      } else {
        if (atom.dim >= sizes.size() || sizes[atom.dim] < 0)
          return std::nullopt;
        value = sizes[atom.dim];
      }
      if (llvm::MulOverflow(product, value, product))
        return std::nullopt;
    }
    if (llvm::AddOverflow(sum, product, sum))
      return std::nullopt;
  }
  return sum;
}

SizeExpr SizeExpr::substitute(ArrayRef<SizeExpr> replacement) const {
  if (overflowed)
    return overflow();
  SizeExpr result;
  for (const Term &term : terms) {
    SizeExpr product(term.coeff);
    for (const Atom &atom : term.factors)
      product =
          product *
          (atom.ceil
               ? atom.ceil->num.substitute(replacement).ceilDiv(atom.ceil->den)
               : replacement[atom.dim]);
    result = result + product;
  }
  return result;
}

SizeExpr SizeExpr::specialize(ArrayRef<int64_t> sizes) const {
  llvm::SmallVector<SizeExpr> replacement;
  for (auto [d, size] : llvm::enumerate(sizes))
    replacement.push_back(size >= 0 ? SizeExpr(size) : SizeExpr::dim(d));
  return substitute(replacement);
}

int SizeExpr::compare(const SizeExpr &other) const {
  if (overflowed != other.overflowed)
    return overflowed ? 1 : -1;
  if (terms.size() != other.terms.size())
    return terms.size() < other.terms.size() ? -1 : 1;
  for (auto [a, b] : llvm::zip(terms, other.terms)) {
    if (int c = compareFactors(a.factors, b.factors))
      return c;
    if (a.coeff != b.coeff)
      return a.coeff < b.coeff ? -1 : 1;
  }
  return 0;
}

void SizeExpr::print(llvm::raw_ostream &os) const {
  if (terms.empty()) {
    os << 0;
    return;
  }
  llvm::interleave(
      terms, os,
      [&](const Term &term) {
        bool needStar = term.coeff != 1 || term.factors.empty();
        if (needStar)
          os << term.coeff;
        for (const Atom &atom : term.factors) {
          if (needStar)
            os << " * ";
          needStar = true;
          if (!atom.ceil) {
            os << "size(d" << atom.dim << ')';
            continue;
          }
          os << "ceil(";
          atom.ceil->num.print(os);
          os << ", " << atom.ceil->den << ')';
        }
      },
      " + ");
}

llvm::hash_code mlir::layout::hash_value(const SizeExpr &expr) {
  llvm::hash_code hash = llvm::hash_value(expr.overflowed);
  for (const SizeExpr::Term &term : expr.terms) {
    hash = llvm::hash_combine(hash, term.coeff);
    for (const SizeExpr::Atom &atom : term.factors)
      hash = atom.ceil ? llvm::hash_combine(hash, atom.ceil->den,
                                            hash_value(atom.ceil->num))
                       : llvm::hash_combine(hash, atom.dim);
  }
  return hash;
}
