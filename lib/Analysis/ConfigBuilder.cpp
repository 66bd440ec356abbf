//===- ConfigBuilder.cpp - Configurations of one op from its rule ---------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConfigBuilder.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"

using namespace mlir;
using namespace mlir::layout;
using Kind = OpLayoutRule::Kind;

LayoutMap layout::getTiledLayout(ArrayRef<int64_t> tiles,
                                 function_ref<unsigned(unsigned)> rank) {
  SmallVector<Sized> digits;
  SmallVector<unsigned> tiled;
  for (auto [d, tile] : llvm::enumerate(tiles)) {
    digits.push_back(tile == 1 ? Sized::dim(d) : floorDiv(Sized::dim(d), tile));
    if (tile != 1)
      tiled.push_back(d);
  }
  llvm::stable_sort(tiled,
                    [&](unsigned a, unsigned b) { return rank(a) < rank(b); });
  for (unsigned d : tiled)
    digits.push_back(mod(Sized::dim(d), tiles[d]));
  Sized offset = group(digits);
  return LayoutMap::get(tiles.size(), "buffer",
                        {{"offset", offset.value, offset.extent}});
}

std::optional<SmallVector<int64_t>> layout::findTiles(const LayoutMap &map) {
  SmallVector<int64_t> tiles(map.getRank(), 1);
  if (map.getSpace() != "buffer")
    return std::nullopt;
  SmallVector<unsigned> inner;
  for (const DigitTerm &term : map.getCoordinates()[0].value.terms) {
    const Digit &digit = term.digit;
    if (digit.fused)
      return std::nullopt;
    if (digit.lo == 1 && digit.modulus)
      tiles[digit.dim] = digit.modulus;
  }
  // A dim may be rounded up to its tile without being cut by it.
  for (const StoredAxis &axis : map.getStoredAxes()) {
    const Digit *digit = axis.value.getSingleDigit();
    if (!digit)
      return std::nullopt;
    if (!digit->isWholeSource())
      continue;
    int64_t content = axis.extent.content();
    if (content > 1 &&
        axis.extent == SizeExpr::dim(digit->dim).alignTo(content))
      tiles[digit->dim] = content;
  }
  // The tiles, in whatever order they are stored, have to explain the map.
  for (const StoredAxis &axis : map.getStoredAxes()) {
    const Digit *digit = axis.value.getSingleDigit();
    if (digit->lo == 1 && digit->modulus)
      inner.push_back(digit->dim);
  }
  auto rank = [&](unsigned d) -> unsigned {
    return llvm::find(inner, d) - inner.begin();
  };
  if (getTiledLayout(tiles, rank) != map)
    return std::nullopt;
  return tiles;
}

RankedTensorType ConfigBuilder::getType(bool isResult, unsigned index) const {
  Value value = isResult ? Value(op->getResult(index)) : op->getOperand(index);
  return dyn_cast<RankedTensorType>(value.getType());
}

AffineMap ConfigBuilder::getMap(bool isResult, unsigned index) const {
  return isResult ? rule.resultMaps[index] : rule.operandMaps[index];
}

std::optional<OpConfig> ConfigBuilder::assign(
    function_ref<std::optional<LayoutMap>(bool, unsigned)> getLayout) const {
  OpConfig config;
  auto visit = [&](bool isResult, unsigned index) -> std::optional<LayoutId> {
    RankedTensorType type = getType(isResult, index);
    if (!type)
      return kAnyLayout;
    std::optional<LayoutMap> map = getLayout(isResult, index);
    if (!map)
      return std::nullopt;
    return costs.getRepresentative(*map, type);
  };
  for (unsigned i = 0, e = op->getNumOperands(); i < e; ++i) {
    std::optional<LayoutId> layout = visit(false, i);
    if (!layout)
      return std::nullopt;
    config.layouts.operands.push_back(*layout);
  }
  for (unsigned i = 0, e = op->getNumResults(); i < e; ++i) {
    std::optional<LayoutId> layout = visit(true, i);
    if (!layout)
      return std::nullopt;
    config.layouts.results.push_back(*layout);
  }
  return config;
}

OpConfig ConfigBuilder::getAsTyped() const {
  OpConfig config;
  auto getLayout = [&](Value value) {
    return hasKnownLayout(value) ? costs.intern(*getLayoutMap(
                                       cast<RankedTensorType>(value.getType())))
                                 : kAnyLayout;
  };
  for (Value operand : op->getOperands())
    config.layouts.operands.push_back(getLayout(operand));
  for (Value result : op->getResults())
    config.layouts.results.push_back(getLayout(result));
  // Without layouts these are the tiles of size 1.
  bool isPlain = llvm::all_of(op->getOperandTypes(), [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return !tensor || !tensor.getEncoding();
  });
  if (isPlain && rule.kind == Kind::Loops)
    config.tiles.assign(rule.loops.size(), 1);
  return config;
}

