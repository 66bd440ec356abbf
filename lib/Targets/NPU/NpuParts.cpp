//===- NpuParts.cpp - In-place parts of concatenations --------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Targets/NPU/NpuParts.h"
#include "layout/Algebra/Views.h"
#include "layout/Analysis/ConversionPlan.h"
#include "layout/Dialect/NPU/Utils/Tables.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::layout;

SmallVector<SmallVector<int64_t>>
layout::getPartOffsets(tensor::ConcatOp concat) {
  SmallVector<SmallVector<int64_t>> all;
  SmallVector<int64_t> offsets(concat.getResultType().getRank(), 0);
  for (Value input : concat.getInputs()) {
    all.push_back(offsets);
    offsets[concat.getDim()] +=
        cast<RankedTensorType>(input.getType()).getDimSize(concat.getDim());
  }
  return all;
}

std::optional<int64_t> layout::findNpuPlace(NpuScatterAttr part,
                                            RankedTensorType type,
                                            NpuScatterAttr whole,
                                            RankedTensorType wholeType,
                                            ArrayRef<int64_t> offsets) {
  FailureOr<LayoutMap> large =
      whole.resolve(wholeType.getShape(), wholeType.getElementType(), nullptr);
  FailureOr<LayoutMap> small =
      part.resolve(type.getShape(), type.getElementType(), nullptr);
  if (failed(large) || failed(small) || large->getSpace() != "npu" ||
      small->getSpace() != "npu" || type.getNumElements() == 0)
    return std::nullopt;
  SmallVector<int64_t> ones(type.getRank(), 1);
  std::optional<LayoutMap> cut =
      slice(*large, wholeType.getShape(), offsets, type.getShape(), ones);
  if (!cut)
    return std::nullopt;
  LayoutMap left = cut->specialize(type.getShape());
  LayoutMap right = small->specialize(type.getShape());
  std::optional<npu::Tables> tables[2][2];
  for (unsigned i = 0; i < 2; ++i) {
    tables[i][0] =
        npu::tabulate(left.getCoordinates()[i].value, type.getShape());
    tables[i][1] =
        npu::tabulate(right.getCoordinates()[i].value, type.getShape());
    if (!tables[i][0] || !tables[i][1] ||
        tables[i][0]->dims != tables[i][1]->dims)
      return std::nullopt;
  }
  if (tables[0][0]->start != tables[0][1]->start)
    return std::nullopt;
  int64_t byte = (tables[1][0]->start - tables[1][1]->start) *
                 getElementBytes(type.getElementType());
  auto moved = NpuScatterAttr::get(
      part.getContext(), part.getMode(), part.getWidth(), part.getStrides(),
      part.getStart(), part.getPack(), part.getOffset() + byte, part.getAxes(),
      part.getTarget());
  if (byte < 0 ||
      failed(moved.resolve(type.getShape(), type.getElementType(), nullptr)))
    return std::nullopt;
  return byte;
}

NpuScatterAttr layout::getNpuPart(RankedTensorType type, NpuScatterAttr whole,
                                  RankedTensorType wholeType,
                                  ArrayRef<int64_t> offsets,
                                  NpuTargetInterface chip) {
  if (!wholeType.hasStaticShape())
    return {};
  NpuScatter scatter = whole.getScatter();
  std::string axes = scatter.getAxes().str();
  int64_t channel = 0;
  for (auto [offset, axis] : llvm::zip_equal(offsets, axes))
    channel += axis == 'C' ? offset : 0;
  ChipParams params = chip.getParams();
  scatter.start = (scatter.start + channel) % params.npus;
  scatter.offset = 0;
  auto isPlace = [&](NpuScatterAttr layout) {
    return layout &&
           findNpuPlace(layout, type, whole, wholeType, offsets).has_value();
  };
  auto get = [&] {
    return NpuScatterAttr::get(type.getContext(), scatter.mode, scatter.width,
                               scatter.strides, scatter.start, scatter.pack,
                               scatter.offset, scatter.axes, chip);
  };
  if (NpuScatterAttr layout = get(); isPlace(layout))
    return layout;
  if (whole.getMode() == NpuMode::Matrix)
    return {};
  // If the part has no layout in the mode of the whole, it is strided, with the
  // strides of the whole.
  NpuScatter all = whole.getScatter();
  std::optional<NpuStorage> storage =
      getNpuStorage(all, params, getElementBytes(type.getElementType()),
                    wholeType.getShape(), nullptr);
  if (!storage)
    return {};
  scatter.mode = NpuMode::Strided;
  scatter.strides.clear();
  for (const SizeExpr &stride :
       {storage->sN, storage->sC, storage->sH, storage->sW}) {
    std::optional<int64_t> value = stride.evaluate(wholeType.getShape());
    if (!value)
      return {};
    scatter.strides.push_back(*value);
  }
  if (!checkNpuScatter(scatter, nullptr))
    return {};
  NpuScatterAttr layout = get();
  return isPlace(layout) ? layout : NpuScatterAttr();
}
