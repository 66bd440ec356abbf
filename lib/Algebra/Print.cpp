//===- Print.cpp - The canonical text of a map ----------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Dense coordinates are printed as groups, `[a, b] align k`, if that denotes
// exactly the same value and extent. Others are printed as digits with explicit
// strides, and with an extent if it is not the natural one.
//
//===----------------------------------------------------------------------===//

#include "layout/Algebra/Print.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir::layout;
using llvm::raw_ostream;

static void printFactor(const SizeExpr &size, raw_ostream &os) {
  // A single product needs no parentheses.
  if (size.getTerms().size() + (size.getConstantTerm() != 0) <= 1) {
    size.print(os);
    return;
  }
  os << '(';
  size.print(os);
  os << ')';
}

namespace {

struct AxisText {
  BoundedIndex sized;
  std::string text;
};

/// Prints a map; dims from `rank` on are replicas.
struct MapPrinter {
  unsigned rank;
  llvm::ArrayRef<int64_t> replicas;

  void printSum(const IndexExpr &value, raw_ostream &os) const;
  AxisText printAxis(const StoredAxis &axis) const;
  std::optional<std::string> printGroup(const IndexExpr &value,
                                        const SizeExpr &extent,
                                        bool brackets) const;
  void printDigit(const Digit &digit, raw_ostream &os) const;
  void printSized(const BoundedIndex &x, raw_ostream &os) const;
  void printCoordinate(const Coordinate &coordinate, bool isBuffer,
                       raw_ostream &os) const;
};

} // namespace

/// Prints a sum, its constant last: `d0 * 16 + d1 + 3`.
void MapPrinter::printSum(const IndexExpr &value, raw_ostream &os) const {
  bool first = true;
  for (const DigitTerm &term : value.terms) {
    if (!first)
      os << " + ";
    first = false;
    bool scaled = !term.stride.isConstantEqual(1);
    bool parens = scaled && (!term.digit.isWholeSource() || term.digit.fused);
    if (parens)
      os << '(';
    printDigit(term.digit, os);
    if (parens)
      os << ')';
    if (scaled) {
      os << " * ";
      printFactor(term.stride, os);
    }
  }
  if (first || !value.constant.isZero()) {
    if (!first)
      os << " + ";
    printFactor(value.constant, os);
  }
}

/// Returns the k for which rounding `natural` up to a multiple of k gives
/// `extent`: 1 if both are equal, else the greatest integer that divides every
/// coefficient of `extent`. Returns 0 if that does not give `extent`.
static int64_t findAlignment(const SizeExpr &natural, const SizeExpr &extent) {
  if (natural == extent)
    return 1;
  int64_t k = extent.content();
  return k > 1 && natural.alignTo(k) == extent ? k : 0;
}

/// Returns the text of an axis as an element of a group, `d1 floordiv 4` or
/// `[d1] align 4`, with the value and the extent that parsing this text gives.
AxisText MapPrinter::printAxis(const StoredAxis &axis) const {
  AxisText result;
  llvm::raw_string_ostream os(result.text);
  SizeExpr natural = naturalExtent(axis.value);
  // A fused axis is printed as a group of its digits, slowest first.
  std::vector<StoredAxis> parts = findStoredAxes(axis.value, natural);
  if (parts.size() > 1) {
    SizeExpr extent(1);
    for (const StoredAxis &part : parts)
      extent = extent * naturalExtent(part.value);
    if (extent == natural) {
      int64_t k = findAlignment(natural, axis.extent);
      os << '[';
      llvm::interleaveComma(
          parts, os, [&](const StoredAxis &part) { printSum(part.value, os); });
      os << ']';
      if (k > 1)
        os << " align " << k;
      result.sized = {axis.value, k ? axis.extent : natural};
      return result;
    }
  }
  int64_t k = findAlignment(natural, axis.extent);
  if (k > 1)
    os << '[';
  printSum(axis.value, os);
  if (k > 1)
    os << "] align " << k;
  result.sized = {axis.value, k ? axis.extent : natural};
  return result;
}

