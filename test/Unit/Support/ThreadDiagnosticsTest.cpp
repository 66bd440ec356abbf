//===- ThreadDiagnosticsTest.cpp ------------------------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Support/ThreadDiagnostics.h"
#include "layout/Support/AdviceOnErrors.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"
#include <thread>

using namespace mlir;
using namespace mlir::layout;

namespace {

TEST(ThreadDiagnostics, LeavesWhatOthersSay) {
  MLIRContext context;
  Location loc = UnknownLoc::get(&context);
  std::vector<std::string> all, own;
  ScopedDiagnosticHandler outer(&context, [&](Diagnostic &diagnostic) {
    all.push_back(diagnostic.str());
  });
  {
    ThreadDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      own.push_back(diagnostic.str());
      return success();
    });
    emitError(loc) << "here";
    std::thread([&] { emitRemark(loc) << "there"; }).join();
  }
  emitError(loc) << "later";
  EXPECT_EQ(own, std::vector<std::string>{"here"});
  EXPECT_EQ(all, (std::vector<std::string>{"there", "later"}));
}

TEST(ThreadDiagnostics, AdviceIsForTheErrorsOfItsThread) {
  MLIRContext context;
  Location loc = UnknownLoc::get(&context);
  std::vector<size_t> numNotes;
  ScopedDiagnosticHandler outer(&context, [&](Diagnostic &diagnostic) {
    numNotes.push_back(llvm::range_size(diagnostic.getNotes()));
  });
  AdviceOnErrors advice(&context, "write it otherwise");
  emitError(loc) << "here";
  emitRemark(loc) << "no error";
  std::thread([&] { emitError(loc) << "there"; }).join();
  EXPECT_EQ(numNotes, (std::vector<size_t>{1, 0, 0}));
}

} // namespace
