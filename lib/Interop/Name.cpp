//===- Name.cpp - Short names of maps -------------------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Interop/Name.h"
#include "layout/Interop/OneDnn.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>

using namespace mlir::layout;
using llvm::StringRef;
using llvm::Twine;

/// Returns `tag`, a oneDNN tag over a, b, .., in lower case. The letters of
/// four dims become n, c, h, w if no dim but b has blocks and the order is abcd
/// or acdb. Otherwise they become o, i, h, w if no dims but a and b have blocks
/// and the order is abcd.
static std::string nameTag(StringRef tag) {
  std::string name = tag.lower();
  StringRef order = StringRef(name).take_while(llvm::isAlpha);
  StringRef blocks = StringRef(name).drop_front(order.size());
  auto hasOnly = [&](StringRef dims) {
    return blocks.find_first_not_of(("0123456789" + dims).str()) ==
           StringRef::npos;
  };
  StringRef letters;
  if ((order == "abcd" || order == "acdb") && hasOnly("b"))
    letters = "nchw";
  else if (order == "abcd" && hasOnly("ab"))
    letters = "oihw";
  if (!letters.empty())
    for (char &c : name)
      if (llvm::isAlpha(c))
        c = letters[c - 'a'];
  return name;
}

/// Returns the image kind whose map is `map` for some order of its axes, or
/// std::nullopt.
static std::optional<RgbaImageKind> findImageKind(const LayoutMap &map,
                                                  Sizes unknown) {
  for (StringRef name : getRgbaImageNames()) {
    RgbaImageKind kind = *getRgbaImageKind(name);
    auto order = llvm::to_vector(llvm::seq<unsigned>(getLetters(kind).size()));
    do {
      std::optional<RgbaImage> image = getRgbaImage(kind, order, unknown);
      if (image && image->getMap(map.getRank()) == map)
        return kind;
    } while (std::next_permutation(order.begin(), order.end()));
  }
  return std::nullopt;
}

std::string mlir::layout::makeName(RgbaImageKind kind) {
  StringRef name = getName(kind);
  name.consume_front("image_");
  return ("image_" + name).str();
}

std::string mlir::layout::makeName(const LayoutMap &map) {
  llvm::SmallVector<int64_t> unknown(map.getRank(), kUnknownSize);
  if (map.getSpace() == "buffer") {
    std::optional<std::string> tag = exportOneDnn(map, unknown);
    return tag ? nameTag(*tag) : "";
  }
  std::optional<RgbaImageKind> kind = findImageKind(map, unknown);
  return kind ? makeName(*kind) : map.getSpace().str();
}
