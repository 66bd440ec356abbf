//===- Assertions.cpp - Assertions of compiled code -----------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Assertions.h"
#include <csetjmp>
#include <cstdlib>
#include <string>

using namespace mlir;

static thread_local std::jmp_buf *failedRun = nullptr;
/// The last text that compiled code printed by `puts`, e.g. of an assertion
/// that failed. It is copied, because it may be on the stack of that code.
static thread_local std::string lastMessage;

int layout::putsOfModule(const char *text) {
  lastMessage = text;
  return 0;
}

void layout::abortOfModule() {
  if (failedRun)
    std::longjmp(*failedRun, 1);
  std::abort();
}

bool layout::callGuarded(llvm::function_ref<void()> call) {
  std::jmp_buf target, *outer = failedRun;
  failedRun = &target;
  bool returned = setjmp(target) == 0;
  if (returned)
    call();
  failedRun = outer;
  return returned;
}

llvm::StringRef layout::getLastMessage() { return lastMessage; }
