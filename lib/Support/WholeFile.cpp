//===- WholeFile.cpp - Files that are written atomically ------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Support/WholeFile.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Signals.h"

using namespace mlir::layout;
namespace fs = llvm::sys::fs;

WholeFile::WholeFile(llvm::StringRef wanted) : path(wanted) {
  fs::file_status status;
  bool exists = path != "-" && !fs::status(path, status) && fs::exists(status);
  if (exists && fs::is_directory(status)) {
    code = std::make_error_code(std::errc::is_a_directory);
  } else if (path == "-" || (exists && !fs::is_regular_file(status))) {
    auto opened =
        std::make_unique<llvm::raw_fd_ostream>(path, code, fs::OF_None);
    if (!code)
      setStream(std::move(opened));
  } else {
    openInFolder(exists);
  }
  if (!code)
    return;
  if (file)
    (void)finish();
  stream = std::make_unique<llvm::raw_null_ostream>();
}

void WholeFile::setStream(std::unique_ptr<llvm::raw_fd_ostream> opened) {
  file = opened.get();
  stream = std::move(opened);
}

void WholeFile::openInFolder(bool exists) {
  if (exists) {
    llvm::SmallString<128> real;
    if ((code = fs::access(path, fs::AccessMode::Write)) ||
        (code = fs::real_path(path, real)))
      return;
    path = real.str().str();
  }
  llvm::StringRef folder = llvm::sys::path::parent_path(path);
  int descriptor = -1;
  for (unsigned number = 0; descriptor < 0; ++number) {
    llvm::SmallString<128> made(folder);
    llvm::sys::path::append(
        made, ".layout-" + llvm::Twine(llvm::sys::Process::getProcessId()) +
                  "-" + llvm::Twine(number) + ".part");
    code = fs::openFileForWrite(made, descriptor, fs::CD_CreateNew);
    if (!code)
      temporary = made.str().str();
    else if (code != std::errc::file_exists)
      return;
  }
  llvm::sys::RemoveFileOnSignal(temporary);
  setStream(std::make_unique<llvm::raw_fd_ostream>(descriptor,
                                                   /*shouldClose=*/true));
  if (!exists)
    return;
  if (llvm::ErrorOr<fs::perms> permissions = fs::getPermissions(path))
    code = fs::setPermissions(descriptor, *permissions);
}

std::error_code WholeFile::finish() {
  // The destructor of a stream aborts if the stream has an error, so clear it.
  if (path == "-")
    file->flush();
  else
    file->close();
  std::error_code error = file->error();
  file->clear_error();
  file = nullptr;
  return error;
}

std::error_code WholeFile::commit() {
  if (!file)
    return code;
  code = finish();
  if (!temporary.empty() && !code)
    code = fs::rename(temporary, path);
  if (!code)
    forget();
  return code;
}

void WholeFile::forget() {
  llvm::sys::DontRemoveFileOnSignal(temporary);
  temporary.clear();
}

WholeFile::~WholeFile() {
  if (file)
    (void)finish();
  if (temporary.empty())
    return;
  fs::remove(temporary);
  forget();
}
