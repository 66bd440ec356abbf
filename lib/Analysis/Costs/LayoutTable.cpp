//===- LayoutTable.cpp - Numbered layouts ---------------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Analysis/LayoutTable.h"
#include "layout/Algebra/Pack.h"
#include "layout/Algebra/Proof.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Support/StatedSizes.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::layout;

LayoutId LayoutTable::intern(const LayoutMap &map) {
  auto [it, isNew] = ids.try_emplace(map, maps.size());
  if (isNew)
    maps.push_back(map);
  return it->second;
}

LayoutId LayoutTable::intern(LayoutAttrInterface layout,
                             RankedTensorType type) {
  LayoutId id =
      intern(*layout.resolve(type.getShape(), type.getElementType(), nullptr));
  if (isa<PartialAttr>(layout)) {
    auto [it, isNew] = partials.try_emplace({id, layout}, maps.size());
    if (isNew)
      maps.push_back(LayoutMap(maps[id]));
    id = it->second;
  }
  spellings.try_emplace(id, layout);
  getRepresentative(id, type, /*isKnownValid=*/true);
  return id;
}

LayoutId LayoutTable::withPadding(LayoutId layout, TypedAttr padding) {
  layout = withoutPadding(layout);
  if (!padding)
    return layout;
  auto [it, isNew] = padded.try_emplace({layout, padding}, maps.size());
  if (isNew) {
    maps.push_back(LayoutMap(maps[layout]));
    stated[it->second] = {layout, padding};
  }
  return it->second;
}

RankedTensorType LayoutTable::getStoredType(RankedTensorType type,
                                            LayoutId layout) const {
  Attribute spelling = getSpelling(layout);
  if (isa_and_present<MeshAttr, PartialAttr>(spelling))
    return RankedTensorType::get(type.getShape(), type.getElementType(),
                                 spelling);
  return withLayout(type, getMap(layout), getPadding(layout));
}

SmallVector<Type>
LayoutTable::getStoredTypes(ValueRange values,
                            ArrayRef<LayoutId> layouts) const {
  SmallVector<Type> types;
  for (auto [value, layout] : llvm::zip_equal(values, layouts)) {
    types.push_back(value.getType());
    if (layout != kAnyLayout)
      types.back() =
          getStoredType(cast<RankedTensorType>(types.back()), layout);
  }
  return types;
}

LayoutId LayoutTable::getRowMajor(unsigned rank) {
  while (rowMajor.size() <= rank)
    rowMajor.push_back(intern(LayoutMap::rowMajor(rowMajor.size())));
  return rowMajor[rank];
}

LayoutId LayoutTable::getLayoutOf(RankedTensorType type) {
  if (!type.getEncoding())
    return getRowMajor(type.getRank());
  if (isa<NpuScatterAttr, MeshAttr, PartialAttr>(type.getEncoding()))
    return intern(cast<LayoutAttrInterface>(type.getEncoding()), type);
  LayoutId layout = intern(*getLayoutMap(type));
  return statesPadding(type) ? withPadding(layout, layout::getPadding(type))
                             : layout;
}

static LayoutMap makeTiled(ArrayRef<int64_t> tiles, ArrayRef<unsigned> order) {
  SmallVector<BoundedIndex> digits;
  for (auto [d, tile] : llvm::enumerate(tiles))
    digits.push_back(tile == 1 ? BoundedIndex::dim(d)
                               : floorDiv(BoundedIndex::dim(d), tile));
  for (unsigned d : order)
    digits.push_back(mod(BoundedIndex::dim(d), tiles[d]));
  BoundedIndex offset = group(digits);
  return LayoutMap::get(tiles.size(), "buffer",
                        {{"offset", offset.value, offset.extent}});
}

LayoutId LayoutTable::getTiled(ArrayRef<int64_t> tiles,
                               ArrayRef<unsigned> order) {
  if (order.empty())
    return getRowMajor(tiles.size());
  SmallVector<int64_t, 12> key{int64_t(tiles.size())};
  llvm::append_range(key, tiles);
  llvm::append_range(key, order);
  auto known = tiled.find(key);
  if (known != tiled.end())
    return known->second;
  LayoutId layout = intern(makeTiled(tiles, order));
  madeOfDigits[layout] = true;
  tilesOf[layout] = std::make_unique<Tiles>(tiles);
  tiled[ArrayRef<int64_t>(key).copy(keys)] = layout;
  return layout;
}

