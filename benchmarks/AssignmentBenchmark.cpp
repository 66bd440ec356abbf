//===- AssignmentBenchmark.cpp - Layouts for a million ops ----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Solves, materializes and folds layouts in programs of 100,000 and 1,000,000
// ops: chains, with skip connections, in one function or in 10,000. Building
// the IR is not measured. Each step is also reported separately, in seconds.
//
//===----------------------------------------------------------------------===//

#include "benchmark/benchmark.h"
#include "layout/Analysis/Assignment.h"
#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Dialect/Layout/Transforms/Passes.h"
#include "layout/Interfaces/LayoutOpInterface.h"
#include "layout/Targets/Registration.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include <chrono>

using namespace mlir;
using namespace mlir::layout;

namespace {

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

class ProgramBuilder {
public:
  ProgramBuilder()
      : context(makeRegistry(), MLIRContext::Threading::DISABLED), b(&context) {
    context.loadAllAvailableDialects();
    image = RankedTensorType::get({1, 64, 56, 56}, b.getF32Type());
    filter = RankedTensorType::get({64, 64, 1, 1}, b.getF32Type());
  }

  /// Builds functions of `opsEach` ops: groups of a convolution and three
  /// elementwise ops. If `skips`, the last one adds the result of the previous
  /// group.
  OwningOpRef<ModuleOp> build(int64_t functions, int64_t opsEach, bool skips) {
    Location loc = b.getUnknownLoc();
    OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
    for (int64_t f = 0; f < functions; ++f) {
      b.setInsertionPointToEnd(module->getBody());
      auto function = func::FuncOp::create(b, loc, "f" + std::to_string(f),
                                           b.getFunctionType({image}, {image}));
      Block *block = function.addEntryBlock();
      b.setInsertionPointToStart(block);
      Value x = block->getArgument(0);
      Value weights = arith::ConstantOp::create(
          b, loc, DenseElementsAttr::get(filter, b.getF32FloatAttr(0.5)));
      Value empty = tensor::EmptyOp::create(b, loc, image.getShape(),
                                            image.getElementType());
      Value skip = x;
      for (int64_t i = 0; i < opsEach; i += 4) {
        x = linalg::Conv2DNchwFchwOp::create(b, loc, TypeRange{image},
                                             ValueRange{x, weights},
                                             ValueRange{empty})
                ->getResult(0);
        Value before = x;
        x = arith::MaximumFOp::create(b, loc, x, x);
        x = arith::MulFOp::create(b, loc, x, before);
        x = arith::AddFOp::create(b, loc, x, skips ? skip : x);
        skip = x;
      }
      func::ReturnOp::create(b, loc, x);
    }
    return module;
  }

  MLIRContext *getContext() { return &context; }

private:
  static DialectRegistry makeRegistry() {
    DialectRegistry registry;
    registry.insert<LayoutDialect, arith::ArithDialect, func::FuncDialect,
                    linalg::LinalgDialect, tensor::TensorDialect>();
    registerLayoutRules(registry);
    registerTargets(registry);
    return registry;
  }

  MLIRContext context;
  OpBuilder b;
  RankedTensorType image, filter;
};

void assign(benchmark::State &state, int64_t functions, bool skips) {
  int64_t numOps = state.range(0);
  ProgramBuilder builder;
  auto target = cast<TargetInterface>(
      parseAttribute("#layout.cpu<lanes = 16>", builder.getContext()));
  double decide = 0, insert = 0, fold = 0;
  int64_t runs = 0, conversions = 0;
  for (auto _ : state) {
    OwningOpRef<ModuleOp> module =
        builder.build(functions, numOps / functions, skips);
    auto start = Clock::now();
    CostModel costs(target);
    LayoutAssignment assignment = assignLayouts(*module, costs);
    if (!assignment.exact)
      return state.SkipWithError("the optimum is not proven");
    writeDecision(*module, assignment, costs);
    double decided = secondsSince(start);
    if (failed(insertLayoutTransforms(*module)))
      return state.SkipWithError("insertion failed");
    double inserted = secondsSince(start);
    if (failed(foldLayoutTransforms(*module)))
      return state.SkipWithError("folding failed");
    double folded = secondsSince(start);
    state.SetIterationTime(folded);
    decide += decided;
    insert += inserted - decided;
    fold += folded - inserted;
    conversions = assignment.conversions.size();
    ++runs;
  }
  state.counters["decide_s"] = decide / runs;
  state.counters["insert_s"] = insert / runs;
  state.counters["fold_s"] = fold / runs;
  state.counters["conversions"] = conversions;
}

void chain(benchmark::State &state) { assign(state, 1, false); }
void skips(benchmark::State &state) { assign(state, 1, true); }
void functions(benchmark::State &state) { assign(state, 10000, true); }

#define LAYOUT_SIZES                                                           \
  Arg(100000)->Arg(1000000)->UseManualTime()->Unit(benchmark::kMillisecond)

BENCHMARK(chain)->LAYOUT_SIZES;
BENCHMARK(skips)->LAYOUT_SIZES;
BENCHMARK(functions)->LAYOUT_SIZES;

} // namespace
