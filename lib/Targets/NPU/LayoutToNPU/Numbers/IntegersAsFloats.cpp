//===- IntegersAsFloats.cpp - Integer tensors as f32 tensors --------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rewrites a function to f32 if all of its integers provably are exact as f32
// (IntegerBody.h). Constants are converted here, i8 arguments and i32 results
// on the execution units. Ranges come from the constants: a sum of products
// with the weights w of one output is at most sum(|w|) times the largest input.
// If one value has no proof, the function is not changed.
//
//===----------------------------------------------------------------------===//

#include "Legalize/LegalizeLinalg.h"
#include "Numbers/IntegerBody.h"
#include "layout/Algebra/Box.h"
#include "layout/Support/ConstantBytes.h"
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
  Value startFromNothing(linalg::LinalgOp op, Value init);
  bool convertMove(Operation *op);
  bool convertResults(func::ReturnOp op);
  Carried get(Value value);
  Carried convertConstant(arith::ConstantOp constant);
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
    Value floats = makeElementwise(
        value, builder.getF32Type(), [&](OpBuilder &body, Value byte) -> Value {
          return arith::SIToFPOp::create(body, value.getLoc(),
                                         body.getF32Type(), byte);
        });
    made = CarriedTensor{floats, {-128, 127}};
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
  auto getNumber = [&](Value scalar) -> Value {
    APInt constant;
    if (!matchPattern(scalar, m_ConstantInt(&constant)) ||
        !IntegerRange{constant.getSExtValue(), constant.getSExtValue()}
             .isExact())
      return {};
    include({constant.getSExtValue(), constant.getSExtValue()});
    return arith::ConstantOp::create(
        builder, op->getLoc(),
        builder.getF32FloatAttr(float(constant.getSExtValue())));
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

/// Converts the value that a sum or maximum yields to f32, given the
/// accumulator `start`. Returns std::nullopt for other reductions, or if the
/// result is not proven to be exact.
std::optional<CarriedNumber>
IntegerCarrier::convertReduction(linalg::LinalgOp op, IntegerBody &body,
                                 const CarriedNumber &start) {
  Value yielded = op.getBlock()->getTerminator()->getOperand(0);
  BlockArgument out = op.getBlock()->getArguments().back();
  Operation *last = yielded.getDefiningOp();
  if (!isa_and_nonnull<arith::AddIOp, arith::MaxSIOp>(last))
    return std::nullopt;
  unsigned term = last->getOperand(0) == out ? 1 : 0;
  std::optional<CarriedNumber> each = body.get(last->getOperand(term));
  if (last->getOperand(1 - term) != out || !each || !each->value ||
      each->window)
    return std::nullopt;
  if (isa<arith::MaxSIOp>(last))
    return CarriedNumber{body.max(start.value, each->value),
                         {std::max(start.range.low, each->range.low),
                          std::max(start.range.high, each->range.high)}};
  std::optional<IntegerRange> range =
      getSumRange(op, last->getOperand(term), start.range, each->range);
  unsigned bits = yielded.getType().getIntOrFloatBitWidth();
  if (!range || !llvm::isIntN(bits, range->low) ||
      !llvm::isIntN(bits, range->high))
    return std::nullopt;
  return CarriedNumber{body.add(start.value, each->value), *range};
}

/// Returns the f32 init of a reduction. It is `init`, except for a maximum
/// whose init is a fill with a constant that no element is less than. Then it
/// is a fill with -inf, which window functions require and which gives the same
/// result.
Value IntegerCarrier::startFromNothing(linalg::LinalgOp op, Value init) {
  auto fill = op.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
  Operation *last =
      op.getBlock()->getTerminator()->getOperand(0).getDefiningOp();
  if (!fill || !isa<arith::MaxSIOp>(last))
    return init;
  IntegerRange start = get(fill.getResult(0))->range;
  for (Value input : op.getDpsInputs())
    if (!input.getDefiningOp<tensor::EmptyOp>() &&
        start.high > get(input)->range.low)
      return init;
  Value least = arith::ConstantOp::create(builder, op.getLoc(),
                                          builder.getF32FloatAttr(-INFINITY));
  return linalg::FillOp::create(builder, op.getLoc(), least,
                                get(fill.getOutputs()[0])->tensor)
      .getResult(0);
}

bool IntegerCarrier::convertLinalg(linalg::LinalgOp op) {
  if (op.getNumDpsInits() != 1 || !op.hasPureTensorSemantics() ||
      op.hasIndexSemantics() ||
      llvm::is_contained(op.getStaticLoopRanges(), 0) ||
      !isIntegerTensor(op->getResult(0).getType()))
    return false;
  SmallVector<Value> operands;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  auto block = std::make_unique<Block>();
  SmallVector<CarriedNumber> arguments;
  for (OpOperand &operand : op->getOpOperands()) {
    Carried floats = isIntegerTensor(operand.get().getType())
                         ? get(operand.get())
                         : std::nullopt;
    if (!floats)
      return false;
    operands.push_back(floats->tensor);
    arguments.push_back(
        {block->addArgument(builder.getF32Type(), op.getLoc()), floats->range});
    arguments.back().constants = getIntegers(operand.get());
    arguments.back().input = operand.getOperandNumber();
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
    body.set(argument, number);
  bool isReduction = op.getNumReductionLoops() > 0;
  std::optional<CarriedNumber> result =
      isReduction ? convertReduction(op, body, arguments.back())
                  : body.get(op.getBlock()->getTerminator()->getOperand(0));
  if (!result || !result->value || result->window)
    return false;
  if (isReduction)
    operands.back() = startFromNothing(op, operands.back());
  // A sum of elements may become an average pool times n, which rounds. Up to
  // 2^20 the error is below 1/2, so the result is rounded to an integer.
  auto sum = result->value.getDefiningOp<arith::AddFOp>();
  bool isMean = isReduction && sum && isa<BlockArgument>(sum.getRhs());
  if (isMean && result->range.getLargest() > int64_t(1) << 20)
    return false;
  linalg::YieldOp::create(inner, op.getLoc(), result->value);
  auto generic = linalg::GenericOp::create(
      builder, op.getLoc(), TypeRange(getFloats(op->getResult(0).getType())),
      ArrayRef(operands).drop_back(), ValueRange(operands.back()), maps,
      op.getIteratorTypesArray());
  generic.getRegion().push_back(block.release());
  Value made = generic.getResult(0);
  if (isMean)
    made = makeElementwise(
        made, builder.getF32Type(), [&](OpBuilder &inner, Value x) {
          return IntegerBody(inner, op.getLoc(), nullptr).nearest(x);
        });
  carried[op->getResult(0)] = {made, result->range};
  return true;
}

bool IntegerCarrier::convertResults(func::ReturnOp op) {
  for (OpOperand &operand : op->getOpOperands()) {
    Value value = operand.get();
    if (!isIntegerTensor(value.getType()) || isa<BlockArgument>(value) ||
        value.getDefiningOp<arith::ConstantOp>())
      continue;
    Carried floats = get(value);
    if (!floats || !getElementTypeOrSelf(value).isInteger(32))
      return false;
    IntegerRange range = floats->range;
    operand.set(makeElementwise(
        floats->tensor, builder.getI32Type(), [&](OpBuilder &inner, Value x) {
          return IntegerBody(inner, op.getLoc(), nullptr).word(x, range);
        }));
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

void IntegerCarrier::run() {
  if (!function.getBody().hasOneBlock())
    return;
  SmallVector<Operation *> ops;
  for (Operation &op : function.getBody().front())
    ops.push_back(&op);
  SmallVector<Value> results(ops.back()->getOperands());
  auto failed = llvm::find_if(ops, [&](Operation *op) { return !convert(op); });
  if (failed == ops.end()) {
    for (Operation *op : llvm::reverse(replaced))
      op->erase();
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