std::optional<OpConfig> ConfigBuilder::getTiled(ArrayRef<int64_t> tiles) const {
  for (auto [loop, tile] : llvm::zip(rule.loops, tiles))
    if (tile != 1 && !loop.tileable)
      return std::nullopt;
  std::optional<OpConfig> config =
      assign([&](bool isResult, unsigned index) -> std::optional<LayoutMap> {
        AffineMap map = getMap(isResult, index);
        SmallVector<int64_t> dimTiles;
        for (AffineExpr expr : map.getResults()) {
          auto dim = dyn_cast<AffineDimExpr>(expr);
          dimTiles.push_back(dim ? tiles[dim.getPosition()] : 1);
        }
        // Reductions outside, so that a result's lanes are the fastest digit.
        return getTiledLayout(dimTiles, [&](unsigned d) {
          unsigned loop = map.getDimPosition(d);
          bool isParallel =
              rule.loops[loop].iterator == utils::IteratorType::parallel;
          return loop + (isParallel ? rule.loops.size() : 0);
        });
      });
  if (config)
    config->tiles.assign(tiles.begin(), tiles.end());
  return config;
}

SmallVector<SmallVector<int64_t>> ConfigBuilder::getLaneTiles() const {
  unsigned count = rule.loops.size();
  int64_t lanes = costs.getTarget().getLanes();
  bool reduces = llvm::any_of(rule.loops, [](const LoopRule &loop) {
    return loop.iterator == utils::IteratorType::reduction;
  });
  if (lanes == 1 || !reduces)
    return {};

  // Operands that are multiplied; the accumulator is indexed like a result.
  SmallVector<AffineMap> data, weights;
  for (auto [map, isRead] : llvm::zip(rule.operandMaps, rule.isRead)) {
    if (!map || !isRead || llvm::is_contained(rule.resultMaps, map))
      continue;
    bool hasWindow = llvm::any_of(map.getResults(), [](AffineExpr expr) {
      return !isa<AffineDimExpr, AffineConstantExpr>(expr);
    });
    (hasWindow ? data : weights).push_back(map);
  }
  if (data.size() + weights.size() < 2)
    return {};
  // Without a window any operand may be the one with the weights.
  bool isWindowed = !data.empty();
  auto count_ = [](ArrayRef<AffineMap> maps, unsigned loop) {
    return llvm::count_if(
        maps, [&](AffineMap map) { return map.isFunctionOfDim(loop); });
  };
  SmallVector<unsigned> outer, shared, reduced;
  for (unsigned l = 0; l < count; ++l) {
    const LoopRule &loop = rule.loops[l];
    if (!loop.tileable || loop.size < 2)
      continue;
    size_t inData = count_(data, l), inWeights = count_(weights, l);
    bool inAll = inData + inWeights == data.size() + weights.size();
    if (loop.iterator == utils::IteratorType::reduction) {
      if (inAll)
        reduced.push_back(l);
    } else if (isWindowed ? inWeights && !inData : inData + inWeights == 1) {
      outer.push_back(l);
    } else if (isWindowed && inAll) {
      shared.push_back(l);
    }
  }
  SmallVector<SmallVector<int64_t>> result;
  auto tile = [&](ArrayRef<unsigned> loops) {
    SmallVector<int64_t> tiles(count, 1);
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

std::optional<OpConfig> ConfigBuilder::carryTiles(ArrayRef<int64_t> tiles,
                                                  bool isResult, unsigned index,
                                                  LayoutId layout) const {
  AffineMap map = getMap(isResult, index);
  if (!map)
    return std::nullopt;
  std::optional<SmallVector<int64_t>> dimTiles =
      findTiles(costs.getMap(layout));
  if (!dimTiles)
    return std::nullopt;
  SmallVector<int64_t> merged(tiles);
  for (auto [expr, tile] : llvm::zip(map.getResults(), *dimTiles)) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (dim)
      merged[dim.getPosition()] = tile;
    else if (tile != 1)
      return std::nullopt;
  }
  std::optional<OpConfig> config = getTiled(merged);
  if (!config)
    return std::nullopt;
  LayoutId got = isResult ? config->layouts.results[index]
                          : config->layouts.operands[index];
  return got == layout ? config : std::nullopt;
}

std::optional<OpConfig> ConfigBuilder::carry(bool isResult, unsigned index,
                                             LayoutId layout) const {
  LayoutMap map = costs.getMap(layout);
  switch (rule.kind) {
  case Kind::Loops:
    return getMap(isResult, index) ? carryLoops(getMap(isResult, index), map)
                                   : std::nullopt;
  case Kind::View:
    return carryView(isResult, map);
  case Kind::PerDim:
    return carryPerDim(map);
  case Kind::Opaque:
  case Kind::Source:
  case Kind::Shape:
    return std::nullopt;
  }
  llvm_unreachable("all kinds carry or do not");
}

/// Any layout of a tensor over the whole iteration space is one of the
/// iteration space, and its axes that a tensor's loops speak of lay out that
/// tensor.
std::optional<OpConfig>
ConfigBuilder::carryLoops(AffineMap map, const LayoutMap &layout) const {
  unsigned count = rule.loops.size();
  if (!map.isPermutation() || layout.getCoordinates().size() != 1)
    return std::nullopt;
  for (const StoredAxis &axis : layout.getStoredAxes()) {
    const Digit *digit = axis.value.getSingleDigit();
    if (!digit || digit->fused)
      return std::nullopt;
    if (!digit->isWholeSource() &&
        !rule.loops[map.getDimPosition(digit->dim)].tileable)
      return std::nullopt;
  }
  return assign([&](bool isResult, unsigned index) -> std::optional<LayoutMap> {
    AffineMap other = getMap(isResult, index);
    unsigned rank = other.getNumResults();
    // Where the dims of `layout` go in the other tensor.
    SmallVector<std::optional<unsigned>> dimOfLoop(count);
    SmallVector<Sized> kept;
    for (auto [d, expr] : llvm::enumerate(other.getResults())) {
      if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
        if (dimOfLoop[dim.getPosition()])
          return std::nullopt;
        dimOfLoop[dim.getPosition()] = d;
      } else if (isa<AffineConstantExpr>(expr)) {
        kept.push_back(Sized::dim(d));
      } else {
        return std::nullopt;
      }
    }
    SmallVector<Linear> dims(layout.getRank());
    SmallVector<SizeExpr> sizes(layout.getRank(), SizeExpr(1));
    for (unsigned d = 0; d < layout.getRank(); ++d) {
      unsigned loop = map.getDimPosition(d);
      if (dimOfLoop[loop]) {
        dims[d] = Linear::dim(*dimOfLoop[loop]);
        sizes[d] = SizeExpr::dim(*dimOfLoop[loop]);
      }
    }
    for (const StoredAxis &axis : layout.getStoredAxes()) {
      unsigned d = axis.value.getSingleDigit()->dim;
      if (dimOfLoop[map.getDimPosition(d)])
        kept.push_back({substitute(axis.value, dims, sizes),
                        axis.extent.substitute(sizes)});
    }
    Sized offset = group(kept);
    return LayoutMap::get(
        rank, layout.getSpace(),
        {{layout.getCoordinates()[0].name, offset.value, offset.extent}});
  });
}

