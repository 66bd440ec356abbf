//===- ObjectCache.cpp - A disk cache of compiled code --------------------===//
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

/// The maximum total size of the files in the cache, in bytes; above it, those
/// that were used least recently are removed. LLVM checks this when an entry is
/// added, at most every 20 minutes, and also removes files that were not used
/// for a week. The machine code of a network takes 1 to 2 MB, and a stored
/// program as much as its weights.
static constexpr uint64_t kMostBytes = uint64_t(2) << 30;

/// Returns the BLAKE3 hash of the concatenation of `texts`, as raw bytes.
static std::string hash(ArrayRef<StringRef> texts) {
  llvm::BLAKE3 hasher;
  for (StringRef text : texts)
    hasher.update(text);
  return llvm::toStringRef(hasher.final()).str();
}

namespace {
/// The contents of a cached file, without the hash at its end, which is that of
/// its key and of these contents; `isIntact` compares it. The file must not be
/// shorter than the hash.
class Entry : public llvm::MemoryBuffer {
public:
  explicit Entry(std::unique_ptr<llvm::MemoryBuffer> file)
      : file(std::move(file)) {
    init(this->file->getBufferStart(),
         this->file->getBufferEnd() - LLVM_BLAKE3_OUT_LEN,
         /*RequiresNullTerminator=*/false);
  }
  bool isIntact(StringRef key) const {
    return file->getBuffer().take_back(LLVM_BLAKE3_OUT_LEN) ==
           hash({key, getBuffer()});
  }
  BufferKind getBufferKind() const override { return file->getBufferKind(); }

private:
  std::unique_ptr<llvm::MemoryBuffer> file;
};

/// A stream that forwards its output to another one and computes the hash of a
/// key followed by this output.
class HashingStream : public llvm::raw_ostream {
public:
  HashingStream(raw_ostream &os, StringRef key) : os(os) { hasher.update(key); }
  ~HashingStream() override { flush(); }
  std::string getHash() { return llvm::toStringRef(hasher.final()).str(); }

private:
  void write_impl(const char *data, size_t size) override {
    hasher.update(StringRef(data, size));
    os.write(data, size);
    written += size;
  }
  uint64_t current_pos() const override { return written; }

  raw_ostream &os;
  llvm::BLAKE3 hasher;
  uint64_t written = 0;
};
} // namespace

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
  // llvm::pruneCache requires this prefix.
  llvm::sys::path::append(path, "llvmcache-" + key);
  return path.str().str();
}

std::unique_ptr<llvm::MemoryBuffer> ObjectCache::find(StringRef key) const {
  if (directory.empty())
    return nullptr;
  std::string path = getPath(key);
  // Pruning uses the time of the last access.
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
  if (!buffer || (*buffer)->getBufferSize() < LLVM_BLAKE3_OUT_LEN)
    return nullptr;
  auto entry = std::make_unique<Entry>(std::move(*buffer));
  return entry->isIntact(key) ? std::move(entry) : nullptr;
}

void ObjectCache::add(StringRef key,
                      function_ref<void(raw_ostream &)> write) const {
  if (directory.empty() ||
      llvm::sys::fs::create_directories(directory, /*IgnoreExisting=*/true,
                                        llvm::sys::fs::owner_all))
    return;
  WholeFile file(getPath(key));
  HashingStream stream(file.os(), key);
  write(stream);
  stream.flush();
  // An entry of more than half the cache is not stored, because it would evict
  // most others.
  if (stream.tell() > kMostBytes / 2)
    return;
  file.os() << stream.getHash();
  if (file.commit())
    return;
  llvm::CachePruningPolicy policy;
  policy.MaxSizeBytes = kMostBytes;
  llvm::pruneCache(directory, policy);
}
