//===- LayoutAssignerTest.cpp - Decisions for a changing module -----------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Analysis/LayoutAssigner.h"
#include "Prices.h"
#include <random>

using namespace mlir;
using namespace mlir::layout;

namespace {

class LayoutAssignerTest : public layout_test::PriceTest {
protected:
  LayoutAssignerTest()
      : target(cast<TargetInterface>(
            parseAttribute("#layout.cpu<lanes = 4>", &context))) {}

  OwningOpRef<ModuleOp> parse(StringRef text) {
    OwningOpRef<ModuleOp> parsed = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(parsed);
    return parsed;
  }

  /// Prints a decision completely, without addresses.
  static std::string print(const LayoutAssigner &assigner) {
    std::string text;
    llvm::raw_string_ostream os(text);
    os << assigner.getCost() << ' ' << assigner.getLowerBound() << '\n';
    for (const LayoutAssigner::Part *part : assigner.getParts()) {
      const LayoutAssignment &it = part->assignment;
      os << it.cost << ' ' << it.conversionCost << ' ' << it.lowerBound << ' '
         << it.exact << ' ' << it.conversions.size() << '\n';
      auto printLayouts = [&](ArrayRef<LayoutId> layouts) {
        for (LayoutId layout : layouts)
          os << ' '
             << (layout == kAnyLayout ? "any"
                                      : part->costs.getMap(layout).str());
      };
      for (unsigned n = 0; n < it.choice.size(); ++n) {
        os << it.choice[n];
        printLayouts(it.getConfig(n).exact.operands);
        printLayouts(it.getConfig(n).exact.results);
        os << '\n';
      }
    }
    return text;
  }

  std::string decideAnew(ModuleOp module) {
    LayoutAssigner fresh(target);
    EXPECT_TRUE(succeeded(fresh.assign(module)));
    EXPECT_EQ(fresh.getNumDecided(), fresh.getParts().size());
    return print(fresh);
  }

  TargetInterface target;
};

/// Writes functions that call each other in pairs, and some that do not.
std::string writeModule(unsigned functions) {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (unsigned f = 0; f < functions; ++f) {
    int64_t n = 4 + f % 3;
    std::string type = "tensor<" + std::to_string(n) + "x8xf32>";
    os << "func.func " << (f % 4 == 1 ? "private " : "") << "@f" << f
       << "(%x: " << type << ") -> " << type << " {\n"
       << "%w = arith.constant dense<1.0> : tensor<8x8xf32>\n"
       << "%z = arith.constant 0.0 : f32\n%e = tensor.empty() : " << type
       << "\n%i = linalg.fill ins(%z : f32) outs(%e : " << type << ") -> "
       << type << "\n%a = linalg.matmul ins(%x, %w : " << type
       << ", tensor<8x8xf32>) outs(%i : " << type << ") -> " << type
       << "\n%b = arith.negf %a : " << type << "\n";
    if (f % 4 == 2) {
      std::string called =
          "tensor<" + std::to_string(4 + (f - 1) % 3) + "x8xf32>";
      os << "%y = arith.constant dense<2.0> : " << called << "\n%c = call @f"
         << f - 1 << "(%y) : (" << called << ") -> " << called << "\n";
    }
    os << "return %b : " << type << "\n}\n";
  }
  return text;
}

/// Constants of all functions share one memory: its limit is applied to the
/// whole module, before and after edits.
TEST_F(LayoutAssignerTest, AllFunctionsShareTheMemory) {
  std::string text;
  for (std::string name : {"f", "g"})
    text += "func.func @" + name + R"((%x: tensor<1x64xf32>)
        -> tensor<1x64xf32> {
      %w = arith.constant dense<0.)" +
            (name == "f" ? "5" : "25") + R"(> : tensor<64x64xf32>
      %z = arith.constant 0.0 : f32
      %e = tensor.empty() : tensor<1x64xf32>
      %i = linalg.fill ins(%z : f32) outs(%e : tensor<1x64xf32>)
        -> tensor<1x64xf32>
      %y = linalg.matmul ins(%x, %w : tensor<1x64xf32>, tensor<64x64xf32>)
        outs(%i : tensor<1x64xf32>) -> tensor<1x64xf32>
      return %y : tensor<1x64xf32>
    }
    )";
  OwningOpRef<ModuleOp> module = parse(text);
  auto getTarget = [&](int64_t memory) {
    return cast<TargetInterface>(parseAttribute(
        "#layout.mesh_target<axes = [t = 4], device = #layout.cpu<lanes = 16>, "
        "message_cost = [100000000], memory = " +
            std::to_string(memory) + ">",
        &context));
  };
  // Splitting a constant costs messages, so none is split if both fit.
  LayoutAssigner ample(getTarget(1 << 20)), scarce(getTarget(32767));
  ASSERT_TRUE(succeeded(ample.assign(*module)));
  Operation &product =
      *std::next(module->lookupSymbol<func::FuncOp>("g").front().rbegin());
  for (bool isHeld : {false, true}) {
    if (isHeld)
      product.setDiscardableAttr("note", UnitAttr::get(&context));
    ASSERT_TRUE(succeeded(scarce.assign(*module)));
    ASSERT_EQ(scarce.getParts().size(), 1u);
    EXPECT_EQ(scarce.getNumDecided(), 1u);
    const LayoutAssignment &found = scarce.getParts().front()->assignment;
    EXPECT_LE(*found.memoryBytes, 32767);
    EXPECT_GT(found.cost, ample.getCost());
    CostModel costs(getTarget(32767));
    WeightOptions weights;
    weights.memory = getMemoryLimit(costs);
    LayoutAssignment whole =
        assignLayouts(*module, costs, {}, {}, LayoutConstraints(), weights);
    EXPECT_EQ(found.cost, whole.cost);
    EXPECT_EQ(found.choice, whole.choice);
    EXPECT_TRUE(found.exact);
  }
  std::string error;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    error = diagnostic.str();
    return success();
  });
  EXPECT_TRUE(failed(LayoutAssigner(getTarget(8191)).assign(*module)));
  EXPECT_NE(error.find("the target's 'memory': one device needs at least"),
            std::string::npos)
      << error;
}

