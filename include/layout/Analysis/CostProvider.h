//===- CostProvider.h - Prices that others know -----------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What ops and conversions cost is a question that a decision asks of a cost
// provider. The default one answers with what the model of the target says;
// PriceList.h has one that looks prices up in a file, `layout_mlir.assign`
// takes a function of Python, and a program that embeds the decision derives a
// class:
//
//   struct Measured : CostProvider {
//     Cost getOpCost(const OpToPrice &op) override { return measure(op); }
//   };
//   Measured provider;
//   CostModel costs(target, Objective::time, &provider);
//   LayoutAssignment assignment = assignLayouts(module, costs);
//
// Laws:
//  * all answers of a provider are in one unit, which may be any: one that does
//    not know a price scales the modeled one;
//  * answers are finite, at least 0, and depend on the arguments alone.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ANALYSIS_COSTPROVIDER_H
#define LAYOUT_ANALYSIS_COSTPROVIDER_H

#include "layout/Support/Cost.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"

namespace mlir {
namespace layout {

/// One run of an op that goes through elements.
struct OpToPrice {
  Operation *op;
  /// The types of its operands and results with the layouts in question; those
  /// of `op` itself have none yet.
  ArrayRef<Type> operands, results;
  /// What the model of the target says, 1 being the time in which memory moves
  /// one byte.
  Cost modeled;
};

/// One run of a conversion that touches bytes.
struct ConversionToPrice {
  RankedTensorType from, to;
  /// Only padding is written, into the source.
  bool fillsInPlace;
  Cost modeled;
};

class CostProvider {
public:
  virtual ~CostProvider() = default;
  virtual Cost getOpCost(const OpToPrice &op) { return op.modeled; }
  virtual Cost getConversionCost(const ConversionToPrice &conversion) {
    return conversion.modeled;
  }
};

} // namespace layout
} // namespace mlir

#endif // LAYOUT_ANALYSIS_COSTPROVIDER_H
