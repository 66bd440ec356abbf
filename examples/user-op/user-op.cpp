//===- user-op.cpp - Layouts for an op of another project -----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A dialect outside of this project, with one op.
//
//   "user.gate"(%x, %g) : scales each channel of %x, which is n x c x h x w, by
//   the element of %g, which is n x c
//
// The op implements two interfaces. Its layout rule describes its loops and
// which operands they index: candidates, costs, the assignment, the insertion
// of conversions and the verification follow from that. Its decomposition
// rewrites it to ops on tensors of the same types; the lowering maps indices to
// storage.
//
// The program reads a module from standard input, runs the pipeline of its
// first argument (default: `layout-assign`), and writes the module.
//
//===----------------------------------------------------------------------===//

#include "layout/Interfaces/LayoutOpInterface.h"
#include "layout/Registration/Registration.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/InitAllDialects.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace {

class GateOp : public Op<GateOp, OpTrait::ZeroRegions, OpTrait::OneResult,
                         OpTrait::ZeroSuccessors, OpTrait::NOperands<2>::Impl,
                         layout::LayoutOpInterface::Trait,
                         linalg::AggregatedOpInterface::Trait> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(GateOp)
  using Op::Op;
  static StringRef getOperationName() { return "user.gate"; }
  static ArrayRef<StringRef> getAttributeNames() { return {}; }

  layout::OpLayoutRule getLayoutRule() {
    using utils::IteratorType;
    auto type = cast<RankedTensorType>(getOperation()->getResult(0).getType());
    MLIRContext *context = getContext();
    // Loops n, c, h and w; the gate is indexed by the first two.
    AffineMap all = AffineMap::getMultiDimIdentityMap(4, context);
    AffineMap gate = all.getMajorSubMap(2);
    layout::LoopsRule rule;
    for (int64_t size : type.getShape())
      rule.loops.push_back({IteratorType::parallel, size, false});
    rule.operandMaps = {all, gate};
    rule.resultMaps = {all};
    rule.isRead = {true, true};
    rule.opsPerPoint = 1;
    layout::findTileableLoops(rule);
    return rule;
  }

  FailureOr<SmallVector<Value>> decomposeOperation(OpBuilder &b) {
    Location loc = getLoc();
    Value x = getOperation()->getOperand(0), g = getOperation()->getOperand(1);
    auto type = cast<RankedTensorType>(getOperation()->getResult(0).getType());
    // New storage in the assigned layout.
    Value init =
        tensor::EmptyOp::create(b, loc, tensor::getMixedSizes(b, loc, x),
                                type.getElementType(), type.getEncoding());
    auto rule = std::get<layout::LoopsRule>(getLayoutRule());
    SmallVector<AffineMap> maps = rule.operandMaps;
    llvm::append_range(maps, rule.resultMaps);
    SmallVector<utils::IteratorType> loops(rule.loops.size(),
                                           utils::IteratorType::parallel);
    auto scale = [](OpBuilder &b, Location loc, ValueRange args) {
      Value scaled = arith::MulFOp::create(b, loc, args[0], args[1]);
      linalg::YieldOp::create(b, loc, scaled);
    };
    auto generic = linalg::GenericOp::create(b, loc, type, ValueRange{x, g},
                                             init, maps, loops, scale);
    return SmallVector<Value>(generic.getResults());
  }
};

class UserDialect : public Dialect {
public:
  static StringRef getDialectNamespace() { return "user"; }
  explicit UserDialect(MLIRContext *context)
      : Dialect(getDialectNamespace(), context, TypeID::get<UserDialect>()) {
    addOperations<GateOp>();
  }
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(UserDialect)
};

} // namespace

int main(int argc, char **argv) {
  DialectRegistry registry;
  registerAllDialects(registry);
  registry.insert<UserDialect>();
  layout::registerAllDialects(registry);
  layout::registerAllPasses();

  MLIRContext context(registry);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>("-", &context);
  PassManager pm(&context);
  if (!module ||
      failed(parsePassPipeline(argc > 1 ? argv[1] : "layout-assign", pm)) ||
      failed(pm.run(*module)))
    return 1;
  module->print(llvm::outs());
  return 0;
}
