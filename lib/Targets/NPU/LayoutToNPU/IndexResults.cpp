//===- IndexResults.cpp - Computed indices as f32 -------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An argmax yields a loop index, which an f32 represents exactly:
//
//   %i = linalg.index 1                    %i of a constant [0.0, 1.0, ..]
//   %c = arith.select %is, %i, %least      %c = arith.select %is, %i, 2^24
//   %l = arith.minsi %c, %least            %l = arith.minimumf %c, %least
//
// The result is converted to i64 for its users.
//
//===----------------------------------------------------------------------===//

#include "IntegerBody.h"
#include "LegalizeLinalg.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include <numeric>

using namespace mlir;
using namespace mlir::layout;

namespace {
/// Rewrites a body that yields an index to f32.
class IndexBody {
public:
  explicit IndexBody(linalg::GenericOp op) : op(op), builder(op) {}

  /// Returns the result as f32, or a null value if the body has another form.
  Value run();

private:
  bool canConvert(Value value);
  Value convert(OpBuilder &body, Value value);
  Value start();

  linalg::GenericOp op;
  OpBuilder builder;
  IRMapping mapping;
  /// The loops whose indices are read, each by an added input.
  SmallVector<unsigned> loops;
};
} // namespace

static bool isIndex(Value value) {
  return value.getType().isInteger(64) || value.getType().isInteger(32);
}

static std::optional<int64_t> getExact(Value value) {
  APInt number;
  if (!matchPattern(value, m_ConstantInt(&number)) ||
      !IntegerRange{number.getSExtValue(), number.getSExtValue()}.isExact())
    return std::nullopt;
  return number.getSExtValue();
}

static linalg::IndexOp getLoopIndex(Value value) {
  auto cast = value.getDefiningOp<arith::IndexCastOp>();
  return cast ? cast.getIn().getDefiningOp<linalg::IndexOp>()
              : linalg::IndexOp();
}

/// Returns true if `value` consists of the output argument, constants, loop
/// indices, minima, maxima and selects by f32 comparisons.
bool IndexBody::canConvert(Value value) {
  if (value == op.getBlock()->getArguments().back() || getExact(value))
    return true;
  if (linalg::IndexOp index = getLoopIndex(value)) {
    if (op.getStaticLoopRanges()[index.getDim()] > kExactInteger)
      return false;
    if (!llvm::is_contained(loops, index.getDim()))
      loops.push_back(index.getDim());
    return true;
  }
  Operation *made = value.getDefiningOp();
  if (isa_and_nonnull<arith::MinSIOp, arith::MaxSIOp>(made))
    return canConvert(made->getOperand(0)) && canConvert(made->getOperand(1));
  auto select = dyn_cast_or_null<arith::SelectOp>(made);
  auto compare = select ? select.getCondition().getDefiningOp<arith::CmpFOp>()
                        : arith::CmpFOp();
  return compare &&
         llvm::all_of(compare->getOperands(), llvm::IsaPred<BlockArgument>) &&
         canConvert(select.getTrueValue()) &&
         canConvert(select.getFalseValue());
}

Value IndexBody::convert(OpBuilder &body, Value value) {
  if (Value known = mapping.lookupOrNull(value))
    return known;
  Location loc = value.getLoc();
  Value made;
  if (std::optional<int64_t> number = getExact(value)) {
    made = arith::ConstantOp::create(body, loc,
                                     body.getF32FloatAttr(float(*number)));
  } else if (auto select = value.getDefiningOp<arith::SelectOp>()) {
    Value condition =
        body.clone(*select.getCondition().getDefiningOp(), mapping)
            ->getResult(0);
    made = arith::SelectOp::create(body, loc, condition,
                                   convert(body, select.getTrueValue()),
                                   convert(body, select.getFalseValue()));
  } else {
    Operation *extreme = value.getDefiningOp();
    Value a = convert(body, extreme->getOperand(0)),
          b = convert(body, extreme->getOperand(1));
    made = isa<arith::MinSIOp>(extreme)
               ? Value(arith::MinimumFOp::create(body, loc, a, b))
               : arith::MaximumFOp::create(body, loc, a, b);
  }
  mapping.map(value, made);
  return made;
}

/// Creates the f32 init of the result.
Value IndexBody::start() {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  Value empty = tensor::EmptyOp::create(builder, op.getLoc(), type.getShape(),
                                        builder.getF32Type());
  auto fill = op.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
  if (!fill)
    return empty;
  Value number = arith::ConstantOp::create(
      builder, op.getLoc(),
      builder.getF32FloatAttr(float(*getExact(fill.getInputs()[0]))));
  return linalg::FillOp::create(builder, op.getLoc(), number, empty)
      .getResult(0);
}

