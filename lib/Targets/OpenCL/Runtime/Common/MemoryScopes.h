//===- MemoryScopes.h - Scopes of device memory -----------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The unreleased memory of nested scopes. Shared by the runtimes for OpenCL and
// Vulkan, each of which has one object per thread.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_COMMON_MEMORYSCOPES_H
#define LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_COMMON_MEMORYSCOPES_H

#include <set>
#include <utility>
#include <vector>

namespace mlir::layout {

class MemoryScopes {
public:
  /// Adds memory to the innermost scope, if there is one.
  void add(void *memory) {
    if (memory && !scopes.empty())
      scopes.back().insert(memory);
  }

  /// Removes memory from all scopes: it is released, or outlives them.
  void remove(void *memory) {
    for (std::set<void *> &scope : scopes)
      scope.erase(memory);
  }

  void enter() { scopes.emplace_back(); }

  /// Ends the innermost scope and returns its memory.
  std::set<void *> leave() {
    if (scopes.empty())
      return {};
    std::set<void *> left = std::move(scopes.back());
    scopes.pop_back();
    return left;
  }

private:
  std::vector<std::set<void *>> scopes; // innermost scope last
};

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_COMMON_MEMORYSCOPES_H
