//===- ImageLayoutsTest.cpp - Images of a device, and their reads ---------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Targets/OpenCL/ImageLayouts.h"
#include "layout/Algebra/Families/RgbaImage.h"
#include "layout/Algebra/Proof.h"
#include "layout/Targets/OpenCL/ImageReads.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::layout;
using utils::IteratorType;

namespace {

class ImageLayouts : public ::testing::Test {
protected:
  ImageLayouts() { context.loadDialect<LayoutDialect>(); }

  OpenClTargetAttr getTarget(StringRef parameters = "") {
    return cast<OpenClTargetAttr>(
        parseAttribute("#layout.opencl" + parameters.str(), &context));
  }
  RankedTensorType getTensor(ArrayRef<int64_t> shape) {
    return RankedTensorType::get(shape, Float32Type::get(&context));
  }
  static LayoutMap getFamily(RgbaImageKind kind, ArrayRef<int64_t> shape) {
    return getRgbaImage(kind, {}, shape, nullptr)->getMap(shape.size());
  }

  MLIRContext context;
};

/// The first forms are the kinds of the specification.
TEST_F(ImageLayouts, StartWithTheNamedKinds) {
  auto first = [](unsigned rank, unsigned laneDim, ImageRole role,
                  ArrayRef<unsigned> summed = {}) {
    return getImageForms(rank, laneDim, role, summed).front();
  };
  EXPECT_EQ(first(4, 3, ImageRole::Activation),
            getFamily(RgbaImageKind::InOutChannel, {2, 5, 3, 6}));
  EXPECT_EQ(first(2, 1, ImageRole::Activation),
            getFamily(RgbaImageKind::InOutChannel, {2, 6}));
  EXPECT_EQ(first(1, 0, ImageRole::Activation),
            getFamily(RgbaImageKind::Argument, {7}));
  EXPECT_EQ(first(4, 0, ImageRole::Filter, {1}),
            getFamily(RgbaImageKind::Conv2dFilter, {6, 5, 3, 2}));
  // MIHW without M, which has size 1 in the depthwise convolutions of linalg.
  EXPECT_EQ(first(3, 0, ImageRole::Filter),
            getFamily(RgbaImageKind::DwConv2dFilter, {1, 5, 3, 2})
                .substitute(3,
                            {IndexExpr(SizeExpr(0)), IndexExpr::dim(0),
                             IndexExpr::dim(1), IndexExpr::dim(2)},
                            {SizeExpr(1), SizeExpr::dim(0), SizeExpr::dim(1),
                             SizeExpr::dim(2)}));
}

/// L1 holds for all lane dims and roles, including non-divisible sizes.
TEST_F(ImageLayouts, AreValid) {
  SmallVector<int64_t> shape = {2, 5, 3, 6};
  for (unsigned rank = 1; rank <= 4; ++rank)
    for (unsigned laneDim = 0; laneDim < rank; ++laneDim)
      for (ImageRole role : {ImageRole::Activation, ImageRole::Filter})
        for (unsigned summed = 0; summed < rank; ++summed) {
          SmallVector<unsigned> dims;
          if (summed != laneDim)
            dims.push_back(summed);
          ArrayRef<int64_t> sizes = ArrayRef(shape).take_front(rank);
          for (const LayoutMap &map :
               getImageForms(rank, laneDim, role, dims)) {
            EXPECT_EQ(proveInjective(map, sizes).answer, ProofResult::Proved)
                << map.str();
            EXPECT_EQ(isWithinExtents(map, sizes), ProofResult::Proved)
                << map.str();
            EXPECT_EQ(map.storageExtent(sizes)->back(), kLanesOfPixel);
            EXPECT_EQ(findLaneDim(map), laneDim);
          }
        }
}

TEST_F(ImageLayouts, GiveWayToFormsThatFit) {
  RankedTensorType type = getTensor({1, 760, 1352, 64});
  OpenClTargetAttr target =
      getTarget("<image2d_max_width = 16384, image2d_max_height = 16384>");
  ImageChoice choice = chooseImage(type, 3, ImageRole::Activation, {}, target);
  EXPECT_EQ(choice.first.answer, ImageFit::Verdict::TooLarge);
  EXPECT_EQ(choice.first.size, (SmallVector<int64_t, 3>{21632, 760}));
  ASSERT_TRUE(choice.map);
  EXPECT_EQ(*choice.map->storageExtent(type.getShape()),
            (SmallVector<int64_t>{1352, 12160, 4}));
  // OpenCL guarantees 8192 x 8192, in which no form of this tensor fits.
  EXPECT_FALSE(
      chooseImage(type, 3, ImageRole::Activation, {}, getTarget()).map);
  EXPECT_EQ(
      chooseImage(getTensor({1, 0, 4, 8}), 3, ImageRole::Activation, {}, target)
          .first.answer,
      ImageFit::Verdict::Empty);
}

TEST_F(ImageLayouts, TakeDynamicSizesToBeTheAssumedOne) {
  RankedTensorType type = getTensor({1, ShapedType::kDynamic, 4, 64});
  auto choose = [&](StringRef parameters) {
    return chooseImage(type, 3, ImageRole::Activation, {},
                       getTarget(parameters));
  };
  EXPECT_TRUE(choose("<image2d_max_height = 1>").first);
  ImageChoice choice = choose("<image2d_max_height = 400, assumed_size = 401>");
  EXPECT_EQ(choice.first.answer, ImageFit::Verdict::TooLarge);
  EXPECT_EQ(choice.first.size, (SmallVector<int64_t, 3>{64, 401}));
  ASSERT_TRUE(choice.map);
  EXPECT_EQ(*choice.map->storageExtent({1, 401, 4, 64}),
            (SmallVector<int64_t>{1604, 16, 4}));
}

/// Each limit is reached, and exceeded by one.
TEST_F(ImageLayouts, AreAsLargeAsTheTargetsImages) {
  auto get = [](StringRef space, std::vector<Coordinate> others) {
    others.push_back(
        {"lane", takeDigit(IndexExpr::dim(1), 1, kLanesOfPixel), SizeExpr(4)});
    return LayoutMap::get(2, space, others);
  };
  Coordinate x{"x", takeDigit(IndexExpr::dim(1), kLanesOfPixel, 0),
               SizeExpr::dim(1).ceilDiv(kLanesOfPixel)};
  Coordinate y{"y", IndexExpr::dim(0), SizeExpr::dim(0)};
  Coordinate one{"one", IndexExpr(), SizeExpr(1)};
  OpenClTargetAttr target =
      getTarget("<image2d_max_width = 3, image2d_max_height = 5, "
                "image_max_array_size = 2, image3d_max_width = 4, "
                "image3d_max_height = 6, image3d_max_depth = 3>");
  auto fits = [&](const LayoutMap &map, ArrayRef<int64_t> shape) {
    ImageFit::Verdict answer =
        ImageFit::get(map, getTensor(shape), target).answer;
    EXPECT_TRUE(answer == ImageFit::Verdict::Fits ||
                answer == ImageFit::Verdict::TooLarge);
    return answer == ImageFit::Verdict::Fits;
  };
  LayoutMap flat = get("image2d", {x, y});
  EXPECT_TRUE(fits(flat, {5, 12}));
  EXPECT_FALSE(fits(flat, {6, 12}));
  EXPECT_FALSE(fits(flat, {5, 13}));
  LayoutMap layers = get("image2d_array", {x, one, y});
  EXPECT_TRUE(fits(layers, {2, 12}));
  EXPECT_FALSE(fits(layers, {3, 12}));
  LayoutMap deep = get("image3d", {one, x, y});
  EXPECT_TRUE(fits(deep, {3, 24}));
  EXPECT_FALSE(fits(deep, {4, 24}));
  EXPECT_FALSE(fits(deep, {3, 25}));
}

/// Counts what the kernel reads of one operand.
static ImageReads countReads(KernelCount kernel, AffineMap map,
                             const LayoutMap &layout, ArrayRef<int64_t> sizes,
                             int64_t elementBytes) {
  kernel.addOperand(map, layout, sizes, elementBytes);
  return kernel.getReads();
}

/// A 1x1 convolution of 8 to 12 channels on 3 pixels: m (pixels), f, c.
TEST_F(ImageLayouts, AreReadInPixels) {
  constexpr int64_t rows = 3, filters = 12, channels = 8;
  constexpr int64_t elementBytes = 4, pixelBytes = kLanesOfPixel * elementBytes;
  constexpr int64_t pixelsOfData = channels / kLanesOfPixel;
  constexpr int64_t resultPixels = rows * filters / kLanesOfPixel;
  AffineExpr m, f, c;
  bindDims(&context, m, f, c);
  AffineMap data = AffineMap::get(3, 0, {m, c}, &context);
  AffineMap filter = AffineMap::get(3, 0, {f, c}, &context);
  AffineMap result = AffineMap::get(3, 0, {m, f}, &context);
  SmallVector<IteratorType> iterators = {
      IteratorType::parallel, IteratorType::parallel, IteratorType::reduction};
  LayoutMap image = getImageForms(2, 1, ImageRole::Activation).front();
  LayoutMap weights = getImageForms(2, 0, ImageRole::Filter, {1}).front();
  LayoutMap plain = LayoutMap::rowMajor(2);
  SmallVector<int64_t> ofData = {rows, channels},
                       ofFilter = {filters, channels};

  KernelLoops loops({rows, filters, channels}, iterators);
  loops.addOperand(data, image);
  KernelCount toImage(loops, result, KernelItem::get(image, {rows, filters}));
  // For each result pixel, the pixels of a row of the data, and one pixel of the
  // filter for each channel.
  EXPECT_EQ(countReads(toImage, data, image, ofData, 4).imageBytes,
            resultPixels * pixelsOfData * pixelBytes);
  EXPECT_EQ(countReads(toImage, filter, weights, ofFilter, 4).imageBytes,
            resultPixels * channels * pixelBytes);
  EXPECT_EQ(countReads(toImage, data, plain, ofData, 4).bufferBytes,
            resultPixels * channels * elementBytes);
  EXPECT_EQ(countReads(toImage, filter, plain, ofFilter, 4).bufferBytes,
            resultPixels * channels * pixelBytes);
  EXPECT_EQ(toImage.getPoints(), rows * filters * channels);

  // Operands without the summed loop are read once, and a diagonal per lane.
  AffineMap bias = AffineMap::get(3, 0, {f, f}, &context);
  EXPECT_EQ(countReads(toImage, bias, image, {filters, filters}, 4).imageBytes,
            rows * filters * pixelBytes);

  // For each result element; one lane per filter pixel is used.
  constexpr int64_t elements = rows * filters;
  KernelCount toBuffer(loops, result, KernelItem::get(plain, {rows, filters}));
  EXPECT_EQ(countReads(toBuffer, data, image, ofData, 4).imageBytes,
            elements * pixelsOfData * pixelBytes);
  EXPECT_EQ(countReads(toBuffer, filter, weights, ofFilter, 4).imageBytes,
            elements * channels * pixelBytes);
  EXPECT_EQ(countReads(toBuffer, data, plain, ofData, 4).bufferBytes,
            elements * channels * elementBytes);
  EXPECT_EQ(toBuffer.getPoints(), elements * channels);

  // Three summed channels are a pixel whose last lane is not summed, and five
  // result channels have three lanes of padding with useless sums.
  KernelLoops nonDivisible({3, 5, 3}, iterators);
  nonDivisible.addOperand(data, image);
  KernelCount ofNonDivisible(nonDivisible, result,
                             KernelItem::get(image, {3, 5}));
  EXPECT_EQ(countReads(ofNonDivisible, data, image, {3, 3}, 4).imageBytes,
            3 * 2 * pixelBytes); // rows, result pixels of a row
  EXPECT_EQ(countReads(ofNonDivisible, filter, weights, {5, 3}, 4).imageBytes,
            3 * 2 * 3 * pixelBytes); // and summed channels
  EXPECT_EQ(ofNonDivisible.getPoints(), 3 * 8 * 3);

  // Between images: by pixels, or by lanes, of which the last two of each row
  // are padding.
  LayoutMap columns = getImageForms(2, 0, ImageRole::Activation).front();
  EXPECT_EQ(countConversionReads(image, image, {8, 6}, 4, &context).imageBytes,
            8 * 2 * pixelBytes);
  EXPECT_EQ(
      countConversionReads(columns, image, {8, 6}, 4, &context).imageBytes,
      8 * (2 * kLanesOfPixel) * pixelBytes);
  EXPECT_EQ(countConversionReads(plain, image, {8, 6}, 4, &context).bufferBytes,
            8 * (2 * kLanesOfPixel) * elementBytes);
}

/// A 1x1 convolution of 64 to 64 channels on at least 800 pixels: m, f, c.
TEST_F(ImageLayouts, AreReadOncePerItem) {
  AffineExpr m, f, c;
  bindDims(&context, m, f, c);
  AffineMap data = AffineMap::get(3, 0, {m, c}, &context);
  AffineMap filter = AffineMap::get(3, 0, {f, c}, &context);
  AffineMap result = AffineMap::get(3, 0, {m, f}, &context);
  SmallVector<IteratorType> iterators = {
      IteratorType::parallel, IteratorType::parallel, IteratorType::reduction};
  LayoutMap image = getImageForms(2, 1, ImageRole::Activation).front();
  LayoutMap weights = getImageForms(2, 0, ImageRole::Filter, {1}).front();
  constexpr int64_t channels = 64, filters = 64, itemRows = 8, pixelBytes = 16;
  constexpr int64_t resultPixels = filters / kLanesOfPixel;
  constexpr int64_t pixelsOfData = channels / kLanesOfPixel;

  auto choose = [&](int64_t rows) {
    KernelLoops loops({rows, filters, channels}, iterators);
    loops.addOperand(data, image);
    KernelCount kernel(loops, result, KernelItem::get(image, {rows, filters}));
    kernel.addOperand(data, image, {rows, channels}, 4);
    kernel.addOperand(filter, weights, {filters, channels}, 4);
    PixelBlock block = kernel.chooseBlock(BlockLimits({}), /*maySplit=*/false);
    return std::make_pair(block.pixels, kernel.getReads(block).imageBytes);
  };
  // A work-item of several rows reads the pixels of the data for each row, and
  // one of the filter for each channel.
  constexpr int64_t itemPixels = itemRows * pixelsOfData + channels;
  EXPECT_EQ(choose(800),
            std::make_pair(itemRows, 800 / itemRows * resultPixels *
                                         itemPixels * pixelBytes));
  // The last work-item of 801 rows has one row.
  EXPECT_EQ(choose(801),
            std::make_pair(itemRows, (800 / itemRows + 1) * resultPixels *
                                         itemPixels * pixelBytes));
  // Fewer than 1,024 work-items do not occupy a device.
  EXPECT_EQ(choose(65).first, 1);
}

} // namespace
