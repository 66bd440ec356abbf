//===- RgbaImage.h - Tensors in RGBA images ---------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The notation of `#layout.rgba_image<in_out_channel, "NCHW">` (docs/spec.md,
// section 3.3): a kind, which places each of its lettered axes in the image,
// and the order of those axes in the tensor:
//
//     in_out_channel, NHWC:  x = [c floordiv 4, w]   y = [n, h]
//                            lane = c mod 4
//
// Laws: the lane always has 4 positions. The axis in the lanes is rounded up;
// all others are dense.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ALGEBRA_FAMILIES_RGBAIMAGE_H
#define LAYOUT_ALGEBRA_FAMILIES_RGBAIMAGE_H

#include "layout/Algebra/LayoutMap.h"
#include "layout/Support/FailureReason.h"
#include "llvm/ADT/Twine.h"

namespace mlir::layout {

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

/// Returns the name of the kind as in the attribute, e.g. `in_out_channel`.
llvm::StringRef getName(RgbaImageKind kind);
std::optional<RgbaImageKind> getRgbaImageKind(llvm::StringRef name);
llvm::SmallVector<llvm::StringRef> getRgbaImageNames();

/// Returns the axes of the kind in their canonical order, e.g. "NHWC".
llvm::StringRef getLetters(RgbaImageKind kind);

/// Parses the order of dims, a permutation of the letters of `kind`. Entry d of
/// the result is the position of the letter of dim d in `getLetters`. If
/// `letters` is no such permutation, reports the 0-based column of the error
/// and returns std::nullopt.
std::optional<llvm::SmallVector<unsigned>>
parseOrder(RgbaImageKind kind, llvm::StringRef letters,
           llvm::function_ref<void(size_t column, const llvm::Twine &)> error);

struct RgbaImage {
  llvm::StringRef space;
  llvm::SmallVector<llvm::StringRef> names;
  llvm::SmallVector<BoundedIndex> coordinates;

  LayoutMap getMap(unsigned rank) const;
};

/// Returns the sizes that the kind determines, one per dim: 1 for axis M of
/// dw_conv2d_filter, and kUnknownSize for a dim that may have any size. Returns
/// std::nullopt if the kind allows several ranks.
std::optional<llvm::SmallVector<int64_t>>
getStatedShape(RgbaImageKind kind, llvm::ArrayRef<unsigned> order);

/// Returns the coordinates of a tensor of this shape (kUnknownSize if dynamic)
/// in an image. An empty `order` means that the dims are in the canonical order
/// of the kind, e.g. NHWC. If the kind does not apply, reports the reason and
/// returns std::nullopt.
std::optional<RgbaImage> getRgbaImage(RgbaImageKind kind,
                                      llvm::ArrayRef<unsigned> order,
                                      Sizes shape, FailureReason why = {});

} // namespace mlir::layout

#endif // LAYOUT_ALGEBRA_FAMILIES_RGBAIMAGE_H
