//===- ExpandByteProducts.cpp - Sums of byte products to instructions -----===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// AVX-512 VNNI adds the four products of unsigned and signed bytes by one
// instruction, which LLVM emits only for its intrinsic.
// Other sums are those of two pairs of 16-bit products: of the bytes 0 and 2 of
// each word, and of the bytes 1 and 3. LLVM selects an instruction for a pair,
// vpmaddwd on x86, without the saturation of that for pairs of bytes.
//
//===----------------------------------------------------------------------===//

#include "CpuParams.h"
#include "layout/Support/Kernels/ByteProducts.h"
#include "layout/Targets/CPU/LinalgToLLVM/CpuOps.h"
#include "layout/Targets/CPU/LinalgToLLVM/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::layout {
#define GEN_PASS_DEF_EXPANDBYTEPRODUCTSPASS
#include "layout/Targets/CPU/LinalgToLLVM/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;
using namespace mlir::layout;

/// Returns the 16-bit halves of words.
static Value takeHalves(OpBuilder &b, Location loc, Value words) {
  int64_t lanes = cast<VectorType>(words.getType()).getNumElements();
  auto type = VectorType::get({2 * lanes}, b.getI16Type());
  return vector::BitCastOp::create(b, loc, type, words);
}

/// Returns the bytes 1 and 3 of each word if `isOdd`, else the bytes 0 and 2,
/// as 16-bit integers.
static Value takeBytes(OpBuilder &b, Location loc, Value words, bool isUnsigned,
                       bool isOdd) {
  constexpr int64_t byteBits = 8, lowByte = 255;
  Value halves = takeHalves(b, loc, words);
  auto type = cast<VectorType>(halves.getType());
  auto splat = [&](int64_t value) {
    return arith::ConstantOp::create(
        b, loc, DenseElementsAttr::get(type, b.getI16IntegerAttr(value)));
  };
  if (isUnsigned)
    return isOdd ? arith::ShRUIOp::create(b, loc, halves, splat(byteBits))
                       .getResult()
                 : arith::AndIOp::create(b, loc, halves, splat(lowByte));
  if (!isOdd)
    halves = arith::ShLIOp::create(b, loc, halves, splat(byteBits));
  return arith::ShRSIOp::create(b, loc, halves, splat(byteBits));
}

/// Returns the sums of the products of adjacent 16-bit integers.
static Value multiplyPairs(OpBuilder &b, Location loc, Value lhs, Value rhs) {
  int64_t lanes = cast<VectorType>(lhs.getType()).getNumElements() / 2;
  auto wide = VectorType::get({2 * lanes}, b.getI32Type());
  Value products =
      arith::MulIOp::create(b, loc, arith::ExtSIOp::create(b, loc, wide, lhs),
                            arith::ExtSIOp::create(b, loc, wide, rhs));
  auto takeEvery = [&](int64_t first) {
    SmallVector<int64_t> order;
    for (int64_t lane = 0; lane < lanes; ++lane)
      order.push_back(2 * lane + first);
    return vector::ShuffleOp::create(b, loc, products, products, order);
  };
  return arith::AddIOp::create(b, loc, takeEvery(0), takeEvery(1));
}

/// Returns `total` plus the sums of byte products, or these if `total` is null,
/// by pairs.
static Value addPairs(OpBuilder &b, cpu::DotBytesOp op, Value lhs, Value rhs,
                      Value total) {
  for (bool isOdd : {false, true}) {
    Value pairs = multiplyPairs(
        b, op.getLoc(),
        takeBytes(b, op.getLoc(), lhs, op.getLhsUnsigned(), isOdd),
        takeBytes(b, op.getLoc(), rhs, op.getRhsUnsigned(), isOdd));
    total = total ? arith::AddIOp::create(b, op.getLoc(), total, pairs) : pairs;
  }
  return total;
}

/// Returns true if the target has an instruction for vectors of `type` that
/// adds products of an unsigned and a signed byte.
static bool hasInstruction(VectorType type, const CpuModelParams &target) {
  int64_t bits = type.getNumElements() * 32;
  return hasByteProducts(target) &&
         (bits == 128 || bits == 256 || bits == 512) &&
         bits <= target.vectorBits;
}

static Value callInstruction(OpBuilder &b, cpu::DotBytesOp op, Value lhs,
                             Value rhs, Value total) {
  if (!op.getLhsUnsigned())
    std::swap(lhs, rhs);
  auto type = cast<VectorType>(total.getType());
  auto bytes = VectorType::get({4 * type.getNumElements()}, b.getI8Type());
  auto name = b.getStringAttr("llvm.x86.avx512.vpdpbusd." +
                              Twine(32 * type.getNumElements()));
  SmallVector<Value> operands{
      total, vector::BitCastOp::create(b, op.getLoc(), bytes, lhs),
      vector::BitCastOp::create(b, op.getLoc(), bytes, rhs)};
  return LLVM::CallIntrinsicOp::create(b, op.getLoc(), type, name, operands)
      .getResult(0);
}

/// Replaces `op`, and the addition of its result if that is its only use.
static void expand(RewriterBase &rewriter, Operation *op,
                   const CpuModelParams &target) {
  Location loc = op->getLoc();
  Value result = op->getResult(0);
  auto add = op->hasOneUse() ? dyn_cast<arith::AddIOp>(*op->user_begin())
                             : arith::AddIOp();
  Operation *replaced = add ? add.getOperation() : op;
  rewriter.setInsertionPoint(replaced);
  auto type = dyn_cast<VectorType>(result.getType());
  bool isScalar = !type;
  if (isScalar)
    type = VectorType::get({1}, result.getType());
  auto toVector = [&](Value value) -> Value {
    return isScalar && value
               ? vector::BroadcastOp::create(rewriter, loc, type, value)
               : value;
  };
  Value total;
  if (add)
    total = toVector(add.getLhs() == result ? add.getRhs() : add.getLhs());
  Value lhs = toVector(op->getOperand(0)), rhs = toVector(op->getOperand(1));
  auto dot = dyn_cast<cpu::DotBytesOp>(op);
  if (!dot) {
    Value pairs = multiplyPairs(rewriter, loc, takeHalves(rewriter, loc, lhs),
                                takeHalves(rewriter, loc, rhs));
    total = total ? arith::AddIOp::create(rewriter, loc, total, pairs) : pairs;
  } else if (dot.isMixed() && hasInstruction(type, target)) {
    if (!total)
      total =
          arith::ConstantOp::create(rewriter, loc, rewriter.getZeroAttr(type));
    total = callInstruction(rewriter, dot, lhs, rhs, total);
  } else {
    total = addPairs(rewriter, dot, lhs, rhs, total);
  }
  if (isScalar)
    total = vector::ExtractOp::create(rewriter, loc, total, 0);
  rewriter.replaceOp(replaced, total);
  if (add)
    rewriter.eraseOp(op);
}

namespace {
struct ExpandByteProducts
    : layout::impl::ExpandByteProductsPassBase<ExpandByteProducts> {
  void runOnOperation() override {
    CpuModelParams target = getCpuParams(getOperation());
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      if (isa<cpu::DotBytesOp, cpu::DotHalvesOp>(op))
        ops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (Operation *op : ops)
      expand(rewriter, op, target);
  }
};
} // namespace