TEST_F(LayoutAssignerTest, KeepsWhatIsUnchanged) {
  std::string body = "{\n %a = arith.negf %x : tensor<8x8xf32>\n"
                     " return %a : tensor<8x8xf32>\n}\n";
  std::string type = "(%x: tensor<8x8xf32>) -> tensor<8x8xf32> ";
  OwningOpRef<ModuleOp> module =
      parse("func.func @a" + type + body + "func.func private @b" + type +
            body + "func.func @c" + type +
            "{\n %a = call @b(%x) : (tensor<8x8xf32>) -> tensor<8x8xf32>\n"
            " return %a : tensor<8x8xf32>\n}\n");
  std::string text;
  llvm::raw_string_ostream(text) << *module;
  LayoutAssigner assigner(target);
  ASSERT_TRUE(succeeded(assigner.assign(*module)));
  EXPECT_EQ(assigner.getParts().size(), 2u); // a, and b with c
  EXPECT_EQ(assigner.getNumDecided(), 2u);
  ASSERT_TRUE(succeeded(assigner.assign(*module)));
  EXPECT_EQ(assigner.getNumDecided(), 0u);

  // An attribute on an op of the callee affects both functions.
  Operation &op =
      module->lookupSymbol<func::FuncOp>("b").getBody().front().front();
  op.setDiscardableAttr("note", UnitAttr::get(&context));
  ASSERT_TRUE(succeeded(assigner.assign(*module)));
  EXPECT_EQ(assigner.getNumDecided(), 1u);
  op.removeDiscardableAttr("note");

  // Attributes of the module affect all functions.
  (*module)->setAttr("note", UnitAttr::get(&context));
  ASSERT_TRUE(succeeded(assigner.assign(*module)));
  EXPECT_EQ(assigner.getNumDecided(), 2u);
  (*module)->removeAttr("note");

  // The module is unchanged.
  std::string after;
  llvm::raw_string_ostream(after) << *module;
  EXPECT_EQ(text, after);
}

TEST_F(LayoutAssignerTest, ReportsConstraintsThatCannotHold) {
  OwningOpRef<ModuleOp> module = parse(
      "func.func @a(%x: tensor<8xf32>) -> tensor<8xf32> {\n"
      " %a = arith.negf %x : tensor<8xf32>\n return %a : tensor<8xf32>\n}");
  LayoutAssigner assigner(target);
  ASSERT_TRUE(succeeded(assigner.assign(*module)));
  Operation &op =
      module->lookupSymbol<func::FuncOp>("a").getBody().front().front();
  op.setDiscardableAttr(kResultLayouts, ArrayAttr::get(&context, {}));
  std::string said;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    said += diagnostic.str();
    return success();
  });
  EXPECT_TRUE(failed(assigner.assign(*module)));
  EXPECT_NE(said.find("'layout.result_layouts' must be an array"),
            std::string::npos);
  // The function is decided again once its constraints are removed.
  op.removeDiscardableAttr(kResultLayouts);
  ASSERT_TRUE(succeeded(assigner.assign(*module)));
  EXPECT_EQ(print(assigner), decideAnew(*module));
}

