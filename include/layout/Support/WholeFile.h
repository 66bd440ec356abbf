//===- WholeFile.h - A file that is there as a whole or not -----*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is written goes to a new file in the same folder, which takes the name
// of the wanted one only when every byte is in it. Whoever kills the program or
// fills the disk finds the old file, or none.
//
//   WholeFile file("out.mlir");
//   file.os() << text;
//   if (std::error_code code = file.commit())
//     ..                                      out.mlir is as it was
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_SUPPORT_WHOLEFILE_H
#define LAYOUT_SUPPORT_WHOLEFILE_H

#include "llvm/Support/raw_ostream.h"
#include <optional>
#include <string>
#include <system_error>

namespace mlir {
namespace layout {

class WholeFile {
public:
  /// "-" is the standard output. A device or a pipe is written as it is; of a
  /// symbolic link, what it leads to is replaced.
  explicit WholeFile(llvm::StringRef path);
  /// Drops what was not committed.
  ~WholeFile();
  WholeFile(const WholeFile &) = delete;
  WholeFile &operator=(const WholeFile &) = delete;

  /// Where opening failed, what is written goes nowhere.
  llvm::raw_ostream &os() { return *stream; }
  /// Why the file cannot be opened.
  std::error_code getError() const { return code; }
  /// Nothing may be written after it. The error is that of opening, writing,
  /// closing or renaming, whichever was first.
  std::error_code commit();

private:
  void openInFolder(bool exists);
  void setStream(std::unique_ptr<llvm::raw_fd_ostream> opened);
  std::error_code finish();
  void forget();

  std::string path;
  /// The new file, until it has its name.
  std::string temporary;
  std::unique_ptr<llvm::raw_ostream> stream;
  llvm::raw_fd_ostream *file = nullptr; // the stream, where it was opened
  std::error_code code;
};

} // namespace layout
} // namespace mlir

#endif // LAYOUT_SUPPORT_WHOLEFILE_H
