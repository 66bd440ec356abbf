//===- RgbaImage.h - Tensors in images of four lanes a pixel ----*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The notation of `#layout.rgba_image<in_out_channel, "NCHW">` (docs/spec.md,
// section 3.3): a kind, which says where each of its lettered axes goes in the
// image, and the order in which the tensor has those axes:
//
//     in_out_channel, NHWC:  x = [c floordiv 4, w]   y = [n, h]
//                            lane = c mod 4
//
// Laws: the lane always has 4 positions; the axis that gives the lane is
// rounded up, every other one is dense.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ALGEBRA_FAMILIES_RGBAIMAGE_H
#define LAYOUT_ALGEBRA_FAMILIES_RGBAIMAGE_H

#include "layout/Algebra/LayoutMap.h"
#include "layout/Support/Refusal.h"
#include "llvm/ADT/Twine.h"

namespace mlir {
namespace layout {

enum class RgbaImageKind {
  InOutChannel,
  InOutHeight,
  InOutWidth,
  Conv2dFilter,
  DwConv2dFilter,
  WeightHeight,
  WeightWidth,
  Argument,
  Texture2d,
  ImageArray,
  Image3d,
  SinglePixel,
};

/// `in_out_channel`, ..
llvm::StringRef getName(RgbaImageKind kind);
std::optional<RgbaImageKind> getRgbaImageKind(llvm::StringRef name);
llvm::SmallVector<llvm::StringRef> getRgbaImageNames();

/// The axes of the kind in the order in which its formulas name them: "NHWC".
llvm::StringRef getLetters(RgbaImageKind kind);

/// Reads the letters of `kind` in another order: order[d] is the place of
/// dim d's letter in `getLetters`. Reports the 0-based column of a fault.
std::optional<llvm::SmallVector<unsigned>>
parseOrder(RgbaImageKind kind, llvm::StringRef letters,
           llvm::function_ref<void(size_t column, const llvm::Twine &)> error);

struct RgbaImage {
  llvm::StringRef space;
  llvm::SmallVector<llvm::StringRef> names;
  llvm::SmallVector<Sized> coordinates;

  LayoutMap getMap(unsigned rank) const;
};

/// The sizes that the kind itself fixes, kUnknownSize for any; nothing where it
/// has more than one rank.
std::optional<llvm::SmallVector<int64_t>>
getStatedShape(RgbaImageKind kind, llvm::ArrayRef<unsigned> order);

/// The image of a tensor of this shape, kUnknownSize where a size is dynamic.
/// `order` is empty for the kind's own. Where the kind does not apply, says
/// why and returns nothing.
std::optional<RgbaImage> getRgbaImage(RgbaImageKind kind,
                                      llvm::ArrayRef<unsigned> order,
                                      Sizes shape, Refusal why = {});

} // namespace layout
} // namespace mlir

#endif // LAYOUT_ALGEBRA_FAMILIES_RGBAIMAGE_H
