//===- Profile.h - What a program that counts its kernels has ---*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The contract between layout-profile-kernels and who runs what it makes:
//
//   module attributes {layout.profile = ["/conv1/Conv", "/pool/MaxPool"]} {
//     llvm.mlir.global external @layout_profile() : !llvm.array<4 x i64>
//     func.func private @layout_clock() -> i64
//
// For each name the array has two elements. A kernel adds the nanoseconds that
// it took to the first one, and the operations on elements that it did, where
// they are known, to the second one.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_SUPPORT_PROFILE_H
#define LAYOUT_SUPPORT_PROFILE_H

#include "llvm/ADT/StringRef.h"

namespace mlir::layout {
inline constexpr llvm::StringLiteral kProfileAttrName = "layout.profile";
inline constexpr llvm::StringLiteral kProfileGlobalName = "layout_profile";
/// Gives nanoseconds since some point in time.
inline constexpr llvm::StringLiteral kClockName = "layout_clock";
} // namespace mlir::layout

#endif // LAYOUT_SUPPORT_PROFILE_H
