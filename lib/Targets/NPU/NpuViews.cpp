//===- NpuViews.cpp - Reshapes of tensors in local memory -----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds the layouts with which both sides of a reshape have the same bytes. For
// example, a matrix with 64-column channels is an aligned tensor whose channels
// are heads:
//
//     tensor<128x768>       matrix 64              core h has columns 64 h ..
//     tensor<128x12x64>     aligned, axes "NCW"    core h has head h
//
//===----------------------------------------------------------------------===//

#include "NpuCandidates.h"

using namespace mlir;
using namespace mlir::layout;
using Origin = OpConfig::Origin;

/// Returns the axis letters of the other side of a reshape of `from`, whose
/// dims have the letters `axes`, or std::nullopt if no scattered layout may
/// have the same bytes. `sources` and `sizes` have, for each dim of the other
/// side, the corresponding dims of `from` and the size. Changes `form` to the
/// mode and width of the other side. A dim that is split keeps its axis in all
/// of its parts; a matrix with one of them as channels becomes aligned. If C is
/// joined with H or W in one dim, an aligned tensor becomes a matrix with this
/// dim as columns (M) and the others as rows (N).
static std::optional<std::string>
getViewedAxes(ArrayRef<SmallVector<unsigned, 4>> sources,
              ArrayRef<int64_t> sizes, RankedTensorType from, StringRef axes,
              NpuForm &form) {
  std::string other;
  int64_t width = 1;
  for (auto [d, dims] : llvm::enumerate(sources)) {
    std::string joined;
    int64_t inside = 1;
    for (unsigned o : dims) {
      if (joined.empty() || joined.back() != axes[o])
        joined += axes[o];
      if (joined.front() == 'C' && joined.size() > 1)
        inside *= from.getDimSize(o);
    }
    if (joined.empty() || sizes[d] == 1) {
      other += 'N';
    } else if (joined.size() == 1) {
      other += joined;
    } else if (joined == "HW") {
      other += 'W';
    } else if (joined == "CH" || joined == "CW" || joined == "CHW") {
      other += 'M';
      width = inside;
    } else {
      return std::nullopt;
    }
  }
  if (form.mode == NpuMode::Aligned && StringRef(other).contains('M')) {
    for (char &axis : other)
      axis = axis == 'M' ? 'M' : 'N';
    form.mode = NpuMode::Matrix;
    form.width = width;
  } else if (form.mode == NpuMode::Matrix && StringRef(other).count('M') > 1) {
    // The innermost dims that the columns of a matrix are split into get axes W
    // and H, as far as they are columns of one channel.
    char inner = 'W';
    for (unsigned d = sizes.size(); d-- > 0 && form.width > 1;) {
      if (other[d] != 'M')
        continue;
      if (sizes[d] <= 0 || form.width % sizes[d] != 0)
        return std::nullopt;
      form.width /= sizes[d];
      other[d] = inner;
      inner = 'H';
    }
    if (form.width != 1)
      return std::nullopt;
    for (char &axis : other)
      axis = axis == 'M' ? 'C' : axis;
    form.mode = NpuMode::Aligned;
    form.width = 0;
  }
  return other;
}

/// Returns the configuration of a reshape in which the tensor at `slot` has
/// `layout` and the other side has a scattered layout with the same bytes, or
/// std::nullopt if there is no such layout.
std::optional<OpConfig> NpuCandidates::getView(OperandOrResult slot,
                                               NpuScatterAttr layout) const {
  bool ofResult = slot.isResult || slot.index > 0;
  const ViewRule &rule = std::get<ViewRule>(node.rule);
  const IndexView &own = ofResult ? rule.toResult : rule.toSource;
  const IndexView &view = ofResult ? rule.toSource : rule.toResult;
  RankedTensorType from = builder.getType(ofResult, 0);
  RankedTensorType to = builder.getType(!ofResult, 0);
  if (!from.hasStaticShape() || !to.hasStaticShape())
    return std::nullopt;
  // For each dim of `to`, the dims of `from` that it is a part of, or that are
  // parts of it, without dims of size 1.
  SmallVector<SmallVector<unsigned, 4>> sources(to.getRank());
  auto relate = [&](unsigned o, unsigned d) {
    if (from.getDimSize(d) != 1 && to.getDimSize(o) != 1 &&
        !llvm::is_contained(sources[o], d))
      sources[o].push_back(d);
  };
  for (auto [d, value] : llvm::enumerate(own.dims))
    for (const DigitTerm &term : value.terms)
      term.digit.walkDims([&, d = d](unsigned o) { relate(o, d); });
  for (auto [o, value] : llvm::enumerate(view.dims))
    for (const DigitTerm &term : value.terms)
      term.digit.walkDims([&, o = o](unsigned d) { relate(o, d); });
  for (SmallVector<unsigned, 4> &dims : sources)
    llvm::sort(dims);
  NpuForm form = getForm(layout);
  if (form.mode == NpuMode::Strided)
    return std::nullopt;
  std::optional<std::string> axes = getViewedAxes(
      sources, to.getShape(), from, layout.getScatter().getAxes(), form);
  if (!axes)
    return std::nullopt;
  NpuScatterAttr viewed = getNpuLayout(to, form, *axes, chip);
  if (!viewed)
    return std::nullopt;
  // Compare the maps, because the axes do not ensure that both sides have the
  // same bytes.
  LayoutId here = costs.intern(layout, from), there = costs.intern(viewed, to);
  LayoutMap map = applyView(costs.getMap(here), own);
  if (costs.getNormalForm(costs.intern(map), to) !=
      costs.getNormalForm(there, to))
    return std::nullopt;
  return assign(
      [&](OperandOrResult any, RankedTensorType) {
        return (any.isResult || any.index > 0) == ofResult ? layout : viewed;
      },
      Origin::Carried);
}
