//===- PrintStrategies.cpp - Compare the optimum with heuristics ----------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Prints the cost of the optimum, of the program as typed, and of the rules in
// Baselines.h. The rules choose among candidates that keep the preferences of
// ops: they compare no costs and so would never leave the types of an op. All
// strategies use the same costs, and the IR does not change.
//
//===----------------------------------------------------------------------===//

#include "layout/Analysis/Baselines.h"
#include "layout/Dialect/Layout/Transforms/Printing.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"

namespace mlir::layout {
#define GEN_PASS_DEF_PRINTSTRATEGIESPASS
#include "layout/Dialect/Layout/Transforms/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;
using namespace mlir::layout;

namespace {
/// The costs of the program for one way to choose layouts, a row of the table.
struct Strategy {
  StringRef name;
  Cost cost = 0, conversionCost = 0;
  /// The number of conversions that move bytes, each counted once, however
  /// often it runs.
  int64_t conversions = 0;
  /// The bytes that all conversions move, weighted by how often they run.
  Cost bytes = 0;

  Strategy(StringRef name, const LayoutAssignment &assignment);
};
} // namespace

Strategy::Strategy(StringRef name, const LayoutAssignment &assignment)
    : name(name), cost(assignment.cost),
      conversionCost(assignment.conversionCost) {
  for (const PlannedConversion &each : assignment.conversions) {
    if (each.plan.isFree())
      continue;
    ++conversions;
    Cost moved = addCosts(each.plan.bytesRead, each.plan.bytesWritten);
    bytes = addCosts(bytes, scaleCost(moved, each.frequency));
  }
}

static constexpr std::pair<StringLiteral, Baseline> kRules[] = {
    {"forward", Baseline::forward},
    {"priority", Baseline::priority},
    {"rank", Baseline::rank},
    {"majority", Baseline::majority},
    {"bidirectional", Baseline::bidirectional},
    {"greedy", Baseline::greedy}};

static void printText(ArrayRef<Strategy> strategies, Cost lowerBound,
                      raw_ostream &os) {
  os << llvm::format("%-16s%20s%20s%14s%16s\n", "strategy", "cost",
                     "of conversions", "conversions", "bytes moved");
  for (const Strategy &each : strategies)
    os << llvm::format("%-16s%20lld%20lld%14lld%16lld\n", each.name.data(),
                       (long long)each.cost, (long long)each.conversionCost,
                       (long long)each.conversions, (long long)each.bytes);
  os << "no assignment costs less than " << lowerBound << "\n";
}

static void printJSON(ArrayRef<Strategy> strategies, Cost lowerBound,
                      raw_ostream &os) {
  llvm::json::OStream json(os, /*IndentSize=*/2);
  json.object([&] {
    json.attributeArray("strategies", [&] {
      for (const Strategy &each : strategies)
        json.object([&] {
          json.attribute("name", each.name);
          json.attribute("cost", each.cost);
          json.attribute("conversion_cost", each.conversionCost);
          json.attribute("conversions", each.conversions);
          json.attribute("bytes_moved", each.bytes);
        });
    });
    json.attribute("lower_bound", lowerBound);
  });
  os << "\n";
}

namespace {
struct PrintStrategiesPass
    : layout::impl::PrintStrategiesPassBase<PrintStrategiesPass> {
  using PrintStrategiesPassBase::PrintStrategiesPassBase;

  void runOnOperation() override {
    Operation *root = getOperation();
    markAllAnalysesPreserved();
    FailureOr<LayoutConstraints> constraints = readConstraints(root);
    if (failed(constraints))
      return signalPassFailure();
    auto print = [&](TargetInterface wanted, raw_ostream &os) {
      CostModel costs(wanted);
      LayoutAssignment assignment = assignLayouts(
          root, costs, {}, {}, *constraints, {costs.getModel().getMemory()});
      std::vector<Strategy> strategies = {{"optimum", assignment}};
      setBaseline(assignment, Baseline::asTyped, costs);
      strategies.push_back({"as-typed", assignment});
      keepNeeds(assignment.candidates);
      for (auto [name, rule] : kRules) {
        setBaseline(assignment, rule, costs);
        strategies.push_back({name, assignment});
      }
      if (format == CostFormat::json)
        printJSON(strategies, assignment.lowerBound, os);
      else
        printText(strategies, assignment.lowerBound, os);
    };
    if (failed(printToFile(root, target, output, print)))
      signalPassFailure();
  }
};
} // namespace