Value IndexBody::run() {
  Value yielded = op.getBlock()->getTerminator()->getOperand(0);
  BlockArgument out = op.getBlock()->getArguments().back();
  auto fill = op.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
  bool readsStart = !out.use_empty();
  if (readsStart && (!fill || !getExact(fill.getInputs()[0])))
    return {};
  // min(is ? i : least, least) == min(is ? i : 2^24, least), as 2^24 >= least.
  arith::SelectOp chosen;
  if (op.getNumReductionLoops() > 0) {
    auto least = yielded.getDefiningOp<arith::MinSIOp>();
    if (!least)
      return {};
    for (auto [a, b] : {std::pair(least.getLhs(), least.getRhs()),
                        std::pair(least.getRhs(), least.getLhs())})
      if (b == out && !chosen)
        chosen = a.getDefiningOp<arith::SelectOp>();
    if (!chosen || chosen.getFalseValue() != out ||
        chosen.getTrueValue() == out)
      return {};
  }
  if (!canConvert(yielded))
    return {};
  SmallVector<Value> inputs(op.getInputs());
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  for (unsigned loop : loops) {
    maps.insert(
        maps.begin() + inputs.size(),
        AffineMap::get(op.getNumLoops(), 0, builder.getAffineDimExpr(loop)));
    inputs.push_back(makeIndices(builder, op.getLoc(), ranges[loop]));
  }
  Value init = start();
  auto generic = linalg::GenericOp::create(
      builder, op.getLoc(), TypeRange(init.getType()), inputs, ValueRange(init),
      maps, op.getIteratorTypesArray(),
      [&](OpBuilder &body, Location loc, ValueRange values) {
        unsigned numInputs = op.getNumDpsInputs();
        mapping.map(op.getBlock()->getArguments().take_front(numInputs),
                    values.take_front(numInputs));
        mapping.map(out, values.back());
        op.getBlock()->walk([&](arith::IndexCastOp cast) {
          if (linalg::IndexOp index = getLoopIndex(cast))
            mapping.map(cast.getResult(),
                        values[numInputs + (llvm::find(loops, index.getDim()) -
                                            loops.begin())]);
        });
        if (chosen) {
          Value condition =
              body.clone(*chosen.getCondition().getDefiningOp(), mapping)
                  ->getResult(0);
          Value most = arith::ConstantOp::create(
              body, loc, body.getF32FloatAttr(float(kExactInteger)));
          mapping.map(chosen.getResult(),
                      arith::SelectOp::create(
                          body, loc, condition,
                          convert(body, chosen.getTrueValue()), most)
                          .getResult());
        }
        linalg::YieldOp::create(body, loc, convert(body, yielded));
      });
  return generic.getResult(0);
}

Value layout::makeIndices(OpBuilder &builder, Location loc, int64_t count) {
  SmallVector<float> each(count);
  std::iota(each.begin(), each.end(), 0.0f);
  return arith::ConstantOp::create(
      builder, loc,
      DenseElementsAttr::get(
          RankedTensorType::get({count}, builder.getF32Type()),
          ArrayRef(each)));
}

Value layout::getFloatsOf(Value integers) {
  auto op = integers.getDefiningOp<linalg::GenericOp>();
  if (!op || op.getNumDpsInputs() != 1)
    return {};
  auto cast = op.getBlock()
                  ->getTerminator()
                  ->getOperand(0)
                  .getDefiningOp<arith::FPToSIOp>();
  bool isOf = cast && cast.getIn() == op.getBlock()->getArgument(0) &&
              cast.getIn().getType().isF32() &&
              llvm::all_of(op.getIndexingMapsArray(),
                           [](AffineMap map) { return map.isIdentity(); });
  return isOf ? op->getOperand(0) : Value();
}

void layout::carryIndices(func::FuncOp function) {
  SmallVector<linalg::GenericOp> ops;
  function.walk([&](linalg::GenericOp op) {
    if (op.getNumDpsInits() == 1 && op.hasPureTensorSemantics() &&
        !op.hasDynamicShape() &&
        isIndex(op.getBlock()->getArguments().back()) &&
        // The index of a loop with one iteration may be folded to a constant.
        (op.hasIndexSemantics() ||
         op.getBlock()->getArguments().back().getType().isInteger(64)) &&
        !llvm::is_contained(op.getStaticLoopRanges(), 0) &&
        llvm::all_of(op.getRegionInputArgs(), [](BlockArgument input) {
          return input.getType().isF32();
        }))
      ops.push_back(op);
  });
  for (linalg::GenericOp op : ops) {
    Value floats = IndexBody(op).run();
    if (!floats)
      continue;
    OpBuilder builder(op);
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    Value empty = tensor::EmptyOp::create(builder, op.getLoc(), type.getShape(),
                                          type.getElementType());
    AffineMap all = builder.getMultiDimIdentityMap(type.getRank());
    SmallVector<utils::IteratorType> kinds(type.getRank(),
                                           utils::IteratorType::parallel);
    auto integers = linalg::GenericOp::create(
        builder, op.getLoc(), TypeRange(type), floats, ValueRange(empty),
        ArrayRef{all, all}, kinds,
        [&](OpBuilder &body, Location loc, ValueRange values) {
          Value integer =
              type.getElementType().isInteger(32)
                  ? IntegerBody(body, loc, nullptr)
                        .word(values[0], {-kExactInteger, kExactInteger})
                  : Value(arith::FPToSIOp::create(
                        body, loc, type.getElementType(), values[0]));
          linalg::YieldOp::create(body, loc, integer);
        });
    op.replaceAllUsesWith(integers.getResults());
    op.erase();
  }
}
