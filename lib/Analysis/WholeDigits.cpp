//===- WholeDigits.cpp - What a copy of whole digits moves ----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WholeDigits.h"
#include "layout/Algebra/Box.h"
#include "layout/Analysis/DigitCopy.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir::layout;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::SmallVectorImpl;

/// What is larger is not worth the care that products of it would take.
static constexpr int64_t kMaxTile = int64_t(1) << 24;

namespace {
/// Indices lo * i + .., i < end / lo, of one dim.
struct Piece {
  unsigned dim;
  int64_t lo, end;

  bool operator==(const Piece &other) const {
    return dim == other.dim && lo == other.lo && end == other.end;
  }
};

/// The points at which the digits of one dim begin and end.
using Cuts = SmallVector<int64_t, 6>;
} // namespace

/// The digits of a layout, fastest first; false where they are not those of
/// dims, one on top of the other, each full and with nothing between them.
static bool readDigits(const LayoutMap &map, ArrayRef<int64_t> shape,
                       SmallVectorImpl<Piece> &digits) {
  if (map.getSpace() != "buffer" || map.getCoordinates().size() != 1 ||
      !map.getReplicas().empty())
    return false;
  const Coordinate &offset = map.getCoordinates().front();
  if (!offset.value.constant.isZero())
    return false;
  SmallVector<std::pair<int64_t, Piece>, 8> strided;
  for (const DigitTerm &term : offset.value.terms) {
    const Digit &digit = term.digit;
    std::optional<int64_t> stride = term.stride.evaluate(shape);
    if (!digit.isDim() || !stride)
      return false;
    int64_t size = shape[digit.dim], end = size;
    if (digit.modulus && digit.modulus <= size / digit.lo)
      end = digit.lo * digit.modulus;
    // Otherwise some of its values are past the size: padding.
    if (end % digit.lo != 0 || size % end != 0 ||
        (digit.modulus && end / digit.lo != digit.modulus))
      return false;
    strided.push_back({*stride, {digit.dim, digit.lo, end}});
  }
  llvm::sort(strided, [](const auto &a, const auto &b) {
    return std::make_pair(a.first, a.second.end / a.second.lo) <
           std::make_pair(b.first, b.second.end / b.second.lo);
  });
  int64_t size = 1;
  for (const auto &[stride, digit] : strided) {
    if (stride != size || llvm::MulOverflow(size, digit.end / digit.lo, size))
      return false;
    digits.push_back(digit);
  }
  return offset.extent.evaluate(shape) == size;
}

/// `digits` cut at all points of their dims, without those of one position.
static SmallVector<Piece, 8> refine(ArrayRef<Piece> digits,
                                    ArrayRef<Cuts> cuts) {
  SmallVector<Piece, 8> pieces;
  for (const Piece &digit : digits) {
    int64_t lo = digit.lo;
    for (int64_t cut : cuts[digit.dim])
      if (lo < cut && cut <= digit.end) {
        pieces.push_back({digit.dim, lo, cut});
        lo = cut;
      }
  }
  return pieces;
}

/// The elements that are neighbors in both, where all digits are full.
static std::optional<int64_t> findRunOfWholeDigits(const LayoutMap &from,
                                                   const LayoutMap &to,
                                                   ArrayRef<int64_t> shape) {
  SmallVector<Piece, 8> a, b;
  if (!readDigits(from, shape, a) || !readDigits(to, shape, b))
    return std::nullopt;
  SmallVector<Cuts, 6> cuts(shape.size());
  for (const Piece &digit : llvm::concat<Piece>(a, b)) {
    cuts[digit.dim].push_back(digit.lo);
    cuts[digit.dim].push_back(digit.end);
  }
  for (Cuts &points : cuts) {
    llvm::sort(points);
    for (size_t i = 1; i < points.size(); ++i)
      if (points[i] % points[i - 1] != 0)
        return std::nullopt;
  }
  int64_t run = 1;
  for (auto [x, y] : llvm::zip(refine(a, cuts), refine(b, cuts))) {
    if (!(x == y))
      break;
    run *= x.end / x.lo;
  }
  return run;
}

namespace {
/// A copy between layouts whose axes are single digits of dims, some of which
/// reach past the sizes: the numbers that DigitCopy.cpp comes to, as numbers.
class PaddedMove {
public:
  explicit PaddedMove(ArrayRef<int64_t> shape)
      : shape(shape), dims(shape.size()) {}

  std::optional<DigitMove> run(const LayoutMap &from, const LayoutMap &to);

private:
  struct Axis {
    unsigned dim;
    int64_t lo, modulus, extent;
    size_t begin = 0, end = 0; // of the dim's digits
    bool isExact = false;
  };
  struct Dim {
    Cuts cuts = {1};
    Cuts extents; // of the digits between the cuts; the last has no end
    bool isRagged = false;
  };

  bool readAxes(const LayoutMap &map, SmallVectorImpl<Axis> &axes);
  bool cutDims();
  bool placeAxes();
  std::optional<int64_t> countElements() const;
  int64_t findRun() const;

  ArrayRef<int64_t> shape;
  SmallVector<Dim, 6> dims;
  SmallVector<Axis, 8> axes[2];
};
} // namespace

