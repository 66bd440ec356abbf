//===- user-op.cpp - An op of another project takes part ------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A dialect that this library has never heard of, with one op. What the op asks
// of layouts is all that has to be said: candidates, costs, the assignment, the
// insertion of conversions and the verification work from that.
//
//   "user.gate"(%x, %g) : scales each channel of %x, which is n x c x h x w, by
//   the element of %g, which is n x c
//
// The program reads a module from standard input, runs the pipeline of its
// first argument, `layout-assign` where there is none, and writes the module.
//
//===----------------------------------------------------------------------===//

#include "layout/Interfaces/LayoutOpInterface.h"
#include "layout/Pipelines/Registration.h"
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
                         layout::LayoutOpInterface::Trait> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(GateOp)
  using Op::Op;
  static StringRef getOperationName() { return "user.gate"; }
  static ArrayRef<StringRef> getAttributeNames() { return {}; }

  layout::OpLayoutRule getLayoutRule() {
    using utils::IteratorType;
    auto type = cast<RankedTensorType>(getOperation()->getResult(0).getType());
    MLIRContext *context = getContext();
    // Loops n, c, h and w; the gate sees the first two.
    AffineMap all = AffineMap::getMultiDimIdentityMap(4, context);
    AffineMap gate = all.getMajorSubMap(2);
    layout::OpLayoutRule rule;
    rule.kind = layout::OpLayoutRule::Kind::Loops;
    for (int64_t size : type.getShape())
      rule.loops.push_back({IteratorType::parallel, size, false});
    rule.operandMaps = {all, gate};
    rule.resultMaps = {all};
    rule.isRead = {true, true};
    rule.opsPerPoint = 1;
    layout::findTileableLoops(rule);
    return rule;
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
