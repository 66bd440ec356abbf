//===- Contents.cpp - The content of storage ------------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Contents.h"
#include "layout/Algebra/Box.h"
#include "layout/Algebra/Families/Mesh.h"
#include "layout/Algebra/Proof.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir::layout;
using namespace mlir::layout::picture;
using llvm::ArrayRef;
using llvm::Twine;

std::string picture::describeIndex(ArrayRef<int64_t> index) {
  std::string text = "(";
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(index, os);
  os << ')';
  return text;
}

static std::string toShape(ArrayRef<int64_t> sizes) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleave(sizes, os, "x");
  return text;
}

/// Returns the number of cells that a picture needs: of indices times replicas,
/// or of storage positions if these are more and `needStorage`. Returns
/// std::nullopt on overflow.
static std::optional<int64_t> countCells(const LayoutMap &map, Sizes sizes,
                                         bool needStorage) {
  std::optional<int64_t> indices = countIndices(map.getBox(sizes));
  if (!indices || !needStorage)
    return indices;
  std::optional<llvm::SmallVector<int64_t>> extents = map.storageExtent(sizes);
  std::optional<int64_t> positions =
      extents ? countIndices(*extents) : std::nullopt;
  if (!positions)
    return std::nullopt;
  return std::max(*indices, *positions);
}

/// Returns a smaller shape that can be drawn, as text for an error, or "" if
/// there is none: halves the longest dim until there are at most `maxCells`
/// cells.
static std::string proposeSlice(const LayoutMap &map, Sizes sizes,
                                int64_t maxCells, bool needStorage) {
  Point slice(sizes);
  while (true) {
    auto longest = llvm::max_element(slice);
    if (longest == slice.end() || *longest <= 1)
      return "";
    *longest = (*longest + 1) / 2;
    std::optional<int64_t> cells = countCells(map, slice, needStorage);
    if (cells && *cells <= maxCells)
      return ", such as " + toShape(slice);
  }
}

static bool checkShape(const LayoutMap &map, Sizes sizes, FailureReason error) {
  if (map.getRank() != sizes.size()) {
    error("the layout has " + Twine(map.getRank()) + " dims, the shape has " +
          Twine(sizes.size()) + " (L1): give one size for each dim");
    return false;
  }
  for (auto [d, size] : llvm::enumerate(sizes))
    if (size < 0) {
      error("dim " + Twine(d) +
            " has a dynamic size: a picture shows one shape; state the size");
      return false;
    }
  return true;
}

/// Returns the text of an index, which may be followed by the numbers of its
/// replicas.
static std::string describe(const LayoutMap &map, ArrayRef<int64_t> index) {
  std::string text = describeIndex(index.take_front(map.getRank()));
  if (index.size() > map.getRank())
    text += " of replica " + describeIndex(index.drop_front(map.getRank()));
  return text;
}

static bool checkInjective(const LayoutMap &map, Sizes sizes,
                           FailureReason error) {
  PairProof proof = proveInjective(map, sizes);
  if (proof.answer == ProofResult::Proved)
    return true;
  if (proof.answer == ProofResult::Disproved)
    error("indices " + describe(map, proof.first) + " and " +
          describe(map, proof.second) +
          " have the same storage point (L1): a layout is injective");
  else
    error("no proof that the layout is injective on " + toShape(sizes) +
          " (L1): draw a smaller shape");
  return false;
}

int64_t picture::linearize(ArrayRef<int64_t> point, ArrayRef<int64_t> extents) {
  int64_t position = 0;
  for (auto [x, extent] : llvm::zip_equal(point, extents))
    position = position * extent + x;
  return position;
}

std::optional<Contents> picture::readContents(const LayoutMap &map, Sizes sizes,
                                              int64_t maxCells,
                                              bool needStorage,
                                              FailureReason error) {
  if (!checkShape(map, sizes, error))
    return std::nullopt;
  Contents contents;
  contents.sizes.assign(sizes.begin(), sizes.end());
  Point box = map.getBox(sizes);
  std::optional<int64_t> indices = countIndices(sizes);
  std::optional<int64_t> points = countIndices(box);
  std::optional<llvm::SmallVector<int64_t>> extents = map.storageExtent(sizes);
  std::optional<int64_t> positions =
      extents ? countIndices(*extents) : std::nullopt;
  if (!indices || !points || !positions) {
    error("the storage of " + toShape(sizes) +
          " does not fit 64 bits (L1): draw a smaller shape");
    return std::nullopt;
  }
  contents.extents = std::move(*extents);
  contents.numIndices = *indices;
  contents.numPositions = *positions;
  int64_t cells = needStorage ? std::max(*points, *positions) : *points;
  if (cells > maxCells) {
    error("a picture of " + toShape(sizes) + " needs " + Twine(cells) +
          " cells, the limit is " + Twine(maxCells) +
          ": draw a smaller shape of the same structure" +
          proposeSlice(map, sizes, maxCells, needStorage) +
          ", or raise the limit");
    return std::nullopt;
  }
  if (!checkInjective(map, sizes, error))
    return std::nullopt;

  LayoutMap special = map.specialize(sizes);
  contents.points.resize(*indices);
  std::optional<IndexExpr> device;
  if (map.getSpace() == kMeshSpace && !map.getCoordinates().empty()) {
    device = getDevice(special, sizes);
    contents.devices.resize(*indices);
  }
  size_t number = 0,
         replicas = llvm::divideCeil(*points, std::max<int64_t>(*indices, 1));
  bool inside = forEachIndex(box, [&](ArrayRef<int64_t> index) {
    std::optional<llvm::SmallVector<int64_t>> point =
        special.forward(index, sizes);
    bool fits = point && llvm::all_of(llvm::zip_equal(*point, contents.extents),
                                      [](auto pair) {
                                        auto [x, extent] = pair;
                                        return x >= 0 && x < extent;
                                      });
    if (!fits) {
      error(
          "index " + describe(map, index) + " is stored at " +
          (point ? describeIndex(*point) : std::string("no point in 64 bits")) +
          ", outside of the storage " + describeIndex(contents.extents) +
          " (L1)");
      return false;
    }
    // Replicas are the fastest dims of the box. They may share points.
    size_t own = number++ / replicas;
    if (llvm::is_contained(contents.points[own], *point))
      return true;
    if (device)
      contents.devices[own].push_back(*device->evaluate(index, sizes));
    contents.points[own].push_back(std::move(*point));
    return true;
  });
  if (!inside)
    return std::nullopt;
  contents.numPadding = *positions;
  for (const auto &ofIndex : contents.points)
    contents.numPadding -= ofIndex.size();
  for (auto &ofIndex : contents.devices)
    llvm::sort(ofIndex);
  return contents;
}

std::vector<int64_t> picture::findOccupants(const Contents &contents) {
  std::vector<int64_t> occupants(contents.numPositions, -1);
  for (auto [number, points] : llvm::enumerate(contents.points))
    for (const Point &point : points)
      occupants[linearize(point, contents.extents)] = number;
  return occupants;
}
