//===- SourceTypes.cpp - Print types and numbers as OpenCL C --------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Source/KernelSource.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::layout;

unsigned layout::getCLanes(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector ? vector.getNumElements() : 1;
}

static unsigned getBits(Type element) {
  return element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
}

static StringRef getIntegerName(unsigned bits) {
  switch (bits) {
  case 8:
    return "char";
  case 16:
    return "short";
  case 32:
    return "int";
  default:
    return "long";
  }
}

static std::string addLanes(std::string element, unsigned lanes) {
  return lanes == 1 ? element : element + std::to_string(lanes);
}

std::string layout::getCType(Type type) {
  unsigned lanes = getCLanes(type);
  Type element = getElementTypeOrSelf(type);
  if (element.isInteger(1))
    return lanes == 1 ? "bool" : addLanes("int", lanes);
  if (isa<FloatType>(element))
    return addLanes(element.isF64()   ? "double"
                    : element.isF16() ? "half"
                                      : "float",
                    lanes);
  return addLanes("u" + getIntegerName(getBits(element)).str(), lanes);
}

std::string layout::getSignedCType(Type type) {
  Type element = getElementTypeOrSelf(type);
  // An i1 in a vector is an int.
  unsigned bits = element.isInteger(1) ? 32 : getBits(element);
  return addLanes(getIntegerName(bits).str(), getCLanes(type));
}

/// Returns the decimal text with the fewest digits that reads back as `value`.
static std::string getDigits(const APFloat &value) {
  unsigned most = APFloat::semanticsPrecision(value.getSemantics()) / 3 + 2;
  SmallString<32> text;
  for (unsigned digits = 1; digits <= most; ++digits) {
    text.clear();
    value.toString(text, digits, /*FormatMaxPadding=*/digits < 9 ? 9 : 0);
    if (APFloat(value.getSemantics(), text).bitwiseIsEqual(value))
      break;
  }
  if (!StringRef(text).contains('.') && !StringRef(text).contains('E'))
    text += ".0";
  return std::string(text);
}

static std::string getFloat(const APFloat &value, Type element) {
  std::string type = getCType(element);
  if (value.isNaN()) {
    APInt bits = value.bitcastToAPInt();
    std::string digits = "0x" + llvm::utohexstr(bits.getZExtValue(),
                                                /*LowerCase=*/true);
    return "as_" + type + "(" +
           (element.isF64()   ? digits + "ul"
            : element.isF16() ? "(ushort)" + digits
                              : digits + "u") +
           ")";
  }
  std::string text =
      value.isInfinity()
          ? (element.isF32() ? "INFINITY" : "(" + type + ")INFINITY")
          : getDigits(llvm::abs(value)) + (element.isF64()   ? ""
                                           : element.isF16() ? "h"
                                                             : "f");
  return value.isNegative() ? "(-" + text + ")" : text;
}

static std::string getInteger(const APInt &value, Type element) {
  if (element.isInteger(1))
    return value.isZero() ? "false" : "true";
  std::string digits = llvm::toString(value, 10, /*Signed=*/false);
  switch (getBits(element)) {
  case 8:
    return "(uchar)" + digits;
  case 16:
    return "(ushort)" + digits;
  case 32:
    return digits + "u";
  default:
    return digits + "ul";
  }
}

bool layout::isWideningCast(Operation *op) {
  return isa_and_nonnull<arith::IndexCastOp, arith::IndexCastUIOp>(op) &&
         op->getOperand(0).getType().isInteger(32);
}

std::string layout::getCNumber(Attribute number, Type type) {
  Type element = getElementTypeOrSelf(type);
  if (auto real = dyn_cast<FloatAttr>(number))
    return getFloat(real.getValue(), element);
  if (auto integer = dyn_cast<IntegerAttr>(number))
    return getInteger(integer.getValue(), element);
  auto elements = cast<DenseElementsAttr>(number);
  auto getLane = [&](Attribute each) -> std::string {
    if (element.isInteger(1) && getCLanes(type) > 1)
      return cast<IntegerAttr>(each).getValue().isZero() ? "0" : "-1";
    return getCNumber(each, element);
  };
  std::string text;
  if (elements.isSplat()) {
    text = getLane(elements.getSplatValue<Attribute>());
  } else {
    SmallVector<std::string> each =
        llvm::map_to_vector(elements.getValues<Attribute>(), getLane);
    text = llvm::join(each, ", ");
  }
  return getCLanes(type) == 1 ? text : "(" + getCType(type) + ")(" + text + ")";
}
