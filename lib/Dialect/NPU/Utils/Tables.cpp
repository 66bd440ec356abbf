//===- Tables.cpp - A value as one table per dim --------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Dialect/NPU/Utils/Tables.h"
#include "layout/Algebra/Evaluator.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir::npu;
using namespace mlir::layout;

/// Returns the only dim that a digit depends on, or std::nullopt if there are
/// none or several.
static std::optional<unsigned> getOnlyDim(const Digit &digit) {
  std::optional<unsigned> dim;
  bool several = false;
  auto visit = [&](unsigned d) {
    several |= dim && *dim != d;
    dim = d;
  };
  if (digit.isDim())
    visit(digit.dim);
  else
    digit.walkDims(visit);
  return several ? std::nullopt : dim;
}

std::optional<Tables> mlir::npu::tabulate(const IndexExpr &value, Sizes sizes) {
  std::optional<Evaluator> evaluator = Evaluator::compile({value}, sizes);
  auto hasNoTable = [](int64_t size) {
    return size < 1 || size > kMaxTableSize;
  };
  if (!evaluator || llvm::any_of(sizes, hasNoTable))
    return std::nullopt;
  Tables tables;
  tables.dims.resize(sizes.size());
  std::vector<bool> occurs(sizes.size(), false);
  for (const DigitTerm &term : value.terms) {
    std::optional<unsigned> dim = getOnlyDim(term.digit);
    if (!dim)
      return std::nullopt;
    occurs[*dim] = true;
  }
  llvm::SmallVector<int64_t> index(sizes.size(), 0);
  evaluator->evaluate(index.data(), &tables.start);
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (!occurs[d])
      continue;
    std::vector<int64_t> table(sizes[d]);
    bool moves = false;
    for (index[d] = 0; index[d] < sizes[d]; ++index[d]) {
      int64_t there;
      evaluator->evaluate(index.data(), &there);
      table[index[d]] = there - tables.start;
      moves |= there != tables.start;
    }
    index[d] = 0;
    if (moves)
      tables.dims[d] = std::move(table);
  }
  return tables;
}
