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
// The result is converted to i64 for its users. Arithmetic on loop indices and
// on such results becomes f32, too, if its ranges are exact (IntegerBody.h).
//
// Law: the f32 equals the integer if an index is selected. An init that no f32
// represents, e.g. the largest i64, becomes the largest index.
//
// A reduction over windows becomes one elementwise op per tap, on strided
// slices, because no function for windows yields an index:
//
//   i[h] = min(i[h], x[2 h + k] == top[h] ? 2 h + k : 7)              k < 2
//     i0 = min(7,  x[0, 2, ..][h] == top[h] ? 2 h     : 7)
//     i1 = min(i0, x[1, 3, ..][h] == top[h] ? 2 h + 1 : 7)
//
//===----------------------------------------------------------------------===//

#include "Legalize/LegalizeLinalg.h"
#include "Numbers/IntegerBody.h"
#include "layout/Algebra/Box.h"
#include "mlir/Analysis/FlatLinearValueConstraints.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include <numeric>

using namespace mlir;
using namespace mlir::layout;

// The maximum number of elements of a window (taps), each of which becomes an
// op.
static constexpr int64_t kMostTaps = 256;

using CarriedTensors = DenseMap<Value, CarriedTensor>;

namespace {
/// A slice of a tensor along `dim`: `size` elements from `first` on with stride
/// `step`.
struct TapSlice {
  unsigned dim;
  int64_t first, size, step;
};

/// A body that computes in f32 what the body of an integer op computes. Its
/// arguments are the elements of the inputs, the indices of the loops `loops`,
/// and the element of the init; `range` is that of the result.
struct FloatBody {
  std::unique_ptr<Block> block;
  SmallVector<unsigned> loops;
  IntegerRange range;
};

/// Rewrites a linalg.generic whose result is selected loop indices, e.g. an
/// argmax, to f32.
class IndexBody {
public:
  IndexBody(linalg::GenericOp op, const CarriedTensors &carried)
      : op(op), out(op.getBlock()->getArguments().back()), carried(carried),
        builder(op), ranges(op.getStaticLoopRanges()) {
    op.getReductionDims(reduced);
  }

  /// Creates ops that compute the integers of the op's result, e.g. the indices
  /// of an argmax, as f32. Returns the f32 tensor and the range of its values.
  /// Returns std::nullopt if the body has another form, or if its values are
  /// not proven to be exact in f32.
  std::optional<CarriedTensor> run();

private:
  bool findStart();
  bool findReduction();
  bool findTaps();
  std::optional<int64_t> getLimit(int64_t number) const;
  void setInputs(IntegerBody &body, FloatBody &made, ArrayRef<int64_t> tap);
  std::optional<CarriedNumber> makeTerm(IntegerBody &body, OpBuilder &inner);
  std::optional<FloatBody> makeBody(ArrayRef<int64_t> tap);
  std::optional<AffineMap> takeTap(AffineMap map, ArrayRef<int64_t> tap,
                                   SmallVectorImpl<TapSlice> &slices) const;
  Value makeStart();
  Value create(FloatBody &body, ArrayRef<int64_t> tap, Value init);

  linalg::GenericOp op;
  BlockArgument out;
  const CarriedTensors &carried;
  OpBuilder builder;
  SmallVector<int64_t> ranges;
  SmallVector<unsigned> reduced;
  /// The f32 form of the init of the op: a tensor and its range, or only the
  /// range if the init is a constant fill. Not set if the body does not read
  /// it.
  std::optional<CarriedTensor> start;
  /// The value that the body combines with the accumulator by a minimum or
  /// maximum, e.g. a selected loop index, or null without reduction; and the
  /// range of the indices that it selects.
  Value term;
  bool isMin = false;
  std::optional<IntegerRange> indices;
  /// The indices of the reduction loops at each element of the window if the op
  /// is divided into one op per element; otherwise empty.
  SmallVector<SmallVector<int64_t>> taps;
};
} // namespace

static std::optional<int64_t> getInteger(Value value) {
  APInt number;
  if (!matchPattern(value, m_ConstantInt(&number)))
    return std::nullopt;
  return number.getSExtValue();
}

/// Sets `start` to the f32 form of the init if the body reads the init. Returns
/// false if a read init is neither a tensor that is known as f32 nor a constant
/// fill. The same holds if it may exceed 2^24 and the op has no reduction.
bool IndexBody::findStart() {
  if (out.use_empty())
    return true;
  Value init = op.getDpsInits()[0];
  if (auto known = carried.find(init); known != carried.end())
    start = known->second;
  else if (auto fill = init.getDefiningOp<linalg::FillOp>())
    if (std::optional<int64_t> number = getInteger(fill.getInputs()[0]))
      start = CarriedTensor{{}, {*number, *number}};
  return start && (!reduced.empty() || start->range.isExact());
}

