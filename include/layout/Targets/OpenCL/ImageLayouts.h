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

/// Returns the coordinates that address a pixel or a buffer element.
ArrayRef<Coordinate> getAddress(const LayoutMap &map);

/// Returns the dim whose neighbors share a pixel, or std::nullopt if the lane
/// is not a single dim.
std::optional<unsigned> findLaneDim(const LayoutMap &image);

struct ImageFit {
  enum class Verdict {
    Fits,
    /// An extent exceeds the limit of the device.
    TooLarge,
    /// The device has no channel type for the element type.
    ElementType,
    /// An extent is zero.
    Empty,
    /// The lane coordinate does not have extent four, or the storage space of
    /// the map is not an image space with as many coordinates.
    NoPixels
  };

  Verdict answer = Verdict::Fits;
  /// The image size and the limits of the target if the answer is TooLarge, one
  /// number per coordinate except the lane.
  SmallVector<int64_t, 3> size, most;

  explicit operator bool() const { return answer == Verdict::Fits; }

  /// Determines whether `target` can store a tensor of `type` in `map`. Linear
  /// memory always fits. Dynamic sizes are replaced by the assumed size of the
  /// target; the program checks the real ones when it creates the image.
  static ImageFit get(const LayoutMap &map, RankedTensorType type,
                      OpenClTargetAttr target);
};

/// Prints e.g. "an image of 9 x 1 pixels, and the target has at most 8 x 8".
void describe(const ImageFit &fit, RankedTensorType type,
              llvm::raw_ostream &os);

/// The use of a tensor in the op that reads or produces it.
enum class ImageRole {
  /// in_out_channel: the pixels and the innermost other dim are along x.
  Activation,
  /// conv2d_filter: the reduced dims are along x; if there are none,
  /// dw_conv2d_filter: all dims except the lane dim are along x.
  Filter
};

/// Returns the best image form of a tensor of `rank` that `isWanted` accepts,
/// or std::nullopt if it accepts none. `summed` are the dims of a filter that
/// reduction loops index.
std::optional<LayoutMap>
findImageForm(unsigned rank, unsigned laneDim, ImageRole role,
              ArrayRef<unsigned> summed,
              function_ref<bool(const LayoutMap &)> isWanted);

/// Returns all distinct image forms, the best first.
SmallVector<LayoutMap> getImageForms(unsigned rank, unsigned laneDim,
                                     ImageRole role,
                                     ArrayRef<unsigned> summed = {});

/// The first form that fits, or std::nullopt, and the fit of the best form.
struct ImageChoice {
  std::optional<LayoutMap> map;
  /// The fit of the best form, which differs from `map` if it is not `Fits`.
  ImageFit first;
};

ImageChoice chooseImage(RankedTensorType type, unsigned laneDim, ImageRole role,
                        ArrayRef<unsigned> summed, OpenClTargetAttr target);

} // namespace mlir::layout

#endif // LAYOUT_TARGETS_OPENCL_IMAGELAYOUTS_H
