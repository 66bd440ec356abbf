//===- DigitCopyCounts.cpp - What a copy over digits moves, as text -------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Analysis/DigitCopy.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::layout;

static bool isExact(const AxisAccess &axis) {
  return !axis.digits.empty() && axis.required == axis.extent;
}

//===----------------------------------------------------------------------===//
// What is moved
//===----------------------------------------------------------------------===//

static int64_t saturate(int64_t a, int64_t b) {
  int64_t product;
  return llvm::MulOverflow(a, b, product) ? INT64_MAX : product;
}

static int64_t getNumElements(const IterationSpace &space, const DigitBox &box,
                              ArrayRef<int64_t> sizes) {
  int64_t elements = 1;
  for (auto [digit, range] : llvm::zip(space.digits, box))
    elements = saturate(elements,
                        range.size ? *range.size
                                   : digit.extent.evaluate(sizes).value_or(1));
  return elements;
}

static int64_t sumElements(const IterationSpace &space,
                           ArrayRef<DigitBox> boxes, ArrayRef<int64_t> sizes) {
  int64_t sum = 0;
  for (const DigitBox &box : boxes)
    if (llvm::AddOverflow(sum, getNumElements(space, box, sizes), sum))
      return INT64_MAX;
  return sum;
}

static int64_t getStored(ArrayRef<AxisAccess> axes, ArrayRef<int64_t> sizes) {
  int64_t elements = 1;
  for (const AxisAccess &axis : axes)
    elements = saturate(elements, axis.extent.evaluate(sizes).value_or(1));
  return elements;
}

/// Of Way::Whole: whether operand `k` is moved once more to fit the digits.
static bool isMovedToFit(const DigitCopy &copy, unsigned k) {
  return copy.way == DigitCopy::Way::Whole &&
         llvm::any_of(copy.space.operands[k], [](const AxisAccess &axis) {
           return axis.required != axis.extent &&
                  axis.required.isProvablyAtLeast(axis.extent);
         });
}

int64_t DigitCopy::getNumRead(ArrayRef<int64_t> sizes) const {
  int64_t read = sumElements(space, boxes, sizes);
  for (unsigned k : {0u, 1u})
    if (isMovedToFit(*this, k))
      read += getStored(space.operands[k], sizes);
  return read;
}

int64_t DigitCopy::getNumWritten(ArrayRef<int64_t> sizes) const {
  int64_t written = sumElements(space, boxes, sizes);
  written += sumElements(space, fills, sizes);
  if (prefills && !space.operands.empty())
    written += getStored(space.operands[1], sizes);
  for (unsigned k : {0u, 1u})
    if (isMovedToFit(*this, k))
      written += getStored(space.operands[k], sizes);
  return written;
}

int64_t DigitCopy::getCommonRun(ArrayRef<int64_t> sizes) const {
  // Digits of more than one position from the fastest on, until an axis ends
  // before its digits do.
  auto walk = [&](unsigned k) {
    SmallVector<unsigned> digits;
    for (const AxisAccess &axis : llvm::reverse(space.operands[k])) {
      for (unsigned digit : llvm::reverse(axis.digits))
        if (space.digits[digit].extent.evaluate(sizes).value_or(2) != 1)
          digits.push_back(digit);
      if (!isExact(axis))
        break;
    }
    return digits;
  };
  int64_t run = 1;
  if (space.operands.empty())
    return run;
  for (auto [a, b] : llvm::zip(walk(0), walk(1))) {
    if (a != b)
      break;
    run = saturate(run, space.digits[a].extent.evaluate(sizes).value_or(2));
  }
  return run;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static void printDigit(raw_ostream &os, const IterationSpace &space,
                       unsigned digit) {
  const LoopDigit &it = space.digits[digit];
  ArrayRef<unsigned> all = space.digitsOf[it.loop];
  os << "d" << it.loop;
  if (it.weight != 1)
    os << "/" << it.weight;
  if (digit != all.front())
    os << "%" << *it.extent.getConstant();
}

void DigitCopy::print(raw_ostream &os) const {
  auto printBoxes = [&](StringRef title, ArrayRef<DigitBox> boxes) {
    for (const DigitBox &box : boxes) {
      os << "; " << title;
      bool isWhole = true;
      for (auto [digit, range] : llvm::enumerate(box)) {
        if (range.isWhole())
          continue;
        isWhole = false;
        os << " ";
        printDigit(os, space, digit);
        os << "=" << range.offset << ".." << range.offset + *range.size;
      }
      if (isWhole)
        os << " all";
    }
  };
  auto printAxes = [&](StringRef title, unsigned k) {
    os << "; " << title;
    for (const AxisAccess &axis : space.operands[k]) {
      os << " [";
      llvm::interleave(
          axis.digits, os,
          [&](unsigned digit) { printDigit(os, space, digit); }, " ");
      if (axis.digits.empty())
        os << "strided";
      os << "]";
    }
  };
  if (space.operands.empty()) {
    os << "no elements" << (prefills ? "; fill storage" : "");
    return;
  }
  os << "digits";
  for (auto [i, digit] : llvm::enumerate(space.digits)) {
    os << " ";
    printDigit(os, space, i);
    std::optional<int64_t> extent = digit.extent.getConstant();
    os << ":" << (extent ? Twine(*extent) : Twine("?"));
  }
  printAxes("from", 0);
  printAxes("to", 1);
  if (isMovedToFit(*this, 0) || isMovedToFit(*this, 1))
    os << "; moved once more to whole digits";
  for (unsigned dim : maskedDims)
    os << "; masked d" << dim;
  if (prefills)
    os << "; fill storage";
  printBoxes("fill", fills);
  printBoxes("copy", boxes);
}
