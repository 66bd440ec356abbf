//===- WholeFile.h - Files that are written atomically ----------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The content is written to a new file in the same folder, which is renamed to
// the requested path when it is complete. If the program is killed or the disk
// is full, the old file stays, or none exists.
//
//   WholeFile file("out.mlir");
//   file.os() << text;
//   if (std::error_code code = file.commit())
//     ..                                      out.mlir is unchanged
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_SUPPORT_WHOLEFILE_H
#define LAYOUT_SUPPORT_WHOLEFILE_H

#include "llvm/Support/raw_ostream.h"
#include <optional>
#include <string>
#include <system_error>

namespace mlir::layout {

class WholeFile {
public:
  /// Opens a new file beside `path`, which commit() renames to `path`, or the
  /// standard output if `path` is "-". A device or a pipe is written directly.
  /// The target of a symbolic link is replaced, not the link. If the file
  /// cannot be opened, getError() returns the reason.
  explicit WholeFile(llvm::StringRef path);
  /// Deletes the new file unless commit() succeeded.
  ~WholeFile();
  WholeFile(const WholeFile &) = delete;
  WholeFile &operator=(const WholeFile &) = delete;

  /// Returns the stream to write to. If opening failed, it discards what is
  /// written.
  llvm::raw_ostream &os() { return *stream; }
  /// Returns the error of opening the file, or after commit() the error that it
  /// returned.
  std::error_code getError() const { return code; }
  /// Closes the file and renames it to its path. Returns the first error of
  /// opening, writing, closing or renaming, or no error if the file is
  /// complete. Nothing may be written afterwards.
  std::error_code commit();

private:
  void openInFolder(bool exists);
  void setStream(std::unique_ptr<llvm::raw_fd_ostream> opened);
  std::error_code finish();
  void forget();

  std::string path;
  /// The path of the new file, or "" after it is renamed and for output that is
  /// written directly.
  std::string temporary;
  std::unique_ptr<llvm::raw_ostream> stream;
  llvm::raw_fd_ostream *file = nullptr; // the stream, if it was opened
  std::error_code code;
};

} // namespace mlir::layout

#endif // LAYOUT_SUPPORT_WHOLEFILE_H
