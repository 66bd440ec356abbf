//===- IntegerSets.cpp - Proofs by integer set arithmetic -----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A statement is proven if the set of its counterexamples has no integer point.
// isl returns NULL for any operation on NULL. So a value that cannot be
// expressed and a step beyond the bound both result in Unknown.
//
//===----------------------------------------------------------------------===//

#include "layout/Algebra/IntegerSets.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallBitVector.h"
#include <cstdio>
#include <isl/aff.h>
#include <isl/ctx.h>
#include <isl/options.h>
#include <isl/point.h>
#include <isl/set.h>
#include <isl/space.h>
#include <isl/val.h>

using namespace mlir::layout;
using llvm::ArrayRef;
using sets::Statement;

/// The variable to which the build renames the symbol `stderr` in isl's
/// archive; see cmake/LayoutIsl.cmake.
extern "C" {
LLVM_LIBRARY_VISIBILITY extern FILE *layout_isl_stderr;
FILE *layout_isl_stderr = stderr;
}

/// The bounds of one proof. Its weight is the number of its digits, divisors,
/// moduli and ceilings, for which isl adds variables. It is at most kMaxWeight,
/// because beyond it numbers can grow in isl without counted steps. The
/// operations of isl are at most kMaxSteps, and at most kMaxWork / weight^2,
/// because the time of one is quadratic in the weight.
static constexpr unsigned long kMaxWeight = 30;
static constexpr unsigned long kMaxSteps = 1ul << 15;
static constexpr unsigned long kMaxWork = 1ul << 22;

namespace {

struct Free {
  void operator()(isl_ctx *p) const { isl_ctx_free(p); }
  void operator()(isl_aff *p) const { isl_aff_free(p); }
  void operator()(isl_basic_set *p) const { isl_basic_set_free(p); }
  void operator()(isl_space *p) const { isl_space_free(p); }
  void operator()(isl_point *p) const { isl_point_free(p); }
  void operator()(isl_val *p) const { isl_val_free(p); }
};
template <typename T> using Owned = std::unique_ptr<T, Free>;
using Value = Owned<isl_aff>;
using Set = Owned<isl_basic_set>;
using Number = Owned<isl_val>;

} // namespace

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

static isl_aff *copy(const Value &value) { return isl_aff_copy(value.get()); }

static Value add(const Value &a, const Value &b) {
  return Value(isl_aff_add(copy(a), copy(b)));
}

static Value scale(const Value &value, int64_t factor) {
  if (!value)
    return nullptr;
  return Value(isl_aff_scale_val(
      copy(value), isl_val_int_from_si(isl_aff_get_ctx(value.get()), factor)));
}

/// Returns floor(value / divisor).
static Value floorDiv(const Value &value, Number divisor) {
  return Value(
      isl_aff_floor(isl_aff_scale_down_val(copy(value), divisor.release())));
}

/// Returns floor(value / divisor) mod modulus (0: no mod), or a null value if
/// `value` is null. The mod subtracts modulus * floor(value / (divisor *
/// modulus)), a floor that isl shares with the next higher digit.
static Value takeDigit(const Value &value, int64_t divisor, int64_t modulus) {
  if (!value)
    return nullptr;
  isl_ctx *ctx = isl_aff_get_ctx(value.get());
  auto number = [&](int64_t c) { return Number(isl_val_int_from_si(ctx, c)); };
  Value digit =
      divisor == 1 ? Value(copy(value)) : floorDiv(value, number(divisor));
  if (!modulus)
    return digit;
  Number end(isl_val_mul(number(divisor).release(), number(modulus).release()));
  return add(digit, scale(floorDiv(value, std::move(end)), -modulus));
}

static Set equal(const Value &a, const Value &b) {
  return Set(isl_aff_eq_basic_set(copy(a), copy(b)));
}

static Set less(const Value &a, const Value &b) {
  return Set(isl_aff_lt_basic_set(copy(a), copy(b)));
}

static Set intersect(const Set &a, Set b) {
  return Set(isl_basic_set_intersect(isl_basic_set_copy(a.get()), b.release()));
}

