//===- PrintGraph.cpp - A picture of the layouts of a program -------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs of ops in one layout as boxes in its color, tensors as arrows in theirs,
// conversions as red diamonds with the bytes that they move and the reason.
// Regions are frames. What costs nothing is not shown: constants, fresh storage
// and what fills it, destinations that nobody reads, sizes. The language is
// Graphviz's dot.
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

/// A node of the picture: an argument, or ops in one layout, of which each
/// reads the one before alone, or in a large program those that are connected.
struct Box {
  Block *block;
  SmallVector<Operation *> ops;
  BlockArgument argument;

  /// Whether another box has its ops.
  bool isJoined() const { return !argument && ops.empty(); }
  Type getType() const {
    if (argument)
      return argument.getType();
    return ops.back()->getNumResults() ? ops.back()->getResult(0).getType()
                                       : Type();
  }
};

class GraphPrinter {
public:
  GraphPrinter(TargetInterface target, unsigned maxBoxes, raw_ostream &os)
      : target(target), maxBoxes(maxBoxes), os(os) {}

  void print(Operation *root);

private:
  void collect(Block &block);
  void collect(Operation *op);
  void joinConnected();
  bool isJoinable(const Box &box) const;
  std::optional<unsigned> findRun(Operation *op) const;
  SmallVector<OpOperand *> getReadTensors(Operation *op) const;
  std::optional<unsigned> getBox(Value value) const;

  void printFrame(Operation *op);
  void printBoxes(Block &block);
  void printBox(unsigned number);
  void printEdges(unsigned number);
  void printLegend();
  std::string describeRun(const Box &box) const;
  std::string getColor(Type type);
  raw_ostream &indent() { return os.indent(2 * depth); }

  TargetInterface target;
  unsigned maxBoxes;
  raw_ostream &os;
  unsigned depth = 1, numFrames = 0;
  std::vector<Box> boxes;
  DenseMap<Operation *, unsigned> boxOf;
  DenseMap<Value, unsigned> boxOfArgument;
  DenseMap<Block *, SmallVector<unsigned>> boxesOf;
  DenseMap<Block *, SmallVector<Operation *>> framesOf;
  /// Layouts in the order in which they are met, with their colors.
  llvm::MapVector<Attribute, std::string> colors;
};

} // namespace

static bool isTensor(Value value) {
  return isa<RankedTensorType>(value.getType());
}

static bool hasTensors(Operation *op) {
  return llvm::any_of(op->getOperands(), isTensor) ||
         llvm::any_of(op->getResults(), isTensor);
}

/// Kinds of ops that a box names.
static constexpr size_t kMostKinds = 4;

static constexpr llvm::StringLiteral kRed = "0.000 0.850 1.000";

/// Hues go round by the golden section, so that neighbors differ; red is that
/// of conversions that move bytes.
std::string GraphPrinter::getColor(Type type) {
  auto tensor = dyn_cast_if_present<RankedTensorType>(type);
  if (!tensor || !tensor.getEncoding())
    return "0.000 0.000 0.850";
  auto [it, isNew] = colors.try_emplace(tensor.getEncoding());
  if (isNew) {
    unsigned hue = 100 + (colors.size() - 1) * 618 % 1000 * 4 / 5;
    llvm::raw_string_ostream(it->second)
        << llvm::format("0.%03u 0.550 0.950", hue);
  }
  return it->second;
}

//===----------------------------------------------------------------------===//
// Boxes
//===----------------------------------------------------------------------===//

/// Ops below one with a rule are part of what it does.
static bool showsRegions(Operation *op) {
  return op->getNumRegions() && !op->getRegion(0).empty() &&
         std::holds_alternative<OpaqueRule>(getLayoutRule(op));
}

/// What costs nothing in any layout.
static bool isHidden(Operation *op) {
  OpLayoutRule rule = getLayoutRule(op);
  return op->hasTrait<OpTrait::ConstantLike>() ||
         std::holds_alternative<ShapeRule>(rule) || isFreeSource(op, rule);
}

std::optional<unsigned> GraphPrinter::getBox(Value value) const {
  auto find = [](const auto &numbers, auto key) {
    auto found = numbers.find(key);
    return found == numbers.end() ? std::nullopt
                                  : std::optional<unsigned>(found->second);
  };
  Operation *op = value.getDefiningOp();
  return op ? find(boxOf, op) : find(boxOfArgument, value);
}

