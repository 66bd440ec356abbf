//===- WholeFileTest.cpp --------------------------------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Support/WholeFile.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "gtest/gtest.h"

using namespace mlir::layout;
namespace fs = llvm::sys::fs;

namespace {

class WholeFileTest : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(fs::createUniqueDirectory("whole-file", folder));
  }
  void TearDown() override { fs::remove_directories(folder); }

  std::string at(llvm::StringRef name) {
    llvm::SmallString<128> path(folder);
    llvm::sys::path::append(path, name);
    return path.str().str();
  }
  std::string read(llvm::StringRef name) {
    auto buffer = llvm::MemoryBuffer::getFile(at(name));
    return buffer ? (*buffer)->getBuffer().str() : "(none)";
  }
  int countFiles() {
    std::error_code code;
    int count = 0;
    for (fs::directory_iterator i(folder, code), end; i != end && !code;
         i.increment(code))
      ++count;
    return count;
  }
  std::error_code write(llvm::StringRef name, llvm::StringRef text) {
    WholeFile file(at(name));
    file.os() << text;
    return file.commit();
  }

  llvm::SmallString<128> folder;
};

TEST_F(WholeFileTest, TakesItsNameWhenItIsCommitted) {
  ASSERT_FALSE(write("a", "old"));
  {
    WholeFile file(at("a"));
    file.os() << "new";
    file.os().flush();
    EXPECT_EQ(read("a"), "old");
    EXPECT_FALSE(file.commit());
    EXPECT_FALSE(file.commit());
  }
  EXPECT_EQ(read("a"), "new");
  EXPECT_EQ(countFiles(), 1);
}

TEST_F(WholeFileTest, IsDroppedWithoutACommit) {
  ASSERT_FALSE(write("a", "old"));
  {
    WholeFile file(at("a")), other(at("b%20c"));
    file.os() << "new";
    other.os() << "new";
  }
  EXPECT_EQ(read("a"), "old");
  EXPECT_EQ(countFiles(), 1);
}

TEST_F(WholeFileTest, TwoAtOnceDoNotMeet) {
  WholeFile one(at("a")), two(at("a"));
  one.os() << "one";
  two.os() << "two";
  EXPECT_FALSE(two.commit());
  EXPECT_EQ(read("a"), "two");
  EXPECT_FALSE(one.commit());
  EXPECT_EQ(read("a"), "one");
  EXPECT_EQ(countFiles(), 1);
}

TEST_F(WholeFileTest, FollowsALinkAndKeepsPermissions) {
  ASSERT_FALSE(write("a", "old"));
  ASSERT_FALSE(fs::setPermissions(at("a"), fs::owner_read | fs::owner_write));
  ASSERT_FALSE(fs::create_link(at("a"), at("link")));
  ASSERT_FALSE(write("link", "new"));
  EXPECT_EQ(read("a"), "new");
  EXPECT_TRUE(fs::is_symlink_file(at("link")));
  EXPECT_EQ(*fs::getPermissions(at("a")), fs::owner_read | fs::owner_write);
}

TEST_F(WholeFileTest, SaysWhyItCannotBeOpened) {
  WholeFile missing(at("none/a")), directory(folder);
  EXPECT_EQ(missing.getError(), std::errc::no_such_file_or_directory);
  missing.os() << "lost";
  EXPECT_EQ(missing.commit(), std::errc::no_such_file_or_directory);
  EXPECT_EQ(directory.commit(), std::errc::is_a_directory);
}

/// A device is written directly, and reports when it is full.
TEST_F(WholeFileTest, ReportsAFullDevice) {
  WholeFile full("/dev/full"), null("/dev/null");
  for (int i = 0; i < 100000; ++i) {
    full.os() << "text";
    null.os() << "text";
  }
  EXPECT_EQ(full.commit(), std::errc::no_space_on_device);
  EXPECT_FALSE(null.commit());
}

} // namespace
