//===- ConstantMemory.h - Where constants are computed to -------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Packed weights are written once and read by compiled code for as long as it
// lives. So what packs a constant takes memory from here: the runtime then
// leaves the elements where they are, in pages of 2 MB that many constants
// share. A page that is new takes the system longer than a copy to it.
//
//   std::shared_ptr<char> block = allocateConstantBytes(bytes, 64);
//
// ConstantBytes.h has the same for a resource of MLIR.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_SUPPORT_CONSTANTMEMORY_H
#define LAYOUT_SUPPORT_CONSTANTMEMORY_H

#include <cstddef>
#include <memory>

namespace mlir {
namespace layout {

/// Bytes that nobody has written, at a multiple of `alignment`, a power of two
/// of at most a huge page. Whole pages go back to the system with the last
/// owner of the block, the others with the last block beside it.
std::shared_ptr<char> allocateConstantBytes(size_t bytes, size_t alignment);

/// Whether `data` is in such a block.
bool isConstantMemory(const void *data);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_SUPPORT_CONSTANTMEMORY_H
