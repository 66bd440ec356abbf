//===- EmitIndexTest.cpp - Emitted maps agree with their numbers ----------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// L4: the code emitted for a map is compiled, run on every point of a box and
// around its storage, and compared with the map, which other tests compare with
// an independent evaluator.
//
//===----------------------------------------------------------------------===//

#include "layout/Dialect/Layout/Utils/EmitIndex.h"
#include "RandomMaps.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "llvm/Support/TargetSelect.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::layout;
using layout_test::Expr;
using layout_test::Index;

namespace {

constexpr uint64_t kSeed = 20250202;

/// A map on a shape; the emitted functions take unknown sizes as arguments.
struct Case {
  LayoutMap map;
  Index sizes, known;
};

/// Emits the functions of all cases in one module and runs them.
class Compiled {
public:
  explicit Compiled(ArrayRef<Case> cases);

  /// Runs a function of case `c` on `arguments` and its sizes.
  Index run(StringRef name, size_t c, const Index &arguments);
  bool hasBackward(size_t c) const { return inverted[c]; }

private:
  using Emit = function_ref<FailureOr<SmallVector<Value>>(
      OpBuilder &, Location, ValueRange, ArrayRef<OpFoldResult>)>;
  bool addFunction(StringRef name, size_t c, unsigned argumentCount, Emit emit);

