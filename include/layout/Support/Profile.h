//===- Profile.h - Interface of profiled programs ---------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The contract between layout-cpu-profile-kernels and the runner of its output:
//
//   module attributes {layout.profile = ["/conv1/Conv", "/pool/MaxPool"]} {
//     llvm.mlir.global external @layout_profile() : !llvm.array<4 x i64>
//     func.func private @layout_clock() -> i64
//
// The array has two elements for each name. A kernel adds its run time in
// nanoseconds to the first one. It adds its number of element operations, if it
// is known, to the second one.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_SUPPORT_PROFILE_H
#define LAYOUT_SUPPORT_PROFILE_H

#include "llvm/ADT/StringRef.h"

namespace mlir::layout {
inline constexpr llvm::StringLiteral kProfileAttrName = "layout.profile";
inline constexpr llvm::StringLiteral kProfileGlobalName = "layout_profile";
/// The name of the function that returns the nanoseconds since a fixed point in
/// time.
inline constexpr llvm::StringLiteral kClockName = "layout_clock";
} // namespace mlir::layout

#endif // LAYOUT_SUPPORT_PROFILE_H
