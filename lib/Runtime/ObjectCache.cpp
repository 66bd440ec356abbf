//===- ObjectCache.cpp - Machine code kept on disk ------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Runtime/ObjectCache.h"
#include "layout/Support/WholeFile.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/CachePruning.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <cstdlib>

using namespace mlir;
using namespace mlir::layout;

/// What all entries together take at most; a network takes one or two million.
static constexpr uint64_t kMostBytes = uint64_t(1) << 30;

/// The hash of texts one after the other, as bytes.
static std::string hash(ArrayRef<StringRef> texts) {
  llvm::BLAKE3 hasher;
  for (StringRef text : texts)
    hasher.update(text);
  return llvm::toStringRef(hasher.final()).str();
}

std::string ObjectCache::getDefaultDirectory() {
  if (const char *own = std::getenv("LAYOUT_CACHE"))
    return own;
  SmallString<128> path;
  if (!llvm::sys::path::cache_directory(path))
    return "";
  llvm::sys::path::append(path, "mlir-layout", "programs");
  return path.str().str();
}

std::string ObjectCache::makeKey(ArrayRef<StringRef> parts) {
  std::string hashes;
  for (StringRef part : parts)
    hashes += hash(part);
  return llvm::toHex(hash(StringRef(hashes)), /*LowerCase=*/true);
}

std::string ObjectCache::getPath(StringRef key) const {
  SmallString<128> path(directory);
  // The name that llvm::pruneCache looks for.
  llvm::sys::path::append(path, "llvmcache-" + key);
  return path.str().str();
}

std::unique_ptr<llvm::MemoryBuffer> ObjectCache::find(StringRef key) const {
  if (directory.empty())
    return nullptr;
  std::string path = getPath(key);
  // Pruning goes by when an entry was last read.
  auto file =
      llvm::sys::fs::openNativeFileForRead(path, llvm::sys::fs::OF_UpdateAtime);
  if (!file) {
    llvm::consumeError(file.takeError());
    return nullptr;
  }
  auto buffer =
      llvm::MemoryBuffer::getOpenFile(*file, path, /*FileSize=*/-1,
                                      /*RequiresNullTerminator=*/false);
  llvm::sys::fs::closeFile(*file);
  if (!buffer)
    return nullptr;
  constexpr size_t hashBytes = LLVM_BLAKE3_OUT_LEN;
  StringRef bytes = (*buffer)->getBuffer();
  StringRef object = bytes.drop_back(std::min(hashBytes, bytes.size()));
  if (bytes.take_back(hashBytes) != hash({key, object}))
    return nullptr;
  return llvm::MemoryBuffer::getMemBufferCopy(object, path);
}

void ObjectCache::add(StringRef key, StringRef object) const {
  if (directory.empty() ||
      llvm::sys::fs::create_directories(directory, /*IgnoreExisting=*/true,
                                        llvm::sys::fs::owner_all))
    return;
  WholeFile file(getPath(key));
  file.os() << object << hash({key, object});
  if (file.commit())
    return;
  llvm::CachePruningPolicy policy;
  policy.MaxSizeBytes = kMostBytes;
  llvm::pruneCache(directory, policy);
}
