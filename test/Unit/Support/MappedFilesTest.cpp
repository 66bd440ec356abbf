//===- MappedFilesTest.cpp ------------------------------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Support/MappedFiles.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

using namespace mlir::layout;

static constexpr size_t kBytes = 1 << 20;

namespace {
/// A file of kBytes, mapped for reading.
class MappedFilesTest : public ::testing::Test {
protected:
  void SetUp() override {
    std::string name = ::testing::TempDir() + "mapped-XXXXXX";
    int file = mkstemp(name.data()); // fills in the last six characters
    ASSERT_NE(file, -1);
    unlink(name.c_str());
    std::string text(kBytes, 'x');
    ASSERT_EQ(write(file, text.data(), kBytes), ssize_t(kBytes));
    void *memory = mmap(nullptr, kBytes, PROT_READ, MAP_SHARED, file, 0);
    close(file);
    ASSERT_NE(memory, MAP_FAILED);
    bytes = {static_cast<const char *>(memory), kBytes};
  }
  void TearDown() override {
    munmap(const_cast<char *>(bytes.data()), bytes.size());
  }

  /// Counts the bytes 'x', which reads all pages.
  size_t count() { return std::count(bytes.begin(), bytes.end(), 'x'); }

  /// Returns the resident size of the mapping in kilobytes.
  long getResident() {
    std::ostringstream address;
    address << std::hex << reinterpret_cast<uintptr_t>(bytes.data()) << '-';
    std::ifstream maps("/proc/self/smaps");
    std::string line;
    bool isHere = false;
    while (std::getline(maps, line)) {
      isHere |= line.rfind(address.str(), 0) == 0;
      if (isHere && line.rfind("Rss:", 0) == 0)
        return std::atol(line.c_str() + 4);
    }
    return -1;
  }

  llvm::ArrayRef<char> bytes;
};
} // namespace

TEST_F(MappedFilesTest, GivesPagesBackAndReadsThemAgain) {
  MappedPages pages(bytes);
  EXPECT_EQ(count(), kBytes);
  EXPECT_EQ(getResident(), long(kBytes / 1024));
  forgetMappedPages(bytes);
  EXPECT_EQ(getResident(), 0);
  EXPECT_EQ(count(), kBytes);
}

TEST_F(MappedFilesTest, LeavesWhatIsNotOfAKnownFile) {
  {
    MappedPages pages(bytes);
  }
  EXPECT_EQ(count(), kBytes);
  forgetMappedPages(bytes);
  EXPECT_EQ(getResident(), long(kBytes / 1024));
  // Bytes of the heap, which would become zeros.
  MappedPages pages(bytes);
  std::vector<char> heap(kBytes, 'y');
  forgetMappedPages(heap);
  EXPECT_EQ(std::count(heap.begin(), heap.end(), 'y'), ptrdiff_t(kBytes));
  forgetMappedPages({});
}
