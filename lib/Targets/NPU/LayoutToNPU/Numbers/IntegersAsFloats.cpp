//===- IntegersAsFloats.cpp - Integer tensors as f32 tensors --------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rewrites a function to f32 if all of its integers provably are exact as f32
// (IntegerBody.h). Constants are converted here, i8 arguments, and i32 and i8
// results (PackBytes.cpp), on the execution units. Ranges come from the
// constants: a sum of products with the weights w of one output is at most
// sum(|w|) times the largest input. If one value has no proof, or if the
// function only moves integers, it is not changed.
//
//===----------------------------------------------------------------------===//

#include "Legalize/LegalizeLinalg.h"
#include "Numbers/IntegerBody.h"
#include "layout/Algebra/Box.h"
#include "layout/Dialect/NPU/IR/NPU.h"
#include "layout/Support/ConstantBytes.h"
#include "layout/Support/EntryPoints.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"
#include <cmath>
#include <map>

using namespace mlir;
using namespace mlir::layout;

namespace {
class IntegerCarrier : OpBuilder::Listener {
public:
  IntegerCarrier(func::FuncOp function)
      : function(function), builder(function.getContext(), this) {}

  void run();

private:
  using Carried = std::optional<CarriedTensor>;
  bool convert(Operation *op);
  bool convertLinalg(linalg::LinalgOp op);
  std::optional<CarriedNumber> convertReduction(linalg::LinalgOp op,
                                                IntegerBody &body,
                                                const CarriedNumber &start);
  CarriedTensor getStart(linalg::LinalgOp op);
  Value startFromNothing(linalg::LinalgOp op, const CarriedTensor &start,
                         ArrayRef<CarriedNumber> terms);
  bool convertMove(Operation *op);
  bool onlyMoves();
  Carried getOperand(linalg::LinalgOp op, OpOperand &operand);
  Value convertResult(OpOperand &returned, const CarriedTensor &floats);
  bool convertResults(func::ReturnOp op);
  Carried get(Value value);
  Carried convertConstant(arith::ConstantOp constant);
  CarriedTensor convertArgument(BlockArgument argument);
  const std::vector<int64_t> *getIntegers(Value tensor);
  RankedTensorType getFloats(Type type);
  Value makeConstant(RankedTensorType type, ArrayRef<float> numbers,
                     StringRef resource = "");
  Value makeElementwise(Value in, Type element,
                        function_ref<Value(OpBuilder &, Value)> make);
  std::optional<IntegerRange> getSumRange(linalg::LinalgOp op, Value term,
                                          IntegerRange start,
                                          IntegerRange each);

  void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) override {
    if (op->getParentOp() == function)
      made.push_back(op);
  }

  func::FuncOp function;
  OpBuilder builder;
  DenseMap<Value, CarriedTensor> carried;
  std::map<const void *, std::vector<int64_t>>
      integers; // of constants, by attribute
  SmallVector<Operation *> made, replaced;
  /// The numbers of the results of the function that are packed bytes.
  SmallVector<unsigned> packed;
  /// The f32 results of ops on integers, and the results of their f32 ops.
  SmallVector<std::pair<Value, Value>> floatResults;
};
} // namespace

/// Returns true if the integer tensor `type` has static sizes, signless
/// elements and no encoding.
static bool isPlain(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return tensor.hasStaticShape() && !tensor.getEncoding() &&
         tensor.getElementType().isSignlessInteger();
}

static bool isIntegerTensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getElementType().isInteger();
}

