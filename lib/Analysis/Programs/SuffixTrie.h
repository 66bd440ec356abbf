//===- SuffixTrie.h - Sequences that are suffixes of others -----*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds sequences that are suffixes of others, by a trie of reversed sequences.
//
//     SuffixTrie tails;
//     tails.add({1, 2, 3, 4});
//     tails.add({3, 4});
//     tails.add({2, 3, 4});
//     tails.find(0)          // sequence 2, which has 3 elements
//     tails.find(1)          // none
//
// Laws:
//  * the result is the longest other sequence that is a suffix, the first one
//    of equal sequences. The first of equal sequences does not find the others;
//  * hence repeated lookups terminate;
//  * time and memory are linear in the elements.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_ANALYSIS_PROGRAMS_SUFFIXTRIE_H
#define LAYOUT_LIB_ANALYSIS_PROGRAMS_SUFFIXTRIE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include <optional>
#include <vector>

namespace mlir::layout {

class SuffixTrie {
public:
  using Element = std::pair<unsigned, unsigned>;

  /// Adds a nonempty sequence. Sequences are numbered in calling order.
  void add(llvm::ArrayRef<Element> sequence) {
    unsigned node = 0;
    for (Element element : llvm::reverse(sequence)) {
      auto [it, isNew] =
          children.try_emplace({node, element}, unsigned(nodes.size()));
      if (isNew)
        nodes.push_back({node, kNone, nodes[node].length + 1});
      node = it->second;
    }
    if (nodes[node].sequence == kNone)
      nodes[node].sequence = ends.size();
    ends.push_back(node);
  }

  struct Tail {
    unsigned sequence, length;
  };
  std::optional<Tail> find(unsigned sequence) const {
    unsigned node = ends[sequence];
    if (nodes[node].sequence == sequence)
      node = nodes[node].parent;
    while (node != 0 && nodes[node].sequence == kNone)
      node = nodes[node].parent;
    if (node == 0)
      return std::nullopt;
    return Tail{nodes[node].sequence, nodes[node].length};
  }

private:
  static constexpr unsigned kNone = ~0u;
  /// A suffix of a sequence: the suffix without its first element (`parent`),
  /// the first sequence that is equal to it or kNone, and its length. Node 0 is
  /// the empty suffix.
  struct Node {
    unsigned parent, sequence, length;
  };
  std::vector<Node> nodes = {{0, kNone, 0}};
  llvm::DenseMap<std::pair<unsigned, Element>, unsigned> children;
  std::vector<unsigned> ends;
};

} // namespace mlir::layout

#endif // LAYOUT_LIB_ANALYSIS_PROGRAMS_SUFFIXTRIE_H
