//===- OkkFunctionMatcher.cpp - OKKernel functions of linalg ops ----------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Dialect/NPU/IR/OkkFunctionMatcher.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::npu;

using Argument = ElementFunction::Argument;

namespace {
/// The names of the OKKernel functions of a binary op: with two tensors, with a
/// constant as the right operand, and with one as the left operand. A name is
/// empty if OKKernel has no such function.
struct BinaryName {
  StringRef both, right, left;
};
} // namespace

static bool isWord(Type type) { return type.isF32() || type.isInteger(32); }

/// Returns `value` as an argument of an OKKernel function if it is a block
/// argument or a constant, of type f32 or i32, or else std::nullopt.
static std::optional<Argument> getArgument(Value value) {
  if (!isWord(value.getType()))
    return std::nullopt;
  if (auto argument = dyn_cast<BlockArgument>(value))
    return Argument{int(argument.getArgNumber()), 0, false};
  APFloat number(0.0f);
  APInt integer;
  if (matchPattern(value, m_ConstantFloat(&number)))
    return Argument{-1, uint32_t(number.bitcastToAPInt().getZExtValue()),
                    false};
  if (matchPattern(value, m_ConstantInt(&integer)))
    return Argument{-1, uint32_t(integer.getZExtValue()), true};
  return std::nullopt;
}

static bool isNumber(Value value, float number) {
  APFloat found(0.0f);
  return value.getType().isF32() &&
         matchPattern(value, m_ConstantFloat(&found)) &&
         found.isExactlyValue(number);
}

static std::optional<ElementFunction> makeBinary(BinaryName name, Value a,
                                                 Value b) {
  std::optional<Argument> left = getArgument(a), right = getArgument(b);
  if (!left || !right || (!left->isOperand() && !right->isOperand()))
    return std::nullopt;
  ElementFunction function;
  function.arguments = {*left, *right};
  function.name =
      (left->isOperand() ? right->isOperand() ? name.both : name.right
                         : name.left)
          .str();
  if (!left->isOperand())
    std::swap(function.arguments[0], function.arguments[1]);
  if (function.name.empty())
    return std::nullopt;
  return function;
}

/// Returns the function of a maximum or minimum, or std::nullopt if OKKernel
/// has no such function. If one operand is NaN, OKKernel returns the second
/// one. The result of a reduction so far is passed as the first operand, so
/// that a reduction that starts from NaN, as maxnumf permits, continues with a
/// number.
template <typename Op>
static std::optional<ElementFunction> makeExtreme(BinaryName name, Op op) {
  Value a = op.getLhs(), b = op.getRhs();
  auto out = dyn_cast<BlockArgument>(b);
  auto compute = dyn_cast<linalg::LinalgOp>(op->getParentOp());
  if (out && compute && int(out.getArgNumber()) >= compute.getNumDpsInputs())
    std::swap(a, b);
  return makeBinary(name, a, b);
}

static std::optional<ElementFunction>
makeUnary(StringRef name, Value a,
          ElementFunction::Kind kind = ElementFunction::Strided) {
  std::optional<Argument> argument = getArgument(a);
  if (!argument || !argument->isOperand())
    return std::nullopt;
  return ElementFunction{name.str(), kind, {*argument}};
}

ClampedValue npu::getClamped(Value value) {
  ClampedValue clamped{value, {}};
  APFloat bound(0.0f);
  bool hasLeast = false, hasMost = false;
  while (Operation *op = clamped.source.getDefiningOp()) {
    bool &isKnown = isa<arith::MaximumFOp>(op) ? hasLeast : hasMost;
    if (!isa<arith::MaximumFOp, arith::MinimumFOp>(op) || isKnown ||
        !matchPattern(op->getOperand(1), m_ConstantFloat(&bound)))
      break;
    isKnown = true;
    clamped.ops.insert(clamped.ops.begin(), op);
    clamped.source = op->getOperand(0);
  }
  return clamped;
}

