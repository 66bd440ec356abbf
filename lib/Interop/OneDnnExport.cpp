//===- OneDnnExport.cpp - Export maps as oneDNN layouts -------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The digits, slowest first, begin with outermost digits of different dims.
// From the first other digit on, all must be dense blocks. If the outer digits
// are dense, too, and only blocks cause padding, a tag describes the map.
//
//===----------------------------------------------------------------------===//

#include "layout/Algebra/DigitDecomposition.h"
#include "layout/Interop/OneDnn.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir::layout;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::Twine;

namespace {

class OneDnnExporter {
public:
  OneDnnExporter(unsigned rank, Sizes sizes, ArrayRef<PlacedDigit> digits,
                 SizeExpr extent)
      : rank(rank), sizes(sizes), digits(digits), extent(std::move(extent)) {}

  /// Returns a layout with the digits from `firstBlock` on as blocks. Unused
  /// positions between two digits become a block of a dim of size 1, if there
  /// is one. Fails if there are other unused positions, if a size is not
  /// constant, or if the blocks of a dim are not ordered from major to minor.
  std::optional<OneDnnLayout> getBlocks(size_t firstBlock, FailureReason error);

  /// Adds the digits before `firstBlock` to `layout` as the dims of a tag.
  /// Returns false if there are unused positions between them or after them, or
  /// if the rank is 0 or above 12.
  bool addOrder(OneDnnLayout &layout, size_t firstBlock);
  /// Adds the digits before `firstBlock` to `layout` as strides and padded dims
  /// of a descriptor. Returns false if a size or stride is not constant, or if
  /// the storage does not fit int64.
  bool addNumbers(OneDnnLayout &layout, size_t firstBlock);

private:
  SmallVector<unsigned> getOrder(size_t firstBlock) const;
  const PlacedDigit *getOuter(unsigned dim, size_t firstBlock) const;

  unsigned rank;
  Sizes sizes;
  ArrayRef<PlacedDigit> digits; // slowest first
  SizeExpr extent;              // of the storage
};

} // namespace

std::optional<OneDnnLayout> OneDnnExporter::getBlocks(size_t firstBlock,
                                                      FailureReason error) {
  OneDnnLayout layout;
  layout.rank = rank;
  SizeExpr stride(1);
  SmallVector<int64_t> lo(rank, 1); // of the next block of each dim
  for (size_t i = digits.size(); i-- > firstBlock;) {
    const PlacedDigit &placed = digits[i];
    const Digit &digit = placed.digit;
    auto fail = [&](const Twine &message) {
      error("digit " + describe(digit, rank) + message);
      return std::nullopt;
    };
    // If each value of a digit is followed by unused positions, write them as a
    // block of a dim of size 1.
    if (auto holes = placed.stride.exactQuotient(stride);
        holes && holes->isConstant() && llvm::is_contained(sizes, 1) &&
        placed.stride != stride) {
      unsigned unit = llvm::find(sizes, 1) - sizes.begin();
      layout.blocks.push_back({unit, *holes->getConstant()});
      stride = placed.stride;
    }
    if (placed.stride != stride)
      return fail(" leaves holes above or below it: blocks must be dense and "
                  "follow the dims");
    if (digit.divisor != lo[digit.dim])
      return fail(" is below a less significant part of the same dim: blocks "
                  "of one dim are ordered from major to minor");
    std::optional<int64_t> size = digit.modulus;
    if (!digit.modulus) {
      size = placed.room ? placed.room->getConstant() : std::nullopt;
      if (!size || !SizeExpr(*size).isProvablyAtLeast(getExtent(digit, sizes)))
        return fail(" is among the blocks, which must have constant sizes");
    }
    layout.blocks.push_back({digit.dim, *size});
    if (llvm::MulOverflow(lo[digit.dim], *size, lo[digit.dim]))
      return fail(" ends past 64 bits");
    stride = stride * SizeExpr(*size);
  }
  std::reverse(layout.blocks.begin(), layout.blocks.end());
  return layout;
}

/// Returns the dims by the strides of the digits 0 to firstBlock - 1, slowest
/// first. A dim without such a digit precedes the first dim with a higher
/// number.
SmallVector<unsigned> OneDnnExporter::getOrder(size_t firstBlock) const {
  SmallVector<unsigned> order;
  for (const PlacedDigit &outer : digits.take_front(firstBlock))
    order.push_back(outer.digit.dim);
  for (unsigned d = 0; d < rank; ++d)
    if (!llvm::is_contained(order, d))
      order.insert(llvm::find_if(order, [&](unsigned o) { return o > d; }), d);
  return order;
}

