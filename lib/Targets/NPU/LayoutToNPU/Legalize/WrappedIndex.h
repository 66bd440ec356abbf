//===- WrappedIndex.h - Indices that count from the end ---------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Matches an index x that counts from the end of n elements if it is negative:
//
//     %is = arith.cmpi slt, %x, %zero
//     %more = arith.addi %x, %n
//     %index = arith.select %is, %more, %x
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_NPU_LAYOUTTONPU_LEGALIZE_WRAPPEDINDEX_H
#define LAYOUT_LIB_TARGETS_NPU_LAYOUTTONPU_LEGALIZE_WRAPPEDINDEX_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include <optional>

namespace mlir::layout {

struct WrappedIndex {
  Value index;
  int64_t size;
};

/// Returns x and n of a select x < 0 ? x + n : x, which is the index x counted
/// from the end of n elements if it is negative. Returns std::nullopt if
/// `select` has another form, or n is not a constant of at least 0.
inline std::optional<WrappedIndex> matchWrappedIndex(arith::SelectOp select) {
  Value x = select.getFalseValue();
  auto is = select.getCondition().getDefiningOp<arith::CmpIOp>();
  auto sum = select.getTrueValue().getDefiningOp<arith::AddIOp>();
  if (!is || is.getPredicate() != arith::CmpIPredicate::slt ||
      is.getLhs() != x || getConstantIntValue(is.getRhs()) != 0 || !sum ||
      sum.getLhs() != x)
    return std::nullopt;
  std::optional<int64_t> size = getConstantIntValue(sum.getRhs());
  if (!size || *size < 0)
    return std::nullopt;
  return WrappedIndex{x, *size};
}

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_NPU_LAYOUTTONPU_LEGALIZE_WRAPPEDINDEX_H