/// Returns the function `name` of `x`, which needs work memory, preceded by
/// clamps if `x` is clamped to constants. Returns std::nullopt unless the value
/// before clamping is a block argument of type f32 or i32. The clamps are
/// selects, which return NaN for NaN, as maximumf and minimumf do.
static std::optional<ElementFunction> makeWithWork(StringRef name, Value x) {
  ClampedValue clamped = getClamped(x);
  std::optional<ElementFunction> function =
      makeUnary(name, clamped.source, ElementFunction::AlignedWithWork);
  if (!function)
    return std::nullopt;
  Argument source = function->arguments.front();
  for (Operation *op : clamped.ops) {
    Argument bound = *getArgument(op->getOperand(1));
    bool isLeast = isa<arith::MaximumFOp>(op);
    function->clamps.push_back(
        {"greater_select",
         ElementFunction::Select,
         {isLeast ? bound : source, isLeast ? source : bound, bound, source}});
  }
  return function;
}

/// Returns the function of a shift by a constant below 32, or std::nullopt for
/// another one; larger shifts are poison in arith. `direction` is 1 for a shift
/// to the left and -1 for one to the right.
template <typename Op>
static std::optional<ElementFunction> makeShift(StringRef name, Op op,
                                                int direction) {
  std::optional<Argument> word = getArgument(op.getLhs()),
                          by = getArgument(op.getRhs());
  if (!word || !word->isOperand() || !by || by->isOperand() || by->bits > 31)
    return std::nullopt;
  ElementFunction function;
  function.name = (name + "_C").str();
  by->bits = uint32_t(direction * int32_t(by->bits));
  by->isCount = true;
  function.arguments = {*word, *by};
  return function;
}

/// Returns the function that converts an i8 block argument to f32, or
/// std::nullopt if `byte` is another value.
static std::optional<ElementFunction> makeFromBytes(Value byte, bool isSigned) {
  auto argument = dyn_cast<BlockArgument>(byte);
  if (!argument || !byte.getType().isInteger(8))
    return std::nullopt;
  ElementFunction function{"int8_to_fp32",
                           ElementFunction::FromBytes,
                           {Argument{int(argument.getArgNumber())}}};
  function.isSigned = isSigned;
  return function;
}

Value npu::getSigmoidOf(arith::DivFOp div) {
  auto sum = div.getRhs().getDefiningOp<arith::AddFOp>();
  if (!isNumber(div.getLhs(), 1) || !sum)
    return {};
  Value other = isNumber(sum.getLhs(), 1)   ? sum.getRhs()
                : isNumber(sum.getRhs(), 1) ? sum.getLhs()
                                            : Value();
  auto exp = other ? other.getDefiningOp<math::ExpOp>() : math::ExpOp();
  auto minus =
      exp ? exp.getOperand().getDefiningOp<arith::NegFOp>() : arith::NegFOp();
  return minus ? minus.getOperand() : Value();
}

/// Returns the function that adds a product to the destination of a linalg op,
/// or std::nullopt if `add` has another form.
static std::optional<ElementFunction> getMac(arith::AddFOp add) {
  for (auto [sum, term] : {std::pair(add.getLhs(), add.getRhs()),
                           std::pair(add.getRhs(), add.getLhs())}) {
    auto out = dyn_cast<BlockArgument>(sum);
    auto product = term.getDefiningOp<arith::MulFOp>();
    auto op = dyn_cast<linalg::LinalgOp>(add->getParentOp());
    if (!out || !product || !op ||
        int(out.getArgNumber()) < op.getNumDpsInputs())
      continue;
    return makeBinary({"mac", "mac_C", "mac_C"}, product.getLhs(),
                      product.getRhs());
  }
  return std::nullopt;
}

/// Returns true if `value` is the constant +0 or the word 0.
static bool isZeroWord(Value value) {
  std::optional<Argument> argument = getArgument(value);
  return argument && !argument->isOperand() && argument->bits == 0;
}

/// Returns the function of a `select` that gives a constant if a comparison of
/// `a` and `b` is true, and 0 otherwise. Returns std::nullopt if it has another
/// form or OKKernel has no such function.
static std::optional<ElementFunction>
getSelectValue(BinaryName name, Value a, Value b, arith::SelectOp select) {
  if (!isZeroWord(select.getFalseValue()))
    return std::nullopt;
  std::optional<ElementFunction> function = makeBinary(name, a, b);
  std::optional<Argument> selected = getArgument(select.getTrueValue());
  if (!function || !selected || selected->isOperand())
    return std::nullopt;
  // Pass the compared constant as a float with these bits, and the selected one
  // as bits.
  function->arguments.back().isWord = false;
  selected->isWord = true;
  function->arguments.push_back(*selected);
  return function;
}

