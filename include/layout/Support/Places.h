//===- Places.h - Print locations for users ---------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   loc("/conv1/Conv")                       /conv1/Conv
//   loc("net.mlir":3:8)                      "net.mlir":3:8
//   loc(fused["/conv1/Conv", "/relu/Relu"])  /conv1/Conv + /relu/Relu
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_SUPPORT_PLACES_H
#define LAYOUT_SUPPORT_PLACES_H

#include "mlir/IR/Location.h"
#include "llvm/ADT/StringExtras.h"

namespace mlir::layout {

/// Returns the name of the op in the model if `loc` has one, those of a fused
/// location joined by +, or else the location as MLIR prints it.
inline std::string printPlace(Location loc) {
  if (auto name = dyn_cast<NameLoc>(loc))
    return name.getName().str();
  if (auto fused = dyn_cast<FusedLoc>(loc))
    return llvm::join(llvm::map_range(fused.getLocations(), printPlace), " + ");
  std::string text;
  llvm::raw_string_ostream(text) << loc;
  // loc(...)
  return text.substr(4, text.size() - 5);
}

} // namespace mlir::layout

#endif // LAYOUT_SUPPORT_PLACES_H
