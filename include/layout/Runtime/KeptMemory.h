//===- KeptMemory.h - Large blocks for the next run -------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The C library gives large blocks back to the system when they are freed, and
// takes new pages for each run: 13 % of the time of a U-Net. Compiled programs
// call the functions below in place of malloc and free, so that the temporaries
// of a run have the memory of the run before, in pages of 2 MB.
//
// Laws:
//   - What allocateMemory gives may be freed by either function, and
//     freeMemory takes what malloc gave.
//   - A thread that runs a program gets blocks that nobody else uses.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_RUNTIME_KEPTMEMORY_H
#define LAYOUT_RUNTIME_KEPTMEMORY_H

#include <cstddef>

namespace mlir {
namespace layout {

void *allocateMemory(size_t bytes);
void freeMemory(void *block);

/// Gives all that is kept back to the system.
void releaseKeptMemory();

/// Gives the system back what the C library keeps of freed memory, which is as
/// much as the weights after a model was imported or its constants were packed.
void giveBackFreedMemory();

} // namespace layout
} // namespace mlir

#endif // LAYOUT_RUNTIME_KEPTMEMORY_H
