//===- Xla.cpp - XLA tiled layouts ----------------------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Interop/Xla.h"
#include "Scanner.h"
#include "layout/Algebra/DigitDecomposition.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir::layout;
using llvm::SmallVector;
using llvm::StringRef;
using llvm::Twine;

/// Describes the next property after the colon of an XLA layout for an error,
/// or returns "" if it is a tile or unknown. Only tiles are part of the index
/// map.
static StringRef getMeaning(Scanner &scanner) {
  static constexpr std::pair<llvm::StringLiteral, llvm::StringLiteral>
      meanings[] = {{"SC(", "a split over memories"},
                    {"S(", "a memory space"},
                    {"E(", "the bits of an element"},
                    {"D(", "sparse or compressed dims"},
                    {"L(", "an alignment of the end"},
                    {"P(", "a physical shape"},
                    {"M(", "a prefix for real sizes"},
                    {"#(", "a type of indices"},
                    {"*(", "a type of pointers"}};
  for (const auto &[token, meaning] : meanings)
    if (scanner.rest().starts_with(token))
      return meaning;
  return {};
}

/// Parses minor_to_major, a permutation of 0 .. rank - 1, and stops before the
/// colon or closing brace that follows. Returns false after an error.
static bool parseDims(Scanner &scanner, XlaLayout &layout) {
  SmallVector<std::pair<int64_t, size_t>> dims;
  auto atClose = [&] { return StringRef(":}").contains(scanner.peek()); };
  while (!atClose()) {
    if (!dims.empty() && !scanner.expect(",", "or '}' after a dim"))
      return false;
    size_t column = scanner.column();
    int64_t dim;
    if (!scanner.integer(dim, "a dim of minor_to_major"))
      return false;
    dims.push_back({dim, column});
  }
  int64_t rank = dims.size();
  SmallVector<bool> seen(rank, false);
  for (auto [dim, column] : dims) {
    if (dim < 0 || dim >= rank)
      return scanner.fail(column, "dim " + Twine(dim) + " of " + Twine(rank) +
                                      ": minor_to_major must name 0 to " +
                                      Twine(rank - 1) + ", each once");
    if (seen[dim])
      return scanner.fail(
          column, "dim " + Twine(dim) +
                      " is repeated: minor_to_major must name each dim once");
    seen[dim] = true;
    layout.minorToMajor.push_back(dim);
  }
  return true;
}

static bool parseTile(Scanner &scanner, XlaLayout::Tile &tile) {
  size_t start = scanner.column();
  if (!scanner.expect("(", "before the factors of a tile"))
    return false;
  size_t last = start;
  if (!scanner.list(")", [&] {
        last = scanner.column();
        if (scanner.consume("*")) {
          tile.push_back(XlaLayout::kFuse);
          return true;
        }
        if (!scanner.integer(tile.emplace_back(),
                             "a factor of the tile or '*'"))
          return false;
        return tile.back() > 0 ||
               scanner.fail(last, "factor " + Twine(tile.back()) +
                                      ": it must be at least 1");
      }))
    return false;
  if (tile.empty())
    return scanner.fail(start, "a tile is empty: it needs at least one factor");
  if (tile.back() == XlaLayout::kFuse)
    return scanner.fail(last, "'*' at the end of a tile: it fuses a dim with "
                              "the next faster one");
  return true;
}

std::optional<XlaLayout> mlir::layout::parseXla(StringRef text,
                                                TextError error) {
  Scanner scanner(text, error);
  XlaLayout layout;
  if (!scanner.expect("{", "before minor_to_major, as in {1,0}") ||
      !parseDims(scanner, layout))
    return std::nullopt;
  if (scanner.consume(":")) {
    if (scanner.consume("T")) {
      do {
        if (!parseTile(scanner, layout.tiles.emplace_back()))
          return std::nullopt;
      } while (scanner.peek() == '(');
    }
    if (StringRef meaning = getMeaning(scanner); !meaning.empty()) {
      scanner.fail(scanner.column(),
                   "'" + scanner.rest().take_front() + "' states " + meaning +
                       ", which is not part of an index map: remove it");
      return std::nullopt;
    }
    if (layout.tiles.empty()) {
      scanner.fail(scanner.column(),
                   "expected tiles after ':', as in T(8,128)");
      return std::nullopt;
    }
  }
  if (!scanner.expect("}", "at the end of the layout") || !scanner.expectEnd())
    return std::nullopt;
  return layout;
}

std::optional<LayoutMap> XlaLayout::getMap(Sizes shape,
                                           FailureReason error) const {
  unsigned rank = minorToMajor.size();
  if (!checkRank(rank, shape, error))
    return std::nullopt;
  std::vector<BoundedIndex> dims; // slowest first
  for (unsigned d : llvm::reverse(minorToMajor))
    dims.push_back(BoundedIndex::dim(d));
  for (const Tile &tile : tiles) {
    if (dims.size() < tile.size())
      dims.insert(dims.begin(), tile.size() - dims.size(),
                  BoundedIndex::constant(SizeExpr(0)));
    auto first = dims.end() - tile.size();
    std::vector<BoundedIndex> tiled(first, dims.end()), remainders;
    dims.erase(first, dims.end());
    SmallVector<BoundedIndex> fused;
    for (auto [factor, dim] : llvm::zip_equal(tile, tiled)) {
      fused.push_back(dim);
      if (factor == kFuse)
        continue;
      BoundedIndex whole = group(fused);
      fused.clear();
      dims.push_back(floorDiv(whole, factor));
      remainders.push_back(mod(whole, factor));
    }
    dims.insert(dims.end(), remainders.begin(), remainders.end());
  }
  BoundedIndex offset = group(dims);
  return LayoutMap::get(rank, "buffer",
                        {{"offset", offset.value, offset.extent}});
}

SmallVector<int64_t> XlaLayout::getStatedShape() const {
  return SmallVector<int64_t>(minorToMajor.size(), kUnknownSize);
}

std::string XlaLayout::str() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << '{';
  llvm::interleave(minorToMajor, os, ",");
  if (!tiles.empty())
    os << ":T";
  for (const Tile &tile : tiles) {
    os << '(';
    llvm::interleave(
        tile, os,
        [&](int64_t factor) {
          if (factor == kFuse)
            os << '*';
          else
            os << factor;
        },
        ",");
    os << ')';
  }
  os << '}';
  return text;
}
