//===- NpuLayouts.h - Scattered layouts of tensors --------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builds the candidate layouts of a tensor in local memory. A layout spreads
// one dim, the channel, over the cores and places the other dims within a core.
//
//   1x64x56x56, channels d1     aligned, axes NCHW
//   weights 64x3x7x7, d0        compact, ic2, axes "CNHW"
//   bias 64, d0                 aligned, axes "C"
//   128x768 as a matrix         matrix 12, 64 cores: 64 channels of 12 columns
//
// Laws:
//  * every returned layout is valid for the type on the chip (L1) and fits a
//    core;
//  * a matrix has at most as many channels as the chip has cores, with the
//    smallest width that allows this.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETS_NPU_NPULAYOUTS_H
#define LAYOUT_TARGETS_NPU_NPULAYOUTS_H

#include "layout/Dialect/Layout/IR/Layout.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/SmallBitVector.h"

namespace mlir::layout {

/// The parameters from which a `#layout.npu_scatter` layout of a tensor is
/// built: the mode (e.g. aligned, compact or matrix), the start core, the
/// packing and the width of a matrix. The axes of the dims are stated
/// separately.
struct NpuForm {
  NpuMode mode = NpuMode::Aligned;
  int64_t start = 0;
  /// True if consecutive elements along axis N are packed: four 8-bit or two
  /// 16-bit elements in one 32-bit storage unit.
  bool isPacked = false;
  /// In matrix mode, the number of adjacent columns that one core holds as a
  /// channel. 0 stands for the smallest number with which each core has at most
  /// one channel.
  int64_t width = 0;
};

/// Returns the mode, the start core, the packing along N and the matrix width
/// of `layout`. Axes, explicit strides and 2IC packing are not part of the
/// result.
NpuForm getForm(NpuScatterAttr layout);

/// Returns the parameters for the other tensors of an op of which one is in
/// `layout`: those of `layout`, but aligned if it has explicit strides.
NpuForm getFormBeside(NpuScatterAttr layout);

/// Returns the letter of the axis that is spread over the cores.
inline char getChannelAxis(NpuMode mode) {
  return mode == NpuMode::Matrix ? 'M' : 'C';
}

/// Returns one axis letter per dim for a tensor of rank `rank`: C for dim
/// `channel`, N for dims before it, W for the last dim after it, and H for dims
/// in between. In matrix mode the channel is M and all other dims are N.
std::string getNpuAxes(int64_t rank, unsigned channel, NpuMode mode);

/// Returns the layout of `type` in `form`, where `axes` has the axis letter of
/// each dim. It is unpacked if the element type or the shape does not allow the
/// packing. Returns a null layout if the shape is dynamic, if two dims of more
/// than one index are channels, or if the tensor does not fit a core.
NpuScatterAttr getNpuLayout(RankedTensorType type, const NpuForm &form,
                            StringRef axes, NpuTargetInterface chip);

/// Returns the layout without gaps, from core `start` on, of weights with
/// channel dim `channel`, or a null layout if they do not fit a core. In the
/// order of OKKernel, f32 weights with an axis N, e.g. the input channels, are
/// in 2IC-mode: two consecutive indices of N share a storage unit. If a core
/// has several channels of such weights, the bytes of each are contiguous, if
/// that layout is valid. In the order of TPU-KERNEL, each output channel is
/// contiguous, the input channel before the window.
NpuScatterAttr getNpuWeights(RankedTensorType type, unsigned channel,
                             int64_t start, NpuTargetInterface chip);

/// Returns the type of the work memory of the function that computes `op`, with
/// its layout, or a null type if it needs none. `result` is the type of the
/// result with its layout. The work memory of OKKernel is a tensor like the
/// result, that of TPU-KERNEL a row of words in each core (KernelApi.h).
RankedTensorType getNpuWork(linalg::LinalgOp op, RankedTensorType result);

/// The local copy of an operand that is in system memory: the cores load it
/// before they compute the op.
struct NpuLoad {
  /// The type of the copy, with its layout in local memory. It is not checked
  /// that the copy fits a core.
  RankedTensorType type;
  /// The indexing map of the copy: from the loops of the op to the indices at
  /// which the op reads the copy, those of its new leading dims first.
  AffineMap map;
  /// The number of leading dims of the copy that the operand lacks. They index
  /// the channels of the result, or the cores that hold these channels.
  unsigned numNew;
};

/// Returns the local copy of an operand with indexing map `map`, for a result
/// in `layout` with indexing map `written`. `ranges` has the sizes of the
/// loops. An operand that does not depend on the channel of the result is
/// repeated along new leading dims. There is one copy per core if the commands
/// of the op have strides for each operand (`takesStrides`) and one loop alone
/// is the channel. Otherwise there is one copy per channel.
NpuLoad getNpuLoad(RankedTensorType type, AffineMap map, AffineMap written,
                   ArrayRef<int64_t> ranges, NpuScatterAttr layout,
                   bool takesStrides);

/// Returns the type of an operand of which only the sizes are used, e.g. the
/// window of a pooling: aligned, without channel dim, from the start core of
/// `layout` on.
RankedTensorType getNpuWindow(RankedTensorType type, NpuScatterAttr layout);

/// Returns true if `layout` has mode `mode`, or places the elements of `type`
/// as this mode would. A matrix whose channels have one column is placed as an
/// aligned tensor. An aligned tensor is placed as a matrix if its dims are N or
/// C and each core has at most one channel.
bool liesAs(NpuScatterAttr layout, RankedTensorType type, NpuMode mode);

/// Returns the loops that index the dims spread over the cores. `map` maps
/// loops to the dims of the tensor.
llvm::SmallBitVector getChannelLoops(AffineMap map, NpuScatterAttr layout);

/// Returns the loops that index the dims with axis letter `axis` in `layout`.
/// `map` maps loops to the dims of the tensor.
llvm::SmallBitVector getAxisLoops(AffineMap map, NpuScatterAttr layout,
                                  char axis);

/// Returns the bytes that `layout` reserves in every core.
int64_t getNpuBytes(NpuScatterAttr layout, RankedTensorType type);

} // namespace mlir::layout

#endif // LAYOUT_TARGETS_NPU_NPULAYOUTS_H
