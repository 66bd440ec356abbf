//===- Assertions.cpp - Assertions of compiled code -----------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Assertions.h"
#include <csetjmp>
#include <cstdlib>

using namespace mlir;

static thread_local std::jmp_buf *failedRun = nullptr;
/// A constant of the module.
static thread_local const char *lastMessage = "";

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
  std::jmp_buf target;
  failedRun = &target;
  bool returned = setjmp(target) == 0;
  if (returned)
    call();
  failedRun = nullptr;
  return returned;
}

bool layout::isGuarded() { return failedRun; }

const char *layout::getLastMessage() { return lastMessage; }
