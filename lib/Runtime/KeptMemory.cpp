//===- KeptMemory.cpp - Reuse of large blocks across runs -----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Runtime/KeptMemory.h"
#include "layout/Support/HugePages.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Alignment.h"
#include "llvm/Support/Process.h"
#include <cstdlib>
#include <link.h>
#include <malloc.h>
#include <mutex>
#include <sys/mman.h>
#include <vector>

using namespace mlir;

/// The size in bytes above which freed blocks are cached. Blocks of at most
/// this size use malloc and free.
static constexpr size_t kLargeBlock = 4 << 20;
/// The maximum number of cached blocks, enough for programs with dynamic sizes
/// and for several concurrent programs.
static constexpr size_t kMostBlocks = 16;

namespace {
struct KeptMemory {
  std::mutex mutex;
  std::vector<void *> blocks; // the oldest first
};
} // namespace

/// Returns the cache, which is never destroyed because programs may be
/// destroyed at process exit.
static KeptMemory &getKeptMemory() {
  static auto &memory = *new KeptMemory;
  return memory;
}

void *layout::allocateMemory(size_t bytes) {
  if (bytes <= kLargeBlock)
    return std::malloc(bytes);
  KeptMemory &memory = getKeptMemory();
  std::lock_guard<std::mutex> lock(memory.mutex);
  void **best = nullptr;
  for (void *&block : memory.blocks)
    if (malloc_usable_size(block) >= bytes &&
        (!best || malloc_usable_size(block) < malloc_usable_size(*best)))
      best = &block;
  if (!best)
    return allocateHugePages(bytes);
  void *block = *best;
  memory.blocks.erase(memory.blocks.begin() + (best - memory.blocks.data()));
  return block;
}

void layout::freeMemory(void *block) {
  if (malloc_usable_size(block) <= kLargeBlock)
    return std::free(block);
  KeptMemory &memory = getKeptMemory();
  std::lock_guard<std::mutex> lock(memory.mutex);
  memory.blocks.push_back(block);
  if (memory.blocks.size() > kMostBlocks) {
    std::free(memory.blocks.front());
    memory.blocks.erase(memory.blocks.begin());
  }
}

void layout::releaseKeptMemory() {
  KeptMemory &memory = getKeptMemory();
  std::lock_guard<std::mutex> lock(memory.mutex);
  llvm::for_each(memory.blocks, std::free);
  memory.blocks.clear();
}

void layout::giveBackFreedMemory() { malloc_trim(/*pad=*/0); }

/// Drops the resident pages of the segments of `library` that are not writable,
/// if it is a library of LLVM, of MLIR or of this project. The dynamic linker
/// does not write to them, so the next access reads the same bytes from the
/// file. Returns 0, which continues dl_iterate_phdr.
static int giveBackPages(dl_phdr_info *library, size_t, void *) {
  constexpr llvm::StringLiteral compilers[] = {"libLLVM", "libMLIR", "_layout"};
  llvm::StringRef name = library->dlpi_name;
  if (llvm::none_of(compilers, [&](auto part) { return name.contains(part); }))
    return 0;
  size_t page = llvm::sys::Process::getPageSizeEstimate();
  for (const ElfW(Phdr) &segment :
       llvm::ArrayRef(library->dlpi_phdr, library->dlpi_phnum)) {
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W))
      continue;
    uintptr_t begin = library->dlpi_addr + segment.p_vaddr;
    uintptr_t end = llvm::alignDown(begin + segment.p_memsz, page);
    begin = llvm::alignTo(begin, page);
    if (begin < end)
      (void)madvise(reinterpret_cast<void *>(begin), end - begin,
                    MADV_DONTNEED);
  }
  return 0;
}

void layout::giveBackCompilerPages() {
  dl_iterate_phdr(giveBackPages, /*data=*/nullptr);
}