  DialectRegistry registry;
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::vector<Case> cases;
  std::vector<bool> inverted;
  std::vector<unsigned> resultCount;
  std::unique_ptr<ExecutionEngine> engine;
};

std::string nameOf(StringRef name, size_t c) { return (name + Twine(c)).str(); }

/// Emits func @name<c>(arguments, sizes) -> results, all of index type.
bool Compiled::addFunction(StringRef name, size_t c, unsigned argumentCount,
                           Emit emit) {
  OpBuilder b = OpBuilder::atBlockEnd(module->getBody());
  Location loc = b.getUnknownLoc();
  const Index &known = cases[c].known;
  SmallVector<Type> inputs(argumentCount + known.size(), b.getIndexType());
  auto function = func::FuncOp::create(b, loc, nameOf(name, c),
                                       b.getFunctionType(inputs, {}));
  Block *block = function.addEntryBlock();
  b.setInsertionPointToStart(block);
  SmallVector<OpFoldResult> sizes;
  for (auto [d, size] : llvm::enumerate(known))
    sizes.push_back(size >= 0 ? OpFoldResult(b.getIndexAttr(size))
                              : block->getArgument(argumentCount + d));
  FailureOr<SmallVector<Value>> results =
      emit(b, loc, block->getArguments().take_front(argumentCount), sizes);
  if (failed(results)) {
    // A failure must not leave ops behind.
    EXPECT_TRUE(block->empty());
    function.erase();
    return false;
  }
  for (Value &result : *results)
    if (!result.getType().isIndex())
      result = arith::IndexCastUIOp::create(b, loc, b.getIndexType(), result);
  func::ReturnOp::create(b, loc, *results);
  SmallVector<Type> types(results->size(), b.getIndexType());
  function.setFunctionType(b.getFunctionType(inputs, types));
  return true;
}

Compiled::Compiled(ArrayRef<Case> list) : cases(list) {
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  context.appendDialectRegistry(registry);
  context.loadDialect<affine::AffineDialect, arith::ArithDialect,
                      func::FuncDialect, LLVM::LLVMDialect>();
  module = ModuleOp::create(UnknownLoc::get(&context));
  for (size_t c = 0; c < cases.size(); ++c) {
    const LayoutMap &map = cases[c].map;
    const Index &known = cases[c].known;
    addFunction("forward", c, map.getNumDims(),
                [&](OpBuilder &b, Location loc, ValueRange index,
                    ArrayRef<OpFoldResult> sizes) {
                  return FailureOr<SmallVector<Value>>(
                      emitForward(b, loc, map, index, sizes));
                });
    addFunction("axes", c, map.getNumDims(),
                [&](OpBuilder &b, Location loc, ValueRange index,
                    ArrayRef<OpFoldResult> sizes) {
                  return FailureOr<SmallVector<Value>>(
                      emitStoredAxes(b, loc, map, index, sizes));
                });
    inverted.push_back(addFunction(
        "backward", c, map.getCoordinates().size(),
        [&](OpBuilder &b, Location loc, ValueRange point,
            ArrayRef<OpFoldResult> sizes) -> FailureOr<SmallVector<Value>> {
          FailureOr<EmittedIndex> found =
              emitBackwardOfPoint(b, loc, map, known, point, sizes);
          if (failed(found))
            return failure();
          SmallVector<Value> results = found->index;
          results.push_back(
              found->isElement
                  ? found->isElement
                  : arith::ConstantIntOp::create(b, loc, 1, 1).getResult());
          return results;
        }));
  }
  EXPECT_TRUE(succeeded(verify(*module)));

  // The emitted module can be printed and parsed.
  std::string text;
  llvm::raw_string_ostream os(text);
  module->print(os);
  module = parseSourceString<ModuleOp>(text, &context);
  EXPECT_TRUE(module) << text;
  if (!module)
    return;

  PassManager passes(&context);
  passes.addPass(createLowerAffinePass());
  passes.addPass(arith::createArithExpandOpsPass());
  passes.addPass(createArithToLLVMConversionPass());
  passes.addPass(createConvertFuncToLLVMPass());
  passes.addPass(createReconcileUnrealizedCastsPass());
  EXPECT_TRUE(succeeded(passes.run(*module)));

  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  ExecutionEngineOptions options;
  options.jitCodeGenOptLevel = llvm::CodeGenOptLevel::None;
  auto created = ExecutionEngine::create(*module, options);
  EXPECT_TRUE(static_cast<bool>(created));
  engine = std::move(*created);
}

Index Compiled::run(StringRef name, size_t c, const Index &arguments) {
  auto entry = engine->lookupPacked(nameOf(name, c));
  EXPECT_TRUE(static_cast<bool>(entry));
  const Case &ofCase = cases[c];
  size_t count = name == "forward"    ? ofCase.map.getCoordinates().size()
                 : name == "backward" ? ofCase.map.getRank() + 1
                                      : ofCase.map.getStoredAxes().size();
  Index values = arguments, results(count);
  llvm::append_range(values, ofCase.sizes);
  SmallVector<void *> packed;
  for (int64_t &value : values)
    packed.push_back(&value);
  packed.push_back(results.data());
  (*entry)(packed.data());
  return results;
}

/// Runs every function of every case on its box and storage.
void checkCases(ArrayRef<Case> cases, unsigned &invertedCount) {
  Compiled compiled(cases);
  for (size_t c = 0; c < cases.size() && !testing::Test::HasFailure(); ++c) {
    const LayoutMap &map = cases[c].map;
    const Index &sizes = cases[c].sizes;
    SCOPED_TRACE("seed " + std::to_string(kSeed) + ", case " +
                 std::to_string(c) + ": " + map.str() + " on " +
                 testing::PrintToString(sizes) + ", known " +
                 testing::PrintToString(cases[c].known));
    SmallVector<int64_t> box = map.getBox(sizes);
    layout_test::forEachIndex(
        Index(box.begin(), box.end()), [&](const Index &index) {
          auto expected = map.forward(index, sizes);
          ASSERT_TRUE(expected);
          ASSERT_EQ(compiled.run("forward", c, index),
                    Index(expected->begin(), expected->end()));
          Index axes;
          for (const StoredAxis &axis : map.getStoredAxes())
            axes.push_back(*axis.value.evaluate(index, sizes));
          if (!axes.empty()) {
            ASSERT_EQ(compiled.run("axes", c, index), axes);
          }
        });
    if (!compiled.hasBackward(c))
      continue;
    ++invertedCount;
    auto expectAt = [&](const Index &point) {
      Index found = compiled.run("backward", c, point);
      auto expected = map.backward(point, sizes);
      ASSERT_EQ(found.back() != 0, expected.has_value())
          << testing::PrintToString(point);
      found.pop_back();
      if (expected) {
        ASSERT_EQ(found, Index(expected->begin(), expected->end()))
            << testing::PrintToString(point);
      }
    };
    auto extents = map.storageExtent(sizes);
    ASSERT_TRUE(extents);
    // One position around the storage on every side, and far away.
    Index around;
    for (int64_t extent : *extents)
      around.push_back(extent + 2);
    layout_test::forEachIndex(around, [&](const Index &shifted) {
      Index point = shifted;
      for (int64_t &x : point)
        --x;
      expectAt(point);
    });
    for (int64_t far : {INT64_MAX, INT64_MIN, INT64_MAX / 3})
      expectAt(Index(extents->size(), far));
  }
}

LayoutMap makeMap(unsigned rank, StringRef space,
                  ArrayRef<std::pair<StringRef, BoundedIndex>> coordinates,
                  ArrayRef<int64_t> replicas = {}) {
  std::vector<Coordinate> list;
  for (const auto &[name, x] : coordinates)
    list.push_back({name.str(), x.value, x.extent});
  return LayoutMap::get(rank, space, list, replicas);
}

Index forget(const Index &sizes, layout_test::RandomMaps &random) {
  Index known = sizes;
  for (int64_t &size : known)
    if (random.below(2))
      size = kUnknownSize;
  return known;
}

TEST(EmitIndex, RandomMapsOnStaticAndDynamicShapes) {
  layout_test::RandomMaps random(kSeed);
  unsigned inverted = 0, total = 0;
  for (int batch = 0; batch < 4 && !testing::Test::HasFailure(); ++batch) {
    std::vector<Case> cases;
    for (int i = 0; i < 40; ++i) {
      unsigned rank = 1 + random.below(3);
      Index sizes = random.sizes(rank, 6);
      Expr expr = i % 4 == 0   ? random.any(rank, 2)
                  : i % 4 == 1 ? random.swizzled(rank)
                               : random.nested(rank);
      LayoutMap map = layout_test::buildMap(rank, expr);
      // Storage that can be enumerated, and an injective map.
      if ((*map.storageExtent(sizes))[0] <= 4000)
        cases.push_back({map, sizes, forget(sizes, random)});
    }
    total += cases.size();
    checkCases(cases, inverted);
  }
  EXPECT_GT(inverted, total / 3);
}

TEST(EmitIndex, SpacesOfSeveralCoordinates) {
  BoundedIndex n = BoundedIndex::dim(0), h = BoundedIndex::dim(1),
               w = BoundedIndex::dim(2), c = BoundedIndex::dim(3);
  std::vector<Case> cases;
  LayoutMap image = makeMap(4, "image2d",
                            {{"x", group({floorDiv(c, 4), w})},
                             {"y", group({n, h})},
                             {"lane", mod(c, 4)}});
  BoundedIndex row = pad(c, 2, 0);
  BoundedIndex pixels = align(group({h, w}), 8);
  LayoutMap npu = makeMap(
      4, "npu",
      {{"npu", mod(row, 4)}, {"offset", group({n, floorDiv(row, 4), pixels})}});
  for (const LayoutMap &map : {image, npu})
    for (const Index &sizes : {Index{2, 3, 3, 6}, Index{1, 1, 2, 9},
                               Index{3, 2, 5, 1}, Index{0, 2, 5, 1}}) {
      cases.push_back({map, sizes, sizes});
      cases.push_back({map, sizes, Index(4, kUnknownSize)});
      cases.push_back(
          {map, sizes, {kUnknownSize, sizes[1], sizes[2], sizes[3]}});
    }
  unsigned inverted = 0;
  checkCases(cases, inverted);
  EXPECT_GE(inverted, 20u);
}

TEST(EmitIndex, SwizzlesWithConstantsAndOfSwizzles) {
  BoundedIndex i = BoundedIndex::dim(0), j = BoundedIndex::dim(1);
  BoundedIndex low =
      xorOf({mod(i, 4), mod(j, 4), BoundedIndex::constant(SizeExpr(2))}, 4);
  BoundedIndex twice = mod(floorDiv(pad(group({low, mod(j, 4)}), 1, 0), 3), 8);
  std::vector<Case> cases;
  for (const BoundedIndex &offset :
       {group({i, xorOf({mod(j, 8), BoundedIndex::constant(SizeExpr(5))}, 8)}),
        group({floorDiv(i, 4), j, low}), group({i, j, xorOf({twice, i}, 8)})})
    for (const Index &known : {Index{6, 7}, Index{kUnknownSize, kUnknownSize}})
      cases.push_back(
          {makeMap(2, "buffer", {{"offset", offset}}), {6, 7}, known});
  unsigned inverted = 0;
  checkCases(cases, inverted);
  EXPECT_GE(inverted, 4u);
}

TEST(EmitIndex, ReplicasHaveOneIndexEach) {
  BoundedIndex i = BoundedIndex::dim(0), j = BoundedIndex::dim(1),
               r{IndexExpr::dim(2), SizeExpr(3)};
  LayoutMap map = makeMap(
      2, "buffer",
      {{"offset", group({r, floorDiv(j, 2), align(i, 4), mod(j, 2)})}}, {3});
  std::vector<Case> cases{{map, {5, 7}, {5, 7}},
                          {map, {5, 7}, {kUnknownSize, kUnknownSize}}};
  unsigned inverted = 0;
  checkCases(cases, inverted);
  EXPECT_EQ(inverted, 2u);
}

} // namespace