std::optional<OpConfig>
ConfigBuilder::carryView(bool isResult, const LayoutMap &layout) const {
  const ViewRule &view = rule.view;
  RankedTensorType to = getType(!isResult, 0);
  LayoutMap other = layout.substitute(
      to.getRank(), isResult ? view.resultDims : view.sourceDims,
      isResult ? view.resultSizes : view.sourceSizes, to.getShape());
  // A layout that holds for every shape is preferred to one with the sizes of
  // this shape in it: it can be carried further.
  SmallVector<int64_t> tiles(to.getRank(), 1);
  for (const StoredAxis &axis : other.getStoredAxes())
    if (const Digit *digit = axis.value.getSingleDigit())
      if (!digit->fused && digit->lo == 1 && digit->modulus)
        tiles[digit->dim] = digit->modulus;
  LayoutMap general = getTiledLayout(tiles, [](unsigned d) { return d; });
  if (general.specialize(to.getShape()) == other.specialize(to.getShape()))
    other = general;
  return assign([&](bool ofResult, unsigned) -> std::optional<LayoutMap> {
    return ofResult == isResult ? layout : other;
  });
}

std::optional<OpConfig>
ConfigBuilder::carryPerDim(const LayoutMap &layout) const {
  for (const Coordinate &coordinate : layout.getCoordinates())
    for (const DigitTerm &term : coordinate.value.terms) {
      const Digit &digit = term.digit;
      if (digit.fused) {
        bool touched = false;
        digit.fused->walkDims(
            [&](unsigned d) { touched |= rule.units[d] != 0; });
        if (touched)
          return std::nullopt;
        continue;
      }
      int64_t unit = rule.units[digit.dim];
      if (unit == 0 || digit.isWholeSource())
        continue;
      // Cuts of the op fall between tiles.
      if (unit % digit.lo != 0 ||
          (digit.modulus && unit % (digit.lo * digit.modulus) != 0))
        return std::nullopt;
    }
  return assign([&](bool, unsigned) { return layout; });
}
