//===- Factors.cpp - Factorize a box by its digits ------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Algebra/Factors.h"
#include "llvm/ADT/IntEqClasses.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallSet.h"

using namespace mlir::layout;
using llvm::ArrayRef;

/// Returns the number of sorted `dims` below `rank`.
static size_t countLogical(ArrayRef<unsigned> dims, unsigned rank) {
  return llvm::lower_bound(dims, rank) - dims.begin();
}

ArrayRef<unsigned> Factor::getLogicalDims(unsigned rank) const {
  return ArrayRef(dims).take_front(countLogical(dims, rank));
}

ArrayRef<unsigned> Factor::getReplicas(unsigned rank) const {
  return ArrayRef(dims).drop_front(countLogical(dims, rank));
}

std::vector<Factor> mlir::layout::findFactors(ArrayRef<IndexExpr> values,
                                              ArrayRef<IndexExpr> axes,
                                              Sizes box, unsigned rank) {
  llvm::IntEqClasses classes(box.size());
  auto join = [&](const auto &mixed) {
    std::optional<unsigned> first;
    mixed.walkDims([&](unsigned d) {
      if (first)
        classes.join(*first, d);
      else
        first = d;
    });
  };
  for (const IndexExpr &value : values)
    for (const DigitTerm &term : value.terms)
      join(term.digit);
  for (const IndexExpr &axis : axes) {
    llvm::SmallSet<unsigned, 4> logical;
    axis.walkDims([&](unsigned d) {
      if (d < rank)
        logical.insert(d);
    });
    if (logical.size() == 1)
      join(axis);
  }
  classes.compress();
  std::vector<Factor> factors(classes.getNumClasses());
  for (Factor &factor : factors)
    factor.box.assign(box.size(), 1);
  for (auto [d, size] : llvm::enumerate(box)) {
    Factor &factor = factors[classes[d]];
    factor.dims.push_back(d);
    factor.box[d] = size;
  }
  return factors;
}
