//===- Constants.h - Large constants outside of the code --------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The weights of a network are tens of megabytes of globals. LLVM would hold
// every row of a filter as a separate value and write it into an object file,
// which takes a minute for ResNet-50. Large constants are replaced by
// declarations, and the JIT gets the addresses of arrays with their contents.
//
//   @w = constant [64 x [3 x f32]] <...>    becomes    @w = external constant
//                                           and        { "w" -> address }
//
// Laws: only constant globals are detached whose contents are one dense block
// of whole-byte integers or floats of at least kMinBytes, below which LLVM may
// profit from the values. An array is aligned to 64 bytes and to its global's
// alignment; globals aligned to more than a huge page stay.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_RUNTIME_CONSTANTS_H
#define LAYOUT_RUNTIME_CONSTANTS_H

#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinOps.h"
#include <string>
#include <vector>

namespace mlir::layout {

class DetachedConstants {
public:
  static constexpr int64_t kMinBytes = 4096;

  struct Entry {
    std::string name;
    AsmResourceBlob blob;
    /// The name of the resource whose memory, which is not from
    /// allocateConstantBytes, `blob` shares; empty for other memory.
    std::string resource;
  };

  DetachedConstants() = default;

  /// Replaces the constants of `module` of at least kMinBytes bytes by external
  /// declarations and keeps a copy of their contents. With `dropResources`,
  /// also frees each resource of the context that no remaining global reads.
  /// Constants in memory from allocateConstantBytes (ConstantMemory.h) are then
  /// taken over instead of copied, if they are sufficiently aligned; with
  /// `shareResources`, those in any memory.
  explicit DetachedConstants(ModuleOp module, bool dropResources = false,
                             bool shareResources = false);

  /// Adds a constant of `bytes` bytes at a multiple of `alignment`, and returns
  /// its memory, for the caller to fill.
  char *add(StringRef name, size_t bytes, size_t alignment);

  /// Adds a constant in the memory of `blob`, or a copy if that is not at a
  /// multiple of `alignment`.
  void add(StringRef name, AsmResourceBlob blob, size_t alignment);

  ArrayRef<Entry> getEntries() const { return entries; }

private:
  std::vector<Entry> entries;
};

} // namespace mlir::layout

#endif // LAYOUT_RUNTIME_CONSTANTS_H
