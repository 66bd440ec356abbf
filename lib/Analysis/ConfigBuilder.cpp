//===- ConfigBuilder.cpp - Configurations of one op from its rule ---------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Analysis/ConfigBuilder.h"
#include "layout/Algebra/Proof.h"
#include "layout/Analysis/Contraction.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Interfaces/DroppedDims.h"
#include "layout/Interfaces/WholeAxes.h"

using namespace mlir;
using namespace mlir::layout;

RankedTensorType ConfigBuilder::getType(bool isResult, unsigned index) const {
  Value value = isResult ? Value(op->getResult(index)) : op->getOperand(index);
  return dyn_cast<RankedTensorType>(value.getType());
}

AffineMap ConfigBuilder::getMap(bool isResult, unsigned index) const {
  const LoopsRule &rule = std::get<LoopsRule>(node.rule);
  return isResult ? rule.resultMaps[index] : rule.operandMaps[index];
}

std::optional<OpConfig> ConfigBuilder::assign(
    function_ref<std::optional<LayoutId>(bool, unsigned)> getLayout) const {
  OpConfig config;
  auto visit = [&](bool isResult, unsigned index) {
    LayoutId exact = kAnyLayout, layout = kAnyLayout;
    if (RankedTensorType type = getType(isResult, index)) {
      std::optional<LayoutId> wanted = getLayout(isResult, index);
      std::optional<LayoutId> representative =
          wanted ? costs.getRepresentative(*wanted, type) : std::nullopt;
      if (!representative || !costs.isStorable(*wanted, type))
        return false;
      exact = *wanted;
      layout = *representative;
    }
    if (isResult) {
      config.exact.results.push_back(exact);
      config.layouts.results.push_back(layout);
    } else {
      config.exact.operands.push_back(exact);
      config.layouts.operands.push_back(layout);
    }
    return true;
  };
  for (unsigned i = 0, e = op->getNumOperands(); i < e; ++i)
    if (!visit(false, i))
      return std::nullopt;
  for (unsigned i = 0, e = op->getNumResults(); i < e; ++i)
    if (!visit(true, i))
      return std::nullopt;
  return config;
}

OpConfig ConfigBuilder::getAsTyped() const {
  OpConfig config;
  auto getLayout = [&](Value value, bool isInFlowClass,
                       ArrayRef<RankedTensorType> constrained, size_t i) {
    if (!hasKnownLayout(value) || isInFlowClass)
      return kAnyLayout;
    return costs.getLayoutOf(!constrained.empty() && constrained[i]
                                 ? constrained[i]
                                 : cast<RankedTensorType>(value.getType()));
  };
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    config.layouts.operands.push_back(getLayout(
        operand, node.flowOperands.test(i), node.constrainedOperands, i));
  for (auto [i, result] : llvm::enumerate(op->getResults()))
    config.layouts.results.push_back(getLayout(result, node.flowResults.test(i),
                                               node.constrainedResults, i));
  config.exact = config.layouts;
  // Plain types correspond to tiles of size 1.
  bool isPlain = llvm::all_of(op->getOperandTypes(), [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return !tensor || !tensor.getEncoding();
  });
  if (auto *rule = std::get_if<LoopsRule>(&node.rule); rule && isPlain)
    config.tiles.assign(rule->loops.size(), 1);
  return config;
}

std::optional<OpConfig> ConfigBuilder::getRowMajor() const {
  std::optional<OpConfig> config = assign([&](bool isResult, unsigned index) {
    return std::optional(costs.getRowMajor(getType(isResult, index).getRank()));
  });
  if (auto *rule = std::get_if<LoopsRule>(&node.rule); rule && config)
    config->tiles.assign(rule->loops.size(), 1);
  return config;
}

LayoutId ConfigBuilder::getTiledLayout(ArrayRef<int64_t> tiles,
                                       OperandOrResult slot) const {
  AffineMap map = getMap(slot.isResult, slot.index);
  SmallVector<int64_t> dimTiles;
  SmallVector<unsigned> order;
  for (auto [d, expr] : llvm::enumerate(map.getResults())) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    dimTiles.push_back(dim ? tiles[dim.getPosition()] : 1);
    if (dimTiles.back() != 1)
      order.push_back(d);
  }
  const LoopsRule &rule = std::get<LoopsRule>(node.rule);
  // Reductions are outside, so that a result's vectorized digit is the fastest.
  auto rank = [&](unsigned d) {
    unsigned loop = map.getDimPosition(d);
    bool isParallel =
        rule.loops[loop].iterator == utils::IteratorType::parallel;
    return std::make_pair(isParallel, loop);
  };
  llvm::sort(order, [&](unsigned a, unsigned b) { return rank(a) < rank(b); });
  return costs.getTiled(dimTiles, order);
}

