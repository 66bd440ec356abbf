//===- Prices.h - The price of one op ---------------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TEST_UNIT_ANALYSIS_PRICES_H
#define LAYOUT_TEST_UNIT_ANALYSIS_PRICES_H

#include "layout/Analysis/CostModel.h"
#include "layout/Dialect/NPU/IR/NPU.h"
#include "layout/Interfaces/LayoutOpInterface.h"
#include "layout/Targets/Registration.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

namespace layout_test {

using namespace mlir;
using namespace mlir::layout;

/// The elements of a vector of the CPU of `PriceTest::getCosts`.
constexpr int64_t kLanes = 4;

/// The bytes of a cache line.
constexpr int64_t kLineBytes = 64;

/// The scalar operations on all lanes that cost as much as moving one byte.
constexpr int64_t kFlopsPerByte = 8;

/// The factors on the cost of bytes that are accessed element by element, and
/// of arithmetic without lanes.
constexpr int64_t kStridedFactor = 2, kScalarFactor = 16;

/// A test that prices single ops and conversions.
class PriceTest : public ::testing::Test {
protected:
  PriceTest() {
    DialectRegistry registry;
    registry.insert<arith::ArithDialect, func::FuncDialect, LayoutDialect,
                    linalg::LinalgDialect, npu::NPUDialect,
                    tensor::TensorDialect>();
    registerLayoutRules(registry);
    registerTargets(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  /// Returns the costs on a CPU with the parameters above and `parameters`.
  CostModel getCosts(StringRef parameters = "",
                     Objective objective = Objective::time) {
    return getCostsOf(
        "#layout.cpu<lanes = " + std::to_string(kLanes) +
            ", line_bytes = " + std::to_string(kLineBytes) +
            ", strided_percent = " + std::to_string(100 * kStridedFactor) +
            ", flops_per_byte = " + std::to_string(kFlopsPerByte) +
            ", scalar_percent = " + std::to_string(100 * kScalarFactor) +
            parameters.str() + ">",
        objective);
  }
  CostModel getCostsOf(const std::string &target,
                       Objective objective = Objective::time) {
    return CostModel(cast<TargetInterface>(parseAttribute(target, &context)),
                     objective);
  }
  RankedTensorType getType(ArrayRef<int64_t> shape) {
    return RankedTensorType::get(shape, Float32Type::get(&context));
  }
  LayoutMap getMap(StringRef text) {
    return cast<MapAttr>(
               parseAttribute(("#layout.map<" + text + ">").str(), &context))
        .getMap();
  }
  TypedAttr getZero() { return FloatAttr::get(Float32Type::get(&context), 0); }

  /// Returns the price of the last op of a function body. `layouts` lists those
  /// of its operands and then results, empty for row-major.
  Cost price(CostModel &costs, StringRef arguments, StringRef body,
             ArrayRef<StringRef> layouts = {}) {
    std::string text =
        "func.func @f(" + arguments.str() + ") {\n" + body.str() + "\nreturn }";
    module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module) << text;
    auto function = *module->getOps<func::FuncOp>().begin();
    Operation *op = function.getBody().front().getTerminator()->getPrevNode();
    OpLayouts of;
    auto getLayout = [&](Type type, size_t i) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      if (!tensor)
        return kAnyLayout;
      if (i >= layouts.size() || layouts[i].empty())
        return costs.getRowMajor(tensor.getRank());
      if (layouts[i].starts_with("#"))
        return costs.getLayoutOf(
            RankedTensorType::get(tensor.getShape(), tensor.getElementType(),
                                  parseAttribute(layouts[i], &context)));
      return costs.intern(getMap(layouts[i]));
    };
    for (auto [i, type] : llvm::enumerate(op->getOperandTypes()))
      of.operands.push_back(getLayout(type, i));
    for (auto [i, type] : llvm::enumerate(op->getResultTypes()))
      of.results.push_back(getLayout(type, op->getNumOperands() + i));
    return costs.getOpCost(op, getLayoutRule(op), of);
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

} // namespace layout_test

#endif // LAYOUT_TEST_UNIT_ANALYSIS_PRICES_H