namespace {

/// The set of counterexamples of a statement. Its variables are the dynamic
/// sizes and one or two indices of the box.
class Problem {
public:
  Problem(Sizes sizes, unsigned numIndices);

  ArrayRef<Value> getSizes() const { return sizeOf; }
  std::vector<Value> getIndex(unsigned i) const {
    return getVariables(numDynamic + i * sizes.size(), sizes.size());
  }
  Value getNumber(int64_t c) const;
  Value translate(const SizeExpr &size);
  Value translate(const IndexExpr &x, ArrayRef<Value> dims);
  std::vector<Value> translate(sets::Values values, ArrayRef<Value> dims);

  /// Restricts the set of counterexamples to those in `set`.
  void require(Set set);
  void requireInBox(ArrayRef<Value> values, ArrayRef<Value> extents);

  /// Searches for a counterexample. Sets `statement` to Disproved with the one
  /// that is found, and to Unknown if the search is inconclusive. Leaves it if
  /// there is none, or if it is Disproved already.
  void search(Statement &statement) const { search(all, statement); }
  /// Searches for a counterexample that is also in `narrower`, and updates
  /// `statement` as search(statement) does.
  void searchIn(Set narrower, Statement &statement) const {
    search(intersect(all, std::move(narrower)), statement);
  }

private:
  std::vector<Value> getVariables(unsigned first, unsigned count) const;
  bool addWeight(unsigned variables);
  void search(const Set &set, Statement &statement) const;
  void record(Owned<isl_point> point, Statement &statement) const;

  llvm::SmallVector<int64_t> sizes;
  unsigned numIndices, numDynamic = 0;
  unsigned long weight = 0;
  Owned<isl_ctx> ctx; // destroyed after all objects that use it
  Owned<isl_space> space;
  std::vector<Value> sizeOf;
  Set all;
};

} // namespace

//===----------------------------------------------------------------------===//
// Translation
//===----------------------------------------------------------------------===//

Problem::Problem(Sizes box, unsigned numIndices)
    : sizes(box.begin(), box.end()), numIndices(numIndices),
      ctx(isl_ctx_alloc()) {
  isl_options_set_on_error(ctx.get(), ISL_ON_ERROR_CONTINUE);
  isl_ctx_set_max_operations(ctx.get(), kMaxSteps);
  numDynamic = llvm::count_if(sizes, [](int64_t size) { return size < 0; });
  space.reset(isl_space_set_alloc(ctx.get(), 0,
                                  numDynamic + numIndices * sizes.size()));
  all.reset(isl_basic_set_universe(isl_space_copy(space.get())));

  std::vector<Value> dynamic = getVariables(0, numDynamic);
  auto next = dynamic.begin();
  for (int64_t size : sizes) {
    if (size < 0)
      require(less(getNumber(-1), *next));
    sizeOf.push_back(size < 0 ? std::move(*next++) : getNumber(size));
  }
}

/// Adds to the weight of the proof, and lowers the limit on isl's operations
/// accordingly. Returns false if the weight exceeds kMaxWeight, so that the
/// proof is to be given up.
bool Problem::addWeight(unsigned variables) {
  weight += variables;
  isl_ctx_set_max_operations(ctx.get(),
                             std::min(kMaxSteps, kMaxWork / (weight * weight)));
  return weight <= kMaxWeight;
}

std::vector<Value> Problem::getVariables(unsigned first, unsigned count) const {
  std::vector<Value> values;
  for (unsigned v = first; v < first + count; ++v)
    values.emplace_back(isl_aff_var_on_domain(
        isl_local_space_from_space(isl_space_copy(space.get())), isl_dim_set,
        v));
  return values;
}

Value Problem::getNumber(int64_t c) const {
  return Value(isl_aff_val_on_domain_space(isl_space_copy(space.get()),
                                           isl_val_int_from_si(ctx.get(), c)));
}

