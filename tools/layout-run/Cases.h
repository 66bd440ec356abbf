//===- Cases.h - Inputs and outputs of many runs ----------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A list of cases in a text file: each line names the arrays of one run and,
// after an arrow, the files of all its results, or of none.
//
//   x0.npy w.npy -> y0.npy
//   x1.npy w.npy -> y1.npy
//
// In a list of programs, a line starts with the name of a module.
//
// Names are separated by blanks. Empty lines are skipped.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TOOLS_LAYOUT_RUN_CASES_H
#define LAYOUT_TOOLS_LAYOUT_RUN_CASES_H

#include "mlir/Support/LLVM.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace mlir::layout {

struct Case {
  std::vector<std::string> inputs, outputs;
  /// The file and line of the case for diagnostics, e.g. "list.txt:3"; empty if
  /// it is from the command line.
  std::string where;
};

llvm::Expected<std::vector<Case>> readCases(StringRef path);

} // namespace mlir::layout

#endif // LAYOUT_TOOLS_LAYOUT_RUN_CASES_H
