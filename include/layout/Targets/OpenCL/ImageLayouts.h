//===- ImageLayouts.h - Images that a device can hold -----------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The maps that put a tensor into an image of four lanes a pixel, with one dim,
// the *lane dim*, on the lanes, and whether a device has an image of that size.
//
//   1x64x56x56, lane dim c   x = [c floordiv 4, w]  y = [n, h]  lane = c mod 4
//   of filters, lane dim o   x = [i]  y = [o floordiv 4, h, w]  lane = o mod 4
//   1x760x1352x64, lane dim 3, on 16384 x 16384: [21632, 760] does not fit, so
//                        x = [w]  y = [c floordiv 4, n, h]: [1352, 12160]
//
// Laws:
//  * a map that is given is valid for every shape (L1): each dim stands in it
//    whole, or as the two digits of the lane dim;
//  * it fits: its size is known, at least one pixel, and within the limits of
//    the target; the assumed size of dynamic dims proves nothing.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETS_OPENCL_IMAGELAYOUTS_H
#define LAYOUT_TARGETS_OPENCL_IMAGELAYOUTS_H

#include "layout/Algebra/LayoutMap.h"
#include "layout/Dialect/Layout/IR/Layout.h"
#include "mlir/IR/BuiltinTypes.h"

namespace mlir {
namespace layout {

/// The lanes of a pixel.
constexpr int64_t kLanesOfPixel = 4;

/// True for the spaces of images: the last coordinate is the lane.
bool isImage(const LayoutMap &map);

/// The coordinates that address a pixel or an element.
ArrayRef<Coordinate> getAddress(const LayoutMap &map);

/// The dim whose neighbors share a pixel; nothing where it is no single dim.
std::optional<unsigned> findLaneDim(const LayoutMap &image);

struct ImageFit {
  enum class Answer {
    Fits,
    /// Some extent is over the limit of the device.
    TooLarge,
    /// There is no such channel type.
    ElementType,
    /// An image has at least one pixel.
    Empty,
    /// Not a layout of four lanes a pixel.
    NoPixels
  };

  Answer answer = Answer::Fits;
  /// For TooLarge: the size of the image and the most that the target has, one
  /// number per coordinate but the lane.
  SmallVector<int64_t, 3> size, most;

  explicit operator bool() const { return answer == Answer::Fits; }

  /// Whether `target` can hold a tensor of `type` in `map`; linear memory holds
  /// everything. Dynamic sizes are taken to be the assumed one of the target:
  /// the program checks what they are when it makes an image.
  static ImageFit get(const LayoutMap &map, RankedTensorType type,
                      OpenClTargetAttr target);
};

/// "an image of 21632 x 760 pixels, and the target has at most 8192 x 8192".
void describe(const ImageFit &fit, RankedTensorType type,
              llvm::raw_ostream &os);

/// What a tensor is to the op that reads or makes it.
enum class ImageRole {
  /// in_out_channel: pixels and the innermost other dim along x.
  Activation,
  /// conv2d_filter: the dims that are summed over along x, or, where there are
  /// none, dw_conv2d_filter: all but the pixels along x.
  Filter
};

/// The best form of an image for a tensor of `rank` that is wanted. `summed`
/// are the dims of a filter that loops of their own sum over.
std::optional<LayoutMap>
findImageForm(unsigned rank, unsigned laneDim, ImageRole role,
              ArrayRef<unsigned> summed,
              function_ref<bool(const LayoutMap &)> isWanted);

/// All of them, the best first.
SmallVector<LayoutMap> getImageForms(unsigned rank, unsigned laneDim,
                                     ImageRole role,
                                     ArrayRef<unsigned> summed = {});

/// The first form that fits, and the first of all where that is another one.
struct ImageChoice {
  std::optional<LayoutMap> map;
  /// Of the first form.
  ImageFit first;
};

ImageChoice chooseImage(RankedTensorType type, unsigned laneDim, ImageRole role,
                        ArrayRef<unsigned> summed, OpenClTargetAttr target);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_TARGETS_OPENCL_IMAGELAYOUTS_H