/// Translates a size to isl. Returns a null value if the size has a product of
/// sizes or an overflow, or if the proof gets too many variables.
Value Problem::translate(const SizeExpr &expr) {
  SizeExpr size = expr.specialize(sizes);
  if (size.isOverflow())
    return nullptr;
  Value sum = getNumber(size.getConstantTerm());
  for (const SizeExpr::Term &term : size.getTerms()) {
    if (term.factors.size() != 1)
      return nullptr;
    const SizeExpr::Atom &atom = term.factors.front();
    Value factor;
    if (atom.ceil && addWeight(1))
      factor =
          takeDigit(translate(atom.ceil->num + SizeExpr(atom.ceil->den - 1)),
                    atom.ceil->den, 0);
    else if (!atom.ceil)
      factor.reset(copy(sizeOf[atom.dim]));
    sum = add(sum, scale(factor, term.coeff));
  }
  return sum;
}

/// Translates a value to isl, or returns a null value if it has swizzles or
/// dynamic strides, or if the proof gets too many variables.
Value Problem::translate(const IndexExpr &x, ArrayRef<Value> dims) {
  Value sum = translate(x.constant);
  for (const DigitTerm &term : x.terms) {
    const Digit &digit = term.digit;
    std::optional<int64_t> stride = term.stride.specialize(sizes).getConstant();
    if (digit.swizzle || !stride ||
        !addWeight(1 + (digit.divisor != 1) + (digit.modulus != 0)))
      return nullptr;
    Value source = digit.fused ? translate(*digit.fused, dims)
                               : Value(copy(dims[digit.dim]));
    sum = add(sum,
              scale(takeDigit(source, digit.divisor, digit.modulus), *stride));
  }
  return sum;
}

std::vector<Value> Problem::translate(sets::Values values,
                                      ArrayRef<Value> dims) {
  std::vector<Value> result;
  for (const IndexExpr &value : values)
    result.push_back(translate(value, dims));
  return result;
}

void Problem::require(Set set) { all = intersect(all, std::move(set)); }

void Problem::requireInBox(ArrayRef<Value> values, ArrayRef<Value> extents) {
  for (auto [value, extent] : llvm::zip_equal(values, extents)) {
    require(less(getNumber(-1), value));
    require(less(value, extent));
  }
}

//===----------------------------------------------------------------------===//
// Search
//===----------------------------------------------------------------------===//

void Problem::search(const Set &set, Statement &statement) const {
  Owned<isl_point> point;
  if (set)
    point.reset(isl_basic_set_sample_point(isl_basic_set_copy(set.get())));
  record(std::move(point), statement);
}

