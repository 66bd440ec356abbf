//===- ImageLayouts.cpp - Image layouts of a device -----------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Targets/OpenCL/ImageLayouts.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::layout;

bool layout::isImage(const LayoutMap &map) {
  return map.getSpace().starts_with("image");
}

ArrayRef<Coordinate> layout::getAddress(const LayoutMap &map) {
  return map.getCoordinates().drop_back(isImage(map));
}

std::optional<unsigned> layout::findLaneDim(const LayoutMap &image) {
  if (!isImage(image) || image.getCoordinates().empty())
    return std::nullopt;
  const Digit *digit = image.getCoordinates().back().value.getSingleDigit();
  if (!digit || !digit->isDim() || digit->divisor != 1 ||
      digit->dim >= image.getRank())
    return std::nullopt;
  return digit->dim;
}

/// Returns the maximal extent of each coordinate of `space` except the lane, or
/// an empty list if it is not an OpenCL image space.
static SmallVector<int64_t, 3> getLimits(StringRef space,
                                         OpenClTargetAttr target) {
  if (space == "image2d")
    return {target.getImage2dMaxWidth(), target.getImage2dMaxHeight()};
  if (space == "image2d_array")
    return {target.getImage2dMaxWidth(), target.getImage2dMaxHeight(),
            target.getImageMaxArraySize()};
  if (space == "image3d")
    return {target.getImage3dMaxWidth(), target.getImage3dMaxHeight(),
            target.getImage3dMaxDepth()};
  return {};
}

ImageFit ImageFit::get(const LayoutMap &map, RankedTensorType type,
                       OpenClTargetAttr target) {
  ImageFit fit;
  if (!isImage(map))
    return fit;
  fit.most = getLimits(map.getSpace(), target);
  ArrayRef<Coordinate> coordinates = map.getCoordinates();
  if (!target.isImageType(type.getElementType())) {
    fit.answer = Verdict::ElementType;
    return fit;
  }
  if (fit.most.empty() || coordinates.size() != fit.most.size() + 1 ||
      !coordinates.back().extent.isConstantEqual(kLanesOfPixel)) {
    fit.answer = Verdict::NoPixels;
    return fit;
  }
  SmallVector<int64_t> sizes(type.getShape());
  llvm::replace(sizes, ShapedType::kDynamic, target.getAssumedSize());
  for (auto [coordinate, most] : llvm::zip(coordinates, fit.most)) {
    std::optional<int64_t> size =
        coordinate.extent.specialize(sizes).getConstant();
    if (!size) {
      fit.answer = Verdict::TooLarge;
      fit.size.clear();
      return fit;
    }
    fit.size.push_back(*size);
    if (*size < 1)
      fit.answer = Verdict::Empty;
    else if (*size > most && fit.answer == Verdict::Fits)
      fit.answer = Verdict::TooLarge;
  }
  return fit;
}

void layout::describe(const ImageFit &fit, RankedTensorType type,
                      llvm::raw_ostream &os) {
  switch (fit.answer) {
  case ImageFit::Verdict::Fits:
    os << "an image that fits";
    return;
  case ImageFit::Verdict::TooLarge:
    if (fit.size.empty()) {
      os << "an image with more pixels than fit in 64 bits";
      return;
    }
    os << "an image of ";
    llvm::interleave(fit.size, os, " x ");
    os << " pixels, but the target supports at most ";
    llvm::interleave(fit.most, os, " x ");
    return;
  case ImageFit::Verdict::ElementType:
    os << "an image of " << type.getElementType()
       << ", for which the target has no channel type";
    return;
  case ImageFit::Verdict::Empty:
    os << "an image without pixels";
    return;
  case ImageFit::Verdict::NoPixels:
    os << "an image without the " << kLanesOfPixel << " lanes of a pixel";
    return;
  }
  llvm_unreachable("all answers are described");
}

namespace {
/// Builds image2d maps of a tensor: pixels of four indices of dim `laneDim`,
/// and all other dims undivided.
class Form {
public:
  Form(unsigned rank, unsigned laneDim) : rank(rank), laneDim(laneDim) {}

