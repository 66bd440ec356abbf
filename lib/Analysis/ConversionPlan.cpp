//===- ConversionPlan.cpp - What a conversion of layouts moves ------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Analysis/ConversionPlan.h"
#include "layout/Algebra/Pack.h"
#include "layout/Algebra/Proof.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::layout;

int64_t layout::getElementBytes(Type elementType) {
  if (auto complex = dyn_cast<ComplexType>(elementType))
    return 2 * getElementBytes(complex.getElementType());
  if (elementType.isIntOrFloat())
    return llvm::divideCeil(elementType.getIntOrFloatBitWidth(), 8);
  // Indices, pointers and the like.
  return 8;
}

SmallVector<int64_t> layout::assumeSizes(ArrayRef<int64_t> shape,
                                         TargetAttr target) {
  SmallVector<int64_t> sizes(shape);
  llvm::replace(sizes, ShapedType::kDynamic, target.getAssumedSize());
  return sizes;
}

int64_t layout::getStorageBytes(const LayoutMap &map,
                                ArrayRef<int64_t> staticShape,
                                int64_t elementBytes) {
  std::optional<int64_t> elements = getStorageSize(map, staticShape);
  return elements ? scaleCost(*elements, elementBytes) : kInfiniteCost - 1;
}

namespace {
/// The digits of a map in linear memory, walked from the fastest one.
class DigitWalk {
public:
  DigitWalk(const LayoutMap &special, ArrayRef<int64_t> sizes) {
    if (special.getCoordinates().size() != 1)
      return;
    for (const DigitTerm &term : special.getCoordinates()[0].value.terms) {
      std::optional<int64_t> stride = term.stride.evaluate(sizes);
      std::optional<int64_t> extent = naturalExtent(term.digit).evaluate(sizes);
      if (stride && extent && term.digit.isDim())
        digits.push_back({term.digit.dim, term.digit.lo, *stride, *extent});
    }
  }

  struct Piece {
    unsigned dim;
    int64_t lo, extent; // of the digit, from where the run has come
  };

  /// The digit that goes on at distance `run`.
  std::optional<Piece> find(int64_t run) const {
    for (const Entry &digit : digits) {
      if (digit.stride <= 0 || run % digit.stride != 0)
        continue;
      int64_t done = run / digit.stride;
      if (done < digit.extent)
        return Piece{digit.dim, digit.lo * done,
                     int64_t(llvm::divideCeil(digit.extent, done))};
    }
    return std::nullopt;
  }

private:
  struct Entry {
    unsigned dim;
    int64_t lo, stride, extent;
  };
  SmallVector<Entry> digits;
};
} // namespace

/// The number of elements that are neighbors in both maps.
static int64_t getCommonRun(const LayoutMap &from, const LayoutMap &to,
                            ArrayRef<int64_t> sizes) {
  DigitWalk a(from, sizes), b(to, sizes);
  int64_t run = 1;
  while (true) {
    std::optional<DigitWalk::Piece> x = a.find(run), y = b.find(run);
    if (!x || !y || x->dim != y->dim || x->lo != y->lo)
      return run;
    int64_t shared = std::min(x->extent, y->extent);
    if (shared <= 1 || llvm::MulOverflow(run, shared, run))
      return run;
  }
}

ConversionPlan ConversionPlan::get(const LayoutMap &from, const LayoutMap &to,
                                   ArrayRef<int64_t> shape,
                                   int64_t elementBytes, TargetAttr target) {
  if (from != to && equalOn(from, to, shape) != Answer::Yes) {
    SmallVector<int64_t> sizes = assumeSizes(shape, target);
    return getOfMove(from.specialize(sizes), to.specialize(sizes), sizes,
                     elementBytes);
  }
  ConversionPlan plan;
  plan.kind = from == to ? Kind::Same : Kind::View;
  return plan;
}

ConversionPlan ConversionPlan::getOfMove(const LayoutMap &from,
                                         const LayoutMap &to,
                                         ArrayRef<int64_t> sizes,
                                         int64_t elementBytes) {
  ConversionPlan plan;
  plan.bytesRead = elementBytes;
  for (int64_t size : sizes)
    plan.bytesRead = scaleCost(plan.bytesRead, size);
  plan.bytesWritten = getStorageBytes(to, sizes, elementBytes);
  plan.runBytes = scaleCost(getCommonRun(from, to, sizes), elementBytes);
  return plan;
}

ConversionPlan ConversionPlan::get(RankedTensorType from, RankedTensorType to,
                                   TargetAttr target) {
  FailureOr<LayoutMap> source = getLayoutMap(from), dest = getLayoutMap(to);
  ConversionPlan plan;
  int64_t elementBytes = getElementBytes(from.getElementType());
  if (failed(source) || failed(dest))
    return plan;
  plan = get(*source, *dest, from.getShape(), elementBytes, target);
  TypedAttr wanted = getPadding(to);
  if (!plan.isFree() || !wanted || wanted == getPadding(from) ||
      hasPadding(*dest, to.getShape()) == Answer::No)
    return plan;
  SmallVector<int64_t> sizes = assumeSizes(to.getShape(), target);
  int64_t logical = elementBytes;
  for (int64_t size : sizes)
    logical = scaleCost(logical, size);
  plan.kind = Kind::Padding;
  plan.bytesWritten = getStorageBytes(*dest, sizes, elementBytes) - logical;
  plan.runBytes = elementBytes;
  return plan;
}

Cost ConversionPlan::getCost(TargetAttr target) const {
  if (isFree())
    return 0;
  int64_t line = target.getLineBytes();
  int64_t run = std::min(std::max<int64_t>(runBytes, 1), line);
  // line * percent, so that nothing is rounded before the end.
  int64_t weight = 100 * line;
  if (line > 1)
    weight +=
        (target.getStridedPercent() - 100) * line * (line - run) / (line - 1);
  Cost bytes = addCosts(bytesRead, bytesWritten);
  if (bytes > (int64_t(1) << 62) / weight)
    return scaleCost(bytes / (100 * line), weight);
  return std::max<Cost>(1, bytes * weight / (100 * line));
}

StringRef layout::stringify(ConversionPlan::Kind kind) {
  switch (kind) {
  case ConversionPlan::Kind::Same:
    return "same";
  case ConversionPlan::Kind::View:
    return "view";
  case ConversionPlan::Kind::Padding:
    return "padding";
  case ConversionPlan::Kind::Relayout:
    return "relayout";
  }
  llvm_unreachable("all kinds are named");
}
