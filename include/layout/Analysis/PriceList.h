//===- PriceList.h - Prices in a file ---------------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A price list is a module. Each of its functions has one op that goes through
// elements, or one `layout.convert`, in the layouts that its types state, and
// its price as an attribute; constants, fresh storage and fills may stand
// beside it. So a function can be run to measure what it costs.
//
//   func.func @matmul(%a: tensor<8x8xf32>, %b: tensor<8x8xf32, #t>)
//       -> tensor<8x8xf32> attributes {layout.cost = 412} {
//     %e = tensor.empty() : tensor<8x8xf32>
//     %c = linalg.matmul ins(%a, %b : ..) outs(%e : ..) -> tensor<8x8xf32>
//     return %c : tensor<8x8xf32>
//   }
//
// Laws:
//  * an op has the price of the function whose op is alike in name, attributes,
//    body and types, and whose layouts store alike on these types;
//  * what is not listed costs what the model says, times the median of the
//    ratios of listed and modeled prices: of the same op, else of all ops, and
//    of conversions. The unit is that of the list;
//  * the order of the functions, and their names, do not matter.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ANALYSIS_PRICELIST_H
#define LAYOUT_ANALYSIS_PRICELIST_H

#include "layout/Analysis/CostProvider.h"
#include "layout/Analysis/TargetInterface.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir {
namespace layout {
class CostModel;
struct LayoutAssignment;

/// The attribute of a function that is its price.
inline constexpr StringLiteral kCostAttr = "layout.cost";

class PriceList : public CostProvider {
public:
  /// Looks at `module`, which outlives the list, and reports what is wrong with
  /// it.
  static FailureOr<std::unique_ptr<PriceList>> get(ModuleOp module,
                                                   TargetInterface target);

  Cost getOpCost(const OpToPrice &op) override;
  Cost getConversionCost(const ConversionToPrice &conversion) override;

private:
  struct Price {
    Operation *function;
    Cost cost;
  };
  /// Types that are equal store alike.
  using Types = SmallVector<Type, 4>;
  struct OpPrices {
    Operation *op;
    std::vector<std::pair<Types, Price>> prices;
    std::vector<double> ratios;
  };

  LogicalResult add(Operation *function, CostModel &model);
  LogicalResult addOp(Operation *op, const Price &price, CostModel &model);
  LogicalResult addConversion(Operation *op, const Price &price,
                              CostModel &model);
  OpPrices *find(Operation *op);
  Type normalize(Type type);
  Types normalize(ArrayRef<Type> operands, ArrayRef<Type> results);

  /// By name and attributes.
  llvm::DenseMap<uint64_t, std::vector<OpPrices>> ops;
  llvm::DenseMap<std::pair<Type, Type>, Price> conversions;
  std::vector<double> opRatios, conversionRatios;
  llvm::DenseMap<Type, Type> normalized;
};

/// The module in `file`; reports what is wrong with it.
OwningOpRef<ModuleOp> readPriceList(StringRef file, MLIRContext *context);

/// Writes the price of each candidate that the decision weighed, and of each
/// conversion between them, as a price list.
void writePriceList(const LayoutAssignment &assignment, CostModel &costs,
                    TargetInterface target, raw_ostream &os);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_ANALYSIS_PRICELIST_H
