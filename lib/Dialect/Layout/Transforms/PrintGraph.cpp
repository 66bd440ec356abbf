//===- PrintGraph.cpp - A picture of the layouts of a program -------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops as boxes in the color of the layout of their first result, tensors as
// arrows in the color of theirs, conversions as diamonds with the bytes that
// they move. Regions are frames. The language is Graphviz's dot.
//
//===----------------------------------------------------------------------===//

#include "Printing.h"
#include "layout/Analysis/ConversionPlan.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Interfaces/LayoutOpInterface.h"
#include "layout/Support/EmittedText.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/Format.h"

namespace mlir::layout {
#define GEN_PASS_DEF_PRINTGRAPHPASS
#include "layout/Dialect/Layout/Transforms/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;
using namespace mlir::layout;

namespace {

class GraphPrinter {
public:
  GraphPrinter(TargetInterface target, raw_ostream &os)
      : target(target), os(os) {}

  void print(Operation *root);

private:
  void printBlock(Block &block);
  void printOp(Operation *op);
  void printArguments(Block &block);
  void printEdges(Operation *op);
  void printNode(StringRef label, StringRef shape, Type type);
  void printLegend();
  unsigned getNode(Value value);
  std::string getColor(Type type);
  raw_ostream &indent() { return os.indent(2 * depth); }

  TargetInterface target;
  raw_ostream &os;
  unsigned depth = 1, numNodes = 0, numFrames = 0;
  DenseMap<Operation *, unsigned> nodeOf;
  DenseMap<Value, unsigned> nodeOfArgument;
  /// Layouts in the order in which they are met, with their colors.
  llvm::MapVector<Attribute, std::string> colors;
  SmallVector<Operation *> linked;
};

} // namespace

static bool isTensor(Value value) {
  return isa<RankedTensorType>(value.getType());
}

static bool hasTensors(Operation *op) {
  return llvm::any_of(op->getOperands(), isTensor) ||
         llvm::any_of(op->getResults(), isTensor);
}

/// Hues go round by the golden section, so that neighbors differ.
std::string GraphPrinter::getColor(Type type) {
  auto tensor = dyn_cast_if_present<RankedTensorType>(type);
  if (!tensor || !tensor.getEncoding())
    return "0.000 0.000 0.850";
  auto [it, isNew] = colors.try_emplace(tensor.getEncoding());
  if (isNew) {
    unsigned hue = (colors.size() - 1) * 618 % 1000;
    llvm::raw_string_ostream(it->second)
        << llvm::format("0.%03u 0.550 0.950", hue);
  }
  return it->second;
}

void GraphPrinter::printNode(StringRef label, StringRef shape, Type type) {
  indent() << "n" << numNodes++ << " [label=\"" << escapeDot(label)
           << "\" shape=" << shape << " fillcolor=\"" << getColor(type)
           << "\"];\n";
}

unsigned GraphPrinter::getNode(Value value) {
  if (Operation *op = value.getDefiningOp())
    return nodeOf.lookup(op);
  return nodeOfArgument.lookup(value);
}

void GraphPrinter::printArguments(Block &block) {
  for (BlockArgument argument : block.getArguments()) {
    if (!isTensor(argument))
      continue;
    nodeOfArgument[argument] = numNodes;
    printNode(("argument " + Twine(argument.getArgNumber()) + "\n" +
               printShape(cast<RankedTensorType>(argument.getType())))
                  .str(),
              "ellipse", argument.getType());
  }
}

/// Ops below one with a rule are part of what it does.
static bool showsRegions(Operation *op) {
  return op->getNumRegions() &&
         std::holds_alternative<OpaqueRule>(getLayoutRule(op));
}

void GraphPrinter::printOp(Operation *op) {
  bool isFrame = showsRegions(op) && !op->getRegion(0).empty();
  if (hasTensors(op)) {
    nodeOf[op] = numNodes;
    linked.push_back(op);
    Type type = op->getNumResults() ? op->getResult(0).getType() : Type();
    std::string label = op->getName().getStringRef().str();
    if (auto convert = dyn_cast<ConvertOp>(op)) {
      ConversionPlan plan = ConversionPlan::get(
          convert.getSource().getType(), convert.getResult().getType(), target);
      label += "\n" + std::to_string(plan.bytesRead) + " + " +
               std::to_string(plan.bytesWritten) + " bytes";
      printNode(label, "diamond", type);
    } else {
      bool isSource = op->hasTrait<OpTrait::ConstantLike>();
      printNode(label, isSource ? "plaintext" : "box", type);
    }
  }
  if (!isFrame)
    return;
  indent() << "subgraph cluster_" << numFrames++ << " {\n";
  ++depth;
  std::string label = op->getName().getStringRef().str();
  if (auto function = dyn_cast<FunctionOpInterface>(op))
    label += " @" + function.getName().str();
  indent() << "label=\"" << escapeDot(label) << "\";\n";
  for (Region &region : op->getRegions())
    for (Block &block : region)
      printBlock(block);
  --depth;
  indent() << "}\n";
}

void GraphPrinter::printBlock(Block &block) {
  printArguments(block);
  for (Operation &op : block)
    printOp(&op);
}

void GraphPrinter::printEdges(Operation *op) {
  for (Value operand : op->getOperands())
    if (isTensor(operand))
      os << "  n" << getNode(operand) << " -> n" << nodeOf.lookup(op)
         << " [label=\""
         << escapeDot(printShape(cast<RankedTensorType>(operand.getType())))
         << "\" color=\"" << getColor(operand.getType()) << "\"];\n";
}

void GraphPrinter::printLegend() {
  os << "  subgraph cluster_legend {\n    label=\"layouts\";\n"
     << "    plain [label=\"row-major\" shape=box fillcolor=\""
     << getColor(Type()) << "\"];\n";
  unsigned number = 0;
  for (auto &[layout, color] : colors) {
    std::string text;
    llvm::raw_string_ostream(text) << layout;
    os << "    layout" << number++ << " [label=\"" << escapeDot(text)
       << "\" shape=box fillcolor=\"" << color << "\"];\n";
  }
  os << "  }\n";
}

void GraphPrinter::print(Operation *root) {
  os << "digraph layouts {\n"
     << "  node [style=filled fontname=\"sans-serif\" fontsize=10];\n"
     << "  edge [fontname=\"sans-serif\" fontsize=8 penwidth=2];\n";
  if (isa<FunctionOpInterface>(root)) {
    printOp(root);
  } else {
    for (Region &region : root->getRegions())
      for (Block &block : region)
        printBlock(block);
  }
  for (Operation *op : linked)
    printEdges(op);
  printLegend();
  os << "}\n";
}

void layout::printLayoutGraph(Operation *root, TargetInterface target,
                              raw_ostream &os) {
  GraphPrinter(target, os).print(root);
}

namespace {
struct PrintGraphPass : layout::impl::PrintGraphPassBase<PrintGraphPass> {
  using PrintGraphPassBase::PrintGraphPassBase;

  void runOnOperation() override {
    Operation *root = getOperation();
    markAllAnalysesPreserved();
    if (failed(printToFile(root, target, output,
                           [&](TargetInterface wanted, raw_ostream &os) {
                             printLayoutGraph(root, wanted, os);
                           })))
      signalPassFailure();
  }
};
} // namespace
