//===- PrintCost.cpp - Print the costs of conversions and ops -------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Analysis/CostModel.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Dialect/Layout/Transforms/CostTable.h"
#include "layout/Dialect/Layout/Transforms/Printing.h"
#include "layout/Support/EmittedText.h"
#include "layout/Support/Places.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/Support/JSON.h"
#include <map>

namespace mlir::layout {
#define GEN_PASS_DEF_PRINTCOSTPASS
#include "layout/Dialect/Layout/Transforms/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;
using namespace mlir::layout;

using Row = CostTable::Row;

namespace {
struct Totals {
  Cost bytesRead = 0, bytesWritten = 0, cost = 0;
};
} // namespace

static std::string printMap(RankedTensorType type) {
  if (!type.getEncoding())
    return "row-major";
  std::string text;
  llvm::raw_string_ostream(text) << type.getEncoding();
  return text;
}

/// Returns the storage spaces of both sides, e.g. "buffer to image2d". The space
/// of a tensor without a layout is "buffer", and that of an encoding of another
/// dialect "unknown".
static std::string printTransition(const Row &row) {
  auto getSpace = [](RankedTensorType type) -> std::string {
    FailureOr<LayoutMap> map = getLayoutMap(type);
    return failed(map) ? "unknown" : map->getSpace().str();
  };
  return getSpace(row.from) + " to " + getSpace(row.to);
}

/// The pair of storage spaces that the text output does not mention, because
/// nearly all conversions on a CPU have it.
static constexpr llvm::StringLiteral kLinear = "buffer to buffer";

/// Returns the number of conversions for each pair of storage spaces, in
/// alphabetical order.
static std::map<std::string, int64_t> countTransitions(ArrayRef<Row> rows) {
  std::map<std::string, int64_t> counts;
  for (const Row &row : rows)
    ++counts[printTransition(row)];
  return counts;
}

static std::string printPlan(const ConversionPlan &plan) {
  std::string text;
  llvm::raw_string_ostream os(text);
  plan.print(os);
  return text;
}

static bool isConstant(Operation *op) {
  return op && op->hasTrait<OpTrait::ConstantLike>();
}

static Row makeRow(Location loc, RankedTensorType from, RankedTensorType to,
                   ConversionPlan plan, std::string why,
                   TargetInterface target) {
  Cost cost = plan.getCost(target);
  return {loc, from, to, std::move(plan), cost, std::move(why)};
}

Row Row::get(ConvertOp convert, TargetInterface target) {
  return makeRow(convert.getLoc(), convert.getSource().getType(),
                 convert.getResult().getType(),
                 ConversionPlan::get(convert, target),
                 explainConversion(convert), target);
}

/// Returns the cost of one execution of `op`, or std::nullopt if it does not
/// compute or move elements.
static std::optional<Cost> getOpCost(Operation *op, CostModel &costs) {
  OpLayoutRule rule = getLayoutRule(op);
  if (!std::holds_alternative<LoopsRule>(rule) &&
      !std::holds_alternative<PerDimRule>(rule))
    return std::nullopt;
  auto getLayout = [&](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor ? costs.getLayoutOf(tensor) : kAnyLayout;
  };
  OpLayouts layouts;
  llvm::append_range(layouts.operands,
                     llvm::map_range(op->getOperandTypes(), getLayout));
  llvm::append_range(layouts.results,
                     llvm::map_range(op->getResultTypes(), getLayout));
  return costs.getOpCost(op, rule, layouts);
}

CostTable CostTable::get(Operation *root, TargetInterface target) {
  CostTable table;
  CostModel costs(target);
  root->walk([&](Operation *op) {
    if (auto convert = dyn_cast<ConvertOp>(op)) {
      (isConstant(convert.getSource().getDefiningOp()) ? table.constants
                                                       : table.activations)
          .push_back(Row::get(convert, target));
    } else if (isConstant(op) && hasLayout(op->getResult(0).getType())) {
      // This is a folded conversion: the lowering packs the elements.
      auto type = cast<RankedTensorType>(op->getResult(0).getType());
      RankedTensorType plain = withoutLayout(type);
      table.constants.push_back(makeRow(
          op->getLoc(), plain, type, ConversionPlan::get(plain, type, target),
          "packed by the lowering", target));
    } else if (std::optional<Cost> cost = getOpCost(op, costs)) {
      table.ops.push_back({op, *cost});
    }
  });
  table.assignment = readAssignmentStats(root);
  return table;
}

static Totals sum(ArrayRef<Row> rows) {
  Totals totals;
  for (const Row &row : rows) {
    totals.bytesRead = addCosts(totals.bytesRead, row.plan.bytesRead);
    totals.bytesWritten = addCosts(totals.bytesWritten, row.plan.bytesWritten);
    totals.cost = addCosts(totals.cost, row.cost);
  }
  return totals;
}

static Cost sum(ArrayRef<CostTable::OpRow> rows) {
  Cost cost = 0;
  for (const CostTable::OpRow &row : rows)
    cost = addCosts(cost, row.cost);
  return cost;
}

static void printText(const CostTable &table, raw_ostream &os) {
  auto printRows = [&](StringRef title, ArrayRef<Row> rows) {
    Totals totals = sum(rows);
    os << title << ": " << rows.size() << ", " << totals.bytesRead
       << " bytes read, " << totals.bytesWritten << " bytes written, cost "
       << totals.cost << "\n";
    for (const auto &[transition, count] : countTransitions(rows))
      if (transition != kLinear)
        os << "  of these " << transition << ": " << count << "\n";
    for (const Row &row : rows) {
      std::string transition = printTransition(row);
      os << "  " << printPlace(row.loc) << "  " << printShape(row.to) << "  "
         << stringify(row.plan.kind)
         << (transition == kLinear ? "" : "  " + transition) << "\n    from "
         << printMap(row.from) << "\n    to   " << printMap(row.to)
         << "\n    read " << row.plan.bytesRead << ", written "
         << row.plan.bytesWritten << ", runs of " << row.plan.runBytes
         << " bytes, cost " << row.cost << "\n    "
         << (row.plan.isFree() ? "" : printPlan(row.plan) + "\n    ") << row.why
         << "\n";
    }
  };
  printRows("conversions", table.activations);
  printRows("conversions of constants", table.constants);
  os << "ops: " << table.ops.size() << ", cost " << sum(table.ops) << "\n";
  if (const auto &it = table.assignment) {
    os << "assignment: cost " << it->cost << ", lower bound " << it->lowerBound
       << ", gap " << it->cost - it->lowerBound << "\n";
    if (it->memoryBytes)
      os << "memory: at most " << *it->memoryBytes
         << " bytes on one device at once\n";
  }
}

void layout::printRow(llvm::json::OStream &json, const Row &row) {
  json.attribute("location", toUtf8(printPlace(row.loc)));
  json.attribute("shape", toUtf8(printShape(row.to)));
  json.attribute("kind", stringify(row.plan.kind));
  json.attribute("transition", printTransition(row));
  json.attribute("from", toUtf8(printMap(row.from)));
  json.attribute("to", toUtf8(printMap(row.to)));
  json.attribute("bytes_read", row.plan.bytesRead);
  json.attribute("bytes_written", row.plan.bytesWritten);
  json.attribute("run_bytes", row.plan.runBytes);
  json.attribute("cost", row.cost);
  json.attribute("plan", printPlan(row.plan));
  json.attribute("why", toUtf8(row.why));
}

static void printJSON(const CostTable &table, raw_ostream &os) {
  llvm::json::OStream json(os, /*IndentSize=*/2);
  auto printRows = [&](StringRef title, ArrayRef<Row> rows) {
    json.attributeObject(title, [&] {
      Totals totals = sum(rows);
      json.attribute("count", int64_t(rows.size()));
      json.attribute("bytes_read", totals.bytesRead);
      json.attribute("bytes_written", totals.bytesWritten);
      json.attribute("cost", totals.cost);
      json.attributeObject("transitions", [&] {
        for (const auto &[transition, count] : countTransitions(rows))
          json.attribute(transition, count);
      });
      json.attributeArray("rows", [&] {
        for (const Row &row : rows)
          json.object([&] { printRow(json, row); });
      });
    });
  };
  json.object([&] {
    printRows("conversions", table.activations);
    printRows("constants", table.constants);
    json.attributeObject("ops", [&] {
      json.attribute("count", int64_t(table.ops.size()));
      json.attribute("cost", sum(table.ops));
      json.attributeArray("rows", [&] {
        for (const CostTable::OpRow &row : table.ops)
          json.object([&] {
            json.attribute("location", toUtf8(printPlace(row.op->getLoc())));
            json.attribute("name", row.op->getName().getStringRef());
            json.attribute("cost", row.cost);
          });
      });
    });
    if (const auto &it = table.assignment)
      json.attributeObject("assignment", [&] {
        json.attribute("cost", it->cost);
        json.attribute("conversion_cost", it->conversionCost);
        json.attribute("lower_bound", it->lowerBound);
        if (it->memoryBytes)
          json.attribute("memory_bytes", *it->memoryBytes);
      });
  });
  os << "\n";
}

void layout::printLayoutCost(Operation *root, TargetInterface target,
                             CostFormat format, raw_ostream &os) {
  CostTable table = CostTable::get(root, target);
  if (format == CostFormat::json)
    printJSON(table, os);
  else
    printText(table, os);
}

namespace {
struct PrintCostPass : layout::impl::PrintCostPassBase<PrintCostPass> {
  using PrintCostPassBase::PrintCostPassBase;

  void runOnOperation() override {
    Operation *root = getOperation();
    markAllAnalysesPreserved();
    if (failed(printToFile(root, target, output,
                           [&](TargetInterface wanted, raw_ostream &os) {
                             printLayoutCost(root, wanted, format, os);
                           })))
      signalPassFailure();
  }
};
} // namespace
