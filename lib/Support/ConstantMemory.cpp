//===- ConstantMemory.cpp - Memory for computed constants -----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Support/ConstantMemory.h"
#include "layout/Support/HugePages.h"
#include "llvm/Support/Alignment.h"
#include "llvm/Support/ErrorHandling.h"
#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <map>
#include <mutex>
#include <sys/mman.h>

using namespace mlir;
using namespace mlir::layout;

/// The least size, in bytes, of a memory range that constants share. Pages that
/// are not written use address space only.
static constexpr size_t kChunkBytes = 64 << 20;

namespace {
/// A memory range from which consecutive blocks are allocated.
class Chunk {
public:
  explicit Chunk(size_t bytes);
  ~Chunk();

  /// Returns a new block at a multiple of `alignment`, or nullptr if it does
  /// not fit the rest of the chunk.
  char *take(size_t bytes, size_t alignment) {
    size_t begin = llvm::alignTo(used, alignment);
    if (begin > size || bytes > size - begin)
      return nullptr;
    used = begin + bytes;
    return memory.get() + begin;
  }

  void give(char *block, size_t bytes) {
    if (block + bytes == memory.get() + used)
      used -= bytes;
    auto begin = llvm::alignAddr(block, llvm::Align(kHugePageBytes));
    auto end = llvm::alignDown(reinterpret_cast<uintptr_t>(block) + bytes,
                               kHugePageBytes);
    if (begin < end)
      (void)madvise(reinterpret_cast<void *>(begin), end - begin,
                    MADV_DONTNEED);
  }

private:
  size_t size;
  size_t used = 0;
  std::unique_ptr<char, void (*)(void *)> memory;
};

/// The chunks that exist. This is never destroyed, because blocks may be freed
/// while the process exits.
struct ConstantMemory {
  std::mutex mutex;          // held while chunks are created or destroyed
  std::weak_ptr<Chunk> open; // the chunk that new blocks are allocated from
  std::map<const char *, const char *> chunks; // maps begins to ends
};
} // namespace

static ConstantMemory &getConstantMemory() {
  static auto &memory = *new ConstantMemory;
  return memory;
}

Chunk::Chunk(size_t bytes)
    : size(bytes),
      memory(static_cast<char *>(allocateHugePages(bytes)), std::free) {
  if (!memory)
    llvm::report_bad_alloc_error("out of memory for constants");
  getConstantMemory().chunks[memory.get()] = memory.get() + size;
}

Chunk::~Chunk() { getConstantMemory().chunks.erase(memory.get()); }

std::shared_ptr<char> layout::allocateConstantBytes(size_t bytes,
                                                    size_t alignment) {
  assert(alignment <= kHugePageBytes && "chunks are aligned to a huge page");
  ConstantMemory &all = getConstantMemory();
  std::lock_guard<std::mutex> lock(all.mutex);
  std::shared_ptr<Chunk> chunk = all.open.lock();
  char *block = chunk ? chunk->take(bytes, alignment) : nullptr;
  if (!block) {
    chunk = std::make_shared<Chunk>(std::max(bytes, kChunkBytes));
    all.open = chunk;
    block = chunk->take(bytes, alignment);
  }
  return {block, [chunk, bytes](char *block) mutable {
            std::lock_guard<std::mutex> lock(getConstantMemory().mutex);
            chunk->give(block, bytes);
            chunk.reset();
          }};
}

bool layout::isConstantMemory(const void *data) {
  ConstantMemory &all = getConstantMemory();
  std::lock_guard<std::mutex> lock(all.mutex);
  auto above = all.chunks.upper_bound(static_cast<const char *>(data));
  return above != all.chunks.begin() && data < std::prev(above)->second;
}
