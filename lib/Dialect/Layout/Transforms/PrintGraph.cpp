//===- PrintGraph.cpp - Draw the layouts of a program ---------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Prints the boxes of LayoutGraph.h in the color of their layout, tensors as
// arrows in the color of theirs, regions as frames, and conversions that move
// bytes in red with their bytes and users. The output is Graphviz dot, or JSON
// with the ops of each box.
//
//===----------------------------------------------------------------------===//

#include "LayoutGraph.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Dialect/Layout/Transforms/CostTable.h"
#include "layout/Dialect/Layout/Transforms/Printing.h"
#include "layout/Support/EmittedText.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

namespace mlir::layout {
#define GEN_PASS_DEF_PRINTGRAPHPASS
#include "layout/Dialect/Layout/Transforms/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;
using namespace mlir::layout;

using Box = LayoutGraph::Box;

/// The maximum number of different op names in the label of a box. If there are
/// more, the label states how many further ones there are.
static constexpr size_t kMostKinds = 4;

static constexpr llvm::StringLiteral kRed = "0.000 0.850 1.000";

namespace {
/// Numbers the layouts of a graph; both output formats use the same numbers.
class LayoutNumbers {
public:
  explicit LayoutNumbers(const LayoutGraph &graph);

  /// Returns the layouts in the order of their numbers.
  ArrayRef<Attribute> getLayouts() const { return layouts.getArrayRef(); }
  /// Returns the number of the layout of `type`, a type in the graph, or
  /// std::nullopt if it has no encoding, i.e. is row-major.
  std::optional<unsigned> getNumber(Type type) const;
  /// Returns an id such as "layout3", or "plain" for row-major.
  std::string getId(Type type) const;

private:
  llvm::SetVector<Attribute> layouts;
};

class DotPrinter {
public:
  DotPrinter(const LayoutGraph &graph, TargetInterface target, raw_ostream &os)
      : graph(graph), target(target), os(os), numbers(graph) {}

  void print(Operation *root);

private:
  void printFrame(Operation *op);
  void printBoxes(Block &block);
  void printBox(unsigned number);
  void printArrows(unsigned number);
  void printLegend();
  raw_ostream &indent() { return os.indent(2 * depth); }

