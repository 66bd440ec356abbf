//===- ExtractToOperand.cpp - Reads at loop indices as operands -----------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Legalize/LegalizeLinalg.h"
#include "Numbers/LoopValueTables.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::layout;

namespace {
/// An index in a body as an affine expression of the loops, with its least and
/// its greatest value.
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

/// Returns the sum of two indices, or std::nullopt if its range exceeds
/// int64_t.
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
  // For a dividend of at least 0 and a positive constant divisor, all kinds of
  // division and remainder are equal.
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
  // Give up if the value may wrap in its type.
  Type type = value.getType();
  unsigned width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  if (width < 64 &&
      !(llvm::isIntN(width, found->least) && llvm::isIntN(width, found->most)))
    return std::nullopt;
  // A negative value becomes another one if it is extended as unsigned.
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

/// Returns `source` with each dim that a loop alone indexes by `map` cut to the
/// size of this loop, as linalg requires. Other dims stay whole.
static Value cutToLoops(OpBuilder &builder, Location loc, Value source,
                        AffineMap map, ArrayRef<int64_t> ranges) {
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
  return tensor::ExtractSliceOp::create(builder, loc, source, zeros, sizes,
                                        ones);
}

namespace {
/// Turns reads of tensors at indices known at compile time (tensor.extract),
/// and values that depend on loops alone, into operands of the op.
class OperandMaker {
public:
  explicit OperandMaker(linalg::GenericOp op)
      : op(op), builder(op), reader(op), tables(op),
        ranges(op.getStaticLoopRanges()) {}

  void run();

private:
  struct Operand {
    Value value, tensor;
    AffineMap map;
  };

  void readExtract(tensor::ExtractOp extract);
  void readTable(Value value);
  void readTables();
  void replace();

  linalg::GenericOp op;
  OpBuilder builder;
  Reader reader;
  LoopValueTables tables;
  SmallVector<int64_t> ranges;
  SmallVector<Operand> operands;
};
} // namespace

void OperandMaker::readExtract(tensor::ExtractOp extract) {
  Value source = extract.getTensor();
  auto type = cast<RankedTensorType>(source.getType());
  Location loc = op.getLoc();
  if (op->isAncestor(source.getParentRegion()->getParentOp()) ||
      !type.hasStaticShape())
    return;
  if (std::optional<AffineMap> map = reader.getMap(extract)) {
    operands.push_back(
        {extract, cutToLoops(builder, loc, source, *map, ranges), *map});
    return;
  }
  if (type.getEncoding())
    return;
  SmallVector<AffineExpr> exprs;
  SmallVector<std::pair<unsigned, SmallVector<int64_t>>> taken;
  for (auto [d, index] : llvm::enumerate(extract.getIndices())) {
    const LoopValueTable *table = tables.get(index);
    if (!table || table->loops.size() > 1)
      return;
    taken.push_back({d, table->getIntegers()});
    int64_t size = type.getDimSize(d);
    if (llvm::any_of(taken.back().second,
                     [&](int64_t at) { return at < 0 || at >= size; }))
      return;
    exprs.push_back(table->loops.empty()
                        ? builder.getAffineConstantExpr(0)
                        : builder.getAffineDimExpr(table->loops.front()));
  }
  for (auto &[d, indices] : taken) {
    source = gatherStaticIndices(builder, loc, source, d, indices);
    if (!source)
      return;
  }
  operands.push_back(
      {extract, source,
       AffineMap::get(ranges.size(), 0, exprs, op.getContext())});
}

/// Plans the values of `value` for all iterations as a constant operand. i1
/// values become f32 that is greater than 0 for true. Plans no operand if the
/// values are unknown or are the same in all iterations.
void OperandMaker::readTable(Value value) {
  const LoopValueTable *table = tables.get(value);
  if (!table || table->loops.empty() || table->values.empty())
    return;
  SmallVector<AffineExpr> exprs;
  for (unsigned loop : table->loops)
    exprs.push_back(builder.getAffineDimExpr(loop));
  AffineMap map = AffineMap::get(ranges.size(), 0, exprs, op.getContext());
  LoopValueTable numbers = *table;
  Type element = value.getType();
  if (element.isInteger(1)) {
    element = builder.getF32Type();
    for (Attribute &bit : numbers.values)
      bit =
          builder.getF32FloatAttr(!cast<IntegerAttr>(bit).getValue().isZero());
  }
  SmallVector<int64_t> shape;
  for (unsigned loop : table->loops)
    shape.push_back(ranges[loop]);
  Value constant = arith::ConstantOp::create(
      builder, op.getLoc(),
      DenseElementsAttr::get(RankedTensorType::get(shape, element),
                             numbers.values));
  operands.push_back({value, constant, map});
}

/// Plans operands for the f32, i32 and i1 values of the body that depend on
/// loop indices alone and are used by an op that does not.
void OperandMaker::readTables() {
  SetVector<Value> used;
  for (Operation &inner : *op.getBlock()) {
    if (isa<tensor::ExtractOp>(inner) ||
        (inner.getNumResults() == 1 && tables.get(inner.getResult(0))))
      continue;
    for (Value operand : inner.getOperands()) {
      Type type = operand.getType();
      bool isBit = type.isInteger(1);
      if (operand.getParentBlock() == op.getBlock() &&
          (isBit || !isa<BlockArgument>(operand)) &&
          (isBit || type.isF32() || type.isInteger(32)))
        used.insert(operand);
    }
  }
  llvm::for_each(used, [&](Value value) { readTable(value); });
}

Value layout::addOperand(linalg::GenericOp op, Value tensor, AffineMap map) {
  unsigned at = op.getNumDpsInputs();
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  maps.insert(maps.begin() + at, map);
  op.getInputsMutable().append(tensor);
  op.setIndexingMapsAttr(Builder(op.getContext()).getAffineMapArrayAttr(maps));
  return op.getBlock()->insertArgument(at, getElementTypeOrSelf(tensor),
                                       op.getLoc());
}

/// Adds the planned operands to the op, replaces the values of the body by
/// their elements, and erases ops without uses.
void OperandMaker::replace() {
  builder.setInsertionPointToStart(op.getBlock());
  for (auto &operand : operands) {
    Location loc = operand.value.getLoc();
    Value element = addOperand(op, operand.tensor, operand.map);
    if (element.getType() != operand.value.getType()) {
      Value zero =
          arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(0));
      element = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OGT,
                                      element, zero);
    }
    operand.value.replaceAllUsesWith(element);
  }
  for (Operation &inner :
       llvm::make_early_inc_range(llvm::reverse(*op.getBlock())))
    if (isOpTriviallyDead(&inner))
      inner.erase();
}

