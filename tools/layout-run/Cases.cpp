//===- Cases.cpp - Inputs and outputs of many runs ------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cases.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/LineIterator.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace mlir::layout;

llvm::Expected<std::vector<Case>> layout::readCases(StringRef path) {
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> file =
      llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!file)
    return llvm::createStringError(
        file.getError(),
        path + ": cannot be read: " + file.getError().message());
  std::vector<Case> cases;
  for (llvm::line_iterator line(**file); !line.is_at_eof(); ++line) {
    Case next;
    next.where = (path + ":" + Twine(line.line_number())).str();
    std::vector<std::string> *names = &next.inputs;
    for (StringRef word : llvm::split(line->trim(), ' ')) {
      word = word.trim();
      if (word.empty())
        continue;
      if (word != "->") {
        names->push_back(word.str());
        continue;
      }
      if (names == &next.outputs)
        return llvm::createStringError(
            next.where + ": has a second '->'; a line is the inputs of one "
                         "run, '->' and its outputs");
      names = &next.outputs;
    }
    if (!next.inputs.empty() || !next.outputs.empty())
      cases.push_back(std::move(next));
  }
  if (cases.empty())
    return llvm::createStringError(
        path + ": names no run; a line is the inputs of one run, '->' and its "
               "outputs");
  return cases;
}
