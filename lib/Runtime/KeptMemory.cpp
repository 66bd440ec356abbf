//===- KeptMemory.cpp - Reuse of large blocks across runs -----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Runtime/KeptMemory.h"
#include "AddressSanitizer.h"
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
/// The maximum number of cached blocks that are not of results, enough for
/// programs with dynamic sizes and for several concurrent programs.
static constexpr size_t kMostBlocks = 16;
/// The maximum number of cached blocks of results, enough for a caller that
/// drops a result when it has the next one.
static constexpr size_t kMostResults = 2;

namespace {
struct KeptBlock {
  void *memory;
  bool isResult;
  size_t getBytes() const { return malloc_usable_size(memory); }
};

struct KeptMemory {
  std::mutex mutex;
  std::vector<KeptBlock> blocks; // the oldest first
};
} // namespace

/// Returns the cache of freed memory blocks, which is never destroyed because
/// programs may be destroyed at process exit.
static KeptMemory &getKeptMemory() {
  static auto &memory = *new KeptMemory;
  return memory;
}

/// Returns true if a block of `bytes` bytes is cached after use. None is under
/// AddressSanitizer, which reports the use of freed memory.
static bool isCached(size_t bytes) {
  return bytes > kLargeBlock && !layout::hasAddressSanitizer();
}

void *layout::allocateMemory(size_t bytes) {
  if (!isCached(bytes))
    return std::malloc(bytes);
  KeptMemory &memory = getKeptMemory();
  std::lock_guard<std::mutex> lock(memory.mutex);
  KeptBlock *best = nullptr;
  for (KeptBlock &block : memory.blocks)
    if (block.getBytes() >= bytes &&
        (!best || block.getBytes() < best->getBytes()))
      best = &block;
  if (!best)
    return allocateHugePages(bytes);
  void *block = best->memory;
  memory.blocks.erase(memory.blocks.begin() + (best - memory.blocks.data()));
  return block;
}

/// Caches the block if it is large, else frees it. If more than `most` blocks
/// of its kind (of results, or others) are then cached, frees the oldest of
/// this kind.
static void keep(KeptBlock block, size_t most) {
  if (!isCached(block.getBytes()))
    return std::free(block.memory);
  KeptMemory &memory = getKeptMemory();
  std::lock_guard<std::mutex> lock(memory.mutex);
  std::vector<KeptBlock> &blocks = memory.blocks;
  blocks.push_back(block);
  auto isSameKind = [&](const KeptBlock &other) {
    return other.isResult == block.isResult;
  };
  if (size_t(llvm::count_if(blocks, isSameKind)) <= most)
    return;
  auto oldest = llvm::find_if(blocks, isSameKind);
  std::free(oldest->memory);
  blocks.erase(oldest);
}

void layout::freeMemory(void *block) {
  keep({block, /*isResult=*/false}, kMostBlocks);
}

void layout::freeResultMemory(void *block) {
  keep({block, /*isResult=*/true}, kMostResults);
}

void layout::releaseKeptMemory() {
  KeptMemory &memory = getKeptMemory();
  std::lock_guard<std::mutex> lock(memory.mutex);
  for (const KeptBlock &block : memory.blocks)
    std::free(block.memory);
  memory.blocks.clear();
}

void layout::giveBackFreedMemory() { malloc_trim(/*pad=*/0); }

/// Drops the resident pages of the segments of `library` that are not writable,
/// if it is a library of LLVM, of MLIR, of this project or of ONNX. The dynamic
/// linker does not write to them, so the next access reads the same bytes from
/// the file. Returns 0, which continues dl_iterate_phdr.
static int giveBackPages(dl_phdr_info *library, size_t, void *) {
  constexpr llvm::StringLiteral compilers[] = {"libLLVM", "libMLIR", "_layout",
                                               "onnx_cpp2py_export"};
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