void OperandMaker::run() {
  for (auto extract : op.getBlock()->getOps<tensor::ExtractOp>())
    readExtract(extract);
  readTables();
  if (!operands.empty())
    replace();
}

/// Replaces an op whose only result depends on constants and loop indices alone
/// by a constant, e.g. indices that count from the end. Returns false for
/// others, and if the result depends on some, but not all loops.
static bool foldConstants(linalg::GenericOp op) {
  if (op.getNumReductionLoops() != 0 || op->getNumResults() != 1 ||
      cast<RankedTensorType>(op->getResult(0).getType()).getEncoding() ||
      !op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isIdentity())
    return false;
  LoopValueTables tables(op);
  const LoopValueTable *table =
      tables.get(op.getBlock()->getTerminator()->getOperand(0));
  if (!table ||
      (!table->loops.empty() && table->loops.size() != op.getNumLoops()))
    return false;
  OpBuilder builder(op);
  auto constant = DenseElementsAttr::get(
      cast<ShapedType>(op->getResult(0).getType()), table->values);
  op->getResult(0).replaceAllUsesWith(
      arith::ConstantOp::create(builder, op.getLoc(), constant));
  op.erase();
  return true;
}

void layout::foldExtracts(func::FuncOp function) {
  function.walk([](tensor::ExtractOp op) {
    std::optional<SmallVector<int64_t>> at =
        getConstantIntValues(getAsOpFoldResult(op.getIndices()));
    if (!at || isa<ComplexType>(op.getType()))
      return;
    int64_t place = 0;
    for (auto [index, size] :
         llvm::zip_equal(*at, op.getTensor().getType().getShape())) {
      if (index < 0 || index >= size)
        return;
      place = place * size + index;
    }
    Attribute element = getElement(op.getTensor(), place);
    if (!element)
      return;
    OpBuilder builder(op);
    op.getResult().replaceAllUsesWith(arith::ConstantOp::create(
        builder, op.getLoc(), cast<TypedAttr>(element)));
    op.erase();
  });
}

void layout::convertExtractsToOperands(func::FuncOp function) {
  SmallVector<linalg::GenericOp> ops;
  function.walk([&](linalg::GenericOp op) {
    if (op.hasPureTensorSemantics() && !op.hasDynamicShape())
      ops.push_back(op);
  });
  for (linalg::GenericOp op : ops) {
    if (llvm::is_contained(op.getStaticLoopRanges(), 0)) {
      op.replaceAllUsesWith(op.getOutputs());
      op.erase();
    } else if (!foldConstants(op)) {
      OperandMaker(op).run();
    }
  }
}
