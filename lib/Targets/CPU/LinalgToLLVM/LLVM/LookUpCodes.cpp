//===- LookUpCodes.cpp - Functions of 4 bits as tables in registers -------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A value that depends on 4 bits has 16 values, the lanes of a vector of f32 of
// 512 bits. One permutation of this vector replaces the mask of the bits and
// the operations on them: the subtraction of an excess and the conversion, or
// all of the expansion of f4E2M1FN. The folders of the operations compute the
// table, so that each value is the one that the operations have.
//
//===----------------------------------------------------------------------===//

#include "CpuParams.h"
#include "layout/Targets/CPU/LinalgToLLVM/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::layout {
#define GEN_PASS_DEF_LOOKUPCODESPASS
#include "layout/Targets/CPU/LinalgToLLVM/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;
using namespace mlir::layout;

/// The number of entries of a table: the lanes of a vector of f32.
static constexpr int64_t kEntries = 16;

namespace {
/// The values that depend on the low bits of one vector only, each with its
/// elements if lane i of that vector is i.
class Tables {
public:
  /// Adds the result of `mask` and all values that are computed from it in its
  /// block. Returns false if `mask` keeps other bits than the low ones.
  bool add(arith::AndIOp mask);
  /// Replaces the uses of f32 values by other operations by permutations.
  void replace(RewriterBase &rewriter, arith::AndIOp mask);

private:
  Attribute evaluate(Operation *op) const;
  void addUsersOf(Value value);

  llvm::MapVector<Value, Attribute> known;
};
} // namespace

/// Returns the elements of the result of `op`, or null if an operand is not
/// known.
Attribute Tables::evaluate(Operation *op) const {
  if (!OpTrait::hasElementwiseMappableTraits(op) || op->getNumResults() != 1)
    return nullptr;
  SmallVector<Attribute> operands;
  for (Value operand : op->getOperands()) {
    Attribute value = known.lookup(operand);
    if (!value && (!matchPattern(operand, m_Constant(&value)) ||
                   !isa<SplatElementsAttr>(value)))
      return nullptr;
    operands.push_back(value);
  }
  // A folder may change its op.
  OwningOpRef<Operation *> copy(op->clone());
  SmallVector<OpFoldResult> results;
  if (failed(copy->fold(operands, results)) || results.size() != 1)
    return nullptr;
  return dyn_cast_if_present<DenseElementsAttr>(
      dyn_cast<Attribute>(results.front()));
}

void Tables::addUsersOf(Value value) {
  for (Operation *user : value.getUsers()) {
    if (user->getBlock() != value.getParentBlock() ||
        user->getNumResults() != 1 || known.contains(user->getResult(0)))
      continue;
    if (Attribute elements = evaluate(user)) {
      known.insert({user->getResult(0), elements});
      addUsersOf(user->getResult(0));
    }
  }
}

bool Tables::add(arith::AndIOp mask) {
  auto type = dyn_cast<VectorType>(mask.getType());
  APInt bits;
  if (!type || type.getShape() != ArrayRef(kEntries) ||
      !type.getElementType().isInteger(32) ||
      !matchPattern(mask.getRhs(), m_ConstantInt(&bits)) || bits.uge(kEntries))
    return false;
  SmallVector<int32_t> entries;
  for (int32_t i = 0; i < kEntries; ++i)
    entries.push_back(i & static_cast<int32_t>(bits.getZExtValue()));
  known.insert(
      {mask.getResult(), DenseElementsAttr::get(type, ArrayRef(entries))});
  addUsersOf(mask.getResult());
  return true;
}

void Tables::replace(RewriterBase &rewriter, arith::AndIOp mask) {
  auto isInside = [&](Operation *user) {
    return user->getNumResults() == 1 && known.contains(user->getResult(0));
  };
  for (auto [value, elements] : known) {
    auto type = cast<VectorType>(value.getType());
    if (!type.getElementType().isF32() ||
        llvm::all_of(value.getUsers(), isInside))
      continue;
    Location loc = value.getLoc();
    rewriter.setInsertionPointAfterValue(value);
    Value table =
        arith::ConstantOp::create(rewriter, loc, cast<TypedAttr>(elements));
    Value found = LLVM::CallIntrinsicOp::create(
                      rewriter, loc, type,
                      rewriter.getStringAttr("llvm.x86.avx512.permvar.sf.512"),
                      ValueRange{table, mask.getLhs()})
                      .getResult(0);
    rewriter.replaceUsesWithIf(value, found, [&](OpOperand &use) {
      return !isInside(use.getOwner());
    });
  }
}

namespace {
struct LookUpCodes : layout::impl::LookUpCodesPassBase<LookUpCodes> {
  void runOnOperation() override {
    CpuModelParams target = getCpuParams(getOperation());
    // AVX-512 permutes the words of one register and of two.
    if (!isAVX512(target) || target.twoSourcePermuteBytes == 0 ||
        target.twoSourcePermuteBytes > 4)
      return;
    SmallVector<arith::AndIOp> masks;
    getOperation()->walk([&](arith::AndIOp op) { masks.push_back(op); });
    IRRewriter rewriter(&getContext());
    for (arith::AndIOp mask : masks) {
      Tables tables;
      if (tables.add(mask))
        tables.replace(rewriter, mask);
    }
  }
};
} // namespace
