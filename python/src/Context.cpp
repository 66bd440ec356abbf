//===- Context.cpp - The MLIR context of the process ----------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Context.h"
#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Dialect/NPU/IR/NPU.h"
#include "layout/Registration/Registration.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::layout::python;

ProcessContext::ProcessContext() : context(MLIRContext::Threading::DISABLED) {
  DialectRegistry registry;
  layout::registerAllDialects(registry);
  context.appendDialectRegistry(registry);
  context.loadDialect<LayoutDialect, npu::NPUDialect>();
}

ProcessContext &ProcessContext::get() {
  static ProcessContext *process = new ProcessContext;
  return *process;
}

void mlir::layout::python::checkText(StringRef text, unsigned most) {
  if (text.contains('\0'))
    fail("the text contains a zero byte");
  unsigned depth = 0, signs = 0;
  auto check = [&](unsigned reached) {
    if (reached > most)
      fail("the text is nested more than " + Twine(most) +
           " levels deep: nest it less");
  };
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i], previous = i ? text[i - 1] : ' ';
    // Unary minus nests without brackets.
    if (c == '-')
      check(++signs);
    else if (!llvm::isSpace(c))
      signs = 0;
    switch (c) {
    case '"':
      // Skips to the end of the string; an escaped quote does not end it.
      do
        i = text.find_first_of("\"\\\n", i + 1);
      while (i < text.size() && text[i] == '\\' && ++i < text.size());
      i = std::min(i, text.size());
      break;
    case '/':
      if (previous == '/')
        i = std::min(text.find('\n', i), text.size());
      break;
    case '(':
    case '[':
    case '{':
    case '<':
      check(++depth);
      break;
    case '>':
      // The end of an arrow or a comparison.
      if (previous == '-' || previous == '=')
        break;
      [[fallthrough]];
    case ')':
    case ']':
    case '}':
      depth -= depth > 0;
      break;
    }
  }
}
