//===- ObjectPool.h - Reuse of released memory objects ----------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A pool of released buffers and images, which are reused by tensors that fit.
// Shared by the runtimes for OpenCL and Vulkan:
//
//   ObjectPool<cl_mem, MemoryShape> pool(release);
//   cl_mem memory = pool.take(shape);    // null: allocate one ..
//   pool.add(made, shape);               // .. and register it
//   pool.giveBack(memory);
//
// Laws:
//   - A tensor gets the smallest waiting object of its type that is at least as
//     large in each dimension, and of these the one that was made first, so that
//     repeated runs get the same objects. Kernels access only their own tensor,
//     by coordinates that do not depend on the size of the object.
//   - The waiting objects have at most twice the peak bytes in use; the one
//     that was released first is freed first.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_COMMON_OBJECTPOOL_H
#define LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_COMMON_OBJECTPOOL_H

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace mlir::layout {

/// `Object` is a pointer. `Shape` has `size_t countBytes() const` and
/// `bool fits(const Shape &into) const`.
template <typename Object, typename Shape> class ObjectPool {
public:
  /// Frees objects that leave the pool by `release`.
  explicit ObjectPool(void (*release)(Object)) : release(release) {}

  /// Returns the smallest released object that `shape` fits into, and marks it
  /// as used, or null if there is none.
  Object take(const Shape &shape) {
    auto best = waiting.end();
    for (auto it = waiting.begin(); it != waiting.end(); ++it)
      if (shape.fits(it->shape) && (best == waiting.end() || *it < *best))
        best = it;
    if (best == waiting.end())
      return nullptr;
    Entry entry = *best;
    waiting.erase(best);
    waitingBytes -= entry.shape.countBytes();
    use(entry);
    return entry.object;
  }

  /// Registers a new object, which is in use.
  void add(Object object, const Shape &shape) { use({object, shape, made++}); }

  /// Releases an object to the pool. Other objects are ignored.
  void giveBack(Object object) {
    auto place = used.find(object);
    if (place == used.end())
      return;
    waiting.push_back(place->second);
    usedBytes -= place->second.shape.countBytes();
    waitingBytes += place->second.shape.countBytes();
    used.erase(place);
    while (waitingBytes > 2 * mostUsedBytes)
      dropOldest();
  }

  /// Frees all released objects. Returns true if there was one.
  bool releaseWaiting() {
    bool isAny = !waiting.empty();
    while (!waiting.empty())
      dropOldest();
    return isAny;
  }

  /// Returns e.g. "8 buffers and images made, 9633792 bytes at most in use, ..".
  std::string describe() const {
    return std::to_string(made) + " buffers and images made, " +
           std::to_string(mostUsedBytes) + " bytes at most in use, " +
           std::to_string(mostBytes) + " with those that wait";
  }

private:
  struct Entry {
    Object object;
    Shape shape;
    size_t number; // in the order in which objects were made

    bool operator<(const Entry &other) const {
      return std::make_pair(shape.countBytes(), number) <
             std::make_pair(other.shape.countBytes(), other.number);
    }
  };

  void use(const Entry &entry) {
    used.insert({entry.object, entry});
    usedBytes += entry.shape.countBytes();
    mostUsedBytes = std::max(mostUsedBytes, usedBytes);
    mostBytes = std::max(mostBytes, usedBytes + waitingBytes);
  }

  void dropOldest() {
    waitingBytes -= waiting.front().shape.countBytes();
    release(waiting.front().object);
    waiting.erase(waiting.begin());
  }

  void (*release)(Object);
  std::map<Object, Entry> used;
  std::vector<Entry> waiting; // oldest first
  size_t made = 0;
  size_t usedBytes = 0, waitingBytes = 0, mostUsedBytes = 0, mostBytes = 0;
};

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_COMMON_OBJECTPOOL_H
