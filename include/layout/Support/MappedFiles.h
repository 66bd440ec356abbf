//===- MappedFiles.h - Files that constants are read from -------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A page of a mapped file counts as memory of the process from when it is read.
// Weights are read once, when they are packed; who has done so says it here,
// and the pages are the system's again. Whoever reads them once more gets them
// from the file.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_SUPPORT_MAPPEDFILES_H
#define LAYOUT_SUPPORT_MAPPEDFILES_H

#include "llvm/ADT/ArrayRef.h"

namespace mlir {
namespace layout {

/// Makes pages of `file`, which is mapped and not written to, known for as long
/// as the object lives.
class MappedPages {
public:
  explicit MappedPages(llvm::ArrayRef<char> file);
  ~MappedPages();
  MappedPages(const MappedPages &) = delete;
  MappedPages &operator=(const MappedPages &) = delete;

private:
  const char *begin;
};

/// Gives the pages of `bytes` back to the system where they are of such a file;
/// else does nothing.
void forgetMappedPages(llvm::ArrayRef<char> bytes);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_SUPPORT_MAPPEDFILES_H
