//===- ConstantMemory.h - Memory for computed constants ---------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Packed weights are written once and then read by compiled code as long as it
// is loaded. Passes that pack constants allocate memory here. The runtime then
// uses the elements in place, in 2 MB pages that many constants share. A copy
// would be slow, because mapping a new page takes longer than copying to it.
//
//   std::shared_ptr<char> block = allocateConstantBytes(bytes, 64);
//
// ConstantBytes.h allocates such memory for a resource of MLIR.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_SUPPORT_CONSTANTMEMORY_H
#define LAYOUT_SUPPORT_CONSTANTMEMORY_H

#include <cstddef>
#include <memory>

namespace mlir::layout {

/// Allocates `bytes` uninitialized bytes at a multiple of `alignment`, a power
/// of two of at most 2 MB, the size of a huge page. Blocks share chunks of at
/// least 64 MB. The last owner of a block returns the huge pages that lie
/// entirely in it to the system; the last block of a chunk returns the rest.
std::shared_ptr<char> allocateConstantBytes(size_t bytes, size_t alignment);

/// Returns true if `data` points into one of the chunks of memory that the
/// constants of all modules share.
bool isConstantMemory(const void *data);

} // namespace mlir::layout

#endif // LAYOUT_SUPPORT_CONSTANTMEMORY_H
