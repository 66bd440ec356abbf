//===- RgbaImage.cpp - Tensors in RGBA images -----------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Algebra/Families/RgbaImage.h"
#include "layout/Algebra/Characters.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SmallVectorExtras.h"

using namespace mlir::layout;
using llvm::ArrayRef;
using llvm::StringRef;
using llvm::Twine;

namespace {

/// The index along each axis of an image kind, found by the letter of the axis.
struct Axes {
  StringRef letters;
  ArrayRef<BoundedIndex> values;

  const BoundedIndex &operator[](char letter) const {
    return values[letters.find(letter)];
  }
};

/// x, y and lane, or x, y, the third coordinate and lane.
using Coordinates = llvm::SmallVector<BoundedIndex>;

/// A kind of image: its name, the letters of its axes in canonical order, its
/// storage space, and the function that computes the coordinates from the
/// indices of the axes.
struct KindInfo {
  RgbaImageKind kind;
  StringRef name;
  StringRef letters;
  StringRef space;
  Coordinates (*place)(const Axes &);
};

} // namespace

/// Returns the pixel of index x along an axis of which four neighbors share one
/// pixel.
static BoundedIndex pixel(const BoundedIndex &x) { return floorDiv(x, 4); }
/// Returns the lane of index x in its pixel, along an axis of which four
/// neighbors share one pixel.
static BoundedIndex lane(const BoundedIndex &x) { return mod(x, 4); }

static const KindInfo kindInfos[] = {
    {RgbaImageKind::InOutChannel, "in_out_channel", "NHWC", "image2d",
     [](const Axes &a) -> Coordinates {
       return {group({pixel(a['C']), a['W']}), group({a['N'], a['H']}),
               lane(a['C'])};
     }},
    {RgbaImageKind::InOutHeight, "in_out_height", "NHWC", "image2d",
     [](const Axes &a) -> Coordinates {
       return {group({a['C'], a['W']}), group({a['N'], pixel(a['H'])}),
               lane(a['H'])};
     }},
    {RgbaImageKind::InOutWidth, "in_out_width", "NHWC", "image2d",
     [](const Axes &a) -> Coordinates {
       return {group({a['C'], pixel(a['W'])}), group({a['N'], a['H']}),
               lane(a['W'])};
     }},
    {RgbaImageKind::Conv2dFilter, "conv2d_filter", "OIHW", "image2d",
     [](const Axes &a) -> Coordinates {
       return {a['I'], group({pixel(a['O']), a['H'], a['W']}), lane(a['O'])};
     }},
    {RgbaImageKind::DwConv2dFilter, "dw_conv2d_filter", "MIHW", "image2d",
     [](const Axes &a) -> Coordinates {
       return {group({a['H'], a['W']}), pixel(a['I']), lane(a['I'])};
     }},
    {RgbaImageKind::WeightHeight, "weight_height", "OIHW", "image2d",
     [](const Axes &a) -> Coordinates {
       return {group({a['H'], a['W'], a['I']}), pixel(a['O']), lane(a['O'])};
     }},
    {RgbaImageKind::WeightWidth, "weight_width", "OIHW", "image2d",
     [](const Axes &a) -> Coordinates {
       return {group({a['H'], a['W'], pixel(a['I'])}), a['O'], lane(a['I'])};
     }},
    {RgbaImageKind::Argument, "argument", "W", "image2d",
     [](const Axes &a) -> Coordinates {
       return {pixel(a['W']), group({}), lane(a['W'])};
     }},
    {RgbaImageKind::Texture2d, "texture_2d", "NHWC", "image2d",
     [](const Axes &a) -> Coordinates {
       return {group({a['W'], a['N']}), group({a['H'], pixel(a['C'])}),
               lane(a['C'])};
     }},
    {RgbaImageKind::ImageArray, "image_array", "NHWC", "image2d_array",
     [](const Axes &a) -> Coordinates {
       return {group({a['W'], a['N']}), a['H'], pixel(a['C']), lane(a['C'])};
     }},
    {RgbaImageKind::Image3d, "image_3d", "NHWC", "image3d",
     [](const Axes &a) -> Coordinates {
       return {group({a['W'], a['N']}), a['H'], pixel(a['C']), lane(a['C'])};
     }},
    {RgbaImageKind::SinglePixel, "single_pixel", "NHWC", "image2d",
     [](const Axes &a) -> Coordinates {
       return {a['W'], group({a['N'], a['H']}), lane(a['C'])};
     }},
};

static const KindInfo &getInfo(RgbaImageKind kind) {
  return *llvm::find_if(kindInfos,
                        [&](const KindInfo &i) { return i.kind == kind; });
}

StringRef mlir::layout::getName(RgbaImageKind kind) {
  return getInfo(kind).name;
}

std::optional<RgbaImageKind> mlir::layout::getRgbaImageKind(StringRef name) {
  for (const KindInfo &info : kindInfos)
    if (info.name == name)
      return info.kind;
  return std::nullopt;
}

