//===- PackageFiles.h - Write the files of a package ------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A package is a directory of files from which a program runs without a
// compiler. A file that cannot be written is an error at the op that the
// package is made of. The manifest is written last: a directory without a
// manifest is not a package, whatever files it holds.
//
//   makePackageDirectory(function, "out")
//   writePackageFile(function, "out", "program.cpp", ..)     out/program.cpp
//   writePackageFile(function, "out", kManifestName, ..)     out/manifest.json
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETS_PACKAGE_PACKAGEFILES_H
#define LAYOUT_TARGETS_PACKAGE_PACKAGEFILES_H

#include "mlir/IR/Operation.h"

namespace mlir::layout {

inline constexpr llvm::StringLiteral kManifestName = "manifest.json";

/// Creates `directory` and its parents. If it exists, it is kept and its
/// manifest is removed. Returns failure, with an error at `op`, if that is not
/// possible.
LogicalResult makePackageDirectory(Operation *op, StringRef directory);

/// Writes the file `name` of the package atomically; `fill` emits its content.
/// Emits an error at `op` if the file cannot be written. If `fill` fails, it
/// has to emit its own error, and no file is written.
LogicalResult writePackageFile(Operation *op, StringRef directory,
                               StringRef name,
                               function_ref<LogicalResult(raw_ostream &)> fill);

} // namespace mlir::layout

#endif // LAYOUT_TARGETS_PACKAGE_PACKAGEFILES_H