/// Finds the value that the body combines with the accumulator by an integer
/// minimum or maximum. Returns false if the body has another form.
bool IndexBody::findReduction() {
  Operation *extreme =
      op.getBlock()->getTerminator()->getOperand(0).getDefiningOp();
  if (!isa_and_nonnull<arith::MinSIOp, arith::MaxSIOp>(extreme))
    return false;
  isMin = isa<arith::MinSIOp>(extreme);
  unsigned number = extreme->getOperand(0) == out ? 1 : 0;
  term = extreme->getOperand(number);
  return extreme->getOperand(1 - number) == out;
}

/// Returns the number that replaces `number`, which is an init or a value
/// selected instead of an index. It is `number` itself if an f32 represents it.
/// Otherwise it is the largest of the indices if the body takes a minimum, or
/// the smallest one if it takes a maximum. Returns std::nullopt if, in a
/// minimum, an index is greater than `number`, or, in a maximum, less.
std::optional<int64_t> IndexBody::getLimit(int64_t number) const {
  if (IntegerRange{number, number}.isExact())
    return number;
  if (isMin ? number < indices->high : number > indices->low)
    return std::nullopt;
  return isMin ? indices->high : indices->low;
}

/// Adds block arguments to `made` for the inputs and for the loop indices that
/// the old body uses, and registers them in `body` as the f32 values of these.
/// Reduction loops are constants if `tap` has their indices.
void IndexBody::setInputs(IntegerBody &body, FloatBody &made,
                          ArrayRef<int64_t> tap) {
  auto addArgument = [&]() -> Value {
    return made.block->addArgument(builder.getF32Type(), op.getLoc());
  };
  for (OpOperand *input : op.getDpsInputOperands()) {
    auto known = carried.find(input->get());
    body.set(op.getMatchingBlockArgument(input),
             {addArgument(),
              known == carried.end() ? IntegerRange() : known->second.range});
  }
  DenseMap<unsigned, CarriedNumber> numbers;
  for (auto index : op.getBlock()->getOps<linalg::IndexOp>()) {
    unsigned loop = index.getDim();
    auto [number, isNew] = numbers.try_emplace(loop);
    auto found = llvm::find(reduced, loop);
    if (isNew && !tap.empty() && found != reduced.end()) {
      int64_t at = tap[found - reduced.begin()];
      number->second = {body.number(float(at)), {at, at}};
    } else if (isNew) {
      number->second = {addArgument(), {0, ranges[loop] - 1}};
      made.loops.push_back(loop);
    }
    body.set(index, number->second);
  }
}

/// Emits, as f32, the value that a minimum or maximum combines with the
/// accumulator. If it is a select that yields the accumulator `acc`, 2^24 takes
/// its place, or -2^24 in a maximum: min(is ? i : acc, acc) == min(is ? i :
/// 2^24, acc), as acc <= 2^24. Returns std::nullopt if a value is not exact.
std::optional<CarriedNumber> IndexBody::makeTerm(IntegerBody &body,
                                                 OpBuilder &inner) {
  auto select = term.getDefiningOp<arith::SelectOp>();
  std::optional<int64_t> other;
  if (select)
    other = select.getFalseValue() == out
                ? (isMin ? kExactInteger : -kExactInteger)
                : getInteger(select.getFalseValue());
  if (!other)
    return body.get(term);
  std::optional<CarriedNumber> index = body.get(select.getTrueValue());
  Value condition = body.getCondition(select.getCondition());
  if (!condition || !index || !index->value || index->window)
    return std::nullopt;
  if (!indices)
    indices = index->range;
  other = getLimit(*other);
  if (!other)
    return std::nullopt;
  Value chosen = arith::SelectOp::create(
      inner, op.getLoc(), condition, index->value, body.number(float(*other)));
  return CarriedNumber{chosen,
                       {std::min(index->range.low, *other),
                        std::max(index->range.high, *other)}};
}

/// Rewrites the body to f32 for the window element at the indices `tap` of the
/// reduction loops, or for the whole reduction if `tap` is empty. The whole one
/// must come first, because it sets the range of the indices. Returns
/// std::nullopt if a value is not exact.
std::optional<FloatBody> IndexBody::makeBody(ArrayRef<int64_t> tap) {
  FloatBody made{std::make_unique<Block>(), {}, {}};
  OpBuilder inner(op.getContext());
  inner.setInsertionPointToEnd(made.block.get());
  IntegerBody body(inner, op.getLoc(), nullptr);
  setInputs(body, made, tap);
  Value last = made.block->addArgument(inner.getF32Type(), op.getLoc());
  if (!term && start)
    body.set(out, {last, start->range});
  std::optional<CarriedNumber> result =
      term ? makeTerm(body, inner)
           : body.get(op.getBlock()->getTerminator()->getOperand(0));
  if (!result || !result->value || result->window || !result->range.isExact())
    return std::nullopt;
  made.range = result->range;
  Value yielded = result->value;
  if (term) {
    if (!indices)
      indices = result->range;
    std::optional<int64_t> low = getLimit(start->range.low),
                           high = getLimit(start->range.high);
    if (!low || !high)
      return std::nullopt;
    start->range = {*low, *high};
    if (isMin) {
      made.range = {std::min(*low, made.range.low),
                    std::min(*high, made.range.high)};
      yielded = arith::MinimumFOp::create(inner, op.getLoc(), yielded, last);
    } else {
      made.range = {std::max(*low, made.range.low),
                    std::max(*high, made.range.high)};
      yielded = arith::MaximumFOp::create(inner, op.getLoc(), yielded, last);
    }
  }
  linalg::YieldOp::create(inner, op.getLoc(), yielded);
  return made;
}

