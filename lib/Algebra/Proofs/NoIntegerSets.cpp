//===- NoIntegerSets.cpp - Proofs in builds without isl -------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Replaces IntegerSets.cpp in builds without isl: every answer is Unknown.
//
//===----------------------------------------------------------------------===//

#include "layout/Algebra/IntegerSets.h"

using namespace mlir::layout;
using sets::Statement;

Statement sets::proveInjective(Values, Sizes) { return Statement(); }

Statement sets::proveEqual(Values, Values, Sizes) { return Statement(); }

Statement sets::proveInverse(Values, Values, Sizes) { return Statement(); }

Statement sets::proveWithin(Values, llvm::ArrayRef<SizeExpr>, Sizes) {
  return Statement();
}

Statement sets::proveUnused(Values, llvm::ArrayRef<int64_t>, Sizes) {
  return Statement();
}
