//===- PackageFiles.cpp - Write the files of a package --------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Targets/Package/PackageFiles.h"
#include "layout/Support/WholeFile.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;

LogicalResult layout::makePackageDirectory(Operation *op, StringRef directory) {
  if (std::error_code code = llvm::sys::fs::create_directories(directory))
    return op->emitError() << "cannot make the directory '" << directory
                           << "': " << code.message();
  // The directory has no manifest until all files are written.
  SmallString<128> path(directory);
  llvm::sys::path::append(path, kManifestName);
  if (std::error_code code = llvm::sys::fs::remove(path))
    return op->emitError() << "cannot replace '" << path
                           << "': " << code.message();
  return success();
}

LogicalResult
layout::writePackageFile(Operation *op, StringRef directory, StringRef name,
                         function_ref<LogicalResult(raw_ostream &)> fill) {
  SmallString<128> path(directory);
  llvm::sys::path::append(path, name);
  WholeFile file(path);
  if (!file.getError() && failed(fill(file.os())))
    return failure();
  if (std::error_code code = file.commit())
    return op->emitError() << "cannot write '" << path
                           << "': " << code.message();
  return success();
}
