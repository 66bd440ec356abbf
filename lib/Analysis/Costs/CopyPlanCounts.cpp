//===- CopyPlanCounts.cpp - Counts and text of a copy plan ----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Analysis/BoxDecomposition.h"

using namespace mlir;
using namespace mlir::layout;

int64_t CopyPlan::getNumRead(ArrayRef<int64_t> sizes) const {
  return countRead(*this, sizes);
}

int64_t CopyPlan::getNumWritten(ArrayRef<int64_t> sizes) const {
  return countWritten(*this, sizes);
}

int64_t CopyPlan::getCommonRun(ArrayRef<int64_t> sizes) const {
  return countCommonRun(space, sizes);
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
