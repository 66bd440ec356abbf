//===- PrintRules.cpp - Print the layout rules of ops ---------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Prints one line per op with tensors: its rule, or, for ops that only forward
// tensors, the equivalence classes of values that must have one layout.
//
//===----------------------------------------------------------------------===//

#include "layout/Analysis/ControlFlow.h"
#include "layout/Dialect/Layout/Transforms/Printing.h"
#include "layout/Interfaces/LayoutOpInterface.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringExtras.h"

namespace mlir::layout {
#define GEN_PASS_DEF_PRINTRULESPASS
#include "layout/Dialect/Layout/Transforms/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;
using namespace mlir::layout;

namespace {

class RulePrinter {
public:
  RulePrinter(Operation *root, raw_ostream &os)
      : flow(findTypeEquivalenceClasses(root)), state(root), os(os) {}

  void print(Operation *op, unsigned depth);

private:
  void printName(Operation *op);
  void printOperand(OpOperand &operand);
  void printValue(Value value);
  void printFlowClasses(Operation *op);

  ControlFlow flow;
  AsmState state;
  raw_ostream &os;
};

} // namespace

/// Returns the blocks of `op` that have tensor arguments.
static SmallVector<Block *> getBlocks(Operation *op) {
  SmallVector<Block *> blocks;
  for (Region &region : op->getRegions())
    for (Block &block : region)
      if (llvm::any_of(block.getArguments(), isTensor))
        blocks.push_back(&block);
  return blocks;
}

/// Prints `%0, %1 = name @symbol`, as in the text of the module.
void RulePrinter::printName(Operation *op) {
  llvm::interleaveComma(op->getResults(), os, [&](Value result) {
    result.printAsOperand(os, state);
  });
  os << (op->getNumResults() ? " = " : "");
  // The name of an unregistered op may need quotes.
  if (op->isRegistered()) {
    os << op->getName();
  } else {
    os << '"';
    llvm::printEscapedString(op->getName().getStringRef(), os);
    os << '"';
  }
  if (auto name =
          op->getAttrOfType<StringAttr>(SymbolTable::getSymbolAttrName()))
    os << ' ' << FlatSymbolRefAttr::get(name);
}

/// Returns true if `op` only forwards tensors: a terminator, a call, a
/// function, or an op that passes tensors to its regions.
static bool forwardsTensors(Operation *op) {
  return op->hasTrait<OpTrait::IsTerminator>() ||
         isa<CallOpInterface, FunctionOpInterface, RegionBranchOpInterface>(
             op) ||
         !getBlocks(op).empty();
}

static void printUse(Value value, std::optional<unsigned> flowClass,
                     raw_ostream &os) {
  if (!isTensor(value))
    os << '_';
  else if (flowClass)
    os << 't' << *flowClass;
  else
    os << "fixed";
}

template <typename Map, typename Key>
static std::optional<unsigned> findClass(const Map &map, Key key) {
  auto it = map.find(key);
  return it == map.end() ? std::nullopt : std::optional<unsigned>(it->second);
}

void RulePrinter::printValue(Value value) {
  printUse(value, findClass(flow.classOfValue, value), os);
}

void RulePrinter::printOperand(OpOperand &operand) {
  printUse(operand.get(), findClass(flow.classOfOperand, &operand), os);
}

/// Prints the equivalence classes of values, e.g. `(_, t0) -> (t0), blocks (_,
/// t0)`. Tensors with one name, such as t0, have one layout. `_` is a value
/// that is no tensor, and `fixed` a tensor in no class.
void RulePrinter::printFlowClasses(Operation *op) {
  if (op->getNumOperands()) {
    os << " (";
    llvm::interleaveComma(op->getOpOperands(), os,
                          [&](OpOperand &operand) { printOperand(operand); });
    os << ')';
  }
  auto printValues = [&](ValueRange values) {
    os << '(';
    llvm::interleaveComma(values, os, [&](Value value) { printValue(value); });
    os << ')';
  };
  if (op->getNumResults()) {
    os << " -> ";
    printValues(op->getResults());
  }
  for (auto [i, block] : llvm::enumerate(getBlocks(op))) {
    os << (i ? ", " : " blocks ");
    printValues(block->getArguments());
  }
}

void RulePrinter::print(Operation *op, unsigned depth) {
  OpLayoutRule rule = getLayoutRule(op);
  bool isOpaque = std::holds_alternative<OpaqueRule>(rule);
  if (hasTensors(op) || !getBlocks(op).empty() ||
      isa<FunctionOpInterface>(op)) {
    os.indent(2 * depth++);
    printName(op);
    if (isOpaque && forwardsTensors(op)) {
      printFlowClasses(op);
    } else {
      layout::print(rule, os << ' ');
      if (!std::holds_alternative<RematerializableRule>(rule) &&
          isRematerializable(op, rule))
        os << ", free in any layout";
      for (OpOperand &operand : op->getOpOperands())
        if (std::optional<unsigned> flowClass =
                findClass(flow.classOfOperand, &operand))
          os << ", operand " << operand.getOperandNumber() << " in t"
             << *flowClass;
    }
    os << '\n';
  }
  // Skip the regions of an op with a rule: they are part of what it computes.
  if (!isOpaque)
    return;
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (Operation &inner : block)
        print(&inner, depth);
}

void layout::printLayoutRules(Operation *root, raw_ostream &os) {
  RulePrinter(root, os).print(root, 0);
}

namespace {
struct PrintRulesPass : layout::impl::PrintRulesPassBase<PrintRulesPass> {
  using PrintRulesPassBase::PrintRulesPassBase;

  void runOnOperation() override {
    Operation *root = getOperation();
    markAllAnalysesPreserved();
    if (failed(printToFile(root, output, [&](raw_ostream &os) {
          printLayoutRules(root, os);
        })))
      signalPassFailure();
  }
};
} // namespace
