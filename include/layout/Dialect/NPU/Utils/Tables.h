//===- Tables.h - A value as one table per dim ------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Represents a value that is a sum of functions of single dims as one table per
// dim. The coordinates of all layouts that fuse no dims have this form:
//
//     (d1 + 2) floordiv 4 * 32 + d2 * 5 on 1x3x4x5:
//       start 0, dim 1: 0 0 32, dim 2: 0 5 10 15
//
// Law: value(i) = start + sum over d of table[d][i_d], and table[d][0] = 0.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_DIALECT_NPU_UTILS_TABLES_H
#define LAYOUT_DIALECT_NPU_UTILS_TABLES_H

#include "layout/Algebra/LayoutMap.h"

namespace mlir::npu {

/// A function of an index: `start` plus the sum of `dims[d][i_d]` over all
/// dims.
struct Tables {
  int64_t start = 0;
  std::vector<std::vector<int64_t>> dims; // a table of zeros is empty

  int64_t get(size_t d, int64_t i) const {
    return dims[d].empty() ? 0 : dims[d][i];
  }
  bool operator==(const Tables &other) const {
    return start == other.start && dims == other.dims;
  }
};

/// The maximum size of a dim for which `tabulate` makes a table.
constexpr int64_t kMaxTableSize = int64_t(1) << 22;

/// Computes the tables of `value`. Returns std::nullopt if a digit mixes dims,
/// a stride depends on a size (specialize the map first), a size is dynamic, 0
/// or above kMaxTableSize, or the value may overflow int64.
std::optional<Tables> tabulate(const layout::IndexExpr &value,
                               layout::Sizes sizes);

} // namespace mlir::npu

#endif // LAYOUT_DIALECT_NPU_UTILS_TABLES_H
