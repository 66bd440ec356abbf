//===- NpuScatter.h - Channels spread over the cores of an NPU --*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `#layout.npu_scatter<aligned, start = 2>` (docs/spec.md, section 3.4): an NPU
// has X cores with S bytes each, and channel c of a tensor that starts at core
// Q lies in row (Q + c) floordiv X of core (Q + c) mod X. P indices of the
// first axis share one storage unit of P elements, and strides count those:
//
//     npu    = (Q + c) mod X
//     offset = base + P * (m * sN + row * sC + h * sH + w * sW) + lane
//
// The dims of the tensor are N, C, H and W in this order, or what `axes` says:
// one letter for each dim; dims of one letter are fused row-major, and an axis
// without a letter has size 1.
//
//     2x3x4x5xf32 aligned, X = 4, Q = 2, 128 bytes to align to:
//       sC = 32, sN = 32 * ceil(5 / 4) = 64, and (0, 2, 0, 0) is at core 0,
//       offset 32; storage is 128 elements a core
//
// Laws:
//  * sN depends on the start core through the number of rows, so the start core
//    is part of the layout and moving it moves elements;
//  * an address A = Q * S + R keeps the rule of its mode: A mod EU = 0 where
//    channels are aligned, A mod 4 = 0 for compact, A mod P elements for
//    strided;
//  * base + P * M * sN elements fit one core.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ALGEBRA_FAMILIES_NPUSCATTER_H
#define LAYOUT_ALGEBRA_FAMILIES_NPUSCATTER_H

#include "layout/Algebra/LayoutMap.h"
#include "layout/Support/Refusal.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include <string>

namespace mlir {
namespace layout {

/// Where the strides come from.
enum class NpuMode { Aligned, Compact, Matrix, Strided, Continuous };

/// Which indices of the first axis share a storage unit: 4 of 8 bits, 2 of 16
/// bits, 2 of 32 bits (input channels of weights).
enum class NpuPack { None, N4, N2, IC2 };

/// The figures of a chip.
struct NpuFigures {
  int64_t npus = 0;        // X
  int64_t bytesPerNpu = 0; // S
  int64_t euBytes = 0;     // EU, a power of two
};

/// A layout as it is written.
struct NpuScatter {
  NpuMode mode = NpuMode::Aligned;
  int64_t width = 0;                     // of a matrix: columns per channel
  llvm::SmallVector<int64_t, 4> strides; // strided: sN, sC, sH, sW
  int64_t start = 0;                     // Q
  NpuPack pack = NpuPack::None;
  int64_t offset = 0; // R, in bytes
  /// The axis of each dim; empty where they are the family's in its order.
  std::string axes;

  bool isScattered() const { return mode != NpuMode::Continuous; }
  /// N, C, H and W, or N and M (columns) of a matrix.
  llvm::StringRef getFamilyAxes() const {
    return mode == NpuMode::Matrix ? "NM" : "NCHW";
  }
  llvm::StringRef getAxes() const {
    return axes.empty() ? getFamilyAxes() : llvm::StringRef(axes);
  }
  unsigned getRank() const { return getAxes().size(); }
};

/// P: how many elements a storage unit holds.
int64_t getLanes(NpuPack pack);

/// Where the elements of one shape go; digits are functions of the logical
/// dims, strides are in storage units.
struct NpuStorage {
  unsigned rank = 0;
  Sized npu, m, row, h, w, lane;
  SizeExpr sN, sC, sH, sW;
  int64_t base = 0; // R, in elements
  /// Strides that are given may be those of a larger tensor, and then the last
  /// of what they reserve ends with the core: its elements.
  std::optional<int64_t> end;

  /// What the strides reserve in every core, base included: base + P * M * sN,
  /// at most `end`.
  SizeExpr getReserved(Sizes sizes) const;

  /// The map for tensors of this shape. The extent of `offset` is what is
  /// reserved, or what the elements reach where that is not shown to hold them.
  LayoutMap getMap(Sizes sizes) const;

  /// The bytes that every core needs, unknown sizes counted as 1; nothing past
  /// int64.
  std::optional<int64_t> getLeastBytes(int64_t elementBytes, Sizes sizes) const;

private:
  Sized getOffset() const;
};

/// What is wrong with the layout, whatever the chip and the tensor.
bool checkNpuScatter(const NpuScatter &scatter, Refusal error = {});

/// The storage of tensors with these sizes (as many as `getRank`) and bytes per
/// element. The layout is checked and scattered, the figures are verified; the
/// first thing that does not fit is reported.
std::optional<NpuStorage> getNpuStorage(const NpuScatter &scatter,
                                        const NpuFigures &figures,
                                        int64_t elementBytes, Sizes sizes,
                                        Refusal error = {});

} // namespace layout
} // namespace mlir

#endif // LAYOUT_ALGEBRA_FAMILIES_NPUSCATTER_H