/// Applies a random edit. Returns false if there was nothing to edit.
bool edit(ModuleOp module, std::mt19937 &random, MLIRContext *context) {
  SmallVector<func::FuncOp> functions(module.getOps<func::FuncOp>());
  func::FuncOp function = functions[random() % functions.size()];
  SmallVector<Operation *> ops;
  for (Operation &op : function.getBody().front())
    if (op.getName().getStringRef() == "arith.negf")
      ops.push_back(&op);
  Operation *op = ops.empty() ? nullptr : ops[random() % ops.size()];
  OpBuilder builder(context);
  switch (random() % 6) {
  case 0: { // a pin
    if (!op)
      return false;
    Attribute layout = parseAttribute(
        random() % 2
            ? "#layout.map<(i, j) -> buffer(j, i)>"
            : "#layout.map<(i, j) -> buffer(i, j floordiv 4, j mod 4)>",
        context);
    for (StringRef name : {kOperandLayouts, kResultLayouts})
      op->setDiscardableAttr(name, ArrayAttr::get(context, layout));
    return true;
  }
  case 1: // no pin
    for (StringRef name : {kOperandLayouts, kResultLayouts})
      if (op)
        op->removeDiscardableAttr(name);
    return op;
  case 2: { // one more op
    if (!op)
      return false;
    builder.setInsertionPointAfter(op);
    Value more = arith::NegFOp::create(builder, op->getLoc(), op->getResult(0));
    op->getResult(0).replaceAllUsesExcept(more, more.getDefiningOp());
    return true;
  }
  case 3: // one op less
    if (ops.size() < 2)
      return false;
    op->getResult(0).replaceAllUsesWith(op->getOperand(0));
    op->erase();
    return true;
  case 4: { // one function more
    auto copy = cast<func::FuncOp>(function->clone());
    copy.setName(("copy" + Twine(random())).str());
    module.insert(function, copy);
    return true;
  }
  default: // one function less
    if (functions.size() < 3 ||
        !SymbolTable::symbolKnownUseEmpty(function, module))
      return false;
    function.erase();
    return true;
  }
}

TEST_F(LayoutAssignerTest, EditsGiveWhatANewDecisionGives) {
  for (unsigned seed = 0; seed < 4; ++seed) {
    std::mt19937 random(seed);
    OwningOpRef<ModuleOp> module = parse(writeModule(11));
    LayoutAssigner assigner(target);
    ASSERT_TRUE(succeeded(assigner.assign(*module)));
    EXPECT_EQ(print(assigner), decideAnew(*module));
    for (unsigned edits = 0; edits < 60;) {
      if (!edit(*module, random, &context))
        continue;
      ++edits;
      ASSERT_TRUE(succeeded(assigner.assign(*module)));
      EXPECT_LE(assigner.getNumDecided(), 1u) << "seed " << seed;
      ASSERT_EQ(print(assigner), decideAnew(*module))
          << "seed " << seed << ", edit " << edits;
      if (edits % 10)
        continue;
      // The costs of all parts sum to that of the module.
      FailureOr<LayoutConstraints> constraints = readConstraints(*module);
      ASSERT_TRUE(succeeded(constraints));
      CostModel costs(target);
      EXPECT_EQ(assigner.getCost(),
                assignLayouts(*module, costs, {}, {}, *constraints).cost);
    }
  }
}

TEST_F(LayoutAssignerTest, ChoicesCountWhatWeightsTake) {
  OwningOpRef<ModuleOp> module = parse(writeModule(1));
  CostModel costs(target);
  WeightOptions weights;
  weights.costPercent = 100;
  LayoutAssignment decided =
      assignLayouts(*module, costs, {}, {}, LayoutConstraints(), weights);
  EXPECT_GT(decided.weightCost, 0);
  Cost cost = decided.cost;
  setChoice(decided, decided.choice, costs);
  EXPECT_EQ(decided.cost, cost);
}

} // namespace