  /// Returns the image2d map with the dims `x` along x and `y` along y, slowest
  /// first. The lane dim d is one of them, as d floordiv 4.
  LayoutMap get(ArrayRef<unsigned> x, ArrayRef<unsigned> y) const {
    BoundedIndex width = group(getDigits(x)), height = group(getDigits(y));
    BoundedIndex lane = mod(BoundedIndex::dim(laneDim), kLanesOfPixel);
    return LayoutMap::get(rank, "image2d",
                          {{"x", width.value, width.extent},
                           {"y", height.value, height.extent},
                           {"lane", lane.value, lane.extent}});
  }

private:
  SmallVector<BoundedIndex> getDigits(ArrayRef<unsigned> dims) const {
    SmallVector<BoundedIndex> digits;
    for (unsigned d : dims)
      digits.push_back(d == laneDim
                           ? floorDiv(BoundedIndex::dim(d), kLanesOfPixel)
                           : BoundedIndex::dim(d));
    return digits;
  }

  unsigned rank, laneDim;
};
} // namespace

/// Returns `dims`, preceded by the dim `first` unless it is std::nullopt.
static SmallVector<unsigned> after(std::optional<unsigned> first,
                                   ArrayRef<unsigned> dims) {
  SmallVector<unsigned> all;
  if (first)
    all.push_back(*first);
  llvm::append_range(all, dims);
  return all;
}

std::optional<LayoutMap>
layout::findImageForm(unsigned rank, unsigned laneDim, ImageRole role,
                      ArrayRef<unsigned> summed,
                      function_ref<bool(const LayoutMap &)> isWanted) {
  Form form(rank, laneDim);
  std::optional<LayoutMap> found;
  auto add = [&](ArrayRef<unsigned> x, ArrayRef<unsigned> y) {
    if (found)
      return;
    LayoutMap map = form.get(x, y);
    if (isWanted(map))
      found = std::move(map);
  };
  SmallVector<unsigned> others;
  for (unsigned d : llvm::seq(rank))
    if (d != laneDim)
      others.push_back(d);

  if (role == ImageRole::Filter) {
    SmallVector<unsigned> window;
    for (unsigned d : others)
      if (!llvm::is_contained(summed, d))
        window.push_back(d);
    if (summed.empty())
      add(window, {laneDim});
    else
      add(summed, after(laneDim, window));
    // weight_height: all dims except the lane dim are along x.
    add(llvm::to_vector(llvm::concat<const unsigned>(window, summed)),
        {laneDim});
  }

  // Adds the form with the last `count` dims except the lane dim along x and
  // the others along y. The pixels of the lane dim are slowest along x or along
  // y.
  auto split = [&](unsigned count, bool pixelsAlongX) {
    ArrayRef<unsigned> all = others;
    std::optional<unsigned> pixels = laneDim;
    add(after(pixelsAlongX ? pixels : std::nullopt, all.take_back(count)),
        after(pixelsAlongX ? std::nullopt : pixels, all.drop_back(count)));
  };
  // A tensor of rank 2 is stored like a feature map with h = w = 1.
  split(others.size() > 1, /*pixelsAlongX=*/true);
  split(std::min<unsigned>(1, others.size()), /*pixelsAlongX=*/false);
  for (unsigned count = 0; count <= others.size(); ++count)
    split(count, /*pixelsAlongX=*/true);
  for (unsigned count = 0; count <= others.size(); ++count)
    split(count, /*pixelsAlongX=*/false);
  return found;
}

SmallVector<LayoutMap> layout::getImageForms(unsigned rank, unsigned laneDim,
                                             ImageRole role,
                                             ArrayRef<unsigned> summed) {
  SmallVector<LayoutMap> forms;
  findImageForm(rank, laneDim, role, summed, [&](const LayoutMap &map) {
    if (!llvm::is_contained(forms, map))
      forms.push_back(map);
    return false;
  });
  return forms;
}

ImageChoice layout::chooseImage(RankedTensorType type, unsigned laneDim,
                                ImageRole role, ArrayRef<unsigned> summed,
                                OpenClTargetAttr target) {
  ImageChoice choice;
  bool isFirst = true;
  choice.map = findImageForm(type.getRank(), laneDim, role, summed,
                             [&](const LayoutMap &map) {
                               ImageFit fit = ImageFit::get(map, type, target);
                               if (isFirst)
                                 choice.first = fit;
                               isFirst = false;
                               return bool(fit);
                             });
  return choice;
}
