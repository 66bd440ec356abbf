//===- SpreadImage.cpp - Images with zeros between pixels -----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SpreadImage.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::layout;

using FoundImage = std::optional<SpreadImage>;

static bool isZero(Value value) {
  return matchPattern(value, m_Zero()) || matchPattern(value, m_AnyZeroFloat());
}

static bool isZeroTensor(Value value) {
  auto fill = value.getDefiningOp<linalg::FillOp>();
  return isZero(fill ? fill.value() : value);
}

static bool hasZeroBorder(tensor::PadOp pad) {
  Value value = pad.getConstantPaddingValue();
  return value && isZero(value) &&
         llvm::none_of(pad.getStaticLow(), ShapedType::isDynamic);
}

/// Matches a tensor.insert_slice with static offsets and strides into zeros;
/// its source is the tensor of pixels. Returns std::nullopt for others.
static FoundImage readInsertion(tensor::InsertSliceOp op) {
  RankedTensorType type = op.getSourceType();
  if (!isZeroTensor(op.getDest()) || op.getDroppedDims().any() ||
      llvm::any_of(op.getStaticOffsets(), ShapedType::isDynamic) ||
      llvm::any_of(op.getStaticStrides(), ShapedType::isDynamic))
    return std::nullopt;
  SpreadImage image{op.getSource(), {}, {}};
  for (int64_t d = 0; d < type.getRank(); ++d)
    image.dims.push_back(
        {op.getStaticStride(d), op.getStaticOffset(d), type.getDimSize(d)});
  return image;
}

/// Matches zeros that are inserted after each pixel of a dim: a trailing dim of
/// extent 1 is added, padded with zeros and collapsed. Returns std::nullopt for
/// others.
static FoundImage readMerge(tensor::CollapseShapeOp op) {
  auto pad = op.getSrc().getDefiningOp<tensor::PadOp>();
  auto expand =
      pad ? pad.getSource().getDefiningOp<tensor::ExpandShapeOp>() : nullptr;
  if (!expand || !hasZeroBorder(pad) || !pad.hasZeroLowPad() ||
      expand.getSrcType().getRank() != op.getResultType().getRank())
    return std::nullopt;
  ArrayRef<int64_t> split = expand.getResultType().getShape();
  ArrayRef<int64_t> padded = pad.getResultType().getShape();
  SpreadImage image{expand.getSrc(), {}, {}};
  for (auto [size, group] : llvm::zip_equal(expand.getSrcType().getShape(),
                                            op.getReassociationIndices())) {
    bool isSpread = group.size() == 2 && split[group[1]] == 1;
    if ((group.size() != 1 && !isSpread) || split[group[0]] != size ||
        padded[group[0]] != size)
      return std::nullopt;
    image.dims.push_back({isSpread ? padded[group[1]] : 1, 0, size});
  }
  return image;
}

/// Matches a tensor.expand_shape of an image with zeros between its pixels.
/// Returns std::nullopt for others, or if a dim that it splits has zeros.
static FoundImage readSplit(tensor::ExpandShapeOp op) {
  FoundImage image = findSpreadImage(op.getSrc());
  if (!image)
    return std::nullopt;
  SmallVector<SpreadDim> dims;
  for (auto [d, group] : llvm::enumerate(op.getReassociationIndices())) {
    if (group.size() == 1) {
      dims.push_back(image->dims[d]);
      continue;
    }
    if (!image->isDense(d, op.getSrcType().getDimSize(d)))
      return std::nullopt;
    for (int64_t each : group)
      dims.push_back({1, 0, op.getResultType().getDimSize(each)});
  }
  image->splits.push_back(op);
  image->dims = std::move(dims);
  return image;
}

std::optional<SpreadImage> layout::findSpreadImage(Value image) {
  auto shift = [](FoundImage image, ArrayRef<int64_t> amounts, int64_t sign) {
    for (size_t d = 0; image && d < amounts.size(); ++d)
      image->dims[d].offset += sign * amounts[d];
    return image;
  };
  Operation *producer = image.getDefiningOp();
  if (!producer)
    return std::nullopt;
  return llvm::TypeSwitch<Operation *, FoundImage>(producer)
      .Case([](tensor::InsertSliceOp op) { return readInsertion(op); })
      .Case([](tensor::CollapseShapeOp op) { return readMerge(op); })
      .Case([](tensor::ExpandShapeOp op) { return readSplit(op); })
      .Case([&](tensor::PadOp op) -> FoundImage {
        if (!hasZeroBorder(op))
          return std::nullopt;
        return shift(findSpreadImage(op.getSource()), op.getStaticLow(), 1);
      })
      .Case([&](tensor::ExtractSliceOp op) -> FoundImage {
        if (!op.hasUnitStride() || op.getDroppedDims().any() ||
            llvm::any_of(op.getStaticOffsets(), ShapedType::isDynamic))
          return std::nullopt;
        return shift(findSpreadImage(op.getSource()), op.getStaticOffsets(),
                     -1);
      })
      .Default([](Operation *) { return std::nullopt; });
}

Value SpreadImage::makePixels(OpBuilder &b) const {
  Value split = pixels;
  for (tensor::ExpandShapeOp op : splits) {
    auto type = cast<RankedTensorType>(split.getType());
    SmallVector<int64_t> shape(op.getResultType().getShape());
    for (auto [d, group] : llvm::enumerate(op.getReassociationIndices()))
      if (group.size() == 1)
        shape[group[0]] = type.getDimSize(d);
    split = tensor::ExpandShapeOp::create(b, op.getLoc(), type.clone(shape),
                                          split, op.getReassociationIndices());
  }
  return split;
}
