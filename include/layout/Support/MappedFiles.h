//===- MappedFiles.h - Mapped files of constants ----------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A page of a mapped file counts as memory of the process once it has been
// read. Weights are read once, when they are packed. The packing code then
// releases the pages to the system; a later access reads them from the file
// again.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_SUPPORT_MAPPEDFILES_H
#define LAYOUT_SUPPORT_MAPPEDFILES_H

#include "llvm/ADT/ArrayRef.h"

namespace mlir::layout {

/// Registers the pages of `file`, which is mapped read-only, during the
/// lifetime of this object, so that forgetMappedPages() may release them.
class MappedPages {
public:
  explicit MappedPages(llvm::ArrayRef<char> file);
  ~MappedPages();
  MappedPages(const MappedPages &) = delete;
  MappedPages &operator=(const MappedPages &) = delete;

private:
  const char *begin;
};

/// Releases the memory pages of `bytes` to the system if they belong to a file
/// that is registered as mapped read-only, from which they can be read again.
/// Otherwise does nothing.
void forgetMappedPages(llvm::ArrayRef<char> bytes);

} // namespace mlir::layout

#endif // LAYOUT_SUPPORT_MAPPEDFILES_H
