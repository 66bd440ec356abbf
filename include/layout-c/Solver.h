//===- Solver.h - C API of the solver -----------------------------*- C -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The solver without IR, for programs in C: variables whose values have costs,
// tables of costs over several variables, tensors whose copies are shared, and
// a budget. docs/solver-api.md has worked examples. This header needs only the
// C library; libLayoutSolverC.so needs neither LLVM nor the C++ library.
//
//   LayoutProblem *problem = layoutProblemCreate();
//   int64_t sizes[] = {2, 2}, costs[] = {0, 5, 3, 0};
//   layoutProblemAddVariables(problem, 2, sizes, costs);
//   int64_t pair[] = {0, 1}, table[] = {7, 1, 0, 0};
//   layoutProblemAddTables(problem, 1, 2, pair, 1, 4, table);
//   LayoutSolveOptions options = LAYOUT_SOLVE_OPTIONS;
//   const LayoutSolution *answer = layoutProblemSolve(problem, &options);
//   if (!answer)
//     puts(layoutProblemGetError(problem));
//   // answer->cost is 1, answer->values are 0 and 1
//
// Costs and amounts are integers from 0 to 2^63 - 3; LAYOUT_FORBIDDEN forbids a
// value or an entry. The last variable of a table is the fastest.
//
// A function that fails returns -1, or NULL, and leaves the problem as it was,
// except that functions for several parts keep those before the first wrong
// one. Threads may use different problems at the same time. Equal calls have
// equal answers, unless the time limit ends the search.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_C_SOLVER_H
#define LAYOUT_C_SOLVER_H

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define LAYOUT_SOLVER_EXPORTED
#else
#define LAYOUT_SOLVER_EXPORTED __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/// The cost that forbids a value or an entry of a table.
#define LAYOUT_FORBIDDEN INT64_MAX

typedef struct LayoutProblem LayoutProblem;

/// A producer or consumer of a tensor.
typedef struct {
  /// A variable, or -1 for a fixed layout.
  int64_t variable;
  /// The number of layouts: that of the values of the variable, or 1.
  int64_t count;
  /// The layout that each value produces or requires, or the fixed layout.
  const int64_t *layouts;
} LayoutTensorEnd;

/// The limits of a call. Initialize it with LAYOUT_SOLVE_OPTIONS.
typedef struct {
  /// sizeof(LayoutSolveOptions). Later versions append fields.
  size_t size;
  /// The maximum number of search nodes, of visited table entries, of entries
  /// of one table of the elimination, and of entries of all of its tables; -1
  /// for the defaults of layout-solve.
  int64_t maxNodes, maxWork, maxTable, maxTotal;
  /// The time limit in seconds, or -1 for none.
  double maxSeconds;
  /// The number of values of a known assignment, which is that of the
  /// variables, or 0 for no assignment. The answer costs no more.
  int64_t numInitial;
  const int64_t *initial;
  /// 1 to write a certificate, or 0.
  int certify;
} LayoutSolveOptions;

#define LAYOUT_SOLVE_OPTIONS                                                   \
  {sizeof(LayoutSolveOptions), -1, -1, -1, -1, -1.0, 0, NULL, 0}

/// An answer. It is valid until the problem is solved again or destroyed. Later
/// versions append fields.
typedef struct {
  /// The cost of the assignment, or LAYOUT_FORBIDDEN if there is none, and a
  /// lower bound of the cost of every assignment. The answer is proven if they
  /// are equal.
  int64_t cost, lowerBound;
  /// The value of each variable; `numValues` is 0 if there is no assignment.
  int64_t numValues;
  const int64_t *values;
  /// The variables of the parts whose cost is above their lower bound.
  int64_t numOpen;
  const int64_t *open;
  /// The copies of tensors that the assignment needs, as pairs of a tensor and
  /// a layout in ascending order.
  int64_t numCopies;
  const int64_t *copies;
  /// The amount that the assignment uses, and a lower bound of what any
  /// assignment of finite cost uses, or -1 without a budget. `amount` is also
  /// -1 if there is no assignment.
  int64_t amount, leastAmount;
  /// The number of search nodes and of visited table entries, which measure
  /// time on any machine, and the seconds that this call took.
  int64_t nodes, work;
  double seconds;
  /// The text of a certificate (docs/certificates.md). It is empty if none was
  /// requested, or under a budget without an assignment.
  const char *certificate;
} LayoutSolution;