const LayoutTable::Tiles *LayoutTable::findTiles(LayoutId layout) {
  auto [it, isNew] = tilesOf.try_emplace(layout);
  if (!isNew)
    return it->second.get();
  if (std::optional<Tiles> tiles = computeTiles(layout))
    tilesOf[layout] = std::make_unique<Tiles>(*tiles);
  return tilesOf[layout].get();
}

std::optional<LayoutTable::Tiles> LayoutTable::computeTiles(LayoutId layout) {
  LayoutMap map = getMap(layout);
  Tiles tiles(map.getRank(), 1);
  if (map.getSpace() != "buffer" || !map.getReplicas().empty())
    return std::nullopt;
  SmallVector<unsigned> order;
  for (const StoredAxis &axis : map.getStoredAxes()) {
    const Digit *digit = axis.value.getSingleDigit();
    if (!digit || !digit->isDim())
      return std::nullopt;
    if (digit->divisor == 1 && digit->modulus) {
      tiles[digit->dim] = digit->modulus;
      order.push_back(digit->dim);
    }
    if (!digit->isWholeSource())
      continue;
    // A dim may be rounded up to its tile without being divided by it.
    int64_t content = axis.extent.content();
    if (content > 1 &&
        axis.extent == SizeExpr::dim(digit->dim).alignTo(content)) {
      tiles[digit->dim] = content;
      order.push_back(digit->dim);
    }
  }
  // Accepts the tiles only if they reproduce the map.
  if (getTiled(tiles, order) != layout)
    return std::nullopt;
  return tiles;
}

std::optional<LayoutId> LayoutTable::project(LayoutId layout, AffineMap from,
                                             AffineMap to) {
  auto [it, isNew] = projections.try_emplace({layout, {from, to}});
  if (!isNew)
    return it->second;
  std::optional<LayoutId> result;
  if (std::optional<LayoutMap> map =
          computeProjection(getMap(layout), from, to))
    result = intern(*map);
  return projections[{layout, {from, to}}] = result;
}

std::optional<LayoutMap> LayoutTable::computeProjection(const LayoutMap &layout,
                                                        AffineMap from,
                                                        AffineMap to) {
  // No loop indexes a replica.
  if (!layout.getReplicas().empty())
    return std::nullopt;
  // The dim of the new tensor that each loop indexes.
  SmallVector<std::optional<unsigned>> dimOfLoop(from.getNumDims());
  SmallVector<BoundedIndex> notIndexed;
  for (auto [d, expr] : llvm::enumerate(to.getResults())) {
    if (auto loop = dyn_cast<AffineDimExpr>(expr)) {
      if (dimOfLoop[loop.getPosition()])
        return std::nullopt;
      dimOfLoop[loop.getPosition()] = d;
    } else if (isa<AffineConstantExpr>(expr)) {
      // Dims not indexed by a loop are outermost, which keeps other strides.
      notIndexed.push_back(BoundedIndex::dim(d));
    } else {
      return std::nullopt;
    }
  }
  unsigned rank = layout.getRank();
  SmallVector<IndexExpr> dims(rank);
  SmallVector<SizeExpr> sizes(rank, SizeExpr(1));
  for (unsigned d = 0; d < rank; ++d)
    if (std::optional<unsigned> dim = dimOfLoop[from.getDimPosition(d)]) {
      dims[d] = IndexExpr::dim(*dim);
      sizes[d] = SizeExpr::dim(*dim);
    }
  std::vector<Coordinate> coordinates;
  for (auto [c, coordinate] : llvm::enumerate(layout.getCoordinates())) {
    SmallVector<BoundedIndex> kept;
    if (c == 0)
      kept = std::move(notIndexed);
    for (const StoredAxis &axis : layout.getStoredAxes(c)) {
      const Digit *digit = axis.value.getSingleDigit();
      if (!digit || !digit->isDim()) {
        // An axis with one position, such as the height of a row of pixels.
        if (axis.value.isZero() && axis.extent.isConstantEqual(1))
          continue;
        return std::nullopt;
      }
      if (dimOfLoop[from.getDimPosition(digit->dim)])
        kept.push_back({substitute(axis.value, dims, sizes),
                        axis.extent.substitute(sizes)});
    }
    // An image without a dim in its lanes has no advantage.
    if (kept.empty() && coordinate.name == "lane")
      return LayoutMap::rowMajor(to.getNumResults());
    BoundedIndex value = group(kept);
    coordinates.push_back({coordinate.name, value.value, value.extent});
  }
  return LayoutMap::get(to.getNumResults(), layout.getSpace(),
                        std::move(coordinates));
}

