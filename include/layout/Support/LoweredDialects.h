//===- LoweredDialects.h - Dialects that pipelines accept -------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The dialects whose ops a function may contain. Ops of other dialects that do
// not decompose (linalg::AggregatedOpInterface) are rejected before the first
// rewriting pass, because upstream's canonicalization of such ops may crash.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_SUPPORT_LOWEREDDIALECTS_H
#define LAYOUT_SUPPORT_LOWEREDDIALECTS_H

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

namespace mlir::layout {

/// Returns true if the pipeline to the LLVM dialect lowers ops of dialect
/// `name`, or produces them.
inline bool isPlainDialect(llvm::StringRef name) {
  static constexpr llvm::StringRef kNames[] = {
      "affine", "arith",      "bufferization", "builtin", "cf",     "complex",
      "cpu",    "func",       "index",         "linalg",  "llvm",   "math",
      "memref", "ml_program", "mpi",           "scf",     "tensor", "ub",
      "vector"};
  return llvm::is_contained(kNames, name);
}

/// Returns true if the input of a pipeline that ends in code for a target may
/// have ops of dialect `name`.
inline bool isInputDialect(llvm::StringRef name) {
  static constexpr llvm::StringRef kNames[] = {"gpu", "layout", "npu", "tosa"};
  return isPlainDialect(name) || llvm::is_contained(kNames, name);
}

} // namespace mlir::layout

#endif // LAYOUT_SUPPORT_LOWEREDDIALECTS_H