  const LayoutGraph &graph;
  TargetInterface target;
  raw_ostream &os;
  unsigned depth = 1, numFrames = 0;
  LayoutNumbers numbers;
};
} // namespace

static Attribute getLayout(Type type) {
  auto tensor = dyn_cast_if_present<RankedTensorType>(type);
  return tensor ? tensor.getEncoding() : Attribute();
}

LayoutNumbers::LayoutNumbers(const LayoutGraph &graph) {
  auto add = [&](Type type) {
    if (Attribute layout = getLayout(type))
      layouts.insert(layout);
  };
  for (const Box &box : graph.boxes) {
    if (box.argument)
      add(box.argument.getType());
    for (Operation *op : box.ops) {
      if (auto convert = dyn_cast<ConvertOp>(op))
        add(convert.getSource().getType());
      llvm::for_each(op->getResultTypes(), add);
    }
  }
}

std::optional<unsigned> LayoutNumbers::getNumber(Type type) const {
  Attribute layout = getLayout(type);
  if (!layout)
    return std::nullopt;
  return llvm::find(layouts, layout) - layouts.begin();
}

static std::string getLayoutId(unsigned number) {
  return "layout" + std::to_string(number);
}

std::string LayoutNumbers::getId(Type type) const {
  std::optional<unsigned> number = getNumber(type);
  return number ? getLayoutId(*number) : "plain";
}

static std::string print(Attribute layout) {
  std::string text;
  llvm::raw_string_ostream(text) << layout;
  return text;
}

/// Returns a hue in thousandths of the color circle. The golden ratio makes the
/// hues of consecutive layouts differ; red is reserved for conversions that
/// move bytes.
static unsigned getHue(unsigned layout) {
  return 100 + layout * 618 % 1000 * 4 / 5;
}

static std::string getColor(std::optional<unsigned> layout) {
  std::string color = "0.000 0.000 0.850";
  if (layout)
    color = llvm::formatv("0.{0} 0.550 0.950", getHue(*layout));
  return color;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// Returns the name in the location of an op, which is its name in the source
/// model, or an empty string.
static StringRef getName(Operation *op) {
  auto name = op->getLoc()->findInstanceOf<NameLoc>();
  return name ? name.getName().getValue() : StringRef();
}

/// Returns `name`, or its first and last 24 characters around an ellipsis if it
/// has more than 72.
static std::string shorten(StringRef name) {
  constexpr size_t kEnd = 24;
  if (name.size() <= 3 * kEnd)
    return name.str();
  return (name.take_front(kEnd) + "..." + name.take_back(kEnd)).str();
}

/// Returns the label of a box of ops: the most frequent kinds of ops and their
/// counts, and the result of the box. Between them are the source names of the
/// first and the last op that have one.
static std::string describeRun(const Box &box) {
  llvm::MapVector<StringRef, unsigned> counts;
  SmallVector<StringRef> names;
  for (Operation *op : box.ops) {
    ++counts[op->getName().getStringRef()];
    if (StringRef name = getName(op); !name.empty())
      names.push_back(name);
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
    os << "\n" << shorten(names.front());
  if (names.size() > 1 && names.front() != names.back())
    os << " .. " << shorten(names.back());
  if (auto tensor = dyn_cast_if_present<RankedTensorType>(box.getType()))
    os << "\n" << printShape(tensor);
  return text;
}

static std::string describeConversion(const CostTable::Row &row) {
  std::string moved =
      row.plan.isFree() ? "a view"
                        : std::to_string(row.plan.bytesRead) + " + " +
                              std::to_string(row.plan.bytesWritten) + " bytes";
  // Split the reason into two lines.
  auto [need, reason] = StringRef(row.why).split(", ");
  return ("layout.convert\n" + moved + "\n" + need + "\n" + reason).str();
}

static std::string describeFrame(Operation *op) {
  std::string label = op->getName().getStringRef().str();
  if (auto function = dyn_cast<FunctionOpInterface>(op))
    label += " @" + function.getName().str();
  return label;
}

//===----------------------------------------------------------------------===//
// dot
//===----------------------------------------------------------------------===//

void DotPrinter::printBox(unsigned number) {
  const Box &box = graph.boxes[number];
  Type type = box.getType();
  std::string label, shape = "box", color = getColor(numbers.getNumber(type)),
                     kind = numbers.getId(type);
  if (box.argument) {
    label = "argument " + std::to_string(box.argument.getArgNumber()) + "\n" +
            printShape(cast<RankedTensorType>(type));
    shape = "ellipse";
  } else if (ConvertOp convert = box.getConversion()) {
    auto row = CostTable::Row::get(convert, target);
    label = describeConversion(row);
    shape = "octagon";
    if (!row.plan.isFree()) {
      color = kRed.str();
      kind = "moves";
    }
  } else {
    label = describeRun(box);
  }
  indent() << "n" << number << " [id=n" << number << " class=" << kind
           << " label=\"" << escapeDot(label) << "\" shape=" << shape
           << " fillcolor=\"" << color << "\"];\n";
}

void DotPrinter::printFrame(Operation *op) {
  indent() << "subgraph cluster_" << numFrames++ << " {\n";
  ++depth;
  indent() << "label=\"" << escapeDot(describeFrame(op)) << "\";\n";
  for (Region &region : op->getRegions())
    for (Block &block : region)
      printBoxes(block);
  --depth;
  indent() << "}\n";
}

void DotPrinter::printBoxes(Block &block) {
  for (unsigned number : graph.getBoxes(&block))
    printBox(number);
  for (Operation *frame : graph.getFrames(&block))
    printFrame(frame);
}

/// Prints the arrows to a box: one for each box that it reads and each type of
/// a tensor that it reads from there.
void DotPrinter::printArrows(unsigned number) {
  llvm::SmallDenseSet<std::pair<unsigned, Type>> known;
  for (auto [from, value] : graph.getReads(number)) {
    auto type = cast<RankedTensorType>(value.getType());
    if (known.insert({from, type}).second)
      os << "  n" << from << " -> n" << number
         << " [class=" << numbers.getId(type) << " edgetooltip=\""
         << escapeDot(printShape(type)) << "\" color=\""
         << getColor(numbers.getNumber(type)) << "\"];\n";
  }
}

void DotPrinter::printLegend() {
  os << "  subgraph cluster_legend {\n    id=legend_frame;\n    "
        "label=\"layouts\";\n"
     << "    plain [id=plain class=plain label=\"row-major\" fillcolor=\""
     << getColor(std::nullopt) << "\"];\n";
  for (auto [number, layout] : llvm::enumerate(numbers.getLayouts())) {
    std::string id = getLayoutId(number);
    os << "    " << id << " [id=" << id << " class=" << id << " label=\""
       << escapeDot(::print(layout)) << "\" fillcolor=\"" << getColor(number)
       << "\"];\n";
  }
  os << "  }\n";
}

void DotPrinter::print(Operation *root) {
  os << "digraph layouts {\n"
     << "  graph [fontname=\"sans-serif\" fontsize=11 style=rounded "
        "color=\"0.000 0.000 0.700\"];\n"
     << "  node [shape=box style=\"filled,rounded\" penwidth=0 "
        "margin=\"0.16,0.07\" fontname=\"sans-serif\" fontsize=10];\n"
     << "  edge [penwidth=2 arrowsize=0.7];\n";
  if (isa<FunctionOpInterface>(root))
    printFrame(root);
  else
    for (Region &region : root->getRegions())
      for (Block &block : region)
        printBoxes(block);
  for (unsigned number = 0; number < graph.boxes.size(); ++number)
    printArrows(number);
  printLegend();
  os << "}\n";
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

namespace {
class JsonPrinter {
public:
  JsonPrinter(const LayoutGraph &graph, TargetInterface target, raw_ostream &os)
      : graph(graph), target(target), json(os, /*IndentSize=*/1),
        numbers(graph) {}

  void print();

private:
  void printTensor(Type type);
  void printBox(unsigned number);

  const LayoutGraph &graph;
  TargetInterface target;
  llvm::json::OStream json;
  LayoutNumbers numbers;
  llvm::SetVector<StringAttr> maps;
};
} // namespace

void JsonPrinter::printTensor(Type type) {
  auto tensor = dyn_cast_if_present<RankedTensorType>(type);
  if (!tensor)
    return;
  FailureOr<LayoutMap> map = getLayoutMap(tensor);
  auto text = StringAttr::get(type.getContext(), failed(map) ? "" : map->str());
  maps.insert(text);
  json.attribute("tensor", toUtf8(printShape(tensor)));
  json.attribute("layout", numbers.getId(type));
  json.attribute("map", int64_t(llvm::find(maps, text) - maps.begin()));
}

void JsonPrinter::printBox(unsigned number) {
  const Box &box = graph.boxes[number];
  json.attribute("id", "n" + std::to_string(number));
  printTensor(box.getType());
  if (box.argument)
    json.attribute("argument", int64_t(box.argument.getArgNumber()));
  if (ConvertOp convert = box.getConversion())
    json.attributeObject("conversion", [&] {
      auto row = CostTable::Row::get(convert, target);
      printRow(json, row);
      json.attributeObject("read", [&] { printTensor(row.from); });
    });
  json.attributeArray("reads", [&] {
    llvm::SmallDenseSet<unsigned> known;
    for (auto [from, value] : graph.getReads(number))
      if (known.insert(from).second)
        json.value("n" + std::to_string(from));
  });
  json.attributeArray("ops", [&] {
    for (Operation *op : box.ops)
      json.object([&] {
        json.attribute("op", toUtf8(op->getName().getStringRef()));
        json.attribute("name", toUtf8(getName(op)));
        if (op->getNumResults())
          printTensor(op->getResult(0).getType());
      });
  });
}

void JsonPrinter::print() {
  json.object([&] {
    json.attributeArray("boxes", [&] {
      for (unsigned number = 0; number < graph.boxes.size(); ++number)
        if (const Box &box = graph.boxes[number];
            box.argument || !box.ops.empty())
          json.object([&] { printBox(number); });
    });
    json.attributeArray("layouts", [&] {
      for (auto [number, layout] : llvm::enumerate(numbers.getLayouts()))
        json.object([&] {
          json.attribute("id", getLayoutId(number));
          json.attribute("hue", int64_t(getHue(number)));
          json.attribute("text", toUtf8(::print(layout)));
        });
    });
    json.attributeArray("maps", [&] {
      for (StringAttr map : maps)
        json.value(map.getValue());
    });
  });
}

void layout::printLayoutGraph(Operation *root, TargetInterface target,
                              GraphFormat format, raw_ostream &os,
                              unsigned maxBoxes) {
  LayoutGraph graph(root, target, maxBoxes);
  if (format == GraphFormat::json)
    JsonPrinter(graph, target, os).print();
  else
    DotPrinter(graph, target, os).print(root);
}

namespace {
struct PrintGraphPass : layout::impl::PrintGraphPassBase<PrintGraphPass> {
  using PrintGraphPassBase::PrintGraphPassBase;

  void runOnOperation() override {
    Operation *root = getOperation();
    markAllAnalysesPreserved();
    if (failed(printToFile(
            root, target, output, [&](TargetInterface wanted, raw_ostream &os) {
              printLayoutGraph(root, wanted, format, os, maxBoxes);
            })))
      signalPassFailure();
  }
};
} // namespace