RankedTensorType IntegerCarrier::getFloats(Type type) {
  return cast<RankedTensorType>(type).clone(builder.getF32Type());
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

/// Returns the integer elements of a constant tensor, a single one for a splat.
/// Returns a null pointer if it is not a constant or has no elements or known
/// bytes.
const std::vector<int64_t> *IntegerCarrier::getIntegers(Value tensor) {
  ElementsAttr values;
  if (!matchPattern(tensor, m_Constant(&values)))
    return nullptr;
  auto [known, isNew] = integers.try_emplace(values.getAsOpaquePointer());
  std::vector<int64_t> &numbers = known->second;
  if (!isNew)
    return numbers.empty() ? nullptr : &numbers;
  int64_t bytes = values.getElementType().getIntOrFloatBitWidth() / 8;
  std::optional<ArrayRef<char>> data = getConstantBytes(values);
  bool isSplat = isa<DenseElementsAttr>(values) && values.isSplat();
  int64_t count = isSplat ? 1 : values.getNumElements();
  if (!data || bytes < 1 || int64_t(data->size()) != count * bytes)
    return nullptr;
  for (int64_t i = 0; i < count; ++i) {
    uint64_t bits = 0;
    std::memcpy(&bits, data->data() + i * bytes, bytes);
    numbers.push_back(llvm::SignExtend64(bits, bytes * 8));
  }
  return numbers.empty() ? nullptr : &numbers;
}

/// Creates an f32 constant: a dense_resource named `resource`, as for large
/// constants, or a dense one if `resource` is empty.
Value IntegerCarrier::makeConstant(RankedTensorType type,
                                   ArrayRef<float> numbers,
                                   StringRef resource) {
  TypedAttr value;
  if (resource.empty()) {
    value = DenseElementsAttr::get(type, numbers);
  } else {
    auto &manager =
        DenseResourceElementsHandle::getManagerInterface(type.getContext());
    value = DenseResourceElementsAttr::get(
        type,
        manager.insert(
            resource, HeapAsmResourceBlob::allocateAndCopyInferAlign(numbers)));
  }
  return arith::ConstantOp::create(builder, function.getLoc(), value);
}

IntegerCarrier::Carried
IntegerCarrier::convertConstant(arith::ConstantOp constant) {
  const std::vector<int64_t> *numbers = getIntegers(constant);
  if (!numbers)
    return std::nullopt;
  IntegerRange range{*llvm::min_element(*numbers),
                     *llvm::max_element(*numbers)};
  if (!range.isExact())
    return std::nullopt;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(constant);
  std::vector<float> floats(numbers->begin(), numbers->end());
  auto resource = dyn_cast<DenseResourceElementsAttr>(constant.getValue());
  StringRef name = resource ? resource.getRawHandle().getKey() : "";
  return CarriedTensor{
      makeConstant(getFloats(constant.getType()), floats, name), range};
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

Value IntegerCarrier::makeElementwise(
    Value in, Type element, function_ref<Value(OpBuilder &, Value)> make) {
  auto type = cast<RankedTensorType>(in.getType()).clone(element);
  Location loc = in.getLoc();
  Value init = tensor::EmptyOp::create(builder, loc, type.getShape(), element);
  AffineMap map = builder.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> kinds(type.getRank(),
                                         utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             builder, loc, TypeRange(type), ValueRange(in), ValueRange(init),
             ArrayRef<AffineMap>{map, map}, kinds,
             [&](OpBuilder &body, Location loc, ValueRange arguments) {
               linalg::YieldOp::create(body, loc, make(body, arguments[0]));
             })
      .getResult(0);
}

/// Converts an i8 argument to f32. Its range is that of the type in which
/// callers pass it, as npu.element or the signature of the function says.
CarriedTensor IntegerCarrier::convertArgument(BlockArgument argument) {
  IntegerRange range{-128, 127};
  unsigned number = argument.getArgNumber();
  if (auto given =
          function.getArgAttrOfType<TypeAttr>(number, npu::kElementArgument);
      given && getElementTypeOrSelf(given.getValue()).isInteger(1))
    range = {0, 1};
  else if (auto signature =
               function->getAttrOfType<TypeAttr>(kSignatureAttrName))
    if (auto type = dyn_cast<FunctionType>(signature.getValue());
        type && number < type.getNumInputs() &&
        getElementTypeOrSelf(type.getInput(number)).isUnsignedInteger())
      range = {0, 255};
  Value floats = makeElementwise(
      argument, builder.getF32Type(),
      [&](OpBuilder &body, Value byte) -> Value {
        Location loc = argument.getLoc();
        return range.low < 0 ? Value(arith::SIToFPOp::create(
                                   body, loc, body.getF32Type(), byte))
                             : arith::UIToFPOp::create(body, loc,
                                                       body.getF32Type(), byte);
      });
  return {floats, range};
}

IntegerCarrier::Carried IntegerCarrier::get(Value value) {
  if (auto known = carried.find(value); known != carried.end())
    return known->second;
  auto type = cast<RankedTensorType>(value.getType());
  Carried made;
  OpBuilder::InsertionGuard guard(builder);
  if (auto constant = value.getDefiningOp<arith::ConstantOp>()) {
    made = convertConstant(constant);
  } else if (auto empty = value.getDefiningOp<tensor::EmptyOp>()) {
    builder.setInsertionPoint(empty);
    made = CarriedTensor{tensor::EmptyOp::create(builder, value.getLoc(),
                                                 type.getShape(),
                                                 builder.getF32Type()),
                         {}};
  } else if (isa<BlockArgument>(value) && type.getElementType().isInteger(8)) {
    builder.setInsertionPointToStart(&function.getBody().front());
    made = convertArgument(cast<BlockArgument>(value));
  }
  if (made)
    carried[value] = *made;
  return made;
}

/// Converts a fill, pad, reshape, slice, insertion or concatenation of integers
/// to f32. Returns false if an operand has no f32 form.
bool IntegerCarrier::convertMove(Operation *op) {
  IRMapping mapping;
  IntegerRange range{INT64_MAX, INT64_MIN};
  auto include = [&](IntegerRange other) {
    range.low = std::min(range.low, other.low);
    range.high = std::max(range.high, other.high);
  };
  // A byte next to bytes without sign has none.
  auto getNumber = [&](Value scalar) -> Value {
    APInt constant;
    if (!matchPattern(scalar, m_ConstantInt(&constant)) ||
        constant.getBitWidth() > 64)
      return {};
    int64_t value =
        constant.getBitWidth() == 8 && range.low >= 0 && range.low <= range.high
            ? int64_t(constant.getZExtValue())
            : constant.getSExtValue();
    if (!IntegerRange{value, value}.isExact())
      return {};
    include({value, value});
    return arith::ConstantOp::create(builder, op->getLoc(),
                                     builder.getF32FloatAttr(float(value)));
  };
  for (Value operand : op->getOperands()) {
    if (!isIntegerTensor(operand.getType()))
      continue;
    Carried floats = get(operand);
    if (!floats)
      return false;
    mapping.map(operand, floats->tensor);
    if (!operand.getDefiningOp<tensor::EmptyOp>())
      include(floats->range);
  }
  if (auto fill = dyn_cast<linalg::FillOp>(op)) {
    range = {INT64_MAX, INT64_MIN};
    Value number = getNumber(fill.getInputs()[0]);
    if (!number)
      return false;
    auto filled = linalg::FillOp::create(builder, op->getLoc(), number,
                                         mapping.lookup(fill.getOutputs()[0]));
    carried[op->getResult(0)] = {filled.getResult(0), range};
    return true;
  }
  if (auto pad = dyn_cast<tensor::PadOp>(op)) {
    Value with = pad.getConstantPaddingValue();
    Value number = with ? getNumber(with) : Value();
    if (!number)
      return false;
    auto padded = tensor::PadOp::create(
        builder, op->getLoc(), getFloats(pad.getType()),
        mapping.lookup(pad.getSource()), pad.getMixedLowPad(),
        pad.getMixedHighPad(), number, pad.getNofold());
    carried[op->getResult(0)] = {padded, range};
    return true;
  }
  if (range.low > range.high)
    range = {}; // all operands are empty tensors
  Operation *clone = builder.clone(*op, mapping);
  clone->getResult(0).setType(getFloats(op->getResult(0).getType()));
  carried[op->getResult(0)] = {clone->getResult(0), range};
  return true;
}

/// Returns the range of the sum of an init in `start` and of `term`, whose
/// values are in `each`, over all iterations of the reduction loops. If the
/// term is a product with a constant, the constant's elements give a closer
/// bound. Returns std::nullopt beyond 2^24.
std::optional<IntegerRange> IntegerCarrier::getSumRange(linalg::LinalgOp op,
                                                        Value term,
                                                        IntegerRange start,
                                                        IntegerRange each) {
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  auto kinds = op.getIteratorTypesArray();
  auto isSummed = [&](unsigned loop) {
    return kinds[loop] == utils::IteratorType::reduction;
  };
  double most = each.getLargest();
  for (unsigned loop = 0; loop < ranges.size(); ++loop)
    if (isSummed(loop))
      most *= double(ranges[loop]);
  auto find = [](Value factor) {
    while (auto wide = factor.getDefiningOp<arith::ExtSIOp>())
      factor = wide.getIn();
    return dyn_cast<BlockArgument>(factor);
  };
  if (auto product = term.getDefiningOp<arith::MulIOp>())
    for (auto [w, x] : {std::pair(product.getLhs(), product.getRhs()),
                        std::pair(product.getRhs(), product.getLhs())}) {
      BlockArgument weight = find(w), other = find(x);
      if (!weight || !other || weight == other)
        continue;
      OpOperand &operand = op->getOpOperand(weight.getArgNumber());
      const std::vector<int64_t> *numbers = getIntegers(operand.get());
      Carried input = get(op->getOperand(other.getArgNumber()));
      AffineMap map = op.getMatchingIndexingMap(&operand);
      auto type = dyn_cast<RankedTensorType>(operand.get().getType());
      if (!numbers || !input || !type || !map.isProjectedPermutation() ||
          int64_t(numbers->size()) != type.getNumElements())
        continue;
      // The sum of |w| per output; loops that do not index the weights multiply
      // it.
      std::map<SmallVector<int64_t>, double> sums;
      size_t next = 0;
      forEachIndex(type.getShape(), [&](ArrayRef<int64_t> index) {
        SmallVector<int64_t> key;
        for (auto [d, expr] : llvm::enumerate(map.getResults()))
          if (!isSummed(cast<AffineDimExpr>(expr).getPosition()))
            key.push_back(index[d]);
        sums[key] += std::abs(double((*numbers)[next++]));
        return true;
      });
      double largest = 0;
      for (auto &[key, sum] : sums)
        largest = std::max(largest, sum);
      largest *= input->range.getLargest();
      for (unsigned loop = 0; loop < ranges.size(); ++loop)
        if (isSummed(loop) && !map.isFunctionOfDim(loop))
          largest *= double(ranges[loop]);
      most = std::min(most, largest);
    }
  if (most + start.getLargest() > kExactInteger)
    return std::nullopt;
  return IntegerRange{start.low - int64_t(most), start.high + int64_t(most)};
}

namespace {
/// The op by which a reduction combines its accumulator with a term.
struct Combination {
  enum Kind { Sum, Maximum, Minimum } kind;
  bool isUnsigned = false;
  Operation *op = nullptr;
  unsigned term = 0; // the operand that is not the accumulator
};
} // namespace

/// Returns the combination that the body of a reduction yields, or std::nullopt
/// if it is not a sum, a maximum or a minimum, or a disjunction or a conjunction
/// of i1 in bytes.
static std::optional<Combination> matchCombination(linalg::LinalgOp op) {
  Value yielded = op.getBlock()->getTerminator()->getOperand(0);
  Value out = op.getBlock()->getArguments().back();
  auto wide = yielded.getDefiningOp<arith::ExtUIOp>();
  bool isBit = wide && wide.getIn().getType().isInteger(1);
  Combination found{Combination::Sum, isBit,
                    (isBit ? wide.getIn() : yielded).getDefiningOp()};
  if (!found.op)
    return std::nullopt;
  found.isUnsigned |= isa<arith::MaxUIOp, arith::MinUIOp>(found.op);
  if (isa<arith::MaxUIOp>(found.op) ||
      (isBit ? isa<arith::OrIOp>(found.op) : isa<arith::MaxSIOp>(found.op)))
    found.kind = Combination::Maximum;
  else if (isa<arith::MinUIOp>(found.op) ||
           (isBit ? isa<arith::AndIOp>(found.op)
                  : isa<arith::MinSIOp>(found.op)))
    found.kind = Combination::Minimum;
  else if (isBit || !isa<arith::AddIOp>(found.op))
    return std::nullopt;
  auto isOut = [&](Value value) {
    if (auto bit = value.getDefiningOp<arith::TruncIOp>(); bit && isBit)
      value = bit.getIn();
    return value == out;
  };
  found.term = isOut(found.op->getOperand(0)) ? 1 : 0;
  if (!isOut(found.op->getOperand(1 - found.term)))
    return std::nullopt;
  return found;
}

/// Converts the value that a sum, maximum or minimum yields to f32, given the
/// accumulator `start`. Returns std::nullopt for other reductions, or if the
/// result is not proven to be exact.
std::optional<CarriedNumber>
IntegerCarrier::convertReduction(linalg::LinalgOp op, IntegerBody &body,
                                 const CarriedNumber &start) {
  std::optional<Combination> last = matchCombination(op);
  if (!last)
    return std::nullopt;
  Value term = last->op->getOperand(last->term);
  if (last->kind == Combination::Sum) {
    std::optional<CarriedNumber> each = body.get(term);
    if (!each || !each->value || each->window)
      return std::nullopt;
    std::optional<IntegerRange> range =
        getSumRange(op, term, start.range, each->range);
    unsigned bits = term.getType().getIntOrFloatBitWidth();
    if (!range || !llvm::isIntN(bits, range->low) ||
        !llvm::isIntN(bits, range->high))
      return std::nullopt;
    return CarriedNumber{body.add(start.value, each->value), *range};
  }
  std::optional<CarriedNumber> each =
      last->isUnsigned ? body.getUnsigned(term) : body.getSigned(term);
  // The accumulator is carried with the sign of the terms.
  bool isStartSigned = start.range.low < 0;
  if (!each || !each->value || (last->isUnsigned && isStartSigned))
    return std::nullopt;
  auto limit = [&](int64_t a, int64_t b) {
    return last->kind == Combination::Maximum ? std::max(a, b) : std::min(a, b);
  };
  return CarriedNumber{last->kind == Combination::Maximum
                           ? body.max(start.value, each->value)
                           : body.min(start.value, each->value),
                       {limit(start.range.low, each->range.low),
                        limit(start.range.high, each->range.high)}};
}

/// Returns the init of a reduction with its range. It is that of the op, but a
/// constant of an unsigned maximum or minimum has no sign.
CarriedTensor IntegerCarrier::getStart(linalg::LinalgOp op) {
  Value init = op.getDpsInits()[0];
  CarriedTensor start = *get(init);
  std::optional<Combination> last = matchCombination(op);
  auto fill = init.getDefiningOp<linalg::FillOp>();
  unsigned bits = getElementTypeOrSelf(init.getType()).getIntOrFloatBitWidth();
  if (!last || !last->isUnsigned || !fill || start.range.low >= 0 || bits > 16)
    return start;
  int64_t value = start.range.low + (int64_t(1) << bits);
  Value number = arith::ConstantOp::create(
      builder, op.getLoc(), builder.getF32FloatAttr(float(value)));
  return {linalg::FillOp::create(builder, op.getLoc(), number,
                                 get(fill.getOutputs()[0])->tensor)
              .getResult(0),
          {value, value}};
}

/// Returns the f32 init of a reduction of `terms`. It is `start`, except for a
/// maximum or minimum that starts from a fill with a constant to which no term
/// is preferred. Then it is a fill with an infinity, which window functions
/// require and which gives the same result.
Value IntegerCarrier::startFromNothing(linalg::LinalgOp op,
                                       const CarriedTensor &start,
                                       ArrayRef<CarriedNumber> terms) {
  auto fill = op.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
  std::optional<Combination> last = matchCombination(op);
  if (!fill || last->kind == Combination::Sum)
    return start.tensor;
  bool isMax = last->kind == Combination::Maximum;
  for (const CarriedNumber &term : terms)
    if (isMax ? start.range.high > term.range.low
              : start.range.low < term.range.high)
      return start.tensor;
  Value least = arith::ConstantOp::create(
      builder, op.getLoc(),
      builder.getF32FloatAttr(isMax ? -INFINITY : INFINITY));
  return linalg::FillOp::create(builder, op.getLoc(), least,
                                get(fill.getOutputs()[0])->tensor)
      .getResult(0);
}

/// Returns an operand of a linalg op as f32, or std::nullopt if it has no such
/// form. The term of a maximum or minimum has the sign in which it is compared,
/// because windows have functions without other ops. i32 arguments, which may
/// have any value, stay.
IntegerCarrier::Carried IntegerCarrier::getOperand(linalg::LinalgOp op,
                                                   OpOperand &operand) {
  Value value = operand.get();
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return std::nullopt;
  if (type.getElementType().isF32())
    return CarriedTensor{value, {}};
  Carried floats = isIntegerTensor(type) ? get(value) : std::nullopt;
  if (!floats)
    return isa<BlockArgument>(value) && type.getElementType().isInteger(32)
               ? Carried(CarriedTensor{value, {}})
               : std::nullopt;
  std::optional<Combination> last;
  if (op.getNumReductionLoops() > 0)
    last = matchCombination(op);
  if (!last)
    return floats;
  if (op.isDpsInit(&operand))
    return getStart(op);
  bool isTerm =
      last->op->getOperand(last->term) == op.getMatchingBlockArgument(&operand);
  bool isRead = last->isUnsigned ? floats->range.low >= 0
                                 : llvm::isIntN(type.getElementTypeBitWidth(),
                                                floats->range.high);
  if (last->kind == Combination::Sum || !isTerm || isRead)
    return floats;
  IntegerRange range;
  Value made = makeElementwise(
      floats->tensor, builder.getF32Type(),
      [&](OpBuilder &inner, Value x) -> Value {
        IntegerBody body(inner, op.getLoc(), nullptr);
        CarriedNumber number{x, floats->range};
        std::optional<CarriedNumber> read =
            last->isUnsigned ? body.withoutSign(number, type.getElementType())
                             : body.withSign(number, type.getElementType());
        range = read ? read->range : floats->range;
        return read ? read->value : x;
      });
  return CarriedTensor{made, range};
}

bool IntegerCarrier::convertLinalg(linalg::LinalgOp op) {
  if (op.getNumDpsInits() != 1 || !op.hasPureTensorSemantics() ||
      op.hasIndexSemantics() || llvm::is_contained(op.getStaticLoopRanges(), 0))
    return false;
  Value before = op->getResult(0);
  bool isFloat = getElementTypeOrSelf(before).isF32();
  bool isReduction = op.getNumReductionLoops() > 0;
  if ((!isFloat && !isIntegerTensor(before.getType())) ||
      (isFloat && isReduction))
    return false;
  SmallVector<Value> operands;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  auto block = std::make_unique<Block>();
  SmallVector<CarriedNumber> arguments, terms;
  for (OpOperand &operand : op->getOpOperands()) {
    Carried floats = getOperand(op, operand);
    if (!floats)
      return false;
    operands.push_back(floats->tensor);
    Type element = getElementTypeOrSelf(floats->tensor);
    arguments.push_back(
        {block->addArgument(element, op.getLoc()), floats->range});
    arguments.back().constants = getIntegers(operand.get());
    arguments.back().input = operand.getOperandNumber();
    if (op.isDpsInput(&operand) &&
        !operand.get().getDefiningOp<tensor::EmptyOp>())
      terms.push_back(arguments.back());
  }
  OpBuilder inner(op.getContext());
  inner.setInsertionPointToEnd(block.get());
  auto addInput = [&](unsigned input, ArrayRef<float> numbers) -> Value {
    auto type = getFloats(op->getOperand(input).getType());
    unsigned at = operands.size() - 1; // before the result
    operands.insert(operands.begin() + at, makeConstant(type, numbers));
    maps.insert(maps.begin() + at,
                op.getMatchingIndexingMap(&op->getOpOperand(input)));
    return block->insertArgument(at, builder.getF32Type(), op.getLoc());
  };
  IntegerBody body(inner, op.getLoc(), addInput);
  for (auto [argument, number] :
       llvm::zip_equal(op.getBlock()->getArguments(), arguments))
    if (number.value.getType().isF32())
      body.set(argument, number);
    else
      body.setWord(argument, number.value);
  Value yielded = op.getBlock()->getTerminator()->getOperand(0);
  std::optional<CarriedNumber> result =
      isReduction ? convertReduction(op, body, arguments.back())
      : isFloat   ? CarriedNumber{body.getFloat(yielded), {}}
                  : body.get(yielded);
  if (!result || !result->value || result->window)
    return false;
  if (isReduction)
    operands.back() =
        startFromNothing(op, {operands.back(), arguments.back().range}, terms);
  // A sum of elements may become an average pool times n, which rounds. Up to
  // 2^20 the error is below 1/2, so the result is rounded to an integer.
  auto sum = result->value.getDefiningOp<arith::AddFOp>();
  bool isMean = isReduction && sum && isa<BlockArgument>(sum.getRhs());
  if (isMean && result->range.getLargest() > int64_t(1) << 20)
    return false;
  linalg::YieldOp::create(inner, op.getLoc(), result->value);
  auto generic = linalg::GenericOp::create(
      builder, op.getLoc(), TypeRange(getFloats(before.getType())),
      ArrayRef(operands).drop_back(), ValueRange(operands.back()), maps,
      op.getIteratorTypesArray());
  generic.getRegion().push_back(block.release());
  Value made = generic.getResult(0);
  if (isMean)
    made = makeElementwise(
        made, builder.getF32Type(), [&](OpBuilder &inner, Value x) {
          return IntegerBody(inner, op.getLoc(), nullptr).nearest(x);
        });
  if (isFloat)
    floatResults.push_back({before, made});
  else
    carried[before] = {made, result->range};
  return true;
}

/// Returns the words that stand for a result of the function, or a null value if
/// its type has none.
Value IntegerCarrier::convertResult(OpOperand &returned,
                                    const CarriedTensor &floats) {
  auto type = cast<RankedTensorType>(returned.get().getType());
  if (type.getElementType().isInteger(32))
    return makeElementwise(
        floats.tensor, builder.getI32Type(), [&](OpBuilder &inner, Value x) {
          return IntegerBody(inner, x.getLoc(), nullptr).word(x, floats.range);
        });
  if (!type.getElementType().isInteger(8) || type.getNumElements() == 0 ||
      !SymbolTable::symbolKnownUseEmpty(function, function->getParentOp()))
    return {};
  Value words =
      packBytes(builder, returned.getOwner()->getLoc(), floats.tensor);
  // The slices of a dynamic batch follow each other without padding.
  unsigned number = returned.getOperandNumber();
  if (function.getResultAttr(number, npu::kSliceArgument) &&
      4 * cast<RankedTensorType>(words.getType()).getNumElements() !=
          type.getNumElements())
    return {};
  packed.push_back(number);
  return words;
}

bool IntegerCarrier::convertResults(func::ReturnOp op) {
  for (OpOperand &operand : op->getOpOperands()) {
    Value value = operand.get();
    if (!isIntegerTensor(value.getType()) || isa<BlockArgument>(value) ||
        value.getDefiningOp<arith::ConstantOp>())
      continue;
    Carried floats = get(value);
    Value words = floats ? convertResult(operand, *floats) : Value();
    if (!words)
      return false;
    operand.set(words);
  }
  return true;
}

bool IntegerCarrier::convert(Operation *op) {
  if (op->getNumRegions() && !isa<linalg::LinalgOp, tensor::PadOp>(op))
    return false;
  if (isa<arith::ConstantOp, tensor::EmptyOp>(op) ||
      (llvm::none_of(op->getOperandTypes(), isIntegerTensor) &&
       llvm::none_of(op->getResultTypes(), isIntegerTensor)))
    return true;
  auto mayBeCarried = [](Type type) {
    return !isIntegerTensor(type) || isPlain(type);
  };
  if (!llvm::all_of(op->getOperandTypes(), mayBeCarried) ||
      !llvm::all_of(op->getResultTypes(), mayBeCarried))
    return false;
  builder.setInsertionPoint(op);
  if (auto results = dyn_cast<func::ReturnOp>(op))
    return convertResults(results);
  replaced.push_back(op);
  if (isa<linalg::FillOp, tensor::PadOp, tensor::CollapseShapeOp,
          tensor::ExpandShapeOp, tensor::ExtractSliceOp, tensor::InsertSliceOp,
          tensor::ConcatOp>(op))
    return convertMove(op);
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  return linalgOp && convertLinalg(linalgOp);
}

/// Returns true if no op on integers computes.
bool IntegerCarrier::onlyMoves() {
  return llvm::none_of(function.getBody().front(), [](Operation &op) {
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    return linalgOp && !isa<linalg::FillOp>(op) &&
           !llvm::hasSingleElement(*linalgOp.getBlock()) &&
           (llvm::any_of(op.getOperandTypes(), isIntegerTensor) ||
            llvm::any_of(op.getResultTypes(), isIntegerTensor));
  });
}

void IntegerCarrier::run() {
  if (!function.getBody().hasOneBlock() || onlyMoves())
    return;
  SmallVector<Operation *> ops;
  for (Operation &op : function.getBody().front())
    ops.push_back(&op);
  SmallVector<Value> results(ops.back()->getOperands());
  auto failed = llvm::find_if(ops, [&](Operation *op) { return !convert(op); });
  if (failed == ops.end()) {
    for (auto [before, after] : floatResults)
      before.replaceAllUsesWith(after);
    for (Operation *op : llvm::reverse(replaced))
      op->erase();
    for (unsigned number : packed)
      if (!function.getResultAttr(number, npu::kElementArgument))
        function.setResultAttr(number, npu::kElementArgument,
                               TypeAttr::get(results[number].getType()));
    function.setType(FunctionType::get(function.getContext(),
                                       function.getArgumentTypes(),
                                       ops.back()->getOperandTypes()));
    return;
  }
  remark::missed((*failed)->getLoc(), remark::RemarkOpts::name("Integers")
                                          .category("npu")
                                          .function(function.getName()))
      << "not proven to be exact as f32"
      << remark::metric("Op", (*failed)->getName().getStringRef());
  ops.back()->setOperands(results);
  for (Operation *op : llvm::reverse(made))
    op->erase();
}

void layout::carryIntegersInFloats(func::FuncOp function) {
  if (!function.isExternal())
    IntegerCarrier(function).run();
}
