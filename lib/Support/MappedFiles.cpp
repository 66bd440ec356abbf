//===- MappedFiles.cpp - Mapped files of constants ------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Support/MappedFiles.h"
#include "llvm/Support/Alignment.h"
#include "llvm/Support/Process.h"
#include <iterator>
#include <map>
#include <mutex>
#include <sys/mman.h>

using namespace mlir;
using namespace mlir::layout;

namespace {
struct MappedFiles {
  std::mutex mutex;
  std::map<const char *, const char *> files; // maps begins to ends
};
} // namespace

/// Returns the registered files. They are never destroyed, because files may be
/// closed while the process exits.
static MappedFiles &getMappedFiles() {
  static auto &files = *new MappedFiles;
  return files;
}

MappedPages::MappedPages(llvm::ArrayRef<char> file) : begin(file.begin()) {
  MappedFiles &all = getMappedFiles();
  std::lock_guard<std::mutex> lock(all.mutex);
  all.files[begin] = file.end();
}

MappedPages::~MappedPages() {
  MappedFiles &all = getMappedFiles();
  std::lock_guard<std::mutex> lock(all.mutex);
  all.files.erase(begin);
}

void layout::forgetMappedPages(llvm::ArrayRef<char> bytes) {
  MappedFiles &all = getMappedFiles();
  std::lock_guard<std::mutex> lock(all.mutex);
  auto above = all.files.upper_bound(bytes.begin());
  if (bytes.empty() || above == all.files.begin() ||
      bytes.end() > std::prev(above)->second)
    return;
  auto begin = llvm::alignDown(reinterpret_cast<uintptr_t>(bytes.begin()),
                               llvm::sys::Process::getPageSizeEstimate());
  // Pages that cannot be released stay resident.
  (void)madvise(reinterpret_cast<void *>(begin),
                reinterpret_cast<uintptr_t>(bytes.end()) - begin,
                MADV_DONTNEED);
}
