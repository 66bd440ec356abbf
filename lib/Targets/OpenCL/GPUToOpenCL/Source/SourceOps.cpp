//===- SourceOps.cpp - Print arithmetic as OpenCL C -----------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Source/KernelSource.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::layout;

static bool isBits(Type type) {
  return getElementTypeOrSelf(type).isInteger(1);
}

static bool isScalar(Type type) { return getCLanes(type) == 1; }

/// Returns true if the integer type `type` is a scalar of 2 to 31 bits, which C
/// computes in int. An i1 is a bool.
static bool isNarrow(Type type) {
  return isScalar(type) && !getElementTypeOrSelf(type).isIndex() &&
         type.getIntOrFloatBitWidth() < 32 && !isBits(type);
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

namespace {
/// The C operator or function that computes an integer op, and whether its
/// operands are signed.
struct IntegerOp {
  StringRef text;
  bool isSigned, isFunction;
};
} // namespace

static IntegerOp findIntegerOp(StringRef name) {
  return llvm::StringSwitch<IntegerOp>(name)
      .Case("arith.addi", {"+", false, false})
      .Case("arith.subi", {"-", false, false})
      .Case("arith.muli", {"*", false, false})
      .Case("arith.andi", {"&", false, false})
      .Case("arith.ori", {"|", false, false})
      .Case("arith.xori", {"^", false, false})
      .Case("arith.shli", {"<<", false, false})
      .Case("arith.shrui", {">>", false, false})
      .Case("arith.shrsi", {">>", true, false})
      .Case("arith.divui", {"/", false, false})
      .Case("arith.divsi", {"/", true, false})
      .Case("arith.remui", {"%", false, false})
      .Case("arith.remsi", {"%", true, false})
      .Case("arith.maxui", {"max", false, true})
      .Case("arith.minui", {"min", false, true})
      .Case("arith.maxsi", {"max", true, true})
      .Case("arith.minsi", {"min", true, true})
      .Case("math.ctpop", {"popcount", false, true})
      .Default({"", false, false});
}

std::string KernelPrinter::getIntegerForm(Operation *op) {
  Type type = op->getResult(0).getType();
  Value a = op->getOperand(0);
  // The absolute value has the unsigned type.
  if (isa<math::AbsIOp>(op))
    return "abs(" + asSigned(a) + ")";
  IntegerOp known = findIntegerOp(op->getName().getStringRef());
  // For i1 only logic remains (see legalizeForOpenCL).
  if (known.text.empty() ||
      (isBits(type) && !isa<arith::AndIOp, arith::OrIOp, arith::XOrIOp>(op)))
    return "";
  std::string symbol = known.text.str(), text;
  if (known.isFunction) {
    text = symbol + "(";
    for (auto [i, operand] : llvm::enumerate(op->getOperands()))
      text += (i ? ", " : "") +
              (known.isSigned ? asSigned(operand) : get(operand).str());
    text += ")";
    return known.isSigned ? asUnsigned(type, text) : text;
  }
  Value b = op->getOperand(1);
  if (known.isSigned)
    return asUnsigned(type, asSigned(a) + " " + symbol + " " + asSigned(b));
  if (isNarrow(type)) // int would be signed
    return asUnsigned(type, "(uint)" + atom(a) + " " + symbol + " " + atom(b));
  return atom(a) + " " + symbol + " " + atom(b);
}

std::string KernelPrinter::getIntegerCast(Value from, Type type,
                                          bool isSigned) {
  Type source = from.getType();
  std::string to = getCType(type), one = isScalar(source) ? "1" : "";
  auto bits = [](Type each) {
    Type element = getElementTypeOrSelf(each);
    return element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  };
  if (isBits(source)) {
    if (isScalar(source))
      return "(" + to + ")" +
             (isSigned ? "(" + atom(from) + " ? -1 : 0)" : atom(from));
    return isSigned ? "as_" + to + "(convert_" + getSignedCType(type) + "(" +
                          get(from).str() + "))"
                    : "convert_" + to + "(" + atom(from) + " & 1)";
  }
  if (isBits(type)) {
    std::string element = "(" + getCType(getElementTypeOrSelf(source)) + ")";
    std::string isSet =
        "(" + atom(from) + " & " + element + "1) != " + element + "0";
    return isScalar(source) ? isSet : "convert_" + to + "(" + isSet + ")";
  }
  if (bits(source) == bits(type))
    return get(from).str();
  if (bits(type) < bits(source) || !isSigned)
    return isScalar(source) ? "(" + to + ")" + atom(from)
                            : "convert_" + to + "(" + get(from).str() + ")";
  return isScalar(source) ? "(" + to + ")" + asSigned(from)
                          : "as_" + to + "(convert_" + getSignedCType(type) +
                                "(" + asSigned(from) + "))";
}

//===----------------------------------------------------------------------===//
// Comparisons
//===----------------------------------------------------------------------===//

/// Converts the text of a vector comparison to a vector of int, the C type of
/// i1 vectors, because its lanes have the width of its operands. The text of a
/// comparison of scalars, or of vectors with 32-bit or i1 elements, remains.
static std::string toBits(Type operand, const std::string &text) {
  if (isScalar(operand))
    return text;
  Type element = getElementTypeOrSelf(operand);
  bool isInt = element.isInteger(32) || element.isF32() || element.isInteger(1);
  return isInt ? text
               : "convert_int" + std::to_string(getCLanes(operand)) + "(" +
                     text + ")";
}

std::string KernelPrinter::getCompareForm(arith::CmpIOp op) {
  using arith::CmpIPredicate;
  Type type = op.getLhs().getType();
  CmpIPredicate predicate = op.getPredicate();
  StringRef symbol;
  switch (predicate) {
  case CmpIPredicate::eq:
    symbol = "==";
    break;
  case CmpIPredicate::ne:
    symbol = "!=";
    break;
  case CmpIPredicate::slt:
  case CmpIPredicate::ult:
    symbol = "<";
    break;
  case CmpIPredicate::sle:
  case CmpIPredicate::ule:
    symbol = "<=";
    break;
  case CmpIPredicate::sgt:
  case CmpIPredicate::ugt:
    symbol = ">";
    break;
  case CmpIPredicate::sge:
  case CmpIPredicate::uge:
    symbol = ">=";
    break;
  }
  bool isSigned =
      predicate >= CmpIPredicate::slt && predicate <= CmpIPredicate::sge;
  bool isUnsigned = predicate >= CmpIPredicate::ult;
  std::string a =
      isSigned && !isBits(type) ? asSigned(op.getLhs()) : atom(op.getLhs());
  std::string b =
      isSigned && !isBits(type) ? asSigned(op.getRhs()) : atom(op.getRhs());
  // True is 1 in a scalar and -1 in a vector.
  if (isBits(type) && (isScalar(type) ? isSigned : isUnsigned))
    std::swap(a, b);
  return toBits(type, a + " " + symbol.str() + " " + b);
}

std::string KernelPrinter::getCompareForm(arith::CmpFOp op) {
  using arith::CmpFPredicate;
  Type type = op.getLhs().getType();
  std::string a = atom(op.getLhs()), b = atom(op.getRhs());
  auto infix = [&](const char *symbol) {
    return toBits(type, a + " " + symbol + " " + b);
  };
  auto call = [&](const char *name) {
    return toBits(type, name + ("(" + a + ", " + b + ")"));
  };
  switch (op.getPredicate()) {
  case CmpFPredicate::AlwaysFalse:
  case CmpFPredicate::AlwaysTrue: {
    bool isTrue = op.getPredicate() == CmpFPredicate::AlwaysTrue;
    if (isScalar(type))
      return isTrue ? "true" : "false";
    return "(" + getCType(op.getType()) + ")(" + (isTrue ? "-1" : "0") + ")";
  }
  case CmpFPredicate::OEQ:
    return infix("==");
  case CmpFPredicate::OGT:
    return infix(">");
  case CmpFPredicate::OGE:
    return infix(">=");
  case CmpFPredicate::OLT:
    return infix("<");
  case CmpFPredicate::OLE:
    return infix("<=");
  case CmpFPredicate::ONE:
    return call("islessgreater");
  case CmpFPredicate::ORD:
    return call("isordered");
  case CmpFPredicate::UNO:
    return call("isunordered");
  case CmpFPredicate::UEQ:
    return call("!islessgreater");
  case CmpFPredicate::UGT:
    return call("!islessequal");
  case CmpFPredicate::UGE:
    return call("!isless");
  case CmpFPredicate::ULT:
    return call("!isgreaterequal");
  case CmpFPredicate::ULE:
    return call("!isgreater");
  case CmpFPredicate::UNE:
    return infix("!=");
  }
  llvm_unreachable("a predicate that is not listed");
}

/// Converts `bits`, the C text of an int vector of 0 and -1, to a mask whose
/// lanes are as wide as those of `type`, as select requires.
static std::string widenBits(Type type, StringRef bits) {
  std::string mask = getSignedCType(type);
  return StringRef(mask).starts_with("int")
             ? bits.str()
             : "convert_" + mask + "(" + bits.str() + ")";
}

std::string KernelPrinter::getSelectForm(arith::SelectOp op) {
  Value condition = op.getCondition();
  if (auto broadcast = condition.getDefiningOp<vector::BroadcastOp>())
    if (isScalar(broadcast.getSource().getType()))
      condition = broadcast.getSource();
  if (isScalar(condition.getType()))
    return atom(condition) + " ? " + atom(op.getTrueValue()) + " : " +
           atom(op.getFalseValue());
  return ("select(" + get(op.getFalseValue()) + ", " + get(op.getTrueValue()) +
          ", ")
             .str() +
         widenBits(op.getType(), get(condition)) + ")";
}

//===----------------------------------------------------------------------===//
// Floating point
//===----------------------------------------------------------------------===//

/// Returns the function of OpenCL C that computes the op `name`, or "" if there
/// is none.
static StringRef findFunction(StringRef name) {
  return llvm::StringSwitch<StringRef>(name)
      .Case("arith.remf", "fmod")
      .Case("arith.maxnumf", "fmax")
      .Case("arith.minnumf", "fmin")
      .Case("math.absf", "fabs")
      .Case("math.powf", "pow")
      .Case("math.roundeven", "rint")
      .Case("vector.fma", "fma")
      .Cases({"math.acos", "math.acosh", "math.asin", "math.asinh", "math.atan",
              "math.atan2", "math.atanh", "math.cbrt"},
             name.substr(5))
      .Cases({"math.ceil", "math.copysign", "math.cos", "math.cosh", "math.erf",
              "math.erfc", "math.exp", "math.exp2"},
             name.substr(5))
      .Cases({"math.expm1", "math.floor", "math.fma", "math.log", "math.log10",
              "math.log1p", "math.log2", "math.round"},
             name.substr(5))
      .Cases({"math.rsqrt", "math.sin", "math.sinh", "math.sqrt", "math.tan",
              "math.tanh", "math.trunc"},
             name.substr(5))
      .Default("");
}

std::string KernelPrinter::getFloatForm(Operation *op) {
  Type type = op->getResult(0).getType();
  StringRef symbol = llvm::StringSwitch<StringRef>(op->getName().getStringRef())
                         .Case("arith.addf", "+")
                         .Case("arith.subf", "-")
                         .Case("arith.mulf", "*")
                         .Case("arith.divf", "/")
                         .Default("");
  if (!symbol.empty())
    return atom(op->getOperand(0)) + " " + symbol.str() + " " +
           atom(op->getOperand(1));
  if (isa<arith::NegFOp>(op))
    return "-" + atom(op->getOperand(0));
  if (isa<arith::MaximumFOp, arith::MinimumFOp>(op)) {
    // The sum propagates NaN.
    std::string a = name(op->getOperand(0)), b = name(op->getOperand(1));
    std::string pair = "(" + a + ", " + b + ")", sum = a + " + " + b;
    std::string best = (isa<arith::MaximumFOp>(op) ? "fmax" : "fmin") + pair;
    return isScalar(type)
               ? "isunordered" + pair + " ? " + sum + " : " + best
               : "select(" + best + ", " + sum + ", isunordered" + pair + ")";
  }
  if (isa<math::IsFiniteOp, math::IsInfOp, math::IsNaNOp, math::IsNormalOp>(op))
    return toBits(op->getOperand(0).getType(),
                  op->getName().stripDialect().str() + "(" +
                      get(op->getOperand(0)).str() + ")");
  StringRef function = findFunction(op->getName().getStringRef());
  if (function.empty())
    return "";
  std::string text = function.str() + "(";
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    text += (i ? ", " : "") + get(operand).str();
  return text + ")";
}

std::string KernelPrinter::getCastForm(Operation *op) {
  Value from = op->getOperand(0);
  Type type = op->getResult(0).getType();
  std::string to = getCType(type);
  auto convert = [&](const std::string &text) {
    return isScalar(type) ? "(" + to + ")" + text
                          : "convert_" + to + "(" + text + ")";
  };
  if (isa<arith::ExtSIOp, arith::IndexCastOp>(op))
    return getIntegerCast(from, type, /*isSigned=*/true);
  if (isa<arith::ExtUIOp, arith::TruncIOp, arith::IndexCastUIOp>(op))
    return getIntegerCast(from, type, /*isSigned=*/false);
  if (isa<arith::SIToFPOp>(op)) {
    if (isBits(from.getType()))
      return isScalar(type) ? "-(" + to + ")" + atom(from)
                            : convert(get(from).str());
    return convert(asSigned(from));
  }
  if (isa<arith::UIToFPOp>(op))
    return convert(isBits(from.getType()) && !isScalar(type)
                       ? atom(from) + " & 1"
                       : atom(from));
  if (isa<arith::FPToSIOp>(op) && !isBits(type)) {
    std::string between = getSignedCType(type);
    return isScalar(type) ? "(" + to + ")(" + between + ")" + atom(from)
                          : "as_" + to + "(convert_" + between + "(" +
                                get(from).str() + "))";
  }
  if (isa<arith::FPToUIOp>(op) && !isBits(type))
    return convert(atom(from));
  if (isa<arith::ExtFOp>(op))
    return convert(atom(from));
  if (auto truncation = dyn_cast<arith::TruncFOp>(op);
      truncation && truncation.getRoundingmode().value_or(
                        arith::RoundingMode::to_nearest_even) ==
                        arith::RoundingMode::to_nearest_even)
    return convert(atom(from));
  if (isa<arith::BitcastOp, vector::BitCastOp>(op) && !isBits(type) &&
      !isBits(from.getType()))
    return "as_" + to + "(" + get(from).str() + ")";
  return "";
}

std::string KernelPrinter::getForm(Operation *op) {
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    return getCompareForm(compare);
  if (auto compare = dyn_cast<arith::CmpFOp>(op))
    return getCompareForm(compare);
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return getSelectForm(select);
  if (auto load = dyn_cast<memref::LoadOp>(op))
    return getLoadForm(load);
  std::string text = getPositionForm(op);
  if (text.empty())
    text = getVectorForm(op);
  if (text.empty() && op->getNumOperands() > 0)
    text = getFloatForm(op);
  if (text.empty() && op->getNumOperands() > 0)
    text = getCastForm(op);
  if (text.empty() && op->getNumOperands() > 0)
    text = getIntegerForm(op);
  return text;
}
