//===- CuTe.h - CuTe layouts ------------------------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `((2,2),4):((1,8),2)`: a tuple of extents and a tuple of strides of the same
// structure. The outer modes are the logical dims. The index of a mode is split
// into its leaves, the leftmost one fastest. A swizzle in front changes the
// offset: Sw<B,M,S> xors the B bits at bit M + S into the B bits at bit M. If S
// is negative, it xors the bits at M into those at M - S.
//
//     Sw<2,0,2> o 0 o (4,4):(4,1), by rows:
//       0 1 2 3 / 5 4 7 6 / 10 11 8 9 / 15 14 13 12
//
// Laws: a layout is valid only for the shape of its modes. Importing an
// exported text gives an equal map on that shape.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_INTEROP_CUTE_H
#define LAYOUT_INTEROP_CUTE_H

#include "layout/Algebra/LayoutMap.h"
#include "layout/Interop/Notation.h"
#include "layout/Support/FailureReason.h"

namespace mlir::layout {

struct CuTeLayout {
  struct Leaf {
    int64_t extent = 1;
    int64_t stride = 0;
  };
  struct Swizzle {
    int64_t bits = 0;  // B
    int64_t base = 0;  // M
    int64_t shift = 0; // S

    /// Returns the offset after the swizzle. Swizzling it again returns
    /// `offset`.
    BoundedIndex apply(const BoundedIndex &offset) const;
  };

  llvm::SmallVector<llvm::SmallVector<Leaf, 2>> modes; // leaves fastest first
  std::optional<Swizzle> swizzle;
  int64_t offset = 0; // added before the swizzle

  std::optional<LayoutMap> getMap(Sizes shape, FailureReason error) const;
  llvm::SmallVector<int64_t> getStatedShape() const;
  std::string str() const;
};

std::optional<CuTeLayout> parseCuTe(llvm::StringRef text, TextError error);

/// Returns the text of `map` on a shape of `sizes` in CuTe's notation. If no
/// CuTe layout denotes it, reports why to `error` and returns std::nullopt.
std::optional<std::string> exportCuTe(const LayoutMap &map, Sizes sizes,
                                      FailureReason error = {});

} // namespace mlir::layout

#endif // LAYOUT_INTEROP_CUTE_H
