//===- PanelGrid.cpp - Arrange points in panels ---------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PanelGrid.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <numeric>

using namespace mlir::layout;
using namespace mlir::layout::picture;
using llvm::ArrayRef;

/// The number of positions that columns, or rows, of a panel should have at
/// least: with fewer, they also take the next slower axis.
constexpr int64_t kFew = 4;
/// Rows take one more axis only if they then have at most this many positions;
/// panels take all others.
constexpr int64_t kManyRows = 16;

int64_t picture::count(ArrayRef<Axis> axes) {
  int64_t product = 1;
  for (const Axis &axis : axes)
    product *= axis.extent;
  return product;
}

/// Returns the row-major number of `point` along `axes`, each of which has the
/// digit (coordinate / stride) mod extent.
static int64_t getNumber(ArrayRef<int64_t> point, ArrayRef<Axis> axes) {
  int64_t number = 0;
  for (const Axis &axis : axes)
    number = number * axis.extent +
             point[axis.coordinate] / axis.stride % axis.extent;
  return number;
}

/// Adds to `point` the position with the row-major number `number` along
/// `axes`.
static void addNumber(Point &point, ArrayRef<Axis> axes, int64_t number) {
  for (const Axis &axis : llvm::reverse(axes)) {
    point[axis.coordinate] += number % axis.extent * axis.stride;
    number /= axis.extent;
  }
}

Place PanelGrid::getPlace(ArrayRef<int64_t> point) const {
  return {getNumber(point, panels), getNumber(point, rows),
          getNumber(point, columns)};
}

Point PanelGrid::getRowStart(int64_t panel, int64_t row) const {
  Point point(directions.size(), 0);
  addNumber(point, panels, panel);
  addNumber(point, rows, row);
  return point;
}

Point PanelGrid::getColumn(int64_t column) const {
  Point point(directions.size(), 0);
  addNumber(point, columns, column);
  return point;
}

/// Replaces `d0`, `d1`, .. in the text of a map by the names of the dims.
static std::string rename(llvm::StringRef text,
                          ArrayRef<std::string> dimNames) {
  std::string result;
  while (!text.empty()) {
    llvm::StringRef word = text.take_while(llvm::isAlnum);
    unsigned dim;
    llvm::StringRef number = word;
    if (number.consume_front("d") && !number.getAsInteger(10, dim) &&
        dim < dimNames.size())
      result += dimNames[dim];
    else
      result += word;
    text = text.drop_front(word.size());
    llvm::StringRef rest = text.take_until(llvm::isAlnum);
    result += rest;
    text = text.drop_front(rest.size());
  }
  return result;
}

/// Returns the digits of a stored axis as the canonical text of a map prints
/// them, with `dimNames`, the names of the dims and then of the replicas.
static std::string getText(const StoredAxis &axis,
                           ArrayRef<std::string> dimNames) {
  std::string text = LayoutMap::get(dimNames.size(), "buffer",
                                    {{"offset", axis.value, axis.extent}})
                         .str();
  llvm::StringRef inner = llvm::StringRef(text).split("buffer(").second;
  inner.consume_back(")");
  inner.consume_front("offset = ");
  return rename(inner.split(" extent ").first, dimNames);
}

namespace {
/// A digit with a constant stride.
struct PlacedDigit {
  Digit digit;
  int64_t stride;
};
} // namespace

/// Returns the digits of a coordinate that have constant strides other than 0,
/// by ascending magnitude of the stride.
static llvm::SmallVector<PlacedDigit> getPlacedDigits(const IndexExpr &value) {
  llvm::SmallVector<PlacedDigit> digits;
  for (const DigitTerm &term : value.terms)
    if (std::optional<int64_t> stride = term.stride.getConstant();
        stride && *stride != 0)
      digits.push_back({term.digit, *stride});
  llvm::stable_sort(digits, [](const PlacedDigit &a, const PlacedDigit &b) {
    return std::abs(a.stride) < std::abs(b.stride);
  });
  return digits;
}

/// Returns the axes of the picture for a coordinate that the map splits into
/// stored axes: one for each stored axis, slowest first.
static Axes getStoredAxes(const LayoutMap &map, unsigned coordinate,
                          Sizes sizes, ArrayRef<std::string> dimNames) {
  Axes axes;
  int64_t stride = 1;
  for (const StoredAxis &axis : llvm::reverse(map.getStoredAxes(coordinate))) {
    int64_t extent = *axis.extent.evaluate(sizes);
    axes.push_back({coordinate, stride, extent, getText(axis, dimNames), 0});
    stride *= extent;
  }
  std::reverse(axes.begin(), axes.end());
  return axes;
}