LayoutId LayoutTable::getNormalForm(LayoutId layout, RankedTensorType type) {
  layout = withoutPadding(layout);
  if (isPartial(layout))
    return layout;
  auto [it, isNew] = normalFormOf.try_emplace({type, layout}, 0);
  if (!isNew)
    return it->second;
  LayoutId form = it->second =
      intern(LayoutMap(getMap(layout)).specialize(type.getShape()));
  normalFormOf.try_emplace({type, form}, form);
  return form;
}

/// Returns true if the storage has fewer than 2^56 elements, with 1 for dynamic
/// sizes, so that its size in bytes does not overflow int64.
static bool isOfPossibleSize(const LayoutMap &map, RankedTensorType type) {
  SmallVector<int64_t> known(type.getShape());
  llvm::replace(known, ShapedType::kDynamic, int64_t(1));
  std::optional<int64_t> elements = getStorageSize(map, known);
  return elements && *elements < (int64_t(1) << 56);
}

static bool areAxesDigits(const LayoutMap &map) {
  SmallVector<const Digit *> digits;
  for (const StoredAxis &axis : map.getStoredAxes()) {
    const Digit *digit = axis.value.getSingleDigit();
    if (!digit || !digit->isDim() ||
        !axis.extent.isProvablyAtLeast(naturalExtent(*digit)))
      return false;
    digits.push_back(digit);
  }
  llvm::sort(digits, [](const Digit *a, const Digit *b) {
    return std::make_pair(a->dim, a->divisor) <
           std::make_pair(b->dim, b->divisor);
  });
  // Each digit starts at the end of the one before; the last is unbounded.
  unsigned dim = 0;
  int64_t lo = 1;
  for (const Digit *digit : digits) {
    if (digit->dim != dim || digit->divisor != lo ||
        llvm::MulOverflow(lo, digit->modulus, lo))
      return false;
    if (digit->modulus == 0) {
      ++dim;
      lo = 1;
    }
  }
  return dim == map.getNumDims();
}

bool LayoutTable::isMadeOfDigits(LayoutId layout) {
  auto [it, isNew] = madeOfDigits.try_emplace(layout, false);
  if (isNew)
    it->second = areAxesDigits(getMap(layout));
  return it->second;
}

/// Returns true if it is proven without an enumeration that the layout has
/// different positions for all indices (L1), inside of its extents (L2). Other
/// layouts are not proposed.
static bool isValid(const LayoutMap &special, RankedTensorType type) {
  return hasNoElements(type) ||
         (isInjectiveByConstruction(special, type.getShape()) &&
          isWithinExtents(special, type.getShape()) == ProofResult::Proved);
}

std::optional<LayoutId> LayoutTable::getRepresentative(LayoutId layout,
                                                       RankedTensorType type,
                                                       bool isKnownValid) {
  LayoutId plain = getRowMajor(type.getRank());
  if (layout == plain || isPartial(layout))
    return layout;
  auto [it, isNew] = representatives.try_emplace({type, layout});
  if (!isNew)
    return it->second;
  std::optional<LayoutId> result;
  if (TypedAttr padding = getPadding(layout)) {
    result = getRepresentative(withoutPadding(layout), type, isKnownValid);
    if (result && statesPadding(getStoredType(withoutLayout(type), layout)))
      result = withPadding(*result, padding);
  } else if (getMap(layout).getRank() == type.getRank()) {
    byNormalForm.try_emplace({type, getNormalForm(plain, type)}, plain);
    LayoutId form = getNormalForm(layout, type);
    // A layout with the storage of a valid one is valid.
    auto known = byNormalForm.find({type, form});
    if (known != byNormalForm.end())
      result = known->second;
    else if (!getMap(layout).hasOverflow() &&
             isOfPossibleSize(getMap(layout), type) &&
             (isKnownValid || isMadeOfDigits(layout) ||
              isValid(getMap(form), type)))
      result = byNormalForm[{type, form}] = layout;
  }
  return representatives[{type, layout}] = result;
}