bool npu::selectsByEqualWords(arith::SelectOp select) {
  auto compare = select.getCondition().getDefiningOp<arith::CmpIOp>();
  return compare && compare.getPredicate() == arith::CmpIPredicate::eq &&
         compare.getLhs().getType().isInteger(32) &&
         isZeroWord(select.getFalseValue()) &&
         matchPattern(select.getTrueValue(), m_Constant());
}

/// Returns the OKKernel function of `select`, or std::nullopt if there is none.
/// There are selects by greater and less, by the equality of i32 words, and by
/// `ueq` of two block arguments. `equal_select` compares twice by greater, so
/// it treats NaN as equal to any number; with a constant it is defective.
static std::optional<ElementFunction> getSelect(arith::SelectOp select) {
  Operation *condition = select.getCondition().getDefiningOp();
  if (auto words = dyn_cast_or_null<arith::CmpIOp>(condition))
    return selectsByEqualWords(select)
               ? getSelectValue({"equal_select_value", "equal_C_select_value",
                                 "equal_C_select_value"},
                                words.getLhs(), words.getRhs(), select)
               : std::nullopt;
  auto compare = dyn_cast_or_null<arith::CmpFOp>(condition);
  if (!compare)
    return std::nullopt;
  using Predicate = arith::CmpFPredicate;
  Value a = compare.getLhs(), b = compare.getRhs();
  if (compare.getPredicate() == Predicate::OLT)
    std::swap(a, b);
  bool isEqual = compare.getPredicate() == Predicate::UEQ;
  if (!isEqual && compare.getPredicate() != Predicate::OGT &&
      compare.getPredicate() != Predicate::OLT)
    return std::nullopt;
  if (!isEqual)
    if (std::optional<ElementFunction> value =
            getSelectValue({"greater_select_value", "greater_C_select_value",
                            "C_greater_select_value"},
                           a, b, select))
      return value;
  ElementFunction function{
      isEqual ? "equal_select" : "greater_select", ElementFunction::Select, {}};
  for (Value value : {a, b, select.getTrueValue(), select.getFalseValue()}) {
    std::optional<Argument> argument = getArgument(value);
    if (!argument)
      return std::nullopt;
    function.arguments.push_back(*argument);
  }
  bool hasConstant =
      !function.arguments[0].isOperand() || !function.arguments[1].isOperand();
  return isEqual && hasConstant ? std::nullopt : std::make_optional(function);
}

