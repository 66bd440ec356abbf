//===- Cells.cpp - The cells of a picture ---------------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cells.h"
#include "layout/Algebra/Box.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir::layout;
using namespace mlir::layout::picture;
using llvm::ArrayRef;
using Label = PictureOptions::Label;
using View = PictureOptions::View;

static bool isLane(const LayoutMap &map, unsigned coordinate) {
  return map.getSpace() == "image2d" && coordinate == 2;
}

std::string picture::getValueText(const LayoutMap &map, unsigned coordinate,
                                  int64_t value) {
  bool isUnit = coordinate + 1 < map.getCoordinates().size();
  if (map.getSpace() == "npu" && isUnit)
    return "NPU " + std::to_string(value);
  if (isLane(map, coordinate) && value < 4)
    return std::string(1, "RGBA"[value]);
  return std::to_string(value);
}

namespace {
class CellReader {
public:
  CellReader(const LayoutMap &map, const Contents &contents,
             ArrayRef<std::string> dimNames, const PictureOptions &options)
      : map(map), contents(contents), dimNames(dimNames), options(options) {}

  Cells read();

private:
  bool isStorage() const { return options.view == View::Storage; }
  void chooseColorDim();
  void readStorage();
  void readLogical();
  void describeLabels();
  Fill getFill(int64_t number) const;
  std::string describePoint(ArrayRef<int64_t> point) const;

  const LayoutMap &map;
  const Contents &contents;
  ArrayRef<std::string> dimNames;
  const PictureOptions &options;
  std::vector<Point> indices; // of the box, row-major
  Cells result;
};
} // namespace

std::string CellReader::describePoint(ArrayRef<int64_t> point) const {
  std::string text;
  for (auto [c, x] : llvm::enumerate(point))
    text += (c ? ", " : "") + map.getCoordinates()[c].name + " " +
            std::to_string(x);
  return text;
}

void CellReader::chooseColorDim() {
  if (options.colorDim || !isStorage()) {
    result.colorDim = options.colorDim;
    return;
  }
  if (map.getRank() >= 3 && contents.sizes[1] > 1) {
    result.colorDim = 1;
    return;
  }
  auto longer =
      llvm::find_if(contents.sizes, [](int64_t size) { return size > 1; });
  if (longer != contents.sizes.end())
    result.colorDim = longer - contents.sizes.begin();
}

Fill CellReader::getFill(int64_t number) const {
  if (result.colorDim)
    return {Fill::Kinds,
            unsigned(indices[number][*result.colorDim] % kNumColors)};
  if (isStorage())
    return {Fill::Kinds, 0};
  if (options.label == Label::Device)
    return {Fill::Kinds,
            unsigned(contents.devices[number].front() % kNumColors)};
  int64_t position =
      linearize(contents.points[number].front(), contents.extents);
  // Divide storage into eighths, without a product that might overflow int64.
  int64_t eighth = (contents.numPositions - 1) / kNumColors + 1;
  return {Fill::Order, unsigned(position / eighth)};
}

void CellReader::readStorage() {
  std::vector<int64_t> occupants = findOccupants(contents);
  int64_t position = 0;
  forEachIndex(contents.extents, [&](ArrayRef<int64_t> point) {
    int64_t number = occupants[position++];
    Cell &cell = result.cells.emplace_back();
    cell.point.assign(point.begin(), point.end());
    cell.title = "padding at " + describePoint(point);
    if (number < 0)
      return true;
    const Point &index = indices[number];
    cell.title = describeIndex(index) + " at " + describePoint(point);
    cell.fill = getFill(number);
    if (options.label == Label::Number)
      cell.label.push_back(std::to_string(number));
    else
      // Leave out dims of size 1.
      for (auto [i, size] : llvm::zip_equal(index, contents.sizes))
        if (size != 1)
          cell.label.push_back(std::to_string(i));
    if (cell.label.empty())
      cell.label.push_back("0");
    return true;
  });
}

void CellReader::readLogical() {
  for (auto [number, index] : llvm::enumerate(indices)) {
    ArrayRef<Point> points = contents.points[number];
    Cell &cell = result.cells.emplace_back();
    cell.point = index;
    cell.title = describeIndex(index) + " at ";
    for (auto [i, point] : llvm::enumerate(points))
      cell.title += (i ? " and " : "") + describePoint(point);
    cell.fill = getFill(number);
    const Point &first = points.front();
    if (options.label == Label::Device) {
      for (int64_t device : contents.devices[number])
        cell.label.push_back(std::to_string(device));
      continue;
    }
    if (options.label == Label::Number)
      cell.label.push_back(std::to_string(linearize(first, contents.extents)));
    else
      for (auto [c, x] : llvm::enumerate(first))
        cell.label.push_back(isLane(map, c) ? getValueText(map, c, x)
                                            : std::to_string(x));
    if (cell.label.empty())
      cell.label.push_back("0");
    // Mark an index with more than one storage point, i.e. with replicas.
    if (points.size() > 1)
      cell.label.back() += "+";
  }
}

void CellReader::describeLabels() {
  llvm::SmallVector<std::string> names;
  if (options.label == Label::Device) {
    result.labelText = "the devices that hold the index";
    return;
  }
  if (options.label == Label::Number) {
    names.push_back(isStorage() ? "the row-major number of the index"
                                : "the row-major number of the point");
  } else if (isStorage()) {
    for (auto [name, size] : llvm::zip_equal(dimNames, contents.sizes))
      if (size != 1)
        names.push_back(name);
  } else {
    for (const Coordinate &coordinate : map.getCoordinates())
      names.push_back(coordinate.name);
  }
  result.labelText = llvm::join(names, ", ");
  if (!isStorage() && !map.getReplicas().empty())
    result.labelText += " of the first replica (+)";
}

Cells CellReader::read() {
  forEachIndex(contents.sizes, [&](ArrayRef<int64_t> index) {
    indices.emplace_back(index);
    return true;
  });
  chooseColorDim();
  if (isStorage())
    readStorage();
  else
    readLogical();
  describeLabels();
  return std::move(result);
}

Cells picture::readCells(const LayoutMap &map, const Contents &contents,
                         ArrayRef<std::string> dimNames,
                         const PictureOptions &options) {
  return CellReader(map, contents, dimNames, options).read();
}
