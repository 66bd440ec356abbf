//===- Table.cpp - A layout on a shape as numbers -------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Table.h"
#include "layout/Algebra/Box.h"
#include "layout/Algebra/Pack.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace mlir::layout;
namespace json = llvm::json;

static json::Value toJson(std::optional<int64_t> number) {
  return number ? json::Value(*number) : json::Value(nullptr);
}

template <typename T> static std::string toText(const T &value) {
  std::string text;
  llvm::raw_string_ostream(text) << value;
  return text;
}

void layout::writeTable(LayoutAttrInterface layout, const LayoutMap &map,
                        ArrayRef<int64_t> shape, Type elementType,
                        int64_t maxPoints, raw_ostream &os) {
  std::optional<int64_t> elements = countIndices(shape);
  std::optional<int64_t> positions = getStorageSize(map, shape);
  std::optional<int64_t> padding;
  std::optional<int64_t> points = countIndices(map.getBox(shape));
  if (points && positions)
    padding = *positions - *points;
  json::Array storedShape;
  for (const BoundedIndex &dim : layout.getStoredDims(shape, elementType))
    storedShape.push_back(toJson(dim.extent.evaluate(shape)));

  // Writes one field per line and one point per line.
  auto field = [&](StringRef name, json::Value value) {
    os << json::Value(name) << ": " << value << ",\n ";
  };
  os << '{';
  field("layout", toText(layout));
  field("map", map.str());
  field("space", map.getSpace());
  field("shape", json::Array(shape));
  field("element", toText(elementType));
  os << "\"storage_extent\": {";
  SmallVector<int64_t> extents = *map.storageExtent(shape);
  llvm::interleaveComma(
      llvm::zip_equal(map.getCoordinates(), extents), os, [&](auto pair) {
        os << json::Value(std::get<0>(pair).name) << ": " << std::get<1>(pair);
      });
  os << "},\n ";
  field("stored_shape", std::move(storedShape));
  field("elements", toJson(elements));
  field("replicas", json::Array(map.getReplicas()));
  field("padding", toJson(padding));
  os << "\"points\": ";
  if (!points || *points > maxPoints) {
    os << "null}\n";
    return;
  }
  os << '[';
  bool first = true;
  LayoutMap special = map.specialize(shape);
  forEachIndex(shape, [&](ArrayRef<int64_t> index) {
    json::Array line{json::Array(index)};
    forEachIndex(map.getReplicas(), [&](ArrayRef<int64_t> replica) {
      SmallVector<int64_t> extended(index);
      llvm::append_range(extended, replica);
      line.push_back(json::Array(*special.forward(extended, shape)));
      return true;
    });
    os << (first ? "\n  " : ",\n  ") << json::Value(std::move(line));
    first = false;
    return true;
  });
  os << "]}\n";
}
