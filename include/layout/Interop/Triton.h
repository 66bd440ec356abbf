//===- Triton.h - Triton linear layouts -------------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A linear layout maps each bit of the storage position of an element to a
// logical index. The element at a position has the xor of the indices of its
// set bits:
//
//     register=[[0,1],[0,2]] lane=[[0,4],[1,0],[2,0]] warp=[[0,0]] block=[]
//         : [4,8]
//
// Register 3 of lane 1 holds (0, 1) ^ (0, 2) ^ (0, 4) = (0, 7). The LayoutMap
// is the inverse. It exists because the bases must span the shape. Linearly
// dependent bases are replicas, here the second warp. The coordinates are
// register, lane, warp and block in the space `linear`, or `offset` alone in
// linear memory.
//
// Laws: every storage position holds an element. Importing an exported text
// gives the same map. Exporting an imported text gives the same bases.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_INTEROP_TRITON_H
#define LAYOUT_INTEROP_TRITON_H

#include "layout/Algebra/LayoutMap.h"
#include "layout/Interop/Notation.h"
#include "layout/Support/FailureReason.h"

namespace mlir::layout {

struct TritonLayout {
  /// The numbers, one per dim, that one bit of the storage position adds by xor
  /// to the logical index if the bit is 1.
  using Basis = llvm::SmallVector<int64_t, 4>;
  struct Coordinate {
    llvm::StringRef name;
    llvm::SmallVector<Basis> bases; // of bit 0, bit 1, ..
  };

  /// The coordinate names of the space `linear` in printing order, and the one
  /// of linear memory.
  static constexpr llvm::StringLiteral kHardware[] = {"register", "lane",
                                                      "warp", "block"};
  static constexpr llvm::StringLiteral kMemory = "offset";

  bool isMemory() const { return coordinates.front().name == kMemory; }

  llvm::SmallVector<Coordinate, 4> coordinates; // kMemory, or all kHardware
  llvm::SmallVector<int64_t> shape;

  std::optional<LayoutMap> getMap(Sizes sizes, FailureReason error) const;
  llvm::SmallVector<int64_t> getStatedShape() const { return shape; }
  std::string str() const;
};

std::optional<TritonLayout> parseTriton(llvm::StringRef text, TextError error);

/// Returns the text of `map` on a shape of `sizes` in Triton's notation. If no
/// linear layout denotes it, reports why to `error` and returns std::nullopt.
std::optional<std::string> exportTriton(const LayoutMap &map, Sizes sizes,
                                        FailureReason error = {});

} // namespace mlir::layout

#endif // LAYOUT_INTEROP_TRITON_H
