//===- BF16AsBits.cpp - bf16 in memory and registers as 16 bits -----------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Replaces bf16 by i16. LLVM 22 cannot lower some bf16 vectors on processors
// with AVX512-BF16: a load and store of nine elements crashes the compiler
// (docs/upstream/llc-bf16-vectors.mlir). Arithmetic has been extended to f32,
// so that bf16 values are only moved, and integers move as fast.
//
//===----------------------------------------------------------------------===//

#include "layout/Targets/CPU/LinalgToLLVM/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace mlir::layout {
#define GEN_PASS_DEF_BF16ASBITSPASS
#include "layout/Targets/CPU/LinalgToLLVM/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;

/// Returns true if a value, a global or a function in `root` has bf16.
static bool hasBF16(Operation *root) {
  DenseMap<Type, bool> known;
  auto isBF16 = [&](Type type) {
    auto [place, isNew] = known.try_emplace(type);
    if (isNew)
      place->second =
          type.walk([](BFloat16Type) { return WalkResult::interrupt(); })
              .wasInterrupted();
    return place->second;
  };
  WalkResult walk = root->walk([&](Operation *op) {
    bool has = llvm::any_of(op->getResultTypes(), isBF16);
    if (auto global = dyn_cast<LLVM::GlobalOp>(op))
      has = isBF16(global.getGlobalType());
    if (auto function = dyn_cast<LLVM::LLVMFuncOp>(op))
      has = isBF16(function.getFunctionType());
    for (Region &region : op->getRegions())
      for (Block &block : region)
        has |= llvm::any_of(block.getArgumentTypes(), isBF16);
    return has ? WalkResult::interrupt() : WalkResult::advance();
  });
  return walk.wasInterrupted();
}

namespace {
struct BF16AsBits : layout::impl::BF16AsBitsPassBase<BF16AsBits> {
  void runOnOperation() override {
    if (!hasBF16(getOperation()))
      return;
    auto bits = IntegerType::get(&getContext(), 16);
    AttrTypeReplacer replacer;
    replacer.addReplacement([&](BFloat16Type) -> Type { return bits; });
    replacer.addReplacement([&](FloatAttr attr) -> std::optional<Attribute> {
      if (!attr.getType().isBF16())
        return std::nullopt;
      return IntegerAttr::get(bits, attr.getValue().bitcastToAPInt());
    });
    replacer.addReplacement(
        [&](DenseElementsAttr attr) -> std::optional<Attribute> {
          if (!attr.getElementType().isBF16())
            return std::nullopt;
          return attr.bitcast(bits);
        });
    // Discardable attributes, e.g. tensor signatures, keep their types.
    getOperation()->walk([&](Operation *op) {
      DictionaryAttr others = op->getDiscardableAttrDictionary();
      replacer.replaceElementsIn(op, /*replaceAttrs=*/true,
                                 /*replaceLocs=*/false, /*replaceTypes=*/true);
      op->setDiscardableAttrs(others);
    });
    SmallVector<Operation *> same;
    getOperation()->walk([&](LLVM::BitcastOp op) {
      if (op.getArg().getType() == op.getType())
        same.push_back(op);
    });
    for (Operation *op : same) {
      op->getResult(0).replaceAllUsesWith(op->getOperand(0));
      op->erase();
    }
  }
};
} // namespace
