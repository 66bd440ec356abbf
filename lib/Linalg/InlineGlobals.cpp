//===- InlineGlobals.cpp - layout-prepare-inline-globals ------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Linalg/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::layout {
#define GEN_PASS_DEF_INLINEGLOBALSPASS
#include "layout/Linalg/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;
using namespace mlir::layout;

namespace {
/// The immutable global that an op reads, and its value. If the op does not
/// read one, `global` is nullptr and `value` is a null attribute.
struct Content {
  Operation *global = nullptr;
  Attribute value;
};
} // namespace

static Content getContent(ml_program::GlobalOp global) {
  if (!global || global.getIsMutable() || !global.getValue())
    return {};
  return {global, *global.getValue()};
}

static Content findContent(Operation *op, SymbolTableCollection &tables) {
  if (auto load = dyn_cast<ml_program::GlobalLoadOp>(op))
    return getContent(load.getGlobalOp(tables));
  if (auto load = dyn_cast<ml_program::GlobalLoadConstOp>(op))
    return getContent(load.getGlobalOp(tables));
  auto tensor = dyn_cast<bufferization::ToTensorOp>(op);
  auto address = tensor
                     ? tensor.getBuffer().getDefiningOp<memref::GetGlobalOp>()
                     : memref::GetGlobalOp();
  if (!address)
    return {};
  auto global = tables.lookupNearestSymbolFrom<memref::GlobalOp>(
      address, address.getNameAttr());
  if (!global || !global.getConstant() || !global.getInitialValue())
    return {};
  return {global, *global.getInitialValue()};
}

static void inlineGlobals(Operation *root) {
  SymbolTableCollection tables;
  llvm::SetVector<Operation *> globals;
  root->walk([&](Operation *op) {
    Content content = findContent(op, tables);
    auto value = dyn_cast_or_null<ElementsAttr>(content.value);
    if (!value || value.getType() != op->getResult(0).getType())
      return;
    OpBuilder builder(op);
    auto constant = arith::ConstantOp::create(builder, op->getLoc(), value);
    op->getResult(0).replaceAllUsesWith(constant);
    if (auto tensor = dyn_cast<bufferization::ToTensorOp>(op)) {
      Operation *address = tensor.getBuffer().getDefiningOp();
      op->erase();
      if (address->use_empty())
        address->erase();
    } else {
      op->erase();
    }
    globals.insert(content.global);
  });
  for (Operation *global : globals)
    if (cast<SymbolOpInterface>(global).isPrivate() &&
        SymbolTable::symbolKnownUseEmpty(global, global->getParentOp()))
      global->erase();
}

namespace {
struct InlineGlobalsPass
    : layout::impl::InlineGlobalsPassBase<InlineGlobalsPass> {
  void runOnOperation() override { inlineGlobals(getOperation()); }
};
} // namespace
