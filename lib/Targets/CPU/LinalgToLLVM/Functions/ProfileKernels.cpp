//===- ProfileKernels.cpp - Kernels that measure how long they take -------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads a clock before and after each call of a kernel, and each copy or loop
// outside of kernels.
//
//===----------------------------------------------------------------------===//

#include "Functions/OutlinedKernels.h"
#include "layout/Support/OpCountEstimate.h"
#include "layout/Support/Places.h"
#include "layout/Support/Profile.h"
#include "layout/Targets/CPU/LinalgToLLVM/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::layout {
#define GEN_PASS_DEF_PROFILEKERNELSPASS
#include "layout/Targets/CPU/LinalgToLLVM/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;

namespace {
class Profiler {
public:
  explicit Profiler(ModuleOp module) : module(module), symbols(module) {}

  void run() {
    for (auto function : module.getOps<func::FuncOp>())
      if (!function->hasAttr(layout::kKernelAttrName))
        for (Block &block : function.getBody())
          findKernels(block);
    nameKernels();
    if (!kernels.empty())
      measureAll();
  }

private:
  /// An op whose run time is measured. `slot` is the number of its name in
  /// `names`; `operations` is the number of operations on elements that it
  /// executes, or std::nullopt if unknown.
  struct Part {
    Operation *op;
    unsigned slot = 0;
    std::optional<int64_t> operations = std::nullopt;
  };

  void findKernels(Block &block);
  void nameKernels();
  LLVM::GlobalOp createCounters(OpBuilder &b);
  void measureAll();
  Operation *getCallee(Operation *op) {
    auto call = dyn_cast<func::CallOp>(op);
    return call ? symbols.lookup(call.getCallee()) : nullptr;
  }

  ModuleOp module;
  SymbolTable symbols;
  SmallVector<Part> kernels;
  DenseMap<Attribute, unsigned> slots; // slot of each name
  SmallVector<Attribute> names;
};
} // namespace

void Profiler::findKernels(Block &block) {
  for (Operation &op : block) {
    if (Operation *callee = getCallee(&op)) {
      if (callee->hasAttr(layout::kKernelAttrName))
        kernels.push_back({&op});
      continue;
    }
    bool calls = op.walk([](func::CallOp) {
                     return WalkResult::interrupt();
                   }).wasInterrupted();
    if (calls) {
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          findKernels(inner);
    } else if (op.getNumRegions() || isa<memref::CopyOp>(op)) {
      kernels.push_back({&op});
    }
  }
}

/// Assigns to each measured op the slot of its name, which has two counters:
/// the time and the number of operations. Ops that come from one op of the
/// user's program have one name and share the slot. If the number of operations
/// of one of them is unknown, those of all are.
void Profiler::nameKernels() {
  MLIRContext *context = module.getContext();
  for (Part &kernel : kernels) {
    auto name =
        StringAttr::get(context, layout::printPlace(kernel.op->getLoc()));
    auto [it, isNew] = slots.try_emplace(name, names.size());
    if (isNew)
      names.push_back(name);
    kernel.slot = it->second;
    Operation *callee = getCallee(kernel.op);
    kernel.operations = layout::countOperations(callee ? callee : kernel.op);
  }
  // A name has an operation count only if all of its parts have one.
  llvm::SmallDenseSet<unsigned> unknown;
  for (const Part &kernel : kernels)
    if (!kernel.operations)
      unknown.insert(kernel.slot);
  for (Part &kernel : kernels)
    if (unknown.contains(kernel.slot))
      kernel.operations.reset();
}

LLVM::GlobalOp Profiler::createCounters(OpBuilder &b) {
  auto type = LLVM::LLVMArrayType::get(b.getI64Type(), 2 * names.size());
  auto counters = LLVM::GlobalOp::create(
      b, module.getLoc(), type, /*isConstant=*/false, LLVM::Linkage::External,
      layout::kProfileGlobalName, Attribute());
  OpBuilder::InsertionGuard guard(b);
  b.createBlock(&counters.getInitializerRegion());
  Value zeros = LLVM::ZeroOp::create(b, module.getLoc(), type);
  LLVM::ReturnOp::create(b, module.getLoc(), zeros);
  return counters;
}

void Profiler::measureAll() {
  auto b = OpBuilder::atBlockBegin(module.getBody());
  Type word = b.getI64Type(),
       pointer = LLVM::LLVMPointerType::get(b.getContext());
  LLVM::GlobalOp counters = createCounters(b);
  auto clock = func::FuncOp::create(b, module.getLoc(), layout::kClockName,
                                    b.getFunctionType({}, word));
  clock.setPrivate();
  for (const Part &kernel : kernels) {
    Location loc = kernel.op->getLoc();
    auto readClock = [&] {
      return func::CallOp::create(b, loc, clock).getResult(0);
    };
    auto addTo = [&](unsigned index, Value value) {
      Value base = LLVM::AddressOfOp::create(b, loc, counters);
      Value slot = LLVM::GEPOp::create(b, loc, pointer, word, base,
                                       ArrayRef<LLVM::GEPArg>{index});
      Value sum = arith::AddIOp::create(
          b, loc, LLVM::LoadOp::create(b, loc, word, slot), value);
      LLVM::StoreOp::create(b, loc, sum, slot);
    };
    b.setInsertionPoint(kernel.op);
    Value begin = readClock();
    b.setInsertionPointAfter(kernel.op);
    addTo(2 * kernel.slot, arith::SubIOp::create(b, loc, readClock(), begin));
    if (kernel.operations)
      addTo(2 * kernel.slot + 1,
            arith::ConstantIntOp::create(b, loc, word, *kernel.operations));
  }
  module->setAttr(layout::kProfileAttrName, b.getArrayAttr(names));
}

namespace {
struct ProfileKernels : layout::impl::ProfileKernelsPassBase<ProfileKernels> {
  void runOnOperation() override {
    for (StringRef name : {layout::kProfileGlobalName, layout::kClockName})
      if (Operation *taken = getOperation().lookupSymbol(name)) {
        taken->emitError("layout-cpu-profile-kernels: '")
            << name
            << "' is the name of a symbol that the pass creates; rename "
            << "this one";
        return signalPassFailure();
      }
    Profiler(getOperation()).run();
  }
};
} // namespace