/// The operands that an op reads and a box makes.
SmallVector<OpOperand *> GraphPrinter::getReadTensors(Operation *op) const {
  OpLayoutRule rule = getLayoutRule(op);
  auto *loops = std::get_if<LoopsRule>(&rule);
  SmallVector<OpOperand *> tensors;
  for (OpOperand &operand : op->getOpOperands())
    if (getBox(operand.get()) &&
        (!loops || loops->isRead[operand.getOperandNumber()]))
      tensors.push_back(&operand);
  return tensors;
}

/// Whether the op may share a box.
static bool isInRun(Operation *op) {
  return !isa<ConvertOp>(op) && !showsRegions(op) && op->getNumResults() == 1 &&
         isTensor(op->getResult(0));
}

/// The run that the op continues: it reads what that makes and nothing else,
/// nobody else reads it, and both have one layout.
std::optional<unsigned> GraphPrinter::findRun(Operation *op) const {
  SmallVector<OpOperand *> tensors = getReadTensors(op);
  if (tensors.empty() || !isInRun(op))
    return std::nullopt;
  Operation *before = tensors.front()->get().getDefiningOp();
  if (!before || !isInRun(before) || before->getBlock() != op->getBlock() ||
      !llvm::all_of(tensors,
                    [&](OpOperand *operand) {
                      return operand->get().getDefiningOp() == before;
                    }) ||
      !llvm::all_of(before->getUsers(), [&](Operation *user) {
        return user == op || isHidden(user);
      }))
    return std::nullopt;
  auto getEncoding = [](Operation *op) {
    return cast<RankedTensorType>(op->getResult(0).getType()).getEncoding();
  };
  if (getEncoding(before) != getEncoding(op))
    return std::nullopt;
  return boxOf.lookup(before);
}

void GraphPrinter::collect(Operation *op) {
  if (isHidden(op))
    return;
  if (hasTensors(op)) {
    std::optional<unsigned> run = findRun(op);
    if (!run) {
      run = boxes.size();
      boxes.push_back({op->getBlock(), {}, {}});
      boxesOf[op->getBlock()].push_back(*run);
    }
    boxes[*run].ops.push_back(op);
    boxOf[op] = *run;
  }
  if (!showsRegions(op))
    return;
  framesOf[op->getBlock()].push_back(op);
  for (Region &region : op->getRegions())
    for (Block &block : region)
      collect(block);
}

void GraphPrinter::collect(Block &block) {
  for (BlockArgument argument : block.getArguments())
    if (isTensor(argument)) {
      boxOfArgument[argument] = boxes.size();
      boxesOf[&block].push_back(boxes.size());
      boxes.push_back({&block, {}, argument});
    }
  for (Operation &op : block)
    collect(&op);
}

bool GraphPrinter::isJoinable(const Box &box) const {
  return !box.argument && isInRun(box.ops.front());
}

