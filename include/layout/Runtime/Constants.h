//===- Constants.h - Large constants beside the code ------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A network's weights are tens of megabytes of globals. LLVM would hold every
// row of a filter as a value of its own and write it into an object file: a
// minute for ResNet-50. So the large constants of a module become declarations,
// and the JIT is given the addresses of plain arrays that hold their contents.
//
//   @w = constant [64 x [3 x f32]] <...>    becomes    @w = external constant
//                                           and        { "w" -> address }
//
// Laws: only constant globals whose contents are one dense block of integers or
// floats of whole bytes are taken, and not those that LLVM could gain from
// knowing (fewer than kMinBytes). An array has at least the alignment of its
// global, and 64; a global that wants more than a huge page is not taken.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_RUNTIME_CONSTANTS_H
#define LAYOUT_RUNTIME_CONSTANTS_H

#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinOps.h"
#include <string>
#include <vector>

namespace mlir {
namespace layout {

class DetachedConstants {
public:
  static constexpr int64_t kMinBytes = 4096;

  struct Entry {
    std::string name;
    AsmResourceBlob blob;
  };

  DetachedConstants() = default;

  /// Takes the large constants out of `module`, which is changed. With
  /// `dropResources` all memory of the resources of the context that is not
  /// needed is freed on the way, and they have no elements then: what
  /// allocateConstant gave stays where it is, the rest is copied or not read.
  explicit DetachedConstants(ModuleOp module, bool dropResources = false);

  /// Adds a constant of this many bytes and returns its memory.
  char *add(StringRef name, size_t bytes, size_t alignment);

  ArrayRef<Entry> getEntries() const { return entries; }

private:
  std::vector<Entry> entries;
};

} // namespace layout
} // namespace mlir

#endif // LAYOUT_RUNTIME_CONSTANTS_H
