//===- ImageCandidates.h - Configurations of ops on images ------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The candidate configurations of an op with loops on a target with images. A
// kernel reads every operand by the operand's own map, so the layouts of
// tensors are independent: each is an image with one loop on the lanes, or
// linear memory.
//
//   conv (n f oh ow | c kh kw)    data    image, lanes c
//                                 filter  image, lanes f, c along x
//                                 result  image, lanes f
//   and variants with data, result or both in linear memory, and also with the
//   filter if it is not a constant.
//
// Law: if the best form of an image does not fit the target, the next one that
// fits is used, else linear memory, and a note reports it.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_OPENCL_IMAGECANDIDATES_H
#define LAYOUT_LIB_TARGETS_OPENCL_IMAGECANDIDATES_H

#include "layout/Analysis/ConfigBuilder.h"
#include "layout/Analysis/Contraction.h"
#include "layout/Targets/OpenCL/ImageLayouts.h"

namespace mlir::layout {

class ImageCandidates {
public:
  /// getSeeds and carry add an entry to `notes` for each tensor whose best
  /// image does not fit the target.
  ImageCandidates(const NodeClass &node, CostModel &costs,
                  OpenClTargetAttr target, SmallVectorImpl<StorageNote> &notes)
      : node(node), rule(std::get<LoopsRule>(node.rule)), builder(node, costs),
        costs(costs), target(target), notes(notes) {}

  /// Returns the initial candidates of a contraction. The first ones have
  /// images with one of the first two output loops on the lanes; the others are
  /// variants of the first one, with one or two of its tensors in linear memory
  /// (addMixed). Returns an empty list for other ops.
  SmallVector<OpConfig> getSeeds();

  /// Returns the candidates for `layout`, which an adjacent op uses for the
  /// operand or result `slot`. In at most one, the other tensors have layouts
  /// that match it. The others are variants of this one with tensors in linear
  /// memory (addMixed), and candidates in `known` with this layout alone
  /// replaced.
  SmallVector<OpConfig> carry(ArrayRef<OpConfig> known, OperandOrResult slot,
                              LayoutId layout);

private:
  std::optional<Contraction> getContraction() const;
  std::optional<LayoutId> getImage(OperandOrResult slot, unsigned dim,
                                   ImageRole role, ArrayRef<unsigned> summed);
  std::optional<OpConfig> getForLaneDim(unsigned loop,
                                        const Contraction *contraction);
  std::optional<OpConfig> replace(const OpConfig &base, OperandOrResult slot,
                                  LayoutId layout) const;
  void addMixed(SmallVectorImpl<OpConfig> &configs, const OpConfig &base) const;
  bool isChosenElsewhere(OperandOrResult slot) const;
  bool sharesStorage(unsigned operand, unsigned result) const;
  bool requiresOneType() const;
  void note(OperandOrResult slot, const ImageFit &fit,
            std::optional<LayoutId> instead);

  const NodeClass &node;
  const LoopsRule &rule;
  ConfigBuilder builder;
  CostModel &costs;
  OpenClTargetAttr target;
  SmallVectorImpl<StorageNote> &notes;
};

/// Returns an image map that is valid for every shape and stores tensors of
/// `type` like `special`, so that it can be propagated to tensors of other
/// shapes. Returns `special` if there is none.
LayoutId generalizeImage(LayoutId special, RankedTensorType type,
                         CostModel &costs);

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_OPENCL_IMAGECANDIDATES_H