/// Lists in `taps` the elements of the window if the op reduces an input that
/// is read by windows; adds none otherwise. Returns false if a window has more
/// than 256 elements, or an index that does not become a slice.
bool IndexBody::findTaps() {
  bool hasWindows =
      llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *input) {
        return op.payloadUsesValueFromOperand(input) &&
               !op.getMatchingIndexingMap(input).isProjectedPermutation(
                   /*allowZeroInResults=*/true);
      });
  if (!hasWindows || !term)
    return true;
  SmallVector<int64_t> sizes;
  int64_t count = 1;
  for (unsigned loop : reduced) {
    sizes.push_back(ranges[loop]);
    if (sizes.back() > kMostTaps || (count *= sizes.back()) > kMostTaps)
      return false;
  }
  forEachIndex(sizes, [&](ArrayRef<int64_t> tap) {
    taps.emplace_back(tap);
    return true;
  });
  SmallVector<TapSlice> slices;
  return llvm::all_of(op.getIndexingMapsArray(), [&](AffineMap map) {
    return takeTap(map, taps.front(), slices).has_value();
  });
}

/// Returns the indexing map of an operand for one element of the window,
/// without the reduction loops. Appends to `slices`, for each dim of the
/// operand, the slice that this element reads in all parallel iterations.
/// Returns std::nullopt if the index of a dim depends on several parallel
/// loops, falls along one, or is not linear.
std::optional<AffineMap>
IndexBody::takeTap(AffineMap map, ArrayRef<int64_t> tap,
                   SmallVectorImpl<TapSlice> &slices) const {
  MLIRContext *context = map.getContext();
  SmallVector<AffineExpr> loops, results;
  SmallVector<int64_t> sizes;
  for (auto [loop, size] : llvm::enumerate(ranges)) {
    auto found = llvm::find(reduced, loop);
    if (found != reduced.end()) {
      loops.push_back(
          getAffineConstantExpr(tap[found - reduced.begin()], context));
      continue;
    }
    loops.push_back(getAffineDimExpr(sizes.size(), context));
    sizes.push_back(size);
  }
  map = map.replaceDimsAndSymbols(loops, {}, sizes.size(), 0);
  for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
    SmallVector<int64_t> factors;
    if (failed(getFlattenedAffineExpr(expr, sizes.size(), 0, &factors)) ||
        factors.size() != sizes.size() + 1)
      return std::nullopt;
    TapSlice slice{unsigned(dim), factors.back(), 1, 1};
    AffineExpr result = getAffineConstantExpr(0, context);
    for (auto [loop, size] : llvm::enumerate(sizes)) {
      if (factors[loop] == 0)
        continue;
      if (factors[loop] < 0 || isa<AffineDimExpr>(result))
        return std::nullopt;
      slice.size = size;
      slice.step = factors[loop];
      result = getAffineDimExpr(loop, context);
    }
    slices.push_back(slice);
    results.push_back(result);
  }
  return AffineMap::get(sizes.size(), 0, results, context);
}

/// Creates the f32 tensor that the result is accumulated into: the f32 form of
/// the init, which is a fill if the init is constant, or an empty tensor if the
/// body does not read the init.
Value IndexBody::makeStart() {
  if (start && start->tensor)
    return start->tensor;
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  Value empty = tensor::EmptyOp::create(builder, op.getLoc(), type.getShape(),
                                        builder.getF32Type());
  if (!start)
    return empty;
  Value number = arith::ConstantOp::create(
      builder, op.getLoc(), builder.getF32FloatAttr(float(start->range.low)));
  return linalg::FillOp::create(builder, op.getLoc(), number, empty)
      .getResult(0);
}

