//===- Scopes.h - Memory whose last use is not in sight ---------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which allocations layoutClLeaveScope releases: those of its thread since
// layoutClEnterScope that were not released before and do not stay for good.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_SCOPES_H
#define LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_SCOPES_H

namespace mlir::layout::opencl {

void addToScope(void *memory);
void removeFromScope(void *memory);

} // namespace mlir::layout::opencl

#endif // LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_SCOPES_H
