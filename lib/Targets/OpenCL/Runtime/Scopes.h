//===- Scopes.h - Scopes of device memory -----------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The memory that layoutClLeaveScope releases: the allocations of its thread
// since layoutClEnterScope, except those released before and constants.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_SCOPES_H
#define LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_SCOPES_H

namespace mlir::layout::opencl {

void addToScope(void *memory);
void removeFromScope(void *memory);

} // namespace mlir::layout::opencl

#endif // LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_SCOPES_H
