//===- CostProvider.h - Custom prices of ops and conversions ----*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The interface through which an assignment obtains the prices of ops and
// conversions. The default provider returns the prices of the target model.
// PriceList.h reads prices from a file, `layout_mlir.assign` accepts a Python
// function, and a program that embeds the assignment derives a class:
//
//   struct Measured : CostProvider {
//     Cost getOpCost(const OpToPrice &op) override { return measure(op); }
//   };
//   Measured provider;
//   CostModel costs(target, Objective::time, &provider);
//   LayoutAssignment assignment = assignLayouts(module, costs);
//
// Laws:
//  * all prices of a provider are in one unit of its choice. For a missing
//    price it scales the modeled one;
//  * prices are finite, at least 0, and depend on the arguments only.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ANALYSIS_COSTPROVIDER_H
#define LAYOUT_ANALYSIS_COSTPROVIDER_H

#include "layout/Support/Cost.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"

namespace mlir::layout {

/// One run of an op whose price is requested from a provider. Ops that process
/// no elements are not priced.
struct OpToPrice {
  Operation *op;
  /// The types of operands and results with the layouts to price. The types of
  /// `op` itself do not have them yet.
  ArrayRef<Type> operands, results;
  /// The price under the target model; 1 is the time in which memory moves one
  /// byte.
  Cost modeled;
};

/// One run of a conversion whose price is requested from a provider.
/// Conversions that touch no byte are not priced.
struct ConversionToPrice {
  RankedTensorType from, to;
  /// True if elements stay and only padding is written, into the memory of the
  /// source.
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

} // namespace mlir::layout

#endif // LAYOUT_ANALYSIS_COSTPROVIDER_H