std::optional<ElementFunction> npu::getElementFunction(Value value) {
  using Found = std::optional<ElementFunction>;
  if (!isWord(value.getType()))
    return std::nullopt;
  if (isa<BlockArgument>(value))
    return makeUnary("32bit_cpy", value);
  auto aligned = ElementFunction::Aligned;
  return TypeSwitch<Operation *, Found>(value.getDefiningOp())
      .Case<arith::AddFOp>([](auto op) -> Found {
        if (Found mac = getMac(op))
          return mac;
        return makeBinary({"add", "add_C", "add_C"}, op.getLhs(), op.getRhs());
      })
      .Case<arith::SubFOp>([](auto op) {
        return makeBinary({"sub", "sub_C", "C_sub"}, op.getLhs(), op.getRhs());
      })
      .Case<arith::MulFOp>([](auto op) {
        return makeBinary({"mul", "mul_C", "mul_C"}, op.getLhs(), op.getRhs());
      })
      .Case<arith::DivFOp>([&](arith::DivFOp op) -> Found {
        if (Value x = getSigmoidOf(op))
          return makeWithWork("sigmoid", x);
        if (isNumber(op.getLhs(), 1))
          return makeUnary("reciprocal", op.getRhs());
        return makeBinary({"div", "div_C", "C_div"}, op.getLhs(), op.getRhs());
      })
      .Case<arith::MaximumFOp, arith::MaxNumFOp>([](auto op) -> Found {
        for (auto [a, b] : {std::pair(op.getLhs(), op.getRhs()),
                            std::pair(op.getRhs(), op.getLhs())})
          if (isNumber(b, 0))
            return makeUnary("relu", a);
        return makeExtreme({"max", "max_C", "max_C"}, op);
      })
      .Case<arith::MinimumFOp, arith::MinNumFOp>(
          [](auto op) { return makeExtreme({"min", "min_C", "min_C"}, op); })
      .Case<arith::NegFOp>(
          [](auto op) { return makeUnary("neg", op.getOperand()); })
      .Case<arith::AndIOp>([](auto op) {
        return makeBinary({"32bit_and", "32bit_and_C", "32bit_and_C"},
                          op.getLhs(), op.getRhs());
      })
      .Case<arith::OrIOp>([](auto op) {
        return makeBinary({"32bit_or", "32bit_or_C", "32bit_or_C"}, op.getLhs(),
                          op.getRhs());
      })
      .Case<arith::XOrIOp>([](auto op) {
        return makeBinary({"32bit_xor", "32bit_xor_C", "32bit_xor_C"},
                          op.getLhs(), op.getRhs());
      })
      .Case<arith::ShLIOp>(
          [](auto op) { return makeShift("32bit_logical_shift", op, 1); })
      .Case<arith::ShRSIOp>(
          [](auto op) { return makeShift("32bit_arithmetic_shift", op, -1); })
      .Case<arith::ShRUIOp>(
          [](auto op) { return makeShift("32bit_logical_shift", op, -1); })
      .Case<arith::BitcastOp>(
          [](auto op) { return makeUnary("32bit_cpy", op.getOperand()); })
      .Case<arith::SelectOp>([](auto op) { return getSelect(op); })
      .Case<arith::SIToFPOp, arith::UIToFPOp>([](auto op) {
        return makeFromBytes(op.getIn(),
                             std::is_same_v<decltype(op), arith::SIToFPOp>);
      })
      .Case<math::SqrtOp>(
          [&](auto op) { return makeUnary("sqrt", op.getOperand(), aligned); })
      .Case<math::RsqrtOp>(
          [&](auto op) { return makeUnary("rsqrt", op.getOperand(), aligned); })
      .Case<math::ExpOp>(
          [](auto op) { return makeWithWork("exp", op.getOperand()); })
      .Case<math::TanhOp>(
          [](auto op) { return makeWithWork("tanh", op.getOperand()); })
      .Default([](Operation *) { return std::nullopt; });
}

std::optional<ElementFunction> npu::getElementFunction(linalg::LinalgOp op) {
  Operation *yield = op.getBlock()->getTerminator();
  if (yield->getNumOperands() == 0 || op.getNumDpsInits() > 2 ||
      op.hasIndexSemantics())
    return std::nullopt;
  std::optional<ElementFunction> function =
      getElementFunction(yield->getOperand(0));
  if (!function)
    return std::nullopt;
  // A second result is work memory.
  if (op.getNumDpsInits() == 2 &&
      !(needsWork(op) && yield->getOperand(1) == yield->getOperand(0)))
    return std::nullopt;
  bool isFromBytes = function->kind == ElementFunction::FromBytes;
  auto isShaped = [&](Value value) {
    auto shaped = dyn_cast<ShapedType>(value.getType());
    return shaped && (isFromBytes ? shaped.getElementType().isInteger(8)
                                  : isWord(shaped.getElementType()));
  };
  for (const Argument &argument : function->arguments)
    if (argument.isOperand() && !isShaped(op->getOperand(argument.operand)))
      return std::nullopt;
  // A reduction must read the result that it has so far.
  unsigned out = op.getDpsInitOperand(0)->getOperandNumber();
  bool accumulates =
      StringRef(function->name).starts_with("mac") ||
      llvm::any_of(function->arguments, [&](const Argument &argument) {
        return argument.operand == int(out);
      });
  if (op.getNumReductionLoops() > 0 && !accumulates)
    return std::nullopt;
  // These functions write their result before the last read of the source.
  bool isInPlace = accumulates && function->clamps.empty() &&
                   (function->name == "exp" || function->name == "tanh");
  return isInPlace ? std::nullopt : function;
}