/// Returns a number of positions whose divisors are good lengths of rows: with
/// such a length, equal digits are above each other. It is the greatest common
/// divisor of the strides of `digits`, without the first and shortest one and
/// those not below the extent of `innermost`. Unless `isNatural` (no padding),
/// it also divides this extent. Returns 0 if there is no such number.
static int64_t findGrain(ArrayRef<PlacedDigit> digits, const Axis &innermost,
                         bool isNatural) {
  int64_t grain = isNatural ? 0 : innermost.extent;
  for (const PlacedDigit &digit : digits.drop_front())
    if (std::abs(digit.stride) < innermost.extent)
      grain = std::gcd(grain, digit.stride);
  return grain;
}

/// Returns the axes of the picture for any coordinate on one shape, slowest
/// first, found from the strides of its digits. Each axis but the slowest ends
/// before a digit whose stride divides the extent and all longer strides.
static Axes findAxes(const LayoutMap &special, unsigned coordinate,
                     const Contents &contents, ArrayRef<std::string> dimNames) {
  const IndexExpr &value = special.getCoordinates()[coordinate].value;
  int64_t extent = contents.extents[coordinate];
  llvm::SmallVector<PlacedDigit> digits = getPlacedDigits(value);
  if (digits.empty())
    return {{coordinate, 1, extent, "", 0}};
  Axes axes;
  int64_t base = 1;
  IndexExpr part;
  for (auto [i, digit] : llvm::enumerate(digits)) {
    part.terms.push_back({digit.digit, SizeExpr(digit.stride / base)});
    ArrayRef<PlacedDigit> longer =
        ArrayRef<PlacedDigit>(digits).drop_front(i + 1);
    int64_t next = longer.empty() ? extent : std::abs(longer.front().stride);
    bool ends = next > base && extent % next == 0 &&
                llvm::all_of(longer, [&](const PlacedDigit &other) {
                  return other.stride % next == 0;
                });
    if (!ends && !longer.empty())
      continue;
    StoredAxis axis{add(part, IndexExpr()), SizeExpr(next / base)};
    axes.push_back({coordinate, base, next / base, getText(axis, dimNames), 0});
    base = next;
    part = IndexExpr();
  }
  // The extent is natural if it ends after the highest value, without padding.
  std::optional<Interval> range =
      getRange(value, special.getBox(contents.sizes));
  bool isNatural = axes.size() == 1 && range && range->max + 1 == extent;
  axes.front().grain = findGrain(digits, axes.front(), isNatural);
  std::reverse(axes.begin(), axes.end());
  return axes;
}

static llvm::SmallVector<Direction>
getStorageDirections(const LayoutMap &map, const Contents &contents,
                     ArrayRef<std::string> dimNames) {
  LayoutMap special = map.specialize(contents.sizes);
  llvm::SmallVector<Direction> directions;
  for (auto [c, coordinate] : llvm::enumerate(map.getCoordinates())) {
    Axes axes = map.getStoredAxes(c).size() > 1
                    ? getStoredAxes(map, c, contents.sizes, dimNames)
                    : findAxes(special, c, contents, dimNames);
    llvm::erase_if(axes, [](const Axis &axis) { return axis.extent == 1; });
    directions.push_back(
        {coordinate.name, contents.extents[c], std::move(axes)});
  }
  return directions;
}

/// Returns the largest divisor of `n` that is at most `most`.
static int64_t findDivisor(int64_t n, int64_t most) {
  int64_t divisor = std::min(n, most);
  while (n % divisor != 0)
    --divisor;
  return divisor;
}

/// Returns the number of positions of `axis` to draw in a row with space for
/// `room`: the largest divisor <= `room` of Axis::grain, which puts equal
/// digits above each other, if it is at least kFew. Otherwise, it is the
/// largest divisor <= `room` of the extent, or `room` if this divisor is less
/// than half of it.
static int64_t chooseCut(const Axis &axis, int64_t room) {
  if (axis.grain) {
    int64_t divisor = findDivisor(axis.grain, room);
    if (divisor >= kFew)
      return divisor;
  }
  int64_t divisor = findDivisor(axis.extent, room);
  return 2 * divisor >= room ? divisor : room;
}

/// Cuts an axis every `width` positions. Returns the outer part, the number of
/// the piece, and the inner part, the position in a piece.
static std::pair<Axis, Axis> cut(const Axis &axis, int64_t width) {
  Axis outer = axis, inner = axis;
  inner.extent = width;
  inner.text.clear();
  outer.stride *= width;
  outer.extent = (axis.extent + width - 1) / width;
  return {outer, inner};
}

/// Removes the fastest axes from the end of `axes` and returns them as the axes
/// of the columns, which have at most `maxColumns` positions. An axis that does
/// not fit is cut, and its outer part stays, unless other axes leave space for
/// fewer than 4 positions (kFew). Unless `fill`, stops as soon as the columns
/// have at least 4 positions.
static Axes takeColumns(Axes &axes, int64_t maxColumns, bool fill) {
  Axes columns;
  while (!axes.empty()) {
    int64_t taken = count(columns);
    int64_t room = maxColumns / taken;
    if ((taken >= kFew && !fill) || room < 2)
      break;
    if (axes.back().extent <= room) {
      columns.insert(columns.begin(), axes.pop_back_val());
      continue;
    }
    if (taken > 1 && room < kFew)
      break;
    auto [outer, inner] = cut(axes.back(), chooseCut(axes.back(), room));
    axes.back() = outer;
    columns.insert(columns.begin(), inner);
    break;
  }
  return columns;
}

