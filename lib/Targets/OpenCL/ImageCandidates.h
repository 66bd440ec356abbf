//===- ImageCandidates.h - Configurations of ops with images ----*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What an op with loops is offered on a target with images. A kernel reads
// every operand by that operand's own map, so the tensors of an op need not
// agree: each is an image with one of its loops on the lanes, or linear memory.
//
//   conv (n f oh ow | c kh kw)    data    image, node c
//                                 filter  image, node f, c along x
//                                 result  image, node f
//   and the same with data, result or both in linear memory; the filter, too,
//   where it is no constant.
//
// Law: where the best form of an image does not fit the target the next one
// that does is taken, else linear memory, and a note says so.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_OPENCL_IMAGECANDIDATES_H
#define LAYOUT_LIB_TARGETS_OPENCL_IMAGECANDIDATES_H

#include "layout/Analysis/ConfigBuilder.h"
#include "layout/Analysis/Contraction.h"
#include "layout/Targets/OpenCL/ImageLayouts.h"

namespace mlir {
namespace layout {

class ImageCandidates {
public:
  /// `notes` of the node are added to.
  ImageCandidates(const NodeClass &node, CostModel &costs,
                  OpenClTargetAttr target, SmallVectorImpl<StorageNote> &notes)
      : node(node), rule(std::get<LoopsRule>(node.rule)), builder(node, costs),
        costs(costs), target(target), notes(notes) {}

  /// Of ops that work on channels: with images everywhere first, then mixed.
  SmallVector<OpConfig> getSeeds();

  /// What the layout of one tensor offers beside `known`.
  SmallVector<OpConfig> carry(ArrayRef<OpConfig> known, Slot slot,
                              LayoutId layout);

private:
  std::optional<Contraction> getContraction() const;
  std::optional<LayoutId> getImage(Slot slot, unsigned dim, ImageRole role,
                                   ArrayRef<unsigned> summed);
  std::optional<OpConfig> getForLaneDim(unsigned loop,
                                        const Contraction *contraction);
  std::optional<OpConfig> replace(const OpConfig &base, Slot slot,
                                  LayoutId layout) const;
  void addMixed(SmallVectorImpl<OpConfig> &configs, const OpConfig &base) const;
  bool isChosenElsewhere(Slot slot) const;
  bool sharesStorage(unsigned operand, unsigned result) const;
  bool tiesTypes() const;
  void note(Slot slot, const ImageFit &fit, std::optional<LayoutId> instead);

  const NodeClass &node;
  const LoopsRule &rule;
  ConfigBuilder builder;
  CostModel &costs;
  OpenClTargetAttr target;
  SmallVectorImpl<StorageNote> &notes;
};

/// `special`, which is an image for tensors of `type`, as one that holds for
/// every shape, where a form of images stores these tensors alike: it can be
/// carried further.
LayoutId generalizeImage(LayoutId special, RankedTensorType type,
                         CostModel &costs);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_LIB_TARGETS_OPENCL_IMAGECANDIDATES_H