bool npu::needsWork(linalg::LinalgOp op) {
  Operation *yield = op.getBlock()->getTerminator();
  if (yield->getNumOperands() == 0)
    return false;
  std::optional<ElementFunction> function =
      getElementFunction(yield->getOperand(0));
  return function && function->takesWork();
}

bool npu::startsFromNothing(linalg::LinalgOp op, const APFloat &start) {
  std::optional<ElementFunction> function = getElementFunction(op);
  if (!function)
    return false;
  bool isMax = function->name == "max";
  if (!isMax && function->name != "min")
    return start.isZero() &&
           (function->name == "add" || function->name == "mac");
  if (start.isNaN())
    return isa<arith::MaxNumFOp, arith::MinNumFOp>(
        op.getBlock()->getTerminator()->getOperand(0).getDefiningOp());
  return start.isInfinity() && start.isNegative() == isMax;
}

int64_t npu::getStep(AffineExpr index, unsigned numLoops, unsigned loop) {
  SmallVector<int64_t> at(numLoops, 0);
  AffineMap map = AffineMap::get(numLoops, 0, index, index.getContext());
  int64_t first = map.compose(at)[0];
  at[loop] = 1;
  return map.compose(at)[0] - first;
}

std::optional<std::pair<unsigned, unsigned>>
npu::getFactors(linalg::LinalgOp op) {
  std::optional<ElementFunction> function = getElementFunction(op);
  return function ? getFactors(op, *function) : std::nullopt;
}

std::optional<std::pair<unsigned, unsigned>>
npu::getFactors(linalg::LinalgOp op, const ElementFunction &function) {
  if (function.name != "mac" || op.getNumDpsInits() != 1)
    return std::nullopt;
  unsigned a = function.arguments[0].operand, b = function.arguments[1].operand;
  unsigned out = op.getDpsInitOperand(0)->getOperandNumber();
  if (a == b || a == out || b == out)
    return std::nullopt;
  return std::pair(a, b);
}

static bool isF32(linalg::LinalgOp op) {
  return llvm::all_of(op->getOperands(), [](Value operand) {
    return getElementTypeOrSelf(operand.getType()).isF32();
  });
}

FailureOr<linalg::ContractionDimensions>
npu::getProductDims(linalg::LinalgOp op) {
  FailureOr<linalg::ContractionDimensions> dims =
      linalg::inferContractionDims(op);
  // inferContractionDims ignores loops that occur only in the windows of a
  // convolution.
  if (failed(dims) ||
      dims->batch.size() + dims->m.size() + dims->n.size() + dims->k.size() !=
          op.getNumLoops())
    return failure();
  return dims;
}

bool npu::isProductOfMatrices(linalg::LinalgOp op) {
  std::optional<ElementFunction> function = getElementFunction(op);
  return function && function->name == "mac" && isF32(op) &&
         op.getNumReductionLoops() > 0 && succeeded(getProductDims(op));
}

bool npu::mayLieAs(linalg::LinalgOp op, layout::NpuMode mode, bool isWeight) {
  std::optional<ElementFunction> function = getElementFunction(op);
  if (!function)
    return true;
  if (function->kind == ElementFunction::FromBytes)
    return true; // the commands decide
  if (!isF32(op))
    return true;
  if (function->kind != ElementFunction::Strided)
    return mode == layout::NpuMode::Aligned || mode == layout::NpuMode::Matrix;
  if (function->name != "mac" || op.getNumReductionLoops() == 0 || isWeight)
    return true;
  if (isProductOfMatrices(op))
    return mode != layout::NpuMode::Compact;
  // The input channels of a convolution are in other cores than the result
  // channels.
  FailureOr<linalg::ConvolutionDimensions> dims =
      linalg::inferConvolutionDims(op);
  return failed(dims) || dims->outputChannel.empty() ||
         mode == layout::NpuMode::Aligned;
}

bool npu::takesStrides(linalg::LinalgOp op) {
  std::optional<ElementFunction> function = getElementFunction(op);
  return function && function->kind == ElementFunction::Strided &&
         op.getNumReductionLoops() == 0;
}

bool npu::prefersAligned(linalg::LinalgOp op) {
  std::optional<ElementFunction> function = getElementFunction(op);
  return function && function->kind == ElementFunction::Strided &&
         op.getNumReductionLoops() > 0 && failed(getProductDims(op));
}
