//===- NpuScatter.h - Channels scattered over NPU cores ---------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `#layout.npu_scatter<aligned, start = 2>` (docs/spec.md, section 3.4): an NPU
// has X cores with S bytes each. Channel c of a tensor that starts at core Q is
// in row (Q + c) floordiv X of core (Q + c) mod X. P indices of the first axis
// (index = P * m + lane) share one storage unit of P elements, the unit of
// strides:
//
//     npu    = (Q + c) mod X
//     offset = base + P * (m * sN + row * sC + h * sH + w * sW) + lane
//
// The dims of the tensor are N, C, H and W in this order, or as listed in
// `axes`, one letter per dim. Dims with the same letter are fused row-major,
// and an axis without a letter has size 1.
//
//     2x3x4x5xf32 aligned, X = 4, Q = 2, alignment 128 bytes:
//       sC = 32, sN = 32 * ceil(5 / 4) = 64, and (0, 2, 0, 0) is at core 0,
//       offset 32; storage is 128 elements per core
//
// Laws:
//  * sN depends on the start core through the number of rows, so that changing
//    the start core moves elements;
//  * an address A = Q * S + R, in bytes, is aligned as its mode requires:
//    A mod EU = 0 if channels are aligned, A mod 4 = 0 for compact, and a
//    multiple of P elements for strided;
//  * base + P * M * sN elements fit one core.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ALGEBRA_FAMILIES_NPUSCATTER_H
#define LAYOUT_ALGEBRA_FAMILIES_NPUSCATTER_H

#include "layout/Algebra/LayoutMap.h"
#include "layout/Support/FailureReason.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include <string>

namespace mlir::layout {

/// The rule that determines the strides.
enum class NpuMode { Aligned, Compact, Matrix, Strided, Continuous };

/// The number of indices of the first axis that share a storage unit: 4 with 8
/// bits, 2 with 16 bits, or 2 with 32 bits (input channels of weights).
enum class NpuPack { None, N4, N2, IC2 };

/// The parameters of a chip.
struct ChipParams {
  int64_t npus = 0;        // X
  int64_t bytesPerNpu = 0; // S
  int64_t euBytes = 0;     // EU, a power of two
};

/// The layout as written in the attribute.
struct NpuScatter {
  NpuMode mode = NpuMode::Aligned;
  int64_t width = 0;                     // of a matrix: columns per channel
  llvm::SmallVector<int64_t, 4> strides; // strided: sN, sC, sH, sW
  int64_t start = 0;                     // Q
  NpuPack pack = NpuPack::None;
  int64_t offset = 0; // R, in bytes
  /// The axis of each dim; empty for the axes of the family in their order.
  std::string axes;

  bool isScattered() const { return mode != NpuMode::Continuous; }
  /// Returns N, C, H and W, or N and M (columns) for a matrix.
  llvm::StringRef getFamilyAxes() const {
    return mode == NpuMode::Matrix ? "NM" : "NCHW";
  }
  llvm::StringRef getAxes() const {
    return axes.empty() ? getFamilyAxes() : llvm::StringRef(axes);
  }
  unsigned getRank() const { return getAxes().size(); }
};

/// Returns P, the number of elements in a storage unit.
int64_t getLanes(NpuPack pack);

/// The storage of one shape. Digits are functions of the logical dims, and
/// strides are in storage units.
struct NpuStorage {
  unsigned rank = 0;
  BoundedIndex npu, m, row, h, w, lane;
  SizeExpr sN, sC, sH, sW;
  int64_t base = 0; // R, in elements
  /// The end of a core's memory in elements, for explicit strides, which can be
  /// those of a larger tensor and then reserve more than the core has.
  std::optional<int64_t> end;

  /// Returns the number of elements that the strides reserve in every core,
  /// base included: base + P * M * sN, at most `end`.
  SizeExpr getReserved(Sizes sizes) const;

  /// Returns the map for tensors of this shape. The extent of `offset` is the
  /// reserved size, or the bound of the elements if they may exceed it.
  LayoutMap getMap(Sizes sizes) const;

  /// Returns the bytes that every core needs, with dynamic sizes counted as 1,
  /// or std::nullopt on int64 overflow.
  std::optional<int64_t> getLeastBytes(int64_t elementBytes, Sizes sizes) const;

private:
  BoundedIndex getOffset() const;
};

/// Checks the layout as far as it is independent of the chip and the tensor.
bool checkNpuScatter(const NpuScatter &scatter, FailureReason error = {});

/// Returns the storage of tensors with these sizes (`getRank` many) and bytes
/// per element. The layout must be checked and scattered, and the parameters
/// verified. Reports the first requirement that is not met.
std::optional<NpuStorage> getNpuStorage(const NpuScatter &scatter,
                                        const ChipParams &params,
                                        int64_t elementBytes, Sizes sizes,
                                        FailureReason error = {});

} // namespace mlir::layout

#endif // LAYOUT_ALGEBRA_FAMILIES_NPUSCATTER_H
