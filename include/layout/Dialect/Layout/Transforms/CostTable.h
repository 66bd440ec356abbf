//===- CostTable.h - Costs of conversions and ops ---------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Holds the table that `layout-print-cost` prints:
//   CostTable table = CostTable::get(module, target);
//   for (const CostTable::Row &row : table.activations)
//     use(printPlace(row.loc), row.from, row.to, row.plan, row.why);
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_DIALECT_LAYOUT_TRANSFORMS_COSTTABLE_H
#define LAYOUT_DIALECT_LAYOUT_TRANSFORMS_COSTTABLE_H

#include "layout/Analysis/ConversionPlan.h"
#include "layout/Dialect/Layout/Transforms/Passes.h"

namespace mlir::layout {

/// The conversions and ops of a program with their costs.
struct CostTable {
  /// A `layout.convert`, or a constant that is packed at compile time.
  struct Row {
    Location loc;
    RankedTensorType from, to;
    ConversionPlan plan;
    Cost cost;
    std::string why; // the users that need `to`, and the producer of `from`

    static Row get(ConvertOp convert, TargetInterface target);
  };

  /// An op that computes or moves elements, with the cost of one execution in
  /// the layouts of its types.
  struct OpRow {
    Operation *op;
    Cost cost;
  };

  std::vector<Row> activations, constants;
  std::vector<OpRow> ops;
  std::optional<AssignmentStats> assignment;

  /// Computes the table of all ops nested in `root`.
  static CostTable get(Operation *root, TargetInterface target);
};

} // namespace mlir::layout

#endif // LAYOUT_DIALECT_LAYOUT_TRANSFORMS_COSTTABLE_H
