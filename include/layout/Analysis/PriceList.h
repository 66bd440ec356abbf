//===- PriceList.h - Price lists in files -----------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A price list is a module. Each of its functions has one op that processes
// elements, or one `layout.convert`, in the layouts of its types, and its price
// as an attribute. Constants, fresh storage and fills may accompany the op, so
// that the function can be run to measure its cost.
//
//   func.func @matmul(%a: tensor<8x8xf32>, %b: tensor<8x8xf32, #t>)
//       -> tensor<8x8xf32> attributes {layout.cost = 412} {
//     %e = tensor.empty() : tensor<8x8xf32>
//     %c = linalg.matmul ins(%a, %b : ..) outs(%e : ..) -> tensor<8x8xf32>
//     return %c : tensor<8x8xf32>
//   }
//
// Laws:
//  * an op has the price of the function whose op has equal name, attributes,
//    body and types, and layouts with identical storage on these types;
//  * an unlisted price is the modeled one, scaled by the median ratio of listed
//    and modeled prices: of the same op, else of all ops, and of conversions.
//    Its unit is that of the list;
//  * the order and the names of functions do not matter.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ANALYSIS_PRICELIST_H
#define LAYOUT_ANALYSIS_PRICELIST_H

#include "layout/Analysis/CostProvider.h"
#include "layout/Analysis/TargetInterface.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::layout {
class CostModel;
struct LayoutAssignment;

/// Holds, as an attribute of a function in a price list, the price of the op or
/// conversion of the function.
inline constexpr StringLiteral kCostAttr = "layout.cost";

class PriceList : public CostProvider {
public:
  /// Reads the prices in `module`, which must outlive the list. Emits an error
  /// and fails if the module is not a valid price list.
  static FailureOr<std::unique_ptr<PriceList>> get(ModuleOp module,
                                                   TargetInterface target);

  Cost getOpCost(const OpToPrice &op) override;
  Cost getConversionCost(const ConversionToPrice &conversion) override;

private:
  struct Price {
    Operation *function;
    Cost cost;
  };
  /// The types of an op, normalized so that identical storage has equal types.
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

  /// The prices of ops, by a hash of name and attributes.
  llvm::DenseMap<uint64_t, std::vector<OpPrices>> ops;
  llvm::DenseMap<std::pair<Type, Type>, Price> conversions;
  std::vector<double> opRatios, conversionRatios;
  llvm::DenseMap<Type, Type> normalized;
};

/// Reads the module in `file`, or reports an error and returns a null module.
OwningOpRef<ModuleOp> readPriceList(StringRef file, MLIRContext *context);

/// Writes a price list of all ops and conversions among which `assignment`
/// could choose: the price of each candidate, and of each conversion between
/// candidates. Leaves out ops whose price depends on the ops around them.
void writePriceList(const LayoutAssignment &assignment, CostModel &costs,
                    TargetInterface target, raw_ostream &os);

} // namespace mlir::layout

#endif // LAYOUT_ANALYSIS_PRICELIST_H
