//===- Cases.h - Inputs and outputs of many runs ----------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A list of cases, in the words of a text file: a line names the arrays of one
// run, and after an arrow where its results go, all of them or none.
//
//   x0.npy w.npy -> y0.npy
//   x1.npy w.npy -> y1.npy
//
// In a list of programs, the first name of a line is that of a module.
//
// Names are cut at blanks. Empty lines are skipped.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TOOLS_LAYOUTRUN_CASES_H
#define LAYOUT_TOOLS_LAYOUTRUN_CASES_H

#include "mlir/Support/LLVM.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace mlir {
namespace layout {

struct Case {
  std::vector<std::string> inputs, outputs;
  /// "list.txt:3", for diagnostics; empty where the command line said it.
  std::string where;
};

llvm::Expected<std::vector<Case>> readCases(StringRef path);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_TOOLS_LAYOUTRUN_CASES_H
