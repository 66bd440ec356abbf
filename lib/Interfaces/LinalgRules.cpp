//===- LinalgRules.cpp - Layout rules of linalg ---------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every structured op from its iterator types and indexing maps; nothing is
// known of single ops but that `linalg.fill` only writes.
//
//===----------------------------------------------------------------------===//

#include "layout/Interfaces/LayoutOpInterface.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/DialectRegistry.h"

using namespace mlir;
using namespace mlir::layout;

/// Ops of the body that compute: neither the terminator nor constants.
static int64_t countScalarOps(linalg::LinalgOp op) {
  int64_t count = 0;
  for (Operation &inner : op.getBlock()->without_terminator())
    count += !inner.hasTrait<OpTrait::ConstantLike>() &&
             !isa<linalg::IndexOp>(inner);
  return count;
}

static OpLayoutRule getStructuredRule(linalg::LinalgOp op) {
  OpLayoutRule rule;
  if (!op.hasPureTensorSemantics())
    return rule;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  if (llvm::any_of(maps, [](AffineMap map) { return map.getNumSymbols(); }))
    return rule;

  rule.kind = OpLayoutRule::Kind::Loops;
  for (auto [iterator, size] :
       llvm::zip(op.getIteratorTypesArray(), op.getStaticLoopRanges()))
    rule.loops.push_back({iterator, size, false});
  for (OpOperand &operand : op->getOpOperands()) {
    bool isTensor = isa<RankedTensorType>(operand.get().getType());
    rule.operandMaps.push_back(isTensor ? maps[operand.getOperandNumber()]
                                        : AffineMap());
    rule.isRead.push_back(isTensor && op.payloadUsesValueFromOperand(&operand));
  }
  for (OpResult result : op->getResults())
    rule.resultMaps.push_back(op.getIndexingMapMatchingResult(result));
  rule.opsPerPoint = countScalarOps(op);
  findTileableLoops(rule);
  // The body sees the loop's value, which a tiled loop does not have.
  op.getBlock()->walk([&](linalg::IndexOp index) {
    rule.loops[index.getDim()].tileable = false;
  });
  return rule;
}

namespace {
template <typename OpTy>
struct StructuredModel
    : LayoutOpInterface::ExternalModel<StructuredModel<OpTy>, OpTy> {
  OpLayoutRule getLayoutRule(Operation *op) const {
    return getStructuredRule(cast<linalg::LinalgOp>(op));
  }
};

struct FillModel : LayoutOpInterface::ExternalModel<FillModel, linalg::FillOp> {
  OpLayoutRule getLayoutRule(Operation *op) const {
    OpLayoutRule rule = getStructuredRule(cast<linalg::LinalgOp>(op));
    rule.onlyWrites = rule.kind == OpLayoutRule::Kind::Loops;
    return rule;
  }
};

template <typename OpTy> void attach(MLIRContext *context) {
  if constexpr (std::is_same_v<OpTy, linalg::FillOp>)
    OpTy::template attachInterface<FillModel>(*context);
  else
    OpTy::template attachInterface<StructuredModel<OpTy>>(*context);
}

template <typename... OpTys> void attachAll(MLIRContext *context) {
  (attach<OpTys>(context), ...);
}
} // namespace

void layout::registerLinalgLayoutRules(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, linalg::LinalgDialect *) {
    attachAll<
#define GET_OP_LIST
#include "mlir/Dialect/Linalg/IR/LinalgStructuredOps.cpp.inc"
        >(context);
  });
}
