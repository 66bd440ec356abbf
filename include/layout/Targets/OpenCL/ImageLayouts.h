//===- ImageLayouts.h - Image layouts of a device ---------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The maps that store a tensor in an image with four lanes per pixel and one
// dim, the *lane dim*, on the lanes, and the check that an image fits the
// device.
//
//   1x64x56x56, lane dim c   x = [c floordiv 4, w]  y = [n, h]  lane = c mod 4
//   filter, lane dim o       x = [i]  y = [o floordiv 4, h, w]  lane = o mod 4
//   1x760x1352x64, lane dim 3, on 16384 x 16384: [21632, 760] does not fit, so
//                        x = [w]  y = [c floordiv 4, n, h]: [1352, 12160]
//
// Laws:
//  * a map built here is valid for every shape (L1): each dim occurs whole, or
//    as the two mixed-radix digits of the lane dim;
//  * a map that is chosen fits: it has at least one pixel and is within the
//    limits of the target, if dynamic dims have the assumed size.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETS_OPENCL_IMAGELAYOUTS_H
#define LAYOUT_TARGETS_OPENCL_IMAGELAYOUTS_H

#include "layout/Algebra/LayoutMap.h"
#include "layout/Dialect/Layout/IR/Layout.h"
#include "mlir/IR/BuiltinTypes.h"

namespace mlir::layout {

/// The number of lanes of a pixel.
constexpr int64_t kLanesOfPixel = 4;

/// Returns true if `map` is in an image space; its last coordinate is the lane.
bool isImage(const LayoutMap &map);

/// Returns the coordinates that address a pixel of an image, which are all but
/// the lane, or an element of a buffer.
ArrayRef<Coordinate> getAddress(const LayoutMap &map);

/// Returns the lane dim of an image: the tensor dim d with lane = d mod 4,
/// whose neighboring indices share a pixel. Returns std::nullopt if the lane is
/// another expression, or if the map is not an image.
std::optional<unsigned> findLaneDim(const LayoutMap &image);

struct ImageFit {
  enum class Verdict {
    Fits,
    /// The width, height or number of slices exceeds the limit of the target,
    /// or does not fit 64 bits.
    TooLarge,
    /// The device has no channel type for the element type.
    ElementType,
    /// The image has no pixels: a coordinate has extent zero.
    Empty,
    /// The lane does not have extent four, or the space of the map is not
    /// image2d, image2d_array or image3d with its number of coordinates.
    NoPixels
  };

  Verdict answer = Verdict::Fits;
  /// The extent of the image and its limit on the target, per coordinate except
  /// the lane. They explain the answer TooLarge; `size` is empty if an extent
  /// does not fit 64 bits.
  SmallVector<int64_t, 3> size, most;

  explicit operator bool() const { return answer == Verdict::Fits; }

  /// Determines whether `target` can store a tensor of `type` in `map`. Linear
  /// memory always fits. Dynamic sizes are replaced by the assumed size of the
  /// target; the program checks the real ones when it creates the image.
  static ImageFit get(const LayoutMap &map, RankedTensorType type,
                      OpenClTargetAttr target);
};

/// Prints why an image does not fit the target, e.g. "an image of 9 x 1 pixels,
/// but the target supports at most 8 x 8", or "an image that fits". `type` is
/// the type of the stored tensor.
void describe(const ImageFit &fit, RankedTensorType type,
              llvm::raw_ostream &os);

/// The use of a tensor in the op that reads or produces it.
enum class ImageRole {
  /// A feature map. Its best form is in_out_channel: x = [c floordiv 4, w],
  /// y = [n, h] for the lane dim c, with the innermost other dim along x unless
  /// it is the only one.
  Activation,
  /// A filter. Its best form is conv2d_filter, with the reduced dims along x:
  /// x = [i], y = [o floordiv 4, h, w] for the lane dim o. If no dim is
  /// reduced, its best form is dw_conv2d_filter, with all dims except the lane
  /// dim along x.
  Filter
};

/// Tries the image maps of a tensor of `rank` dims with `laneDim` on the lanes,
/// the best for `role` first. Returns the first that `isWanted` accepts, or
/// std::nullopt if it accepts none. `summed` are the dims of a filter that
/// reduction loops index.
std::optional<LayoutMap>
findImageForm(unsigned rank, unsigned laneDim, ImageRole role,
              ArrayRef<unsigned> summed,
              function_ref<bool(const LayoutMap &)> isWanted);

/// Returns the distinct image maps that findImageForm tries, the best first.
SmallVector<LayoutMap> getImageForms(unsigned rank, unsigned laneDim,
                                     ImageRole role,
                                     ArrayRef<unsigned> summed = {});

/// The first image map in the order of findImageForm that fits the target, or
/// std::nullopt if none does.
struct ImageChoice {
  std::optional<LayoutMap> map;
  /// The verdict on the best map. If that does not fit the target, `map` is a
  /// later one, or std::nullopt.
  ImageFit first;
};

ImageChoice chooseImage(RankedTensorType type, unsigned laneDim, ImageRole role,
                        ArrayRef<unsigned> summed, OpenClTargetAttr target);

} // namespace mlir::layout

#endif // LAYOUT_TARGETS_OPENCL_IMAGELAYOUTS_H