/// Updates `statement` after a search. A void `point` means that there is no
/// counterexample: nothing changes. If it is null, because the search exceeded
/// its bound, the answer becomes Unknown. Any other point is a counterexample
/// and makes it Disproved, or Unknown if a number exceeds int64. A Disproved
/// statement stays.
void Problem::record(Owned<isl_point> point, Statement &statement) const {
  isl_bool isVoid = point ? isl_point_is_void(point.get()) : isl_bool_error;
  if (isVoid == isl_bool_true || statement.answer == ProofResult::Disproved)
    return;
  statement = Statement();
  if (isVoid == isl_bool_error)
    return;

  // A counterexample with a number beyond int64 leaves the answer Unknown: no
  // tensor is that large.
  bool fits = true;
  unsigned variable = 0;
  auto read = [&]() -> int64_t {
    Owned<isl_val> value(
        isl_point_get_coordinate_val(point.get(), isl_dim_set, variable++));
    int64_t number = 0;
    fits &= isl_val_n_abs_num_chunks(value.get(), sizeof(int64_t)) <= 1;
    if (fits)
      isl_val_get_abs_num_chunks(value.get(), sizeof(int64_t), &number);
    fits &= number >= 0;
    return isl_val_is_neg(value.get()) ? -number : number;
  };
  Statement found;
  found.answer = ProofResult::Disproved;
  for (int64_t size : sizes)
    found.sizes.push_back(size < 0 ? read() : size);
  for (size_t d = 0; d < sizes.size(); ++d)
    found.index.push_back(read());
  for (size_t d = 0; d < sizes.size() && numIndices == 2; ++d)
    found.other.push_back(read());
  if (fits)
    statement = std::move(found);
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

/// Returns the answer Proved, which a search replaces unless it shows that
/// there is no counterexample.
static Statement makeTrue() {
  Statement statement;
  statement.answer = ProofResult::Proved;
  return statement;
}

Statement sets::proveInjective(Values values, Sizes sizes) {
  Problem problem(sizes, 2);
  std::vector<Value> a = problem.getIndex(0), b = problem.getIndex(1);
  std::vector<Value> x = problem.translate(values, a),
                     y = problem.translate(values, b);
  if (llvm::is_contained(x, nullptr) || llvm::is_contained(y, nullptr))
    return Statement();
  for (auto [p, q] : llvm::zip_equal(x, y))
    problem.require(equal(p, q));

  // If a dim occurs undivided only, just the difference of both indices
  // matters. Let the first index be 0 there, and the second one the difference.
  llvm::SmallBitVector divided(sizes.size());
  for (const IndexExpr &value : values)
    for (const DigitTerm &term : value.terms)
      if (!term.digit.isDim() || !term.digit.isWholeSource())
        term.digit.walkDims([&](unsigned d) { divided.set(d); });
  Value zero = problem.getNumber(0);
  for (auto [d, extent] : llvm::enumerate(problem.getSizes())) {
    if (divided.test(d)) {
      problem.requireInBox(a[d], extent);
      problem.requireInBox(b[d], extent);
      continue;
    }
    problem.require(equal(a[d], zero));
    problem.require(less(b[d], extent));
    problem.require(less(zero, add(b[d], extent)));
  }

  // Search for each dim in turn: indices that are equal in all dims before it,
  // with a smaller first one in this dim.
  Statement statement = makeTrue();
  for (auto [x, y] : llvm::zip_equal(a, b)) {
    problem.searchIn(less(x, y), statement);
    problem.require(equal(x, y));
  }
  for (auto [x, y] : llvm::zip_equal(statement.index, statement.other))
    if (y < 0) {
      x -= y;
      y = 0;
    }
  return statement;
}

/// Decides if a[k] == b[k] for all k, at every index of the box. `problem` has
/// variables for one index, of which a[k] and b[k] are functions.
static Statement proveAllEqual(Problem &problem, ArrayRef<Value> a,
                               ArrayRef<Value> b) {
  problem.requireInBox(problem.getIndex(0), problem.getSizes());
  Statement statement = makeTrue();
  for (auto [x, y] : llvm::zip_equal(a, b)) {
    problem.searchIn(less(x, y), statement);
    problem.searchIn(less(y, x), statement);
  }
  return statement;
}

Statement sets::proveEqual(Values a, Values b, Sizes sizes) {
  Problem problem(sizes, 1);
  std::vector<Value> index = problem.getIndex(0);
  return proveAllEqual(problem, problem.translate(a, index),
                       problem.translate(b, index));
}

Statement sets::proveInverse(Values values, Values inverse, Sizes sizes) {
  Problem problem(sizes, 1);
  std::vector<Value> index = problem.getIndex(0);
  return proveAllEqual(
      problem, problem.translate(inverse, problem.translate(values, index)),
      index);
}

Statement sets::proveWithin(Values values, ArrayRef<SizeExpr> extents,
                            Sizes sizes) {
  Problem problem(sizes, 1);
  std::vector<Value> index = problem.getIndex(0);
  problem.requireInBox(index, problem.getSizes());
  Statement statement = makeTrue();
  for (auto [value, extent] : llvm::zip_equal(values, extents)) {
    Value x = problem.translate(value, index);
    problem.searchIn(less(x, problem.getNumber(0)), statement);
    Value last = add(problem.translate(extent), problem.getNumber(-1));
    problem.searchIn(less(last, x), statement);
  }
  return statement;
}

Statement sets::proveUnused(Values values, ArrayRef<int64_t> point,
                            Sizes sizes) {
  Problem problem(sizes, 1);
  std::vector<Value> index = problem.getIndex(0);
  problem.requireInBox(index, problem.getSizes());
  for (auto [value, x] : llvm::zip_equal(values, point))
    problem.require(
        equal(problem.translate(value, index), problem.getNumber(x)));
  Statement statement = makeTrue();
  problem.search(statement);
  return statement;
}
