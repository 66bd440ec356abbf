//===- KeptMemory.h - Reuse of large blocks across runs ---------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The C library returns large freed blocks to the system, so every run faults
// in new pages: 13 % of the time of a U-Net. Compiled programs call the
// functions below instead of malloc and free, so that the temporaries of a run
// reuse the memory of the previous run, in pages of 2 MB.
//
// Laws:
//   - Memory from allocateMemory may be freed by `free`, and freeMemory accepts
//     memory from malloc.
//   - A block is used by one allocation at a time, in any thread.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_RUNTIME_KEPTMEMORY_H
#define LAYOUT_RUNTIME_KEPTMEMORY_H

#include <cstddef>

namespace mlir::layout {

void *allocateMemory(size_t bytes);
void freeMemory(void *block);

/// Frees the block of a result, or keeps it for reuse by allocateMemory if it
/// is larger than 4 MiB. At most two such blocks are kept at a time, so that
/// most memory of many results freed together returns to the system.
void freeResultMemory(void *block);

/// Frees all blocks that freeMemory and freeResultMemory have kept for reuse by
/// allocateMemory. Compiled programs call allocateMemory and freeMemory instead
/// of malloc and free.
void releaseKeptMemory();

/// Returns to the operating system the freed memory that the C library caches.
/// After a model is imported or its constants are packed, this memory is as
/// large as the weights.
void giveBackFreedMemory();

/// Drops resident pages of LLVM, MLIR, this library and the onnx package
/// that were never written, i.e. code and read-only data: 90 to 150 MB after a
/// compilation. A page is read from its file again when it is used.
void giveBackCompilerPages();

} // namespace mlir::layout

#endif // LAYOUT_RUNTIME_KEPTMEMORY_H
