//===- ReadByLoops.cpp - Tensors that bodies read as operands -------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PrepareForCores.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::layout;

namespace {
/// An index as an expression of the loops, and the values that it takes.
struct LoopExpr {
  AffineExpr expr;
  int64_t least, most;
};

class Reader {
public:
  explicit Reader(linalg::GenericOp op)
      : op(op), ranges(op.getStaticLoopRanges()) {}

  std::optional<AffineMap> getMap(tensor::ExtractOp extract);

private:
  std::optional<LoopExpr> read(Value value);
  std::optional<LoopExpr> readBinary(Operation *op);

  linalg::GenericOp op;
  SmallVector<int64_t> ranges;
};
} // namespace

/// Sums and products that leave 64 bits are no index.
static std::optional<LoopExpr> add(const LoopExpr &a, const LoopExpr &b) {
  LoopExpr sum{a.expr + b.expr, 0, 0};
  if (llvm::AddOverflow(a.least, b.least, sum.least) ||
      llvm::AddOverflow(a.most, b.most, sum.most))
    return std::nullopt;
  return sum;
}

static std::optional<LoopExpr> multiply(const LoopExpr &a, int64_t factor) {
  LoopExpr product{a.expr * factor, 0, 0};
  if (llvm::MulOverflow(a.least, factor, product.least) ||
      llvm::MulOverflow(a.most, factor, product.most))
    return std::nullopt;
  if (factor < 0)
    std::swap(product.least, product.most);
  return product;
}

std::optional<LoopExpr> Reader::readBinary(Operation *made) {
  std::optional<LoopExpr> a = read(made->getOperand(0));
  std::optional<LoopExpr> b = read(made->getOperand(1));
  if (!a || !b)
    return std::nullopt;
  auto constant = [](const LoopExpr &x) { return x.least == x.most; };
  if (isa<arith::AddIOp>(made))
    return add(*a, *b);
  if (isa<arith::SubIOp>(made)) {
    std::optional<LoopExpr> minus = multiply(*b, -1);
    return minus ? add(*a, *minus) : std::nullopt;
  }
  if (isa<arith::MulIOp>(made)) {
    if (!constant(*b))
      std::swap(a, b);
    return constant(*b) ? multiply(*a, b->least) : std::nullopt;
  }
  // All divisions are one where nothing is negative.
  if (a->least < 0 || !constant(*b) || b->least <= 0)
    return std::nullopt;
  if (isa<arith::DivUIOp, arith::DivSIOp, arith::FloorDivSIOp>(made))
    return LoopExpr{a->expr.floorDiv(b->least), a->least / b->least,
                    a->most / b->least};
  if (isa<arith::RemUIOp, arith::RemSIOp>(made))
    return LoopExpr{a->expr % b->least, 0, std::min(a->most, b->least - 1)};
  return std::nullopt;
}

std::optional<LoopExpr> Reader::read(Value value) {
  Operation *made = value.getDefiningOp();
  if (!made)
    return std::nullopt;
  APInt number;
  if (matchPattern(value, m_ConstantInt(&number))) {
    if (number.getSignificantBits() > 64)
      return std::nullopt;
    int64_t known = number.getSExtValue();
    return LoopExpr{getAffineConstantExpr(known, op.getContext()), known,
                    known};
  }
  if (auto index = dyn_cast<linalg::IndexOp>(made)) {
    if (index->getBlock() != op.getBlock())
      return std::nullopt;
    return LoopExpr{getAffineDimExpr(index.getDim(), op.getContext()), 0,
                    std::max<int64_t>(ranges[index.getDim()] - 1, 0)};
  }
  std::optional<LoopExpr> found;
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp,
          arith::ExtUIOp, arith::TruncIOp>(made))
    found = read(made->getOperand(0));
  else if (made->getNumOperands() == 2 && made->getNumResults() == 1)
    found = readBinary(made);
  if (!found)
    return std::nullopt;
  // Of a narrow type it wraps.
  Type type = value.getType();
  unsigned width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  if (width < 64 &&
      !(llvm::isIntN(width, found->least) && llvm::isIntN(width, found->most)))
    return std::nullopt;
  // As unsigned, what is negative would be something else.
  if (isa<arith::ExtUIOp, arith::IndexCastUIOp>(made) && found->least < 0)
    return std::nullopt;
  return found;
}

