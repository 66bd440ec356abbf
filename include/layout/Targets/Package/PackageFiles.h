//===- PackageFiles.h - The files of a compiled program ---------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A package is a directory of files that a program runs from without a
// compiler. What cannot be written is an error at the op that it is made of.
// The manifest is written last: a folder without one is no package, whatever
// files it holds.
//
//   makePackageDirectory(function, "out")
//   writePackageFile(function, "out", "program.cpp", ..)     out/program.cpp
//   writePackageFile(function, "out", kManifestName, ..)     out/manifest.json
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETS_PACKAGE_PACKAGEFILES_H
#define LAYOUT_TARGETS_PACKAGE_PACKAGEFILES_H

#include "mlir/IR/Operation.h"

namespace mlir {
namespace layout {

inline constexpr llvm::StringLiteral kManifestName = "manifest.json";

/// With all directories above it; one that is there is kept, without the
/// manifest of what it held.
LogicalResult makePackageDirectory(Operation *op, StringRef directory);

/// As a whole or not at all. Fails without an error of its own where `fill`
/// does.
LogicalResult writePackageFile(Operation *op, StringRef directory,
                               StringRef name,
                               function_ref<LogicalResult(raw_ostream &)> fill);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_TARGETS_PACKAGE_PACKAGEFILES_H
