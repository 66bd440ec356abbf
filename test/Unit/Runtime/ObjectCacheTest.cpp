//===- ObjectCacheTest.cpp - The disk cache of compiled code --------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Runtime/ObjectCache.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::layout;

namespace {

class ObjectCacheTest : public ::testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("objects", directory));
  }
  void TearDown() override { llvm::sys::fs::remove_directories(directory); }

  std::string getPath(StringRef name) {
    SmallString<128> path(directory);
    llvm::sys::path::append(path, name);
    return path.str().str();
  }
  static std::optional<std::string> find(const ObjectCache &cache,
                                         StringRef key) {
    if (auto object = cache.find(key))
      return object->getBuffer().str();
    return std::nullopt;
  }
  static void add(const ObjectCache &cache, StringRef key, StringRef object) {
    cache.add(key, [&](raw_ostream &os) { os << object; });
  }
  static void write(StringRef path, StringRef text) {
    std::error_code code;
    llvm::raw_fd_ostream(path, code) << text;
    ASSERT_FALSE(code);
  }

  SmallString<128> directory;
};

TEST_F(ObjectCacheTest, GivesWhatWasAdded) {
  // The first entry creates the directories.
  ObjectCache cache(getPath("a/b"));
  EXPECT_EQ(find(cache, "one"), std::nullopt);
  add(cache, "one", "first");
  add(cache, "two", "");
  EXPECT_EQ(find(cache, "one"), "first");
  EXPECT_EQ(find(cache, "two"), "");
  add(cache, "one", "second");
  EXPECT_EQ(find(ObjectCache(getPath("a/b")), "one"), "second");
}

TEST_F(ObjectCacheTest, KeysTellAllPartsApart) {
  // E.g. a module, a processor and an optimization level.
  std::string key = ObjectCache::makeKey({"module", "znver5", "3"});
  EXPECT_EQ(key, ObjectCache::makeKey({"module", "znver5", "3"}));
  EXPECT_NE(key, ObjectCache::makeKey({"module", "znver4", "3"}));
  EXPECT_NE(key, ObjectCache::makeKey({"modulez", "nver5", "3"}));
  EXPECT_NE(key, ObjectCache::makeKey({"module", "znver5", "3", ""}));
}

TEST_F(ObjectCacheTest, DamagedEntriesAreNotThere) {
  ObjectCache cache(directory.str().str());
  std::string object(1000, 'x');
  add(cache, "key", object);
  std::string path = getPath("llvmcache-key");
  std::string bytes = (*llvm::MemoryBuffer::getFile(path))->getBuffer().str();
  for (size_t at : {size_t(0), object.size() - 1, bytes.size() - 1}) {
    std::string damaged = bytes;
    damaged[at] ^= 1;
    write(path, damaged);
    EXPECT_EQ(find(cache, "key"), std::nullopt) << at;
  }
  for (size_t size : {size_t(0), size_t(31), object.size(), bytes.size() - 1}) {
    write(path, StringRef(bytes).take_front(size));
    EXPECT_EQ(find(cache, "key"), std::nullopt) << size;
  }
  add(cache, "key", object);
  EXPECT_EQ(find(cache, "key"), object);
}

TEST_F(ObjectCacheTest, EntriesOfOtherKeysAreNotThere) {
  ObjectCache cache(directory.str().str());
  add(cache, "one", "object");
  ASSERT_FALSE(llvm::sys::fs::rename(getPath("llvmcache-one"),
                                     getPath("llvmcache-two")));
  EXPECT_EQ(find(cache, "two"), std::nullopt);
}

TEST_F(ObjectCacheTest, WhereNothingCanBeKeptNothingIs) {
  write(getPath("file"), "text");
  for (const std::string &place : {std::string(), getPath("file")}) {
    ObjectCache cache(place);
    add(cache, "key", "object");
    EXPECT_EQ(find(cache, "key"), std::nullopt) << place;
  }
}

} // namespace
