//===- SizeExpr.cpp - Symbolic sizes --------------------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Algebra/SizeExpr.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <atomic>
#include <limits>
#include <numeric>

using namespace mlir::layout;
using llvm::ArrayRef;

namespace {

/// The maximal number of factors of a term that is multiplied out, with each
/// size written as 1 + t, to prove that a polynomial is not negative. If a term
/// has more factors, the proof is given up.
constexpr size_t kMaxExpandedDegree = 8;

int compareFactors(ArrayRef<SizeExpr::Atom> a, ArrayRef<SizeExpr::Atom> b) {
  // Order terms with more factors first, then by atoms: a monomial order, as
  // exact division requires.
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

std::vector<SizeExpr::Term> &SizeExpr::Terms::edit() {
  if (!shared)
    shared = std::make_shared<std::vector<Term>>();
  else if (shared.use_count() > 1)
    shared = std::make_shared<std::vector<Term>>(*shared);
  else // orders earlier reads by owners that have released it
    std::atomic_thread_fence(std::memory_order_acquire);
  return *shared;
}

SizeExpr SizeExpr::dim(unsigned d) {
  SizeExpr result;
  Atom atom;
  atom.dim = d;
  result.terms.edit().push_back(Term{1, {atom}});
  return result;
}

/// The maximal divisor of a ceiling, beyond which the result is an overflow.
/// For larger ones, two rounded-up sizes fit 64 bits, but not their sum, which
/// printing a layout computes.
static constexpr int64_t kLargestDivisor = int64_t(1) << 62;

SizeExpr SizeExpr::overflow() {
  SizeExpr result;
  result.overflowed = true;
  return result;
}

void SizeExpr::addTerm(const Term &term) {
  if (overflowed || term.coeff == 0)
    return;
  if (term.factors.empty()) {
    if (llvm::AddOverflow(constant, term.coeff, constant))
      *this = overflow();
    return;
  }
  std::vector<Term> &own = terms.edit();
  auto it = llvm::lower_bound(own, term, [](const Term &a, const Term &b) {
    return compareFactors(a.factors, b.factors) < 0;
  });
  if (it == own.end() || compareFactors(it->factors, term.factors) != 0) {
    own.insert(it, term);
    return;
  }
  if (llvm::AddOverflow(it->coeff, term.coeff, it->coeff)) {
    *this = overflow();
    return;
  }
  if (it->coeff == 0)
    own.erase(it);
}

/// Returns all terms in descending monomial order, with the constant, if it is
/// not 0, as a last term without factors.
std::vector<SizeExpr::Term> SizeExpr::getAllTerms() const {
  std::vector<Term> all = terms.get().vec();
  if (constant != 0)
    all.push_back(Term{constant, {}});
  return all;
}

SizeExpr SizeExpr::operator+(const SizeExpr &other) const {
  if (overflowed || other.overflowed)
    return overflow();
  if (terms.empty() && !other.terms.empty())
    return other + *this;
  SizeExpr result = *this;
  if (llvm::AddOverflow(constant, other.constant, result.constant))
    return overflow();
  for (const Term &term : other.terms)
    result.addTerm(term);
  return result;
}

SizeExpr SizeExpr::operator-(const SizeExpr &other) const {
  return *this + other * SizeExpr(-1);
}

/// Multiplies every coefficient by c. Returns false on int64 overflow; the
/// coefficients are then partly multiplied.
static bool scaleTerms(std::vector<SizeExpr::Term> &terms, int64_t c) {
  for (SizeExpr::Term &term : terms)
    if (llvm::MulOverflow(term.coeff, c, term.coeff))
      return false;
  return true;
}

SizeExpr SizeExpr::operator*(const SizeExpr &other) const {
  if (overflowed || other.overflowed)
    return overflow();
  if (terms.empty() && !other.terms.empty())
    return other * *this;
  SizeExpr result;
  if (other.terms.empty()) {
    if (other.constant == 0)
      return result;
    result = *this;
    if (llvm::MulOverflow(constant, other.constant, result.constant) ||
        (other.constant != 1 && !terms.empty() &&
         !scaleTerms(result.terms.edit(), other.constant)))
      return overflow();
    return result;
  }
  for (const Term &a : getAllTerms()) {
    for (const Term &b : other.getAllTerms()) {
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
  // The magnitude of the minimal int64 does not fit an int64; half of it is a
  // divisor, too.
  auto magnitude = [](int64_t x) {
    return x < 0 ? uint64_t(0) - uint64_t(x) : uint64_t(x);
  };
  uint64_t g = magnitude(constant);
  for (const Term &term : terms)
    g = std::gcd(g, magnitude(term.coeff));
  return g > uint64_t(std::numeric_limits<int64_t>::max()) ? int64_t(g / 2)
                                                           : int64_t(g);
}

SizeExpr SizeExpr::ceilDiv(int64_t den) const {
  if (overflowed || den < 1 || den > kLargestDivisor)
    return overflow();
  if (den == 1)
    return *this;
  if (terms.empty())
    return llvm::divideCeilSigned(constant, den);
  auto getCeiling = [](SizeExpr num, int64_t den) {
    auto ceil = std::make_shared<Ceil>();
    ceil->num = std::move(num);
    ceil->den = den;
    SizeExpr result;
    Term &term = result.terms.edit().emplace_back();
    term.coeff = 1;
    term.factors.emplace_back().ceil = std::move(ceil);
    return result;
  };
  // Fast path: most often this is the size of a dim.
  if (terms.size() == 1 && constant == 0 && terms[0].coeff == 1 &&
      terms[0].factors.size() == 1 && !terms[0].factors[0].ceil)
    return getCeiling(*this, den);
  // ceil((k * p + r) / k) is p + ceil(r / k): split off the multiples of `den`.
  SizeExpr whole, rest;
  for (const Term &term : getAllTerms()) {
    if (term.coeff % den == 0)
      whole.addTerm(Term{term.coeff / den, term.factors});
    else
      rest.addTerm(term);
  }
  if (std::optional<int64_t> c = rest.getConstant())
    return whole + SizeExpr(llvm::divideCeilSigned(*c, den));
  int64_t g = std::gcd(rest.content(), den);
  if (g > 1) {
    for (Term &term : rest.terms.edit())
      term.coeff /= g;
    rest.constant /= g;
    den /= g;
  }
  if (den == 1)
    return whole + rest;
  // Merge nested ceilings: ceil(ceil(p, a) + q, b) is ceil(p + a * q, a * b).
  auto isCeil = [](const Term &term) {
    return term.coeff == 1 && term.factors.size() == 1 && term.factors[0].ceil;
  };
  if (llvm::count_if(rest.terms, isCeil) == 1) {
    std::vector<Term> &own = rest.terms.edit();
    auto term = llvm::find_if(own, isCeil);
    std::shared_ptr<const Ceil> inner = term->factors[0].ceil;
    own.erase(term);
    int64_t product;
    if (llvm::MulOverflow(inner->den, den, product))
      return overflow();
    return whole + (inner->num + rest * inner->den).ceilDiv(product);
  }
  return whole + getCeiling(std::move(rest), den);
}

/// Returns head / lead, or std::nullopt if the coefficients do not divide or
/// `lead` has a factor that `head` does not have.
static std::optional<SizeExpr::Term> divideTerm(const SizeExpr::Term &head,
                                                const SizeExpr::Term &lead) {
  if (lead.coeff == -1 && head.coeff == std::numeric_limits<int64_t>::min())
    return std::nullopt;
  if (head.coeff % lead.coeff != 0)
    return std::nullopt;
  // head.factors minus lead.factors, as sorted multisets.
  SizeExpr::Term quotient{head.coeff / lead.coeff, {}};
  size_t i = 0;
  for (const SizeExpr::Atom &factor : head.factors) {
    if (i < lead.factors.size() && factor.compare(lead.factors[i]) == 0)
      ++i;
    else
      quotient.factors.push_back(factor);
  }
  if (i != lead.factors.size())
    return std::nullopt;
  return quotient;
}

std::optional<SizeExpr> SizeExpr::exactQuotient(const SizeExpr &divisor) const {
  if (overflowed || divisor.overflowed || divisor.isZero())
    return std::nullopt;
  if (divisor.terms.empty()) {
    int64_t c = divisor.constant;
    if (c == -1) { // INT64_MIN / -1 overflows
      SizeExpr negated = *this * SizeExpr(-1);
      return negated.overflowed ? std::nullopt
                                : std::optional<SizeExpr>(std::move(negated));
    }
    if (c == 1)
      return *this;
    if (constant % c != 0 || llvm::any_of(terms, [&](const Term &term) {
          return term.coeff % c != 0;
        }))
      return std::nullopt;
    SizeExpr quotient = *this;
    quotient.constant /= c;
    if (!terms.empty())
      for (Term &term : quotient.terms.edit())
        term.coeff /= c;
    return quotient;
  }
  SizeExpr quotient, rest = *this;
  const Term lead = divisor.terms.front();
  // Fast path: most strides are single products.
  if (terms.size() == 1 && constant == 0 && divisor.terms.size() == 1 &&
      divisor.constant == 0) {
    std::optional<Term> term = divideTerm(terms.front(), lead);
    if (!term)
      return std::nullopt;
    quotient.addTerm(*term);
    return quotient;
  }
  while (!rest.isZero()) {
    // A divisor with factors does not divide a constant.
    if (rest.terms.empty())
      return std::nullopt;
    const Term &head = rest.terms.front();
    std::optional<Term> step = divideTerm(head, lead);
    if (!step)
      return std::nullopt;
    SizeExpr stepExpr;
    stepExpr.addTerm(*step);
    SizeExpr next = rest - stepExpr * divisor;
    // Each step must cancel the first term of the rest, or the division does
    // not terminate.
    if (next.overflowed ||
        (!next.terms.empty() &&
         compareFactors(next.terms.front().factors, head.factors) <= 0))
      return std::nullopt;
    quotient = quotient + stepExpr;
    rest = std::move(next);
  }
  return quotient;
}

/// Returns true if the product of the factors of `term`, without its
/// coefficient, divides that of `other`.
static bool divides(const SizeExpr::Term &term, const SizeExpr::Term &other) {
  size_t i = 0;
  for (const SizeExpr::Atom &factor : other.factors)
    if (i < term.factors.size() && factor.compare(term.factors[i]) == 0)
      ++i;
  return i == term.factors.size();
}

bool SizeExpr::isPositiveForm() const {
  auto isNegative = [](const Term &term) { return term.coeff < 0; };
  if (constant >= 0 && llvm::none_of(terms, isNegative))
    return true;
  // Sizes are at least 1, so a term is at least any term whose factors are
  // among its own. If such terms compensate every negative term, no expansion
  // is needed.
  std::vector<Term> positive, negative;
  size_t degree = 0;
  for (const Term &term : getAllTerms()) {
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
  // The number of terms of the expansion doubles with each factor.
  if (degree > kMaxExpandedDegree)
    return false;

  // With every variable v >= 1 written as 1 + t, t >= 0, non-negative
  // coefficients prove the polynomial non-negative.
  SizeExpr shifted(constant);
  for (const Term &term : terms) {
    SizeExpr product(term.coeff);
    for (const Atom &atom : term.factors) {
      SizeExpr variable(1);
      variable.addTerm(Term{1, {atom}});
      product = product * variable;
    }
    shifted = shifted + product;
  }
  return !shifted.overflowed && shifted.constant >= 0 &&
         llvm::all_of(shifted.terms,
                      [](const Term &term) { return term.coeff >= 0; });
}

/// Returns a lower bound with fewer ceilings: p replaces den * ceil(p, den),
/// which is at least p, in terms with a positive coefficient that is a multiple
/// of den. If `only` is not null, replaces this ceiling only. Otherwise
/// replaces all for which den divides what is left of the coefficient, those
/// with the largest den first if `largestFirst`, else last.
SizeExpr SizeExpr::dropSlack(const Atom *only, bool largestFirst) const {
  SizeExpr result(constant);
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
      bool isChosen = !only || atom.compare(*only) == 0;
      if (isChosen && atom.ceil && coeff > 0 && coeff % atom.ceil->den == 0) {
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

/// Returns a lower bound of `size`: in terms with a positive coefficient that
/// is a multiple of k, replaces k * ceil(p, k * den) by ceil(p, den), which is
/// at most as large. Here ceil(p, den) is `step`, and k > 1 is any integer.
static SizeExpr inStepsOf(const SizeExpr &size, const SizeExpr::Ceil &step) {
  SizeExpr result(size.getConstantTerm());
  for (const SizeExpr::Term &term : size.getTerms()) {
    int64_t coeff = term.coeff;
    SizeExpr product(1);
    for (const SizeExpr::Atom &atom : term.factors) {
      int64_t den = atom.ceil ? atom.ceil->den : 0;
      if (atom.ceil && coeff > 0 && den > step.den && den % step.den == 0 &&
          coeff % (den / step.den) == 0 && atom.ceil->num == step.num) {
        coeff /= den / step.den;
        den = step.den;
      }
      product = product * (atom.ceil ? atom.ceil->num.ceilDiv(den)
                                     : SizeExpr::dim(atom.dim));
    }
    result = result + product * SizeExpr(coeff);
  }
  return result;
}

/// Shapes on which a comparison of two sizes is tried first. If it is false on
/// one of them, it cannot hold for all sizes, and the far slower proof is not
/// tried.
static constexpr int64_t kLarge = int64_t(1) << 14, kHuge = int64_t(1) << 30;
static constexpr int64_t kSamples[][8] = {
    {3, 5, 2, 7, 4, 11, 6, 13},
    {1, 1, 1, 1, 1, 1, 1, 1},
    {97, 1, 89, 1, 83, 1, 79, 1},
    {1, 97, 1, 89, 1, 83, 1, 79},
    {kLarge, kLarge, kLarge, kLarge, kLarge, kLarge, kLarge, kLarge},
    {kHuge, kHuge, kHuge, kHuge, kHuge, kHuge, kHuge, kHuge}};

bool SizeExpr::isProvablyAtLeast(const SizeExpr &other) const {
  if (isConstant() && other.isConstant())
    return constant >= other.constant;
  if (overflowed || other.overflowed)
    return false;
  if (*this == other)
    return true;
  // Fast path for products: one has all factors of the other, and the remaining
  // factors are at least 1.
  auto isPositive = [](const Atom &atom) {
    return !atom.ceil || atom.ceil->num.isProvablyAtLeast(1);
  };
  auto isProduct = [](const SizeExpr &x) {
    return x.terms.size() + (x.constant != 0) == 1;
  };
  if (constant == 0 && isProduct(*this) && isProduct(other)) {
    bool isNumber = other.terms.empty();
    int64_t coeff = isNumber ? other.constant : other.terms[0].coeff;
    if (0 < coeff && coeff <= terms[0].coeff &&
        (isNumber || divides(other.terms[0], terms[0])) &&
        llvm::all_of(terms[0].factors, isPositive))
      return true;
  }
  for (ArrayRef<int64_t> sample : kSamples) {
    std::optional<int64_t> a = evaluate(sample), b = other.evaluate(sample);
    if (a && b && *a < *b)
      return false;
  }
  SizeExpr difference = *this - other;
  if (difference.overflowed)
    return false;
  if (std::optional<int64_t> constant = difference.getConstant())
    return *constant >= 0;
  // A ceiling is at least 1 only if its numerator is.
  for (const Term &term : difference.terms)
    for (const Atom &atom : term.factors)
      if (atom.ceil && !atom.ceil->num.isProvablyAtLeast(1))
        return false;
  if (difference.isPositiveForm() ||
      difference.dropSlack(nullptr, /*largestFirst=*/true).isPositiveForm() ||
      difference.dropSlack(nullptr, /*largestFirst=*/false).isPositiveForm())
    return true;
  return llvm::any_of(difference.terms, [&](const Term &term) {
    return llvm::any_of(term.factors, [&](const Atom &atom) {
      if (!atom.ceil)
        return false;
      if (difference.dropSlack(&atom).isPositiveForm())
        return true;
      if (term.coeff > 0)
        return false;
      SizeExpr finer = inStepsOf(difference, *atom.ceil);
      return finer != difference && finer.isProvablyAtLeast(SizeExpr(0));
    });
  });
}

std::optional<int64_t> SizeExpr::evaluate(ArrayRef<int64_t> sizes) const {
  if (overflowed)
    return std::nullopt;
  int64_t sum = constant;
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
  if (terms.empty())
    return *this;
  if (overflowed)
    return overflow();
  // Fast path: most replacements are constants, which make the result one.
  llvm::SmallVector<int64_t, 8> sizes;
  for (const SizeExpr &size : replacement)
    sizes.push_back(size.isConstant() ? size.constant : -1);
  if (std::optional<int64_t> value = evaluate(sizes))
    return *value;
  SizeExpr result(constant);
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
  if (terms.empty())
    return *this;
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
  return constant == other.constant ? 0 : (constant < other.constant ? -1 : 1);
}

void SizeExpr::print(llvm::raw_ostream &os) const {
  if (terms.empty()) {
    os << constant;
    return;
  }
  llvm::interleave(
      getAllTerms(), os,
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
  llvm::hash_code hash = llvm::hash_value(expr.constant);
  if (expr.overflowed)
    return llvm::hash_combine(hash, true);
  for (const SizeExpr::Term &term : expr.terms) {
    hash = llvm::hash_combine(hash, term.coeff);
    for (const SizeExpr::Atom &atom : term.factors)
      hash = atom.ceil ? llvm::hash_combine(hash, atom.ceil->den,
                                            hash_value(atom.ceil->num))
                       : llvm::hash_combine(hash, atom.dim);
  }
  return hash;
}