std::optional<AffineMap> Reader::getMap(tensor::ExtractOp extract) {
  auto type = cast<RankedTensorType>(extract.getTensor().getType());
  if (!type.hasStaticShape())
    return std::nullopt;
  SmallVector<AffineExpr> exprs;
  for (auto [index, size] :
       llvm::zip_equal(extract.getIndices(), type.getShape())) {
    std::optional<LoopExpr> found = read(index);
    if (!found || found->least < 0 || found->most >= size)
      return std::nullopt;
    exprs.push_back(found->expr);
  }
  return AffineMap::get(op.getNumLoops(), 0, exprs, op.getContext());
}

/// The tensor that is read: a dim that a loop alone indexes has to be as long
/// as the loop.
static Value cutToLoops(OpBuilder &builder, tensor::ExtractOp read,
                        AffineMap map, ArrayRef<int64_t> ranges) {
  Value source = read.getTensor();
  auto type = cast<RankedTensorType>(source.getType());
  SmallVector<OpFoldResult> sizes;
  for (auto [expr, size] : llvm::zip_equal(map.getResults(), type.getShape())) {
    auto loop = dyn_cast<AffineDimExpr>(expr);
    sizes.push_back(
        builder.getIndexAttr(loop ? ranges[loop.getPosition()] : size));
  }
  if (sizes == getAsIndexOpFoldResult(type.getContext(), type.getShape()))
    return source;
  SmallVector<OpFoldResult> zeros(sizes.size(), builder.getIndexAttr(0));
  SmallVector<OpFoldResult> ones(sizes.size(), builder.getIndexAttr(1));
  return tensor::ExtractSliceOp::create(builder, read.getLoc(), source, zeros,
                                        sizes, ones);
}

/// The op with one operand more for each such read.
static void addOperands(linalg::GenericOp op) {
  if (!op.hasPureTensorSemantics() || op.hasDynamicShape())
    return;
  Reader reader(op);
  SmallVector<std::pair<tensor::ExtractOp, AffineMap>> reads;
  for (auto extract : op.getBlock()->getOps<tensor::ExtractOp>()) {
    Value source = extract.getTensor();
    if (op->isAncestor(source.getParentRegion()->getParentOp()))
      continue;
    if (std::optional<AffineMap> map = reader.getMap(extract))
      reads.push_back({extract, *map});
  }
  if (reads.empty())
    return;
  OpBuilder builder(op);
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  unsigned numInputs = op.getNumDpsInputs();
  SmallVector<Value> inputs(op.getInputs());
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  for (auto [i, read] : llvm::enumerate(reads)) {
    inputs.push_back(cutToLoops(builder, read.first, read.second, ranges));
    maps.insert(maps.begin() + numInputs + i, read.second);
  }
  auto generic = linalg::GenericOp::create(
      builder, op.getLoc(), op.getResultTypes(), inputs, op.getOutputs(), maps,
      op.getIteratorTypesArray());
  generic.getRegion().takeBody(op.getRegion());
  for (auto [i, read] : llvm::enumerate(reads)) {
    BlockArgument element = generic.getBlock()->insertArgument(
        numInputs + i, read.first.getType(), read.first.getLoc());
    read.first.replaceAllUsesWith(element);
    read.first.erase();
  }
  op.replaceAllUsesWith(generic.getResults());
  op.erase();
}

void layout::readByLoops(func::FuncOp function) {
  SmallVector<linalg::GenericOp> ops;
  function.walk([&](linalg::GenericOp op) { ops.push_back(op); });
  llvm::for_each(ops, addOperands);
}
