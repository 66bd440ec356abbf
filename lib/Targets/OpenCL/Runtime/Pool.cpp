//===- Pool.cpp - Reuse of released device memory -------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Pool.h"
#include "layout/Targets/OpenCL/Runtime/OpenCL.h"
#include <algorithm>

using namespace mlir::layout::opencl;

static size_t countBytes(const MemoryShape &shape) {
  size_t channelBytes = shape.channel == CL_SIGNED_INT8    ? 1
                        : shape.channel == CL_HALF_FLOAT   ? 2
                        : shape.channel == CL_SIGNED_INT16 ? 2
                                                           : 4;
  size_t elementBytes =
      shape.object == CL_MEM_OBJECT_BUFFER ? 1 : 4 * channelBytes;
  return shape.width * shape.height * shape.slices * elementBytes;
}

static bool fits(const MemoryShape &shape, const MemoryShape &into) {
  return shape.object == into.object && shape.channel == into.channel &&
         shape.width <= into.width && shape.height <= into.height &&
         shape.slices <= into.slices;
}

namespace {
struct Pool {
  std::map<cl_mem, MemoryShape> used;
  std::vector<std::pair<cl_mem, MemoryShape>> waiting; // oldest first
  size_t made = 0;
  size_t usedBytes = 0, waitingBytes = 0, mostUsedBytes = 0, mostBytes = 0;

  void use(cl_mem memory, const MemoryShape &shape) {
    used[memory] = shape;
    usedBytes += countBytes(shape);
    mostUsedBytes = std::max(mostUsedBytes, usedBytes);
    mostBytes = std::max(mostBytes, usedBytes + waitingBytes);
  }

  void dropOldest() {
    waitingBytes -= countBytes(waiting.front().second);
    clReleaseMemObject(waiting.front().first);
    waiting.erase(waiting.begin());
  }
};
} // namespace

static Pool &getPool() {
  static auto *pool = new Pool;
  return *pool;
}

cl_mem mlir::layout::opencl::takeMemory(const MemoryShape &shape) {
  Pool &pool = getPool();
  auto best = pool.waiting.end();
  for (auto it = pool.waiting.begin(); it != pool.waiting.end(); ++it)
    if (fits(shape, it->second) &&
        (best == pool.waiting.end() ||
         countBytes(it->second) < countBytes(best->second)))
      best = it;
  if (best == pool.waiting.end())
    return nullptr;
  auto [memory, size] = *best;
  pool.waiting.erase(best);
  pool.waitingBytes -= countBytes(size);
  pool.use(memory, size);
  return memory;
}

void mlir::layout::opencl::addMemory(cl_mem memory, const MemoryShape &shape) {
  ++getPool().made;
  getPool().use(memory, shape);
}

void mlir::layout::opencl::giveMemoryBack(cl_mem memory) {
  Pool &pool = getPool();
  auto place = pool.used.find(memory);
  if (place == pool.used.end())
    return;
  pool.waiting.push_back(*place);
  pool.usedBytes -= countBytes(place->second);
  pool.waitingBytes += countBytes(place->second);
  pool.used.erase(place);
  while (pool.waitingBytes > 2 * pool.mostUsedBytes)
    pool.dropOldest();
}

bool mlir::layout::opencl::releaseWaitingMemory() {
  Pool &pool = getPool();
  bool isAny = !pool.waiting.empty();
  while (!pool.waiting.empty())
    pool.dropOldest();
  return isAny;
}

std::string mlir::layout::opencl::describeMemory() {
  const Pool &pool = getPool();
  return std::to_string(pool.made) + " buffers and images made, " +
         std::to_string(pool.mostUsedBytes) + " bytes at most in use, " +
         std::to_string(pool.mostBytes) + " with those that wait";
}

void layoutClReleaseWaiting() {
  std::lock_guard<std::recursive_mutex> lock(getMutex());
  releaseWaitingMemory();
}
