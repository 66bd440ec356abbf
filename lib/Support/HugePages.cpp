//===- HugePages.cpp - Memory in pages of 2 MB ----------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Support/HugePages.h"
#include "llvm/Support/MathExtras.h"
#include <cstdlib>
#include <sys/mman.h>

void *mlir::layout::allocateHugePages(size_t bytes) {
  size_t rounded = llvm::alignTo(bytes, kHugePageBytes);
  void *memory = std::aligned_alloc(kHugePageBytes, rounded);
#ifdef MADV_HUGEPAGE
  // The pages are small if the system refuses.
  if (memory)
    (void)madvise(memory, rounded, MADV_HUGEPAGE);
#endif
  return memory;
}