LAYOUT_SOLVER_EXPORTED LayoutProblem *layoutProblemCreate(void);
LAYOUT_SOLVER_EXPORTED void layoutProblemDestroy(LayoutProblem *problem);

/// Returns the message of the last function that failed, which names the part
/// and the rule, or an empty string.
LAYOUT_SOLVER_EXPORTED const char *
layoutProblemGetError(const LayoutProblem *problem);

/// Adds `count` variables with `sizes[i]` values each, whose costs follow one
/// another in `costs`. Returns the number of the first variable.
LAYOUT_SOLVER_EXPORTED int64_t layoutProblemAddVariables(LayoutProblem *problem,
                                                         int64_t count,
                                                         const int64_t *sizes,
                                                         const int64_t *costs);

/// Adds `count` tables over `arity` variables each, which follow one another in
/// `variables`. `costs` has `numTables` tables of `size` entries: one for all,
/// or one for each. Returns 0.
LAYOUT_SOLVER_EXPORTED int
layoutProblemAddTables(LayoutProblem *problem, int64_t count, int64_t arity,
                       const int64_t *variables, int64_t numTables,
                       int64_t size, const int64_t *costs);

/// Adds a tensor. Each layout that consumers require and the producer does not
/// produce is copied once. The price of a copy from layout x to layout y is at
/// `x * numLayouts + y` of `prices`. Returns the number of the tensor, from 0.
LAYOUT_SOLVER_EXPORTED int64_t
layoutProblemAddTensor(LayoutProblem *problem, const LayoutTensorEnd *producer,
                       int64_t numConsumers, const LayoutTensorEnd *consumers,
                       int64_t numLayouts, const int64_t *prices);

/// Limits the amount that values use, in addition to `base`. Term i says how
/// much each value of `variables[i]` uses; the amounts of all terms follow one
/// another in `amounts`. It counts always if `peaks[i]` is -1, and at the peak
/// `peaks[i]` >= 0 otherwise. The sum of all terms that count always and of
/// those of any one peak may not exceed `limit`. Returns 0.
LAYOUT_SOLVER_EXPORTED int
layoutProblemSetBudget(LayoutProblem *problem, int64_t limit, int64_t base,
                       int64_t numTerms, const int64_t *peaks,
                       const int64_t *variables, const int64_t *amounts);

LAYOUT_SOLVER_EXPORTED const LayoutSolution *
layoutProblemSolve(LayoutProblem *problem, const LayoutSolveOptions *options);

/// Receives a text of `length` bytes, which need not end with a null byte.
typedef void (*LayoutTextCallback)(const char *text, size_t length,
                                   void *userData);

/// Solves a problem of ops, their candidate layouts and costs, given in JSON
/// (docs/solver.md), and passes the answer in JSON to `callback`. The key
/// `statistics` has the nodes, the work and the seconds, and with
/// `options.certify` the key `certificate` has the certificate. Returns 0. If
/// the problem is invalid, passes an error message to `callback` instead, and
/// returns -1. `options.initial` must not be set; the key `initial` of the
/// problem has a known assignment.
LAYOUT_SOLVER_EXPORTED int layoutSolve(const char *problem, size_t length,
                                       const LayoutSolveOptions *options,
                                       LayoutTextCallback callback,
                                       void *userData);

#ifdef __cplusplus
}
#endif

#endif // LAYOUT_C_SOLVER_H
