//===- LoweredDialects.h - What the pipelines take --------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The dialects whose ops a function may hold. Ops of another one that do not
// decompose (linalg::AggregatedOpInterface) are refused before the first pass
// that rewrites: upstream's canonicalization of them is not ours to rely on,
// and crashes for some.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_SUPPORT_LOWEREDDIALECTS_H
#define LAYOUT_SUPPORT_LOWEREDDIALECTS_H

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

namespace mlir {
namespace layout {

/// Those that the pipeline to the LLVM dialect lowers, and that which it lowers
/// to.
inline bool isPlainDialect(llvm::StringRef name) {
  static constexpr llvm::StringRef kNames[] = {
      "affine", "arith",      "bufferization", "builtin", "cf",     "complex",
      "cpu",    "func",       "index",         "linalg",  "llvm",   "math",
      "memref", "ml_program", "mpi",           "scf",     "tensor", "ub",
      "vector"};
  return llvm::is_contained(kNames, name);
}

/// Those that a pipeline from the top takes.
inline bool isInputDialect(llvm::StringRef name) {
  static constexpr llvm::StringRef kNames[] = {"gpu", "layout", "npu", "tosa"};
  return isPlainDialect(name) || llvm::is_contained(kNames, name);
}

} // namespace layout
} // namespace mlir

#endif // LAYOUT_SUPPORT_LOWEREDDIALECTS_H
