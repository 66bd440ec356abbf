//===- ObjectCache.h - What was compiled, kept on disk ----------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A directory of object files and of whole programs by key. The key is a hash
// of all that an entry depends on, so an entry is never out of date.
//
//   ObjectCache cache(ObjectCache::getDefaultDirectory());
//   std::string key = ObjectCache::makeKey({bitcode, cpu, "O3"});
//   if (auto object = cache.find(key)) ..
//   cache.add(key, [&](raw_ostream &os) { os << bytes; });
//
// Laws:
//   - what `find` gives is what was added under that key: an entry ends with a
//     hash of its key and its contents, and one that has another is not there;
//   - an entry is there as a whole or not, whatever other processes do;
//   - what cannot be read or written is no error, it is not kept;
//   - entries that were not used for long go when there are too many bytes.
//
// Beside llvm::localCache because that ends the process when the disk is full.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_RUNTIME_OBJECTCACHE_H
#define LAYOUT_RUNTIME_OBJECTCACHE_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <string>

namespace mlir {
namespace layout {

class ObjectCache {
public:
  /// Keeps nothing where `directory` is empty.
  explicit ObjectCache(std::string directory)
      : directory(std::move(directory)) {}

  /// $LAYOUT_CACHE, else mlir-layout/programs in $XDG_CACHE_HOME or ~/.cache.
  static std::string getDefaultDirectory();

  /// Different for different lists of parts.
  static std::string makeKey(ArrayRef<StringRef> parts);

  /// What was added under `key`, or null.
  std::unique_ptr<llvm::MemoryBuffer> find(StringRef key) const;
  void add(StringRef key, function_ref<void(raw_ostream &)> write) const;

private:
  std::string getPath(StringRef key) const;

  std::string directory;
};

} // namespace layout
} // namespace mlir

#endif // LAYOUT_RUNTIME_OBJECTCACHE_H