/// Removes the fastest axes from the end of `axes` and returns them as the axes
/// of the rows: at least one axis. Stops as soon as there are at least 4
/// positions (kFew), or if one more axis would make them more than 16
/// (kManyRows).
static Axes takeRows(Axes &axes) {
  Axes rows;
  while (!axes.empty()) {
    int64_t taken = count(rows);
    if (taken >= kFew || (taken > 1 && taken * axes.back().extent > kManyRows))
      break;
    rows.insert(rows.begin(), axes.pop_back_val());
  }
  return rows;
}

/// Returns the axes of a coordinate that is linear memory: those of `direction`
/// or, if `columns` is not 0, two: lines of `columns` positions, and positions
/// in a line.
static Axes getLinearAxes(const Direction &direction, unsigned coordinate,
                          int64_t columns) {
  if (!columns)
    return direction.axes;
  columns = std::min(columns, direction.extent);
  Axis whole{coordinate, 1, direction.extent, "", 0};
  auto [outer, inner] = cut(whole, columns);
  return {outer, inner};
}

/// Arranges several coordinates of which the last one is linear memory, e.g.
/// that of a core: one panel per core. If the memory of a core fits one row, a
/// core is no panel. It is a column if this memory has at most 8 positions (2 *
/// kFew) and there are at most `maxColumns` cores, and else a row.
static void arrangeCores(PanelGrid &result, int64_t maxColumns,
                         int64_t columns) {
  unsigned last = result.directions.size() - 1;
  Axes offsets = getLinearAxes(result.directions[last], last, columns);
  for (const Direction &direction : llvm::drop_end(result.directions))
    llvm::append_range(result.panels, direction.axes);
  result.columns = takeColumns(offsets, columns ? columns : maxColumns, true);
  result.rows = std::move(offsets);
  if (count(result.rows) > 1 || last == 0)
    return;
  const Axes &cores = result.directions[last - 1].axes;
  result.panels.pop_back_n(cores.size());
  if (count(result.columns) <= 2 * kFew && count(cores) <= maxColumns) {
    result.rows = std::exchange(result.columns, cores);
    result.separateColumns = true;
  } else {
    result.rows = cores;
  }
}

PanelGrid picture::arrangeStorage(const LayoutMap &map,
                                  const Contents &contents,
                                  ArrayRef<std::string> dimNames,
                                  int64_t maxColumns, int64_t columns) {
  PanelGrid result;
  result.directions = getStorageDirections(map, contents, dimNames);
  if (result.directions.empty())
    return result;
  if (map.getSpace() == "image2d" && result.directions.size() == 3) {
    result.columns = result.directions[0].axes;
    result.rows = result.directions[1].axes;
    // Draw lanes below each other, or side by side in a tall, narrow image.
    const Axes &lanes = result.directions[2].axes;
    int64_t numLanes = count(lanes);
    bool isHigh = count(result.rows) * numLanes > 2 * kManyRows &&
                  count(result.columns) * numLanes <= maxColumns;
    llvm::append_range(isHigh ? result.columns : result.rows, lanes);
    result.separateColumns = !isHigh;
  } else if (result.directions.size() > 1) {
    arrangeCores(result, maxColumns, columns);
  } else {
    Axes axes = getLinearAxes(result.directions[0], 0, columns);
    result.columns = takeColumns(axes, columns ? columns : maxColumns, false);
    result.rows = columns ? std::exchange(axes, {}) : takeRows(axes);
    result.panels = std::move(axes);
  }
  return result;
}

PanelGrid picture::arrangeLogical(Sizes sizes, ArrayRef<std::string> dimNames,
                                  int64_t maxColumns, int64_t columns) {
  PanelGrid result;
  Axes axes;
  for (auto [d, size] : llvm::enumerate(sizes)) {
    Axis axis{unsigned(d), 1, size, dimNames[d], 0};
    result.directions.push_back({dimNames[d], size, {axis}});
    if (size > 1)
      axes.push_back(axis);
  }
  if (axes.empty())
    return result;
  int64_t width = columns ? columns : maxColumns;
  if (axes.back().extent > width) {
    auto [outer, inner] =
        cut(axes.back(), columns ? columns : chooseCut(axes.back(), width));
    axes.back() = outer;
    result.rows.push_back(outer);
    result.columns.push_back(inner);
  } else {
    result.columns.push_back(axes.back());
  }
  axes.pop_back();
  if (!axes.empty())
    result.rows.insert(result.rows.begin(), axes.pop_back_val());
  result.panels = std::move(axes);
  return result;
}