llvm::SmallVector<StringRef> mlir::layout::getRgbaImageNames() {
  return llvm::map_to_vector(kindInfos,
                             [](const KindInfo &info) { return info.name; });
}

StringRef mlir::layout::getLetters(RgbaImageKind kind) {
  return getInfo(kind).letters;
}

std::optional<llvm::SmallVector<unsigned>> mlir::layout::parseOrder(
    RgbaImageKind kind, StringRef text,
    llvm::function_ref<void(size_t, const Twine &)> error) {
  StringRef letters = getLetters(kind);
  llvm::SmallVector<unsigned> order;
  auto fail = [&](size_t column, const Twine &message) {
    error(column,
          message + ": the order must name each of " + letters + " once");
    return std::nullopt;
  };
  for (auto [column, letter] : llvm::enumerate(text)) {
    size_t place = letters.find(letter);
    if (place == StringRef::npos)
      return fail(column, quoteCharacter(text, column) + " is not an axis of " +
                              getName(kind));
    if (llvm::is_contained(order, place))
      return fail(column, "axis '" + Twine(letter) + "' is repeated");
    order.push_back(place);
  }
  for (auto [place, letter] : llvm::enumerate(letters))
    if (!llvm::is_contained(order, place))
      return fail(text.size(), "axis '" + Twine(letter) + "' is missing");
  return order;
}

/// Returns true if a tensor may have rank 2 (N, C): a feature map of one pixel,
/// without H and W.
static bool canBeFlat(RgbaImageKind kind) {
  return kind == RgbaImageKind::InOutChannel;
}

/// Returns for each dim of a tensor the position of its axis in the canonical
/// order of the kind, e.g. NHWC. An empty `order` means that the dims are in
/// this order.
static llvm::SmallVector<unsigned> getAxes(RgbaImageKind kind,
                                           ArrayRef<unsigned> order) {
  if (order.empty())
    return llvm::to_vector(llvm::seq<unsigned>(getLetters(kind).size()));
  return llvm::to_vector(order);
}

std::optional<llvm::SmallVector<int64_t>>
mlir::layout::getStatedShape(RgbaImageKind kind, ArrayRef<unsigned> order) {
  if (canBeFlat(kind))
    return std::nullopt;
  return llvm::map_to_vector(getAxes(kind, order), [&](unsigned axis) {
    return getLetters(kind)[axis] == 'M' ? int64_t(1) : kUnknownSize;
  });
}

LayoutMap RgbaImage::getMap(unsigned rank) const {
  std::vector<Coordinate> result;
  for (auto [name, coordinate] : llvm::zip_equal(names, coordinates))
    result.push_back({name.str(), coordinate.value, coordinate.extent});
  return LayoutMap::get(rank, space, std::move(result));
}

std::optional<RgbaImage> mlir::layout::getRgbaImage(RgbaImageKind kind,
                                                    ArrayRef<unsigned> order,
                                                    Sizes shape,
                                                    FailureReason why) {
  const KindInfo &info = getInfo(kind);
  auto fail = [&](const Twine &message) {
    why(message);
    return std::nullopt;
  };

  llvm::SmallVector<unsigned> axisOf = getAxes(kind, order);
  if (canBeFlat(kind) && shape.size() == 2)
    llvm::erase_if(axisOf, [&](unsigned axis) {
      return StringRef("HW").contains(info.letters[axis]);
    });
  if (axisOf.size() != shape.size())
    return fail("it has rank " + Twine(info.letters.size()) +
                (canBeFlat(kind) ? " or 2" : "") + ", the tensor has rank " +
                Twine(shape.size()) + ": use a kind of that rank");

  llvm::SmallVector<BoundedIndex> values(info.letters.size(),
                                         BoundedIndex::constant(0));
  for (auto [d, axis] : llvm::enumerate(axisOf)) {
    values[axis] = BoundedIndex::dim(d);
    int64_t size = shape[d];
    std::string found = "dim " + std::to_string(d) + " has " +
                        (size == kUnknownSize ? "a dynamic size"
                                              : "size " + std::to_string(size));
    char letter = info.letters[axis];
    if (letter == 'M' && size != 1)
      return fail("its axis M must have size 1, " + found +
                  ": use conv2d_filter if a channel has several filters");
    if (kind == RgbaImageKind::SinglePixel && letter == 'C' &&
        (size == kUnknownSize || size > 4))
      return fail("its axis C must fit the 4 lanes of one pixel, " + found +
                  ": use in_out_channel");
  }

  RgbaImage image;
  image.space = info.space;
  image.coordinates = info.place({info.letters, values});
  image.names = {"x", "y"};
  if (info.space == "image2d_array")
    image.names.push_back("slice");
  if (info.space == "image3d")
    image.names.push_back("z");
  image.names.push_back("lane");
  return image;
}
