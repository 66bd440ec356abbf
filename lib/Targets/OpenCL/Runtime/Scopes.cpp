//===- Scopes.cpp - Scopes of device memory -------------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Scopes.h"
#include "layout/Targets/OpenCL/Runtime/OpenCL.h"
#include <set>
#include <vector>

/// The unreleased memory of each scope of this thread, innermost scope last.
static thread_local std::vector<std::set<void *>> scopes;

void mlir::layout::opencl::addToScope(void *memory) {
  if (memory && !scopes.empty())
    scopes.back().insert(memory);
}

void mlir::layout::opencl::removeFromScope(void *memory) {
  for (std::set<void *> &scope : scopes)
    scope.erase(memory);
}

void layoutClEnterScope(void) { scopes.emplace_back(); }

void layoutClLeaveScope(void) {
  if (scopes.empty())
    return;
  std::set<void *> left = std::move(scopes.back());
  scopes.pop_back();
  for (void *memory : left)
    layoutClRelease(memory);
}
