//===- ForeignOpsTest.cpp - Ops that are lowered by decomposition ---------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// No pattern lowers tensor.generate, which represents an op of another project
// here. An external model provides its decomposition.
//
//===----------------------------------------------------------------------===//

#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Linalg/Passes.h"
#include "layout/Targets/CPU/LayoutToLinalg/LayoutToLinalg.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "gtest/gtest.h"

using namespace mlir;

namespace {

using Results = FailureOr<SmallVector<Value>>;

template <Results (*decompose)(tensor::GenerateOp, OpBuilder &)>
struct Model
    : linalg::AggregatedOpInterface::ExternalModel<Model<decompose>,
                                                   tensor::GenerateOp> {
  Results decomposeOperation(Operation *op, OpBuilder &b) const {
    return decompose(cast<tensor::GenerateOp>(op), b);
  }
};

Results fill(tensor::GenerateOp op, RankedTensorType type, OpBuilder &b) {
  Location loc = op.getLoc();
  Value seven = arith::ConstantIndexOp::create(b, loc, 7);
  Value init = tensor::EmptyOp::create(b, loc, type, ValueRange());
  return SmallVector<Value>(
      linalg::FillOp::create(b, loc, seven, init).getResults());
}

Results asFill(tensor::GenerateOp op, OpBuilder &b) {
  return fill(op, cast<RankedTensorType>(op.getType()), b);
}

/// Decomposes to a fill in two steps.
Results inTwoSteps(tensor::GenerateOp op, OpBuilder &b) {
  if (op->hasAttr("second"))
    return asFill(op, b);
  Operation *copy = b.clone(*op);
  copy->setAttr("second", b.getUnitAttr());
  return SmallVector<Value>(copy->getResults());
}

Results intoItself(tensor::GenerateOp op, OpBuilder &b) {
  return SmallVector<Value>(b.clone(*op)->getResults());
}

Results withoutLayout(tensor::GenerateOp op, OpBuilder &b) {
  auto type = cast<RankedTensorType>(op.getType());
  return fill(op, type.dropEncoding(), b);
}

Results intoNothing(tensor::GenerateOp, OpBuilder &) { return failure(); }

constexpr StringLiteral kTiles =
    R"(tensor<20x3xindex, #layout.blocked<"AB" to "AB16a">>)";

LogicalResult decomposeAggregates(Operation *root) {
  PassManager pm(root->getContext());
  pm.addPass(layout::createDecomposeAggregatesPass());
  return pm.run(root);
}

LogicalResult toLinalg(Operation *root) {
  return layout::convertLayoutToLinalg(root);
}

/// Returns the first error of a lowering, or the resulting type of an op.
template <Results (*decompose)(tensor::GenerateOp, OpBuilder &)>
std::string lower(StringRef type = kTiles,
                  LogicalResult (*lowering)(Operation *) = toLinalg) {
  MLIRContext context;
  context.loadDialect<arith::ArithDialect, func::FuncDialect,
                      layout::LayoutDialect, linalg::LinalgDialect,
                      tensor::TensorDialect>();
  tensor::GenerateOp::attachInterface<Model<decompose>>(context);
  std::string text;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    if (text.empty())
      text = diagnostic.str();
  });
  auto module = parseSourceString<ModuleOp>(("!t = " + type + R"(
    func.func @main() -> !t {
      %0 = tensor.generate {
      ^bb0(%i: index, %j: index):
        tensor.yield %i : index
      } : !t
      return %0 : !t
    })")
                                                .str(),
                                            &context);
  if (!module || failed(lowering(*module)) || failed(verify(*module)))
    return text;
  module->walk([&](tensor::GenerateOp) { text = "not decomposed: "; });
  auto function = *module->getOps<func::FuncOp>().begin();
  llvm::raw_string_ostream(text) << function.getResultTypes().front();
  return text;
}

TEST(ForeignOps, ExternalModelLowersAnOp) {
  EXPECT_EQ(lower<asFill>(), "tensor<2x3x16xindex>");
}

TEST(ForeignOps, PartsAreDecomposedToo) {
  EXPECT_EQ(lower<inTwoSteps>(), "tensor<2x3x16xindex>");
}

TEST(ForeignOps, PartsWithoutLayoutsAreDecomposedToo) {
  EXPECT_EQ(lower<inTwoSteps>("tensor<20x3xindex>", decomposeAggregates),
            "tensor<20x3xindex>");
}

TEST(ForeignOps, FailedDecompositionIsReported) {
  EXPECT_EQ(lower<intoNothing>(),
            "'tensor.generate' op cannot be decomposed to structured ops; make "
            "its shape static, or convert its tensors to plain ones by "
            "layout.convert");
}

TEST(ForeignOps, EndlessDecompositionIsReported) {
  for (auto [type, lowering] :
       {std::pair(StringRef(kTiles), &toLinalg),
        std::pair(StringRef("tensor<20x3xindex>"), &decomposeAggregates)})
    EXPECT_NE(lower<intoItself>(type, lowering).find("does not terminate"),
              std::string::npos);
}

TEST(ForeignOps, PartsOfOtherTypesAreReported) {
  EXPECT_NE(
      lower<withoutLayout>().find("decomposes into values of other types, but "
                                  "results must keep their types and layouts"),
      std::string::npos);
}

} // namespace
