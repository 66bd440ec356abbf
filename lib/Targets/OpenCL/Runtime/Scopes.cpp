//===- Scopes.cpp - Scopes of device memory -------------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Scopes.h"
#include "Common/MemoryScopes.h"
#include "layout/Targets/OpenCL/Runtime/OpenCL.h"

static thread_local mlir::layout::MemoryScopes scopes;

void mlir::layout::opencl::addToScope(void *memory) { scopes.add(memory); }

void mlir::layout::opencl::removeFromScope(void *memory) {
  scopes.remove(memory);
}

void layoutClEnterScope(void) { scopes.enter(); }

void layoutClLeaveScope(void) {
  for (void *memory : scopes.leave())
    layoutClRelease(memory);
}