/// Returns the text of a coordinate as a group of its axes, `d0, d1` or in
/// brackets, or std::nullopt if parsing it would give another value or extent,
/// or if `brackets` and there is at most one axis.
std::optional<std::string> MapPrinter::printGroup(const IndexExpr &value,
                                                  const SizeExpr &extent,
                                                  bool brackets) const {
  std::vector<StoredAxis> axes = findStoredAxes(value, extent);
  llvm::SmallVector<BoundedIndex> elements;
  std::string text;
  llvm::raw_string_ostream os(text);
  if (brackets && axes.size() <= 1)
    return std::nullopt;
  if (brackets)
    os << '[';
  llvm::interleaveComma(axes, os, [&](const StoredAxis &axis) {
    AxisText printed = printAxis(axis);
    elements.push_back(printed.sized);
    os << printed.text;
  });
  if (brackets)
    os << ']';
  BoundedIndex rebuilt = group(elements);
  if (rebuilt.value != value || rebuilt.extent != extent)
    return std::nullopt;
  return os.str();
}

void MapPrinter::printDigit(const Digit &digit, raw_ostream &os) const {
  if (digit.isDim()) {
    os << (digit.dim < rank ? 'd' : 'r')
       << (digit.dim < rank ? digit.dim : digit.dim - rank);
  } else if (digit.swizzle) {
    os << "xor(";
    llvm::interleaveComma(digit.swizzle->operands, os,
                          [&](const IndexExpr &x) { printSum(x, os); });
    if (digit.swizzle->constant)
      os << ", " << digit.swizzle->constant;
    os << " : " << digit.swizzle->getExtent() << ')';
  } else {
    std::vector<StoredAxis> parts =
        findStoredAxes(*digit.fused, naturalExtent(*digit.fused));
    std::optional<std::string> text;
    if (parts.size() > 1)
      text = printGroup(*digit.fused, naturalExtent(*digit.fused), true);
    if (text) {
      os << *text;
    } else {
      os << '(';
      printSum(*digit.fused, os);
      os << ')';
    }
  }
  if (digit.divisor != 1)
    os << " floordiv " << digit.divisor;
  // `r0 mod extent`, the whole of a replica, is printed as `r0`.
  auto isWholeReplica = [&] {
    if (!digit.isDim() || digit.dim < rank)
      return false;
    int64_t extent = replicas[digit.dim - rank];
    return extent % digit.divisor == 0 &&
           extent / digit.divisor == digit.modulus;
  };
  if (digit.modulus && !isWholeReplica())
    os << " mod " << digit.modulus;
}

void MapPrinter::printCoordinate(const Coordinate &coordinate, bool isBuffer,
                                 raw_ostream &os) const {
  // The arguments of a buffer are a group. Other coordinates print a group in
  // brackets, and a single axis, possibly aligned, without.
  std::optional<std::string> text;
  if (isBuffer) {
    text = printGroup(coordinate.value, coordinate.extent, false);
  } else if (!(text = printGroup(coordinate.value, coordinate.extent, true))) {
    AxisText axis = printAxis({coordinate.value, coordinate.extent});
    if (axis.sized.extent == coordinate.extent)
      text = axis.text;
  }
  if (text) {
    os << (isBuffer ? "" : coordinate.name + " = ") << *text;
    return;
  }
  os << coordinate.name << " = ";
  printSized({coordinate.value, coordinate.extent}, os);
}

void MapPrinter::printSized(const BoundedIndex &x, raw_ostream &os) const {
  printSum(x.value, os);
  if (x.extent != naturalExtent(x.value)) {
    os << " extent ";
    x.extent.print(os);
  }
}

std::string mlir::layout::makeText(const LayoutMap &map,
                                   const BoundedIndex &value) {
  std::string text;
  llvm::raw_string_ostream os(text);
  MapPrinter printer{map.getRank(), map.getReplicas()};
  AxisText axis = printer.printAxis({value.value, value.extent});
  if (axis.sized.extent == value.extent)
    return axis.text;
  printer.printSized(value, os);
  return text;
}

std::string mlir::layout::makeText(const LayoutMap &map) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << '(';
  for (unsigned d = 0; d < map.getRank(); ++d)
    os << (d ? ", " : "") << 'd' << d;
  os << ')';
  if (!map.getReplicas().empty()) {
    os << " replicate(";
    for (auto [r, extent] : llvm::enumerate(map.getReplicas()))
      os << (r ? ", r" : "r") << r << " : " << extent;
    os << ')';
  }
  os << " -> " << map.getSpace() << '(';
  MapPrinter printer{map.getRank(), map.getReplicas()};
  llvm::interleaveComma(map.getCoordinates(), os, [&](const Coordinate &c) {
    printer.printCoordinate(
        c, map.getSpace() == "buffer" || map.getSpace() == "bits", os);
  });
  os << ')';
  return text;
}
