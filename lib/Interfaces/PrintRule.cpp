//===- PrintRule.cpp - Prints the rule of an op on one line ---------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loops are named i, j, k .. z, i1, j1 ..; dims of a tensor are d0, d1 .., as
// in the text of a layout. docs/rules.md describes the notation.
//
//===----------------------------------------------------------------------===//

#include "layout/Algebra/Print.h"
#include "layout/Interfaces/OpLayoutRule.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::layout;

static std::string getLoopName(unsigned loop) {
  constexpr unsigned kLetters = 'z' - 'i' + 1;
  std::string name(1, char('i' + loop % kLetters));
  return loop < kLetters ? name : name + std::to_string(loop / kLetters);
}

/// Returns the text of `expr` with the names of the loops, e.g. `i + k * 2`.
static std::string printIndex(AffineExpr expr) {
  std::string text, named;
  llvm::raw_string_ostream(text) << expr;
  StringRef rest = text;
  while (!rest.empty()) {
    unsigned loop;
    // In the text of an affine expression, a `d` before a number is a dim.
    if (rest.size() > 1 && rest[0] == 'd' && llvm::isDigit(rest[1])) {
      rest = rest.drop_front();
      rest.consumeInteger(10, loop);
      named += getLoopName(loop);
      continue;
    }
    named += rest.front();
    rest = rest.drop_front();
  }
  return named;
}

static void printTensor(AffineMap map, raw_ostream &os) {
  if (!map) {
    os << "scalar";
    return;
  }
  os << '[';
  llvm::interleaveComma(map.getResults(), os,
                        [&](AffineExpr expr) { os << printIndex(expr); });
  os << ']';
}

/// Prints the loops for which `isChosen` returns true, e.g. `, reduces i k`
/// with the title `reduces`, unless there are no such loops.
static void printLoops(const LoopsRule &rule, StringRef title,
                       function_ref<bool(const LoopRule &)> isChosen,
                       raw_ostream &os) {
  bool first = true;
  for (auto [i, loop] : llvm::enumerate(rule.loops))
    if (isChosen(loop)) {
      if (std::exchange(first, false))
        os << ", " << title;
      os << ' ' << getLoopName(i);
    }
}

static void printRule(const LoopsRule &rule, raw_ostream &os) {
  os << '(';
  for (auto [i, map] : llvm::enumerate(rule.operandMaps)) {
    os << (i ? ", " : "");
    if (map && !rule.isRead[i])
      os << "unread ";
    printTensor(map, os);
  }
  os << ") -> ";
  llvm::interleaveComma(rule.resultMaps, os,
                        [&](AffineMap map) { printTensor(map, os); });
  for (auto [i, loop] : llvm::enumerate(rule.loops)) {
    os << (i ? " " : ", loops ") << getLoopName(i) << '=';
    if (ShapedType::isDynamic(loop.size))
      os << '?';
    else
      os << loop.size;
  }
  using utils::IteratorType;
  auto runs = [](IteratorType iterator) {
    return [=](const LoopRule &loop) { return loop.iterator == iterator; };
  };
  printLoops(rule, "reduces", runs(IteratorType::reduction), os);
  printLoops(
      rule, "tiles", [](const LoopRule &loop) { return loop.tileable; }, os);
  os << ", " << rule.opsPerPoint << (rule.opsPerPoint == 1 ? " op" : " ops")
     << " per point";
  if (rule.onlyWrites)
    os << ", only writes";
  if (rule.runsAnywhere)
    os << ", runs in any layout";
}

/// Prints the result dims as functions of the source dims. In
/// `view (d0, d1, d2) -> ([d0, d1], d2)`, [d0, d1] is the row-major fusion of
/// d0 and d1.
static void printRule(const ViewRule &view, raw_ostream &os) {
  LayoutMap source = LayoutMap::rowMajor(view.toSource.dims.size());
  os << "view (";
  llvm::interleaveComma(llvm::seq(source.getRank()), os,
                        [&](unsigned d) { os << 'd' << d; });
  os << ") -> (";
  llvm::interleaveComma(view.toResult.dims, os, [&](const IndexExpr &dim) {
    os << makeText(source, {dim, naturalExtent(dim)});
  });
  os << ')' << (view.isOfRowMajor ? "" : ", moves row-major elements");
}

static void printRule(const PerDimRule &rule, raw_ostream &os) {
  os << "one layout [";
  for (auto [d, divisor] : llvm::enumerate(rule.tileSizeMustDivide)) {
    os << (d ? ", d" : "d") << d;
    if (d < rule.dropped.size() && rule.dropped[d])
      os << " dropped";
    else if (divisor == 1)
      os << " whole";
    else if (divisor)
      os << " in tiles that divide " << divisor;
  }
  os << ']';
  if (!rule.isRead.empty()) {
    std::string read;
    for (auto [i, isRead] : llvm::enumerate(rule.isRead))
      if (isRead)
        read += " " + std::to_string(i);
    os << (read.empty() ? ", reads what it writes" : ", reads operand") << read;
  }
  if (rule.writesPart)
    os << ", writes a part";
}

static void printRule(const OpaqueRule &rule, raw_ostream &os) {
  os << "keeps its types"
     << (rule.why.empty() ? ": its rule admits nothing else" : ": ")
     << rule.why;
}

static void printRule(const RematerializableRule &, raw_ostream &os) {
  os << "any layout";
}

static void printRule(const ShapeRule &, raw_ostream &os) {
  os << "any layout, reads no element";
}

void layout::print(const OpLayoutRule &rule, raw_ostream &os) {
  std::visit([&](const auto &known) { printRule(known, os); }, rule);
}
