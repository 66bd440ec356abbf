//===- IndexedHeap.h - A priority queue with changing keys ------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A priority queue of the items 0 .. n - 1, least key first, with mutable keys.
//
//     IndexedHeap<int> heap({30, 10, 20});
//     heap.update(0, 5);
//     heap.pop(); // 0
//
// Laws: items with equal keys are ordered by number; an operation takes O(log
// n).
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_SOLVER_SEARCH_INDEXEDHEAP_H
#define LAYOUT_LIB_SOLVER_SEARCH_INDEXEDHEAP_H

#include <utility>
#include <vector>

namespace mlir::layout {

template <typename Key> class IndexedHeap {
public:
  explicit IndexedHeap(std::vector<Key> initial) : keys(std::move(initial)) {
    for (unsigned item = 0; item < keys.size(); ++item) {
      heap.push_back(item);
      places.push_back(item);
    }
    for (size_t place = heap.size() / 2; place-- > 0;)
      sink(place);
  }

  bool empty() const { return heap.empty(); }
  const Key &getKey(unsigned item) const { return keys[item]; }

  /// Sets the key of an item that was not popped, and moves the item to its
  /// place in the heap.
  void update(unsigned item, Key key) {
    keys[item] = std::move(key);
    rise(places[item]);
    sink(places[item]);
  }

  unsigned pop() {
    unsigned least = heap.front();
    unsigned last = heap.back();
    heap.pop_back();
    if (!heap.empty()) {
      put(last, 0);
      sink(0);
    }
    return least;
  }

private:
  bool isBefore(unsigned a, unsigned b) const {
    if (keys[a] < keys[b])
      return true;
    return !(keys[b] < keys[a]) && a < b;
  }
  void put(unsigned item, size_t place) {
    heap[place] = item;
    places[item] = place;
  }
  void rise(size_t place) {
    unsigned item = heap[place];
    for (; place > 0 && isBefore(item, heap[(place - 1) / 2]);
         place = (place - 1) / 2)
      put(heap[(place - 1) / 2], place);
    put(item, place);
  }
  void sink(size_t place) {
    unsigned item = heap[place];
    while (2 * place + 1 < heap.size()) {
      size_t child = 2 * place + 1;
      if (child + 1 < heap.size() && isBefore(heap[child + 1], heap[child]))
        ++child;
      if (!isBefore(heap[child], item))
        break;
      put(heap[child], place);
      place = child;
    }
    put(item, place);
  }

  std::vector<Key> keys;
  std::vector<unsigned> heap, places;
};

} // namespace mlir::layout

#endif // LAYOUT_LIB_SOLVER_SEARCH_INDEXEDHEAP_H
