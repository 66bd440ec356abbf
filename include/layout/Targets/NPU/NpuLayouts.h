//===- NpuLayouts.h - Tensors over the cores of a chip ----------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The scattered layouts that a tensor is offered: which dim is spread over the
// cores, and how the others lie in one.
//
//   1x64x56x56, channels d1     aligned, axes NCHW
//   weights 64x3x7x7, d0        compact, ic2, axes "CNHW"
//   bias 64, d0                 aligned, axes "C"
//   128x768 as a matrix         matrix 12, 64 cores: 64 channels of 12 columns
//
// Laws:
//  * a layout that is given is valid for the type on the chip (L1) and fits a
//    core; nothing else is given;
//  * a matrix has no more channels than the chip has cores: its channels are as
//    narrow as that allows.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETS_NPU_NPULAYOUTS_H
#define LAYOUT_TARGETS_NPU_NPULAYOUTS_H

#include "layout/Dialect/Layout/IR/Layout.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/SmallBitVector.h"

namespace mlir {
namespace layout {

/// How the tensors of an op lie, apart from their dims.
struct NpuForm {
  NpuMode mode = NpuMode::Aligned;
  int64_t start = 0;
  /// Elements of 8 and 16 bits share storage units along their axis N.
  bool isPacked = false;
  /// Of a matrix: columns of a channel; 0 for as few as cores ask for.
  int64_t width = 0;
};

/// The form of a layout.
NpuForm getForm(NpuScatterAttr layout);

/// The form of the tensors beside one of this layout: what has strides of its
/// own, as parts have, is followed by aligned ones.
NpuForm getFormBeside(NpuScatterAttr layout);

/// The axis that is spread over the cores.
inline char getChannelAxis(NpuMode mode) {
  return mode == NpuMode::Matrix ? 'M' : 'C';
}

/// The axes of a tensor whose channels are dim `channel`: dims before it are N,
/// the last one after it W, what lies between H; of a matrix, `channel` is M
/// and all others N.
std::string getNpuAxes(int64_t rank, unsigned channel, NpuMode mode);

/// The layout of tensors of `type` in this form; null where it does not fit.
NpuScatterAttr getNpuLayout(RankedTensorType type, const NpuForm &form,
                            StringRef axes, NpuTargetInterface chip);

/// The layout of weights whose channels are dim `channel`: compact, and f32 in
/// 2IC-mode along the first of the other dims.
NpuScatterAttr getNpuWeights(RankedTensorType type, unsigned channel,
                             int64_t start, NpuTargetInterface chip);

/// An operand in system memory as every core that computes with it loads it.
struct NpuLoad {
  /// Has a layout, which may not fit.
  RankedTensorType type;
  /// From the loops of the op.
  AffineMap map;
  /// The dims in front that the operand lacks: the channels of the result, or
  /// the cores that they are in.
  unsigned numNew;
};

/// `map` is the operand's, `written` that of the result, which has `layout`. An
/// op that takes strides needs it once in each core, others for each channel.
NpuLoad getNpuLoad(RankedTensorType type, AffineMap map, AffineMap written,
                   ArrayRef<int64_t> ranges, NpuScatterAttr layout,
                   bool takesStrides);

/// A tensor of which an op on `layout` knows the sizes, and reads no element.
RankedTensorType getNpuWindow(RankedTensorType type, NpuScatterAttr layout);

/// Whether a tensor lies in this mode, whatever its layout is called: where
/// channels have one element for each N, and there are no more of them than
/// cores, a matrix is an aligned tensor.
bool liesAs(NpuScatterAttr layout, RankedTensorType type, NpuMode mode);

/// The loops that the cores of a tensor are spread over; `map` takes loops to
/// its dims.
llvm::SmallBitVector getChannelLoops(AffineMap map, NpuScatterAttr layout);

/// The loops that index dims of an axis.
llvm::SmallBitVector getAxisLoops(AffineMap map, NpuScatterAttr layout,
                                  char axis);

/// The bytes that `layout` reserves in every core.
int64_t getNpuBytes(NpuScatterAttr layout, RankedTensorType type);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_TARGETS_NPU_NPULAYOUTS_H
