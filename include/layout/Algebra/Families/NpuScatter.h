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

/// The rule that determines the strides of a tensor in local memory. Each
/// channel is padded to whole execution units (Aligned) or to 4 bytes
/// (Compact), a channel is `width` columns of a matrix (Matrix), padded as for
/// Aligned, or the strides are stated (Strided). Continuous is a tensor in
/// system memory. Section 3.4 of docs/spec.md has the formulas.
enum class NpuMode { Aligned, Compact, Matrix, Strided, Continuous };

/// The number of indices of the first axis that share a storage unit: 4
/// elements of 8 bits (N4), 2 elements of 16 bits (N2), or 2 input channels of
/// weights (IC2). Such weights have 32 bits, or have 8 bits and are converted
/// to 32 by the core.
enum class NpuPack { None, N4, N2, IC2 };

/// The parameters of an NPU: the number of cores, the bytes of local memory of
/// a core, and the bytes that an execution unit processes at once.
struct ChipParams {
  int64_t npus = 0;        // X
  int64_t bytesPerNpu = 0; // S
  int64_t euBytes = 0;     // EU, a power of two
};

/// The parameters of `#layout.npu_scatter`: the rule of the strides, the start
/// core and the offset in it, the packing of elements, and the axes of the
/// dims.
struct NpuScatter {
  NpuMode mode = NpuMode::Aligned;
  int64_t width = 0;                     // of a matrix: columns per channel
  llvm::SmallVector<int64_t, 4> strides; // if explicit: of N, C, H, W
  int64_t start = 0;                     // Q, the start core
  NpuPack pack = NpuPack::None;
  int64_t offset = 0; // R, of the tensor in a core, in bytes
  /// The letter of the axis of each dim; empty if the dims are NCHW, or NM for
  /// a matrix.
  std::string axes;

  bool isScattered() const { return mode != NpuMode::Continuous; }
  /// Returns the letters of the axes in order: N, C, H and W, or N and M
  /// (columns) for a matrix.
  llvm::StringRef getFamilyAxes() const {
    return mode == NpuMode::Matrix ? "NM" : "NCHW";
  }
  llvm::StringRef getAxes() const {
    return axes.empty() ? getFamilyAxes() : llvm::StringRef(axes);
  }
  unsigned getRank() const { return getAxes().size(); }
};

/// Returns the number of elements in a storage unit: 1 without packing.
int64_t getLanes(NpuPack pack);

/// The storage of a tensor of one shape on X cores. Channel c of a tensor that
/// starts at core Q is in core (c + Q) mod X (`npu`), where it is channel (c +
/// Q) floordiv X (`row`). `m` counts the storage units along axis N. All these
/// indices are functions of the logical dims. Strides are in storage units.
struct NpuStorage {
  unsigned rank = 0;
  BoundedIndex npu, m, row, h, w, lane;
  SizeExpr sN, sC, sH, sW;
  int64_t base = 0; // R, the offset in a core, in elements
  /// The number of elements that fit the memory of a core; set only if the
  /// layout states its strides. Stated strides can be those of a larger tensor,
  /// so that the whole stride of axis N would exceed the memory.
  std::optional<int64_t> end;

  /// Returns the number of elements reserved in every core: the offset of the
  /// tensor (`base`), plus one stride of axis N for each storage unit along N.
  /// If that does not depend on a dynamic size, the result is at most `end`.
  SizeExpr getReserved(Sizes sizes) const;

  /// Returns the map for tensors of this shape. The extent of `offset` is the
  /// number of reserved elements, or one more than the highest offset if that
  /// may be larger.
  LayoutMap getMap(Sizes sizes) const;

  /// Returns the bytes that every core needs, with dynamic sizes counted as 1,
  /// or std::nullopt on int64 overflow.
  std::optional<int64_t> getLeastBytes(int64_t elementBytes, Sizes sizes) const;

private:
  BoundedIndex getOffset() const;
};

/// Checks the parameters of the layout that do not depend on the chip or the
/// tensor. Returns false and reports the first error.
bool checkNpuScatter(const NpuScatter &scatter, FailureReason error = {});

/// Returns the storage of a tensor with these sizes, one per dim, and bytes per
/// element. The caller has checked `scatter` by checkNpuScatter and verified
/// `params`; the mode is not Continuous, which is for system memory. Reports
/// the first requirement that is not met, e.g. if the tensor does not fit the
/// memory of a core, and returns std::nullopt.
std::optional<NpuStorage> getNpuStorage(const NpuScatter &scatter,
                                        const ChipParams &params,
                                        int64_t elementBytes, Sizes sizes,
                                        FailureReason error = {});

} // namespace mlir::layout

#endif // LAYOUT_ALGEBRA_FAMILIES_NPUSCATTER_H
