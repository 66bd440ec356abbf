//===- LoopValueTables.h - Tables of values over loops ----------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tabulates a value of a body that depends on loop indices and constants alone,
// by upstream's folders:
//
//   %j = linalg.index 1 : index
//   %f = arith.index_cast, arith.sitofp %j
//   %h = arith.divf %f, %two : f32          0, 0.5, 1, 1.5 over loop 1
//
// Law: a table has the value of every iteration, or there is none.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_NPU_LAYOUTTONPU_NUMBERS_LOOPVALUETABLES_H
#define LAYOUT_LIB_TARGETS_NPU_LAYOUTTONPU_NUMBERS_LOOPVALUETABLES_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::layout {

/// Returns the element of a constant at row-major position `place`, without a
/// copy of the other elements, or a null attribute if its bytes are not known.
Attribute getElement(Value value, int64_t place);

struct LoopValueTable {
  SmallVector<unsigned> loops;   // loops the value depends on, ascending
  SmallVector<Attribute> values; // row-major over these loops

  /// Returns the values of a table of integers or indices.
  SmallVector<int64_t> getIntegers() const;
};

class LoopValueTables {
public:
  explicit LoopValueTables(linalg::GenericOp op)
      : op(op), ranges(op.getStaticLoopRanges()) {}

  /// Returns the values of `value`, a value of the body, for all iterations of
  /// the loops that it depends on. Returns a null pointer if it depends on data
  /// or a float constant of more than 2^12 elements. The same holds if an op
  /// does not fold to a constant, or if there are more than 2^18 values.
  const LoopValueTable *get(Value value);

private:
  std::optional<LoopValueTable> make(Value value);
  std::optional<LoopValueTable> makeOfOperand(OpOperand &operand);
  std::optional<LoopValueTable> makeOfOp(Operation *made);
  std::optional<int64_t> countPoints(ArrayRef<unsigned> loops) const;

  linalg::GenericOp op;
  SmallVector<int64_t> ranges;
  DenseMap<Value, std::unique_ptr<LoopValueTable>> known;
};

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_NPU_LAYOUTTONPU_NUMBERS_LOOPVALUETABLES_H