const PlacedDigit *OneDnnExporter::getOuter(unsigned dim,
                                            size_t firstBlock) const {
  for (const PlacedDigit &outer : digits.take_front(firstBlock))
    if (outer.digit.dim == dim)
      return &outer;
  return nullptr;
}

static SizeExpr getBlockVolume(const OneDnnLayout &layout) {
  SizeExpr volume(1);
  for (const OneDnnLayout::Block &block : layout.blocks)
    volume = volume * SizeExpr(block.size);
  return volume;
}

bool OneDnnExporter::addOrder(OneDnnLayout &layout, size_t firstBlock) {
  SizeExpr stride = getBlockVolume(layout);
  for (const PlacedDigit &outer :
       llvm::reverse(digits.take_front(firstBlock))) {
    if (outer.stride != stride)
      return false;
    stride = stride * getExtent(outer.digit, sizes);
  }
  layout.order = getOrder(firstBlock);
  return stride == extent && rank > 0 && rank <= OneDnnLayout::kMaxTagRank;
}

bool OneDnnExporter::addNumbers(OneDnnLayout &layout, size_t firstBlock) {
  OneDnnLayout::Numbers numbers;
  numbers.strides.resize(rank);
  numbers.padded = *layout.getBlockSizes();
  SizeExpr next = getBlockVolume(layout); // the stride of a dim of size 1
  SmallVector<unsigned> order = getOrder(firstBlock);
  for (unsigned d : llvm::reverse(order)) {
    const PlacedDigit *outer = getOuter(d, firstBlock);
    SizeExpr stride = outer ? outer->stride : next;
    SizeExpr count(1);
    if (outer)
      count = getExtent(outer->digit, sizes);
    SizeExpr padded = count * SizeExpr(numbers.padded[d]);
    next = stride * count;
    if (!stride.isConstant() || !padded.isConstant())
      return false;
    numbers.strides[d] = *stride.getConstant();
    numbers.padded[d] = *padded.getConstant();
  }
  numbers.size = *extent.getConstant();
  layout.numbers = std::move(numbers);
  return layout.computeSize().has_value();
}

static std::optional<std::string> exportFor(const LayoutMap &map, Sizes sizes,
                                            FailureReason error) {
  unsigned rank = map.getRank();
  LayoutMap special = map.specialize(sizes);
  auto fail = [&](const Twine &message) {
    error(message);
    return std::nullopt;
  };
  bool isStatic = llvm::all_of(sizes, [](int64_t size) { return size >= 0; });
  std::optional<std::vector<PlacedDigit>> digits =
      getDigits(special, sizes, error);
  if (!digits)
    return std::nullopt;
  for (const PlacedDigit &placed : *digits)
    if (!placed.digit.isDim())
      return fail("digit " + describe(placed.digit, rank) +
                  " is part of a sum: the notation has parts of single dims");
  splitAlignedDigits(*digits, sizes);
  if (!getSources(*digits, rank, sizes, error))
    return std::nullopt;
  if (rank == 0)
    return fail("oneDNN has no tensors of rank 0");

  OneDnnExporter exporter(rank, sizes, *digits,
                          special.getCoordinates().front().extent);
  size_t first = llvm::find_if(*digits,
                               [](const PlacedDigit &placed) {
                                 return placed.digit.modulus != 0;
                               }) -
                 digits->begin();
  std::optional<OneDnnLayout> layout = exporter.getBlocks(first, error);
  if (!layout)
    return std::nullopt;

  if (exporter.addOrder(*layout, first))
    return layout->str();
  if (isStatic && exporter.addNumbers(*layout, first))
    return layout->str();
  return fail(isStatic ? "a padded dim does not fit 64 bits"
                       : "dims of dynamic size need a tag, and a tag has no "
                         "padding except that of blocks");
}

std::optional<std::string> mlir::layout::exportOneDnn(const LayoutMap &map,
                                                      Sizes sizes,
                                                      FailureReason error) {
  // Prefer a text that is valid for every size to one for these sizes.
  if (std::optional<std::string> text =
          exportFor(map, unknownSizes(map), nullptr))
    return text;
  return exportFor(map, sizes, error);
}
