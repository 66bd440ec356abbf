//===- CopyPlanCounts.cpp - Counts and text of a copy plan ----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Analysis/CopyPlan.h"
#include "layout/Interfaces/ReachedStorage.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::layout;

static int64_t saturate(int64_t a, int64_t b) {
  int64_t product;
  return llvm::MulOverflow(a, b, product) ? INT64_MAX : product;
}

static int64_t addUp(int64_t a, int64_t b) {
  int64_t sum;
  return llvm::AddOverflow(a, b, sum) ? INT64_MAX : sum;
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
    sum = addUp(sum, getNumElements(space, box, sizes));
  return sum;
}

static int64_t getStored(ArrayRef<AxisAccess> axes, ArrayRef<int64_t> sizes) {
  int64_t elements = 1;
  for (const AxisAccess &axis : axes)
    elements = saturate(elements, axis.extent.evaluate(sizes).value_or(1));
  return elements;
}

/// Returns true if a copy of all digits at once (CopyPlan::Method::Whole) moves
/// all elements of operand `k` once more, because it has fewer positions than
/// the digits. The source (0) is first padded to whole digits, or the result
/// (1) is cut at the end.
static bool isMovedToFit(const CopyPlan &copy, unsigned k) {
  return copy.method == CopyPlan::Method::Whole &&
         llvm::any_of(copy.space.operands[k], [](const AxisAccess &axis) {
           return axis.required != axis.extent &&
                  axis.required.isProvablyAtLeast(axis.extent);
         });
}

/// Returns the number of elements of the boxes, plus those of a source that is
/// first padded to whole digits, and of a result that is cut at the end.
int64_t CopyPlan::getNumRead(ArrayRef<int64_t> sizes) const {
  int64_t read = sumElements(space, boxes, sizes);
  for (unsigned k : {0u, 1u})
    if (isMovedToFit(*this, k))
      read = addUp(read, getStored(space.operands[k], sizes));
  return read;
}

int64_t CopyPlan::getNumWritten(ArrayRef<int64_t> sizes) const {
  int64_t written = addUp(getNumRead(sizes), sumElements(space, fills, sizes));
  if (prefills && !space.operands.empty())
    written = addUp(written, getStored(space.operands[1], sizes));
  return written;
}

int64_t CopyPlan::getCommonRun(ArrayRef<int64_t> sizes) const {
  // Collects the digits with more than one position, fastest first, up to the
  // first axis that ends before its digits do.
  auto walk = [&](unsigned k) {
    SmallVector<unsigned, 12> digits;
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

void CopyPlan::print(raw_ostream &os) const {
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