std::optional<OpConfig> ConfigBuilder::getTiled(ArrayRef<int64_t> tiles) const {
  for (auto [loop, tile] :
       llvm::zip(std::get<LoopsRule>(node.rule).loops, tiles))
    if (tile != 1 && !loop.tileable)
      return std::nullopt;
  std::optional<OpConfig> config = assign([&](bool isResult, unsigned index) {
    return std::optional(getTiledLayout(tiles, {isResult, index}));
  });
  if (config)
    config->tiles.assign(tiles.begin(), tiles.end());
  return config;
}

SmallVector<SmallVector<int64_t>>
ConfigBuilder::getLaneTiles(int64_t lanes) const {
  const LoopsRule &rule = std::get<LoopsRule>(node.rule);
  std::optional<SummedProducts> products = findSummedProducts(rule);
  if (lanes == 1 || !products)
    return {};
  SmallVector<unsigned> outer, shared, reduced;
  for (auto [l, role] : llvm::enumerate(products->roles)) {
    if (!rule.loops[l].tileable || rule.loops[l].size < 2)
      continue;
    if (role == LoopRole::Summed)
      reduced.push_back(l);
    else if (role == LoopRole::Output)
      outer.push_back(l);
    else if (role == LoopRole::Shared && products->isWindowed)
      shared.push_back(l);
  }
  SmallVector<SmallVector<int64_t>> result;
  auto tile = [&](ArrayRef<unsigned> loops) {
    SmallVector<int64_t> tiles(rule.loops.size(), 1);
    for (unsigned loop : loops)
      tiles[loop] = lanes;
    result.push_back(tiles);
  };
  for (unsigned o : outer) {
    tile({o});
    for (unsigned r : reduced)
      tile({o, r});
  }
  for (unsigned r : reduced)
    tile({r});
  for (unsigned s : shared)
    tile({s});
  return result;
}

std::optional<ConfigBuilder::LoopTiles>
ConfigBuilder::findLoopTiles(OperandOrResult slot, LayoutId layout) const {
  AffineMap map = getMap(slot.isResult, slot.index);
  const LayoutTable::Tiles *dimTiles = map ? costs.findTiles(layout) : nullptr;
  if (!dimTiles)
    return std::nullopt;
  LoopTiles result;
  for (auto [expr, tile] : llvm::zip(map.getResults(), *dimTiles)) {
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      result.push_back({dim.getPosition(), tile});
    else if (tile != 1)
      return std::nullopt;
  }
  return result;
}

std::optional<OpConfig> ConfigBuilder::carry(OperandOrResult slot,
                                             LayoutId layout) const {
  if (std::holds_alternative<LoopsRule>(node.rule)) {
    AffineMap map = getMap(slot.isResult, slot.index);
    return map ? carryLoops(map, layout) : std::nullopt;
  }
  if (auto *view = std::get_if<ViewRule>(&node.rule))
    return carryView(*view, slot.isResult || slot.index > 0, layout);
  if (auto *rule = std::get_if<PerDimRule>(&node.rule))
    return carryPerDim(*rule, slot, layout);
  return std::nullopt;
}

/// Builds the configuration that follows from the layout of one tensor: the
/// axes of `layout` become axes of loops, and each tensor is stored by the axes
/// of the loops that index it. Returns std::nullopt if not all loops index the
/// tensor by a permutation, or `layout` has replicas or an axis that is not a
/// digit of one dim. Also returns it if a loop that `layout` tiles is not
/// tileable, or a tensor cannot be stored.
std::optional<OpConfig> ConfigBuilder::carryLoops(AffineMap map,
                                                  LayoutId layout) const {
  // No loop indexes a replica.
  if (!map.isPermutation() || !costs.getMap(layout).getReplicas().empty())
    return std::nullopt;
  for (const StoredAxis &axis : costs.getMap(layout).getStoredAxes()) {
    // An axis with one position, such as the height of a row of pixels.
    if (axis.value.isZero() && axis.extent.isConstantEqual(1))
      continue;
    const Digit *digit = axis.value.getSingleDigit();
    if (!digit || !digit->isDim())
      return std::nullopt;
    if (!digit->isWholeSource() && !std::get<LoopsRule>(node.rule)
                                        .loops[map.getDimPosition(digit->dim)]
                                        .tileable)
      return std::nullopt;
  }
  return assign([&](bool isResult, unsigned index) {
    std::optional<LayoutId> other =
        costs.project(layout, map, getMap(isResult, index));
    if (other)
      if (std::optional<LayoutId> general = costs.getModel().generalize(
              costs.getMap(*other), getType(isResult, index), costs))
        return general;
    return other;
  });
}