/// Makes connected boxes of one layout one box. The round of a box counts the
/// changes of layout before it, so what leaves a box never comes back to it.
void GraphPrinter::joinConnected() {
  std::vector<unsigned> rounds(boxes.size(), 0), joined(boxes.size());
  auto getLayout = [](const Box &box) {
    auto tensor = dyn_cast_if_present<RankedTensorType>(box.getType());
    return tensor ? tensor.getEncoding() : Attribute();
  };
  auto canJoin = [&](unsigned a, unsigned b) {
    return boxes[a].block == boxes[b].block && isJoinable(boxes[a]) &&
           isJoinable(boxes[b]) && getLayout(boxes[a]) == getLayout(boxes[b]);
  };
  for (unsigned b = 0; b < boxes.size(); ++b) {
    SmallVector<unsigned> producers;
    for (Operation *op : boxes[b].ops)
      for (OpOperand *operand : getReadTensors(op))
        if (unsigned from = *getBox(operand->get()); from != b)
          producers.push_back(from);
    for (unsigned from : producers)
      rounds[b] = std::max(rounds[b], rounds[from] + !canJoin(from, b));
    joined[b] = b;
    for (unsigned from : producers)
      if (canJoin(from, b) && rounds[from] == rounds[b]) {
        joined[b] = joined[from];
        break;
      }
    if (joined[b] == b)
      continue;
    Box &whole = boxes[joined[b]];
    for (Operation *op : boxes[b].ops)
      boxOf[op] = joined[b];
    llvm::append_range(whole.ops, boxes[b].ops);
    boxes[b].ops.clear();
  }
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// The most frequent kinds of ops with how many there are, and the names that
/// the model gives to the first and the last one.
std::string GraphPrinter::describeRun(const Box &box) const {
  llvm::MapVector<StringRef, unsigned> counts;
  SmallVector<StringRef> names;
  for (Operation *op : box.ops) {
    ++counts[op->getName().getStringRef()];
    if (auto name = op->getLoc()->findInstanceOf<NameLoc>())
      names.push_back(name.getName());
  }
  auto kinds = counts.takeVector();
  llvm::stable_sort(
      kinds, [](const auto &a, const auto &b) { return a.second > b.second; });
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleave(
      ArrayRef(kinds).take_front(kMostKinds), os,
      [&](const auto &entry) {
        os << entry.first;
        if (entry.second > 1)
          os << " x " << entry.second;
      },
      "\n");
  if (kinds.size() > kMostKinds)
    os << "\nand " << kinds.size() - kMostKinds << " more kinds";
  if (!names.empty())
    os << "\n" << names.front();
  if (names.size() > 1 && names.front() != names.back())
    os << " .. " << names.back();
  return text;
}

static std::string describeConversion(ConvertOp convert,
                                      const ConversionPlan &plan) {
  std::string moved = plan.isFree()
                          ? "a view"
                          : std::to_string(plan.bytesRead) + " + " +
                                std::to_string(plan.bytesWritten) + " bytes";
  return "layout.convert\n" + moved + "\n" + explainConversion(convert);
}

void GraphPrinter::printBox(unsigned number) {
  const Box &box = boxes[number];
  Type type = box.getType();
  std::string label, shape = "box", color = getColor(type);
  if (box.argument) {
    label = "argument " + std::to_string(box.argument.getArgNumber()) + "\n" +
            printShape(cast<RankedTensorType>(type));
    shape = "ellipse";
  } else if (auto convert = dyn_cast<ConvertOp>(box.ops.front())) {
    ConversionPlan plan = ConversionPlan::get(convert, target);
    label = describeConversion(convert, plan);
    shape = "diamond";
    color = plan.isFree() ? color : kRed.str();
  } else {
    label = describeRun(box);
  }
  indent() << "n" << number << " [label=\"" << escapeDot(label)
           << "\" shape=" << shape << " fillcolor=\"" << color << "\"];\n";
}

void GraphPrinter::printFrame(Operation *op) {
  indent() << "subgraph cluster_" << numFrames++ << " {\n";
  ++depth;
  std::string label = op->getName().getStringRef().str();
  if (auto function = dyn_cast<FunctionOpInterface>(op))
    label += " @" + function.getName().str();
  indent() << "label=\"" << escapeDot(label) << "\";\n";
  for (Region &region : op->getRegions())
    for (Block &block : region)
      printBoxes(block);
  --depth;
  indent() << "}\n";
}

void GraphPrinter::printBoxes(Block &block) {
  for (unsigned number : boxesOf.lookup(&block))
    if (!boxes[number].isJoined())
      printBox(number);
  for (Operation *frame : framesOf.lookup(&block))
    printFrame(frame);
}

void GraphPrinter::printEdges(unsigned number) {
  for (Operation *op : boxes[number].ops)
    for (OpOperand *operand : getReadTensors(op)) {
      unsigned from = *getBox(operand->get());
      auto type = cast<RankedTensorType>(operand->get().getType());
      if (from != number)
        os << "  n" << from << " -> n" << number << " [label=\""
           << escapeDot(printShape(type)) << "\" color=\"" << getColor(type)
           << "\"];\n";
    }
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
  bool isFunction = isa<FunctionOpInterface>(root);
  if (isFunction)
    collect(root);
  else
    for (Region &region : root->getRegions())
      for (Block &block : region)
        collect(block);
  if (boxes.size() > maxBoxes)
    joinConnected();
  if (isFunction)
    printFrame(root);
  else
    for (Region &region : root->getRegions())
      for (Block &block : region)
        printBoxes(block);
  for (unsigned number = 0; number < boxes.size(); ++number)
    printEdges(number);
  printLegend();
  os << "}\n";
}

void layout::printLayoutGraph(Operation *root, TargetInterface target,
                              raw_ostream &os, unsigned maxBoxes) {
  GraphPrinter(target, maxBoxes, os).print(root);
}

namespace {
struct PrintGraphPass : layout::impl::PrintGraphPassBase<PrintGraphPass> {
  using PrintGraphPassBase::PrintGraphPassBase;

  void runOnOperation() override {
    Operation *root = getOperation();
    markAllAnalysesPreserved();
    if (failed(printToFile(root, target, output,
                           [&](TargetInterface wanted, raw_ostream &os) {
                             printLayoutGraph(root, wanted, os, maxBoxes);
                           })))
      signalPassFailure();
  }
};
} // namespace
