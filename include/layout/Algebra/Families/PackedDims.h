//===- PackedDims.h - Layouts of packed and split dims ----------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The notation of `#layout.packed_dims<[1, 0, 1 : 4]>` (docs/spec.md, section
// 3.2): physical dims, slowest first. Each one is the remainder of a logical
// dim, or a part of it without padding. The extent of an entry depends on the
// shape:
//
//     [1, 0, 1 : 4] on 6x8:  { d1 floordiv 4, d0, d1 mod 4 }   2 x 6 x 4
//                   on 6x2:  { 0, d0, d1 }   clipped:          1 x 6 x 2
//                   on 6x6:  does not apply: 4 does not divide 6
//
// Law: if a layout applies, it is a bijection onto 0 .. size - 1.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ALGEBRA_FAMILIES_PACKEDDIMS_H
#define LAYOUT_ALGEBRA_FAMILIES_PACKEDDIMS_H

#include "layout/Algebra/BoundedIndex.h"
#include "layout/Support/FailureReason.h"
#include "llvm/ADT/Twine.h"

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace mlir::layout {

/// One physical dim, a digit of logical dim `dim`. Each entry takes a digit of
/// the quotient that the faster entries of the same dim leave. For dim 1, `1`
/// takes the whole quotient (Whole), `1 : 4` the quotient mod 4 (Packed), and
/// `1 : oddeven 4` the same digit with its even values stored first (OddEven).
struct PackedDim {
  enum Kind { Whole, Packed, OddEven };

  int64_t dim = 0;
  Kind kind = Whole;
  int64_t extent = 0; // 0 for a whole dim

  bool operator==(const PackedDim &other) const {
    return dim == other.dim && kind == other.kind && extent == other.extent;
  }
  friend llvm::hash_code hash_value(const PackedDim &d) {
    return llvm::hash_combine(d.dim, d.kind, d.extent);
  }
};

llvm::raw_ostream &operator<<(llvm::raw_ostream &os, const PackedDim &dim);

/// Checks the rules that are independent of the shape: dims and extents are
/// valid, and a whole dim is listed once, slower than all parts of that dim.
/// Reports the first invalid entry by its position in `dims`, and returns
/// false.
bool checkPackedDims(
    llvm::ArrayRef<PackedDim> dims,
    llvm::function_ref<void(size_t entry, const llvm::Twine &)> error);

/// Returns the physical dims of a tensor of this shape (kUnknownSize if
/// dynamic), slowest first. If the layout does not apply to the shape, or
/// depends on a dynamic size, reports the reason and returns std::nullopt.
std::optional<llvm::SmallVector<BoundedIndex>>
getStoredDims(llvm::ArrayRef<PackedDim> dims, Sizes shape,
              FailureReason why = {});

} // namespace mlir::layout

#endif // LAYOUT_ALGEBRA_FAMILIES_PACKEDDIMS_H
