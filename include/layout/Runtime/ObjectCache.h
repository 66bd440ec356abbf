//===- ObjectCache.h - A disk cache of compiled code ------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A directory of object files and whole programs by key. The key is a hash of
// everything that an entry depends on, so entries are never stale.
//
//   ObjectCache cache(ObjectCache::getDefaultDirectory());
//   std::string key = ObjectCache::makeKey({bitcode, cpu, "O3"});
//   if (auto object = cache.find(key)) ..
//   cache.add(key, [&](raw_ostream &os) { os << bytes; });
//
// Laws:
//   - `find` returns exactly what was added under the key: an entry ends with a
//     hash of its key and contents, and is ignored if the hash differs;
//   - entries are written atomically with respect to other processes;
//   - failures to read or write are not errors; the entry is not cached;
//   - the least recently used entries are removed if the cache is too large.
//
// Not llvm::localCache, which aborts the process if the disk is full.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_RUNTIME_OBJECTCACHE_H
#define LAYOUT_RUNTIME_OBJECTCACHE_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <string>

namespace mlir::layout {

class ObjectCache {
public:
  /// Creates a cache in `directory`, which is created when the first entry is
  /// added. If `directory` is empty, nothing is stored or found.
  explicit ObjectCache(std::string directory)
      : directory(std::move(directory)) {}

  /// Returns $LAYOUT_CACHE if it is set, even if empty, and otherwise
  /// mlir-layout/programs in $XDG_CACHE_HOME or ~/.cache. Returns an empty
  /// string if the user has no cache directory.
  static std::string getDefaultDirectory();

  /// Returns a hash of the list `parts` in hexadecimal. {"ab", "c"} and {"a",
  /// "bc"} have different keys.
  static std::string makeKey(ArrayRef<StringRef> parts);

  /// Returns the contents that were added under the key. Returns nullptr if
  /// there are none, if the file is damaged, or if the cache is disabled.
  std::unique_ptr<llvm::MemoryBuffer> find(StringRef key) const;
  void add(StringRef key, function_ref<void(raw_ostream &)> write) const;

private:
  std::string getPath(StringRef key) const;

  std::string directory;
};

} // namespace mlir::layout

#endif // LAYOUT_RUNTIME_OBJECTCACHE_H