std::optional<OpConfig> ConfigBuilder::carryView(const ViewRule &view,
                                                 bool isResult,
                                                 LayoutId layout) const {
  RankedTensorType to = getType(!isResult, 0);
  LayoutMap other =
      applyView(costs.getMap(layout), isResult ? view.toResult : view.toSource);
  // A valid layout stays valid through a view. With dynamic sizes, neither the
  // inverse view nor another layout with the same form is proven to be the
  // view.
  auto isProven = [&](LayoutId made) {
    if (to.hasStaticShape())
      return true;
    LayoutId source = isResult ? made : layout,
             result = isResult ? layout : made;
    LayoutMap viewed = applyView(costs.getMap(source), view.toSource);
    return equalOn(viewed, costs.getMap(result),
                   getType(/*isResult=*/true, 0).getShape()) ==
           ProofResult::Proved;
  };
  if (std::optional<LayoutId> general =
          costs.getModel().generalize(other, to, costs)) {
    if (!isProven(*general))
      return std::nullopt;
    return assign([&](bool ofResult, unsigned index) {
      bool isLikeResult = ofResult || index > 0;
      return isLikeResult == isResult ? layout : general;
    });
  }
  // Prefers a layout for every shape, which can be propagated further, to one
  // with the sizes of this shape.
  SmallVector<int64_t> tiles(to.getRank(), 1);
  SmallVector<std::pair<int64_t, unsigned>> strides;
  for (const Coordinate &coordinate : other.getCoordinates())
    for (const DigitTerm &term : coordinate.value.terms)
      if (term.digit.isDim() && term.digit.divisor == 1 && term.digit.modulus) {
        tiles[term.digit.dim] = term.digit.modulus;
        strides.push_back(
            {-term.stride.getConstant().value_or(0), term.digit.dim});
      }
  llvm::sort(strides); // largest first
  SmallVector<unsigned> order =
      llvm::to_vector(llvm::make_second_range(strides));
  LayoutId general = costs.getTiled(tiles, order);
  LayoutId special = costs.intern(other);
  LayoutId result =
      costs.getNormalForm(general, to) == costs.getNormalForm(special, to)
          ? general
          : special;
  if (to.hasStaticShape())
    costs.getRepresentative(result, to, /*isKnownValid=*/true);
  if (isResult && !isProven(result))
    return std::nullopt;
  return assign([&](bool ofResult, unsigned index) {
    bool isLikeResult = ofResult || index > 0;
    return std::optional<LayoutId>(isLikeResult == isResult ? layout : result);
  });
}

/// Returns true if an op with this rule slices only between the tiles of the
/// layout.
static bool keepsTiles(const LayoutMap &map, const PerDimRule &rule) {
  for (const Coordinate &coordinate : map.getCoordinates())
    for (const DigitTerm &term : coordinate.value.terms) {
      const Digit &digit = term.digit;
      if (!digit.isDim()) {
        bool touched = false;
        digit.walkDims(
            [&](unsigned d) { touched |= rule.tileSizeMustDivide[d] != 0; });
        if (touched)
          return false;
        continue;
      }
      int64_t divisor = rule.tileSizeMustDivide[digit.dim];
      if (divisor == 0 || digit.isWholeSource())
        continue;
      // Otherwise the op would slice inside of a tile.
      if (!cutsAtDivisorsOf(digit, divisor))
        return false;
    }
  return true;
}

bool layout::isSliceOfStorage(const LayoutMap &map, RankedTensorType whole,
                              RankedTensorType part, const PerDimRule &rule) {
  unsigned rank = whole.getRank();
  SmallVector<int64_t> shape;
  llvm::SmallBitVector touched(rank);
  for (unsigned d = 0, next = 0; d < rank; ++d) {
    shape.push_back(rule.dropped[d] ? 1 : part.getDimSize(next++));
    touched[d] =
        rule.tileSizeMustDivide[d] != 0 || shape[d] != whole.getDimSize(d);
  }
  RankedTensorType kept = RankedTensorType::get(shape, part.getElementType());
  return findWholeAxes(withLayout(whole, map), withLayout(kept, map), touched,
                       [&](unsigned d, int64_t divisor) {
                         return rule.tileSizeMustDivide[d] % divisor == 0;
                       })
      .has_value();
}

std::optional<OpConfig> ConfigBuilder::carryPerDim(const PerDimRule &rule,
                                                   OperandOrResult slot,
                                                   LayoutId layout) const {
  // The layout of the tensors with all dims.
  int64_t rank = rule.tileSizeMustDivide.size();
  bool isWhole = getType(slot.isResult, slot.index).getRank() == rank;
  if (!isWhole) {
    std::optional<LayoutMap> map =
        insertDims(costs.getMap(layout), rule.dropped);
    if (!map)
      return std::nullopt;
    layout = costs.intern(*map);
  }
  if (!costs.getModel().allowsUnalignedSlices(costs.getMap(layout)) &&
      !keepsTiles(costs.getMap(layout), rule))
    return std::nullopt;
  return assign([&](bool isResult, unsigned index) {
    if (getType(isResult, index).getRank() == rank)
      return std::optional<LayoutId>(layout);
    return std::optional<LayoutId>(
        costs.intern(dropDims(costs.getMap(layout), rule.dropped)));
  });
}
