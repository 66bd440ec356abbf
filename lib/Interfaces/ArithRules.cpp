//===- ArithRules.cpp - Layout rules of arith -----------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rule of constants. Elementwise ops have their rule from their traits.
//
//===----------------------------------------------------------------------===//

#include "layout/Interfaces/LayoutOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/DialectRegistry.h"

using namespace mlir;
using namespace mlir::layout;

namespace {
struct ConstantModel
    : LayoutOpInterface::ExternalModel<ConstantModel, arith::ConstantOp> {
  OpLayoutRule getLayoutRule(Operation *op) const {
    if (!isa<RankedTensorType>(op->getResult(0).getType()))
      return OpaqueRule{"it is not a ranked tensor"};
    return RematerializableRule{};
  }
};
} // namespace

void layout::registerArithLayoutRules(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, arith::ArithDialect *) {
    arith::ConstantOp::attachInterface<ConstantModel>(*context);
  });
}