bool PaddedMove::readAxes(const LayoutMap &map, SmallVectorImpl<Axis> &result) {
  if (map.getSpace() != "buffer" || !map.getReplicas().empty())
    return false;
  SmallVector<int64_t, 6> open(shape.size(), 0);
  for (const StoredAxis &axis : map.getStoredAxes()) {
    const Digit *digit = axis.value.getSingleDigit();
    std::optional<int64_t> extent = axis.extent.evaluate(shape);
    if (!digit || !digit->isDim() || !extent ||
        std::max(digit->lo, digit->modulus) > kMaxTile)
      return false;
    result.push_back({digit->dim, digit->lo, digit->modulus, *extent});
    dims[digit->dim].cuts.push_back(digit->lo);
    if (digit->modulus)
      dims[digit->dim].cuts.push_back(digit->lo * digit->modulus);
    // The digits of a dim make it up: where one ends, another begins.
    open[digit->dim] += digit->modulus ? digit->lo * digit->modulus : 0;
    open[digit->dim] -= digit->lo;
  }
  return llvm::all_of(open, [](int64_t left) { return left == -1; });
}

bool PaddedMove::cutDims() {
  for (auto [dim, size] : llvm::zip(dims, shape)) {
    llvm::sort(dim.cuts);
    dim.cuts.erase(llvm::unique(dim.cuts), dim.cuts.end());
    for (size_t i = 1; i < dim.cuts.size(); ++i) {
      if (dim.cuts[i] % dim.cuts[i - 1] != 0)
        return false;
      dim.extents.push_back(dim.cuts[i] / dim.cuts[i - 1]);
    }
    dim.extents.push_back(llvm::divideCeil(size, dim.cuts.back()));
  }
  // Storage of the result may hold more.
  for (const Axis &axis : axes[1])
    if (!axis.modulus) {
      Dim &dim = dims[axis.dim];
      dim.extents.back() = std::max(dim.extents.back(),
                                    axis.extent / (dim.cuts.back() / axis.lo));
    }
  return true;
}

static int64_t multiply(ArrayRef<int64_t> factors) {
  int64_t product = 1;
  for (int64_t factor : factors)
    product *= factor;
  return product;
}

/// False where the digits cannot be told apart on either side.
bool PaddedMove::placeAxes() {
  SmallVector<llvm::SmallBitVector, 6> isAlone;
  for (const Dim &dim : dims)
    isAlone.emplace_back(dim.extents.size());
  for (SmallVector<Axis, 8> &side : axes)
    for (Axis &axis : side) {
      Dim &dim = dims[axis.dim];
      axis.begin = llvm::find(dim.cuts, axis.lo) - dim.cuts.begin();
      axis.end = axis.modulus ? llvm::find(dim.cuts, axis.lo * axis.modulus) -
                                    dim.cuts.begin()
                              : dim.extents.size();
      int64_t required =
          multiply(ArrayRef<int64_t>(dim.extents)
                       .slice(axis.begin, axis.end - axis.begin));
      axis.isExact = required == axis.extent;
      dim.isRagged |=
          required > axis.extent && multiply(dim.extents) != shape[axis.dim];
      if (axis.isExact || axis.end - axis.begin == 1)
        isAlone[axis.dim].set(axis.begin, axis.end);
    }
  return llvm::all_of(isAlone, [](const auto &bits) { return bits.all(); });
}

/// Of the boxes; nothing where there are more than a copy is made of.
std::optional<int64_t> PaddedMove::countElements() const {
  int64_t elements = 1;
  size_t numBoxes = 1;
  for (auto [dim, size] : llvm::zip(dims, shape)) {
    if (llvm::MulOverflow(elements, dim.isRagged ? size : multiply(dim.extents),
                          elements))
      return std::nullopt;
    if (!dim.isRagged)
      continue;
    // A box for each level at which something is left.
    size_t numParts = 0;
    int64_t left = size;
    for (int64_t cut : llvm::reverse(dim.cuts)) {
      numParts += left / cut != 0;
      left %= cut;
    }
    numBoxes *= numParts;
    if (numBoxes > kMaxCopyBoxes)
      return std::nullopt;
  }
  return elements;
}

int64_t PaddedMove::findRun() const {
  using Step = std::pair<unsigned, size_t>; // a dim and a digit of it
  auto walk = [&](ArrayRef<Axis> side) {
    SmallVector<Step, 8> steps;
    for (const Axis &axis : llvm::reverse(side)) {
      for (size_t i = axis.begin; i < axis.end; ++i)
        if (dims[axis.dim].extents[i] != 1)
          steps.push_back({axis.dim, i});
      if (!axis.isExact)
        break;
    }
    return steps;
  };
  int64_t run = 1;
  for (auto [x, y] : llvm::zip(walk(axes[0]), walk(axes[1]))) {
    if (x != y)
      break;
    run *= dims[x.first].extents[x.second];
  }
  return run;
}

std::optional<DigitMove> PaddedMove::run(const LayoutMap &from,
                                         const LayoutMap &to) {
  if (!readAxes(from, axes[0]) || !readAxes(to, axes[1]) || !cutDims() ||
      !placeAxes())
    return std::nullopt;
  std::optional<int64_t> elements = countElements();
  if (!elements)
    return std::nullopt;
  return DigitMove{*elements, findRun()};
}

std::optional<DigitMove>
mlir::layout::findMoveOfDigits(const LayoutMap &from, const LayoutMap &to,
                               ArrayRef<int64_t> shape) {
  if (llvm::any_of(shape, [](int64_t size) { return size < 1; }))
    return std::nullopt;
  std::optional<int64_t> elements = countIndices(shape);
  if (!elements)
    return std::nullopt;
  if (std::optional<int64_t> run = findRunOfWholeDigits(from, to, shape))
    return DigitMove{*elements, *run};
  return PaddedMove(shape).run(from, to);
}