/// Creates the f32 op for one element of the window, on slices of the operands,
/// or for the whole reduction if `tap` is empty. It accumulates into `init`.
/// Returns its result.
Value IndexBody::create(FloatBody &body, ArrayRef<int64_t> tap, Value init) {
  Location loc = op.getLoc();
  SmallVector<Value> operands;
  SmallVector<AffineMap> maps;
  auto add = [&](Value tensor, AffineMap map) {
    SmallVector<TapSlice> slices;
    if (!tap.empty())
      map = *takeTap(map, tap, slices);
    for (const TapSlice &slice : slices) {
      auto type = cast<RankedTensorType>(tensor.getType());
      if (slice.size != type.getDimSize(slice.dim))
        tensor = takeRange(builder, loc, tensor, slice.dim, slice.first,
                           slice.size, slice.step);
    }
    operands.push_back(tensor);
    maps.push_back(map);
  };
  for (OpOperand *input : op.getDpsInputOperands()) {
    if (!tap.empty() && !op.payloadUsesValueFromOperand(input)) {
      body.block->eraseArgument(operands.size());
      continue;
    }
    auto known = carried.find(input->get());
    add(known == carried.end() ? input->get() : known->second.tensor,
        op.getMatchingIndexingMap(input));
  }
  for (unsigned loop : body.loops)
    add(makeIndices(builder, loc, ranges[loop]),
        AffineMap::get(op.getNumLoops(), 0, builder.getAffineDimExpr(loop)));
  add(init, op.getMatchingIndexingMap(op.getDpsInitOperand(0)));
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  if (!tap.empty())
    kinds.assign(op.getNumParallelLoops(), utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      builder, loc, TypeRange(init.getType()), ArrayRef(operands).drop_back(),
      ValueRange(operands.back()), maps, kinds);
  generic.getRegion().push_back(body.block.release());
  return generic.getResult(0);
}

std::optional<CarriedTensor> IndexBody::run() {
  if (!findStart() || (!reduced.empty() && !findReduction()))
    return std::nullopt;
  std::optional<FloatBody> whole = makeBody({});
  if (!whole || !findTaps() || llvm::any_of(whole->loops, [&](unsigned loop) {
        return ranges[loop] > kExactInteger;
      }))
    return std::nullopt;
  if (taps.empty())
    return CarriedTensor{create(*whole, {}, makeStart()), whole->range};
  SmallVector<FloatBody> bodies;
  for (ArrayRef<int64_t> tap : taps) {
    std::optional<FloatBody> body = makeBody(tap);
    if (!body)
      return std::nullopt;
    bodies.push_back(std::move(*body));
  }
  Value result = makeStart();
  for (auto [body, tap] : llvm::zip_equal(bodies, taps))
    result = create(body, tap, result);
  return CarriedTensor{result, whole->range};
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

/// Returns true if the op computes one i32 or i64 tensor from f32 tensors and
/// from integer tensors that are known as f32, which `carried` has. It must
/// also use loop indices or one of the latter, or yield i64.
static bool yieldsIndices(linalg::GenericOp op, const CarriedTensors &carried) {
  Type type = op.getBlock()->getArguments().back().getType();
  if (op.getNumDpsInits() != 1 || !op.hasPureTensorSemantics() ||
      op.hasDynamicShape() || llvm::is_contained(op.getStaticLoopRanges(), 0) ||
      !(type.isInteger(32) || type.isInteger(64)))
    return false;
  auto isCarried = [&](Value input) { return carried.contains(input); };
  // The index of a loop with one iteration may have been folded to a constant,
  // so an i64 result is enough.
  return (op.hasIndexSemantics() || type.isInteger(64) ||
          llvm::any_of(op.getInputs(), isCarried)) &&
         llvm::all_of(op.getInputs(), [&](Value input) {
           return isCarried(input) || getElementTypeOrSelf(input).isF32();
         });
}

void layout::carryIndices(func::FuncOp function) {
  SmallVector<linalg::GenericOp> ops, conversions;
  function.walk([&](linalg::GenericOp op) { ops.push_back(op); });
  CarriedTensors carried;
  for (linalg::GenericOp op : ops) {
    if (!yieldsIndices(op, carried))
      continue;
    std::optional<CarriedTensor> floats = IndexBody(op, carried).run();
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
        builder, op.getLoc(), TypeRange(type), floats->tensor,
        ValueRange(empty), ArrayRef{all, all}, kinds,
        [&](OpBuilder &body, Location loc, ValueRange values) {
          Value integer =
              type.getElementType().isInteger(32)
                  ? IntegerBody(body, loc, nullptr)
                        .word(values[0], floats->range)
                  : Value(arith::FPToSIOp::create(
                        body, loc, type.getElementType(), values[0]));
          linalg::YieldOp::create(body, loc, integer);
        });
    carried[integers.getResult(0)] = *floats;
    conversions.push_back(integers);
    op.replaceAllUsesWith(integers.getResults());
    op.erase();
  }
  for (linalg::GenericOp conversion : conversions)
    if (conversion.use_empty())
      conversion.erase();
}
