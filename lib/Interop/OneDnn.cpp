//===- OneDnn.cpp - oneDNN tags and descriptors ---------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Interop/OneDnn.h"
#include "Scanner.h"
#include "layout/Algebra/DigitDecomposition.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir::layout;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::SmallVectorImpl;
using llvm::StringRef;
using llvm::Twine;

//===----------------------------------------------------------------------===//
// Tags
//===----------------------------------------------------------------------===//

/// The letters of the dims in logical order: a, b, .., or one of the names of
/// oneDNN.
static constexpr llvm::StringLiteral kGenericNames = "abcdefghijkl";
static_assert(kGenericNames.size() == OneDnnLayout::kMaxTagRank);
static constexpr llvm::StringLiteral kFormatNames[] = {
    "x",    "nc",    "ncw",   "nchw", "ncdhw", "oi",     "oiw",
    "oihw", "oidhw", "goi",   "goiw", "goihw", "goidhw", "tn",
    "tnc",  "ldnc",  "ldigo", "ldio", "ldgo"};

/// Pairs of a tag whose letters contradict its meaning in oneDNN, and the tag
/// that has this meaning by its letters.
static constexpr std::pair<llvm::StringLiteral, llvm::StringLiteral>
    kMisnamed[] = {{"gIOhw2i8o16i2o", "aBCde2c8b16c2b"},
                   {"gIOdhw2i8o16i2o", "aBCdef2c8b16c2b"}};

namespace {
/// A dim, such as `B` (factor 0), or a block of a dim, such as `16b`, in a tag.
struct TagPart {
  char letter; // lower case
  bool isUpper;
  int64_t factor;
  size_t column;
};
} // namespace

static bool readTag(Scanner &scanner, SmallVectorImpl<TagPart> &parts) {
  bool inBlocks = false;
  while (!scanner.atEnd()) {
    TagPart part{0, false, 0, scanner.column()};
    if (llvm::isDigit(scanner.peek())) {
      inBlocks = true;
      if (!scanner.integer(part.factor, "a block"))
        return false;
      if (part.factor == 0)
        return scanner.fail(part.column, "a block must be at least 1, found 0");
      if (!llvm::isLower(scanner.peek()))
        return scanner.fail(scanner.column(),
                            "expected the lower-case letter of a dim after the "
                            "block " +
                                Twine(part.factor));
    } else if (inBlocks) {
      return scanner.fail(part.column, "expected a number: after the first "
                                       "block there are only blocks, as in 4b");
    } else if (!llvm::isAlpha(scanner.peek())) {
      return scanner.fail(part.column,
                          "unexpected " +
                              quoteCharacter(scanner.getText(), part.column) +
                              ": a tag has letters of dims and blocks, as in "
                              "aBcd16b");
    }
    part.isUpper = llvm::isUpper(scanner.peek());
    part.letter = llvm::toLower(scanner.take());
    parts.push_back(part);
  }
  return !parts.empty() ||
         scanner.fail(
             0,
             "the tag is empty: it needs a letter for each dim, as in aBcd16b");
}

/// Returns the letters that name the dims of a tag, in logical order, e.g. nchw
/// for nhwc, or "" if they are neither a, b, .. nor a name of oneDNN.
static StringRef findNames(ArrayRef<TagPart> dims) {
  auto isNamedBy = [&](StringRef names) {
    return names.size() == dims.size() &&
           llvm::all_of(dims, [&](const TagPart &dim) {
             return names.contains(dim.letter);
           });
  };
  if (StringRef generic = StringRef(kGenericNames).take_front(dims.size());
      isNamedBy(generic))
    return generic;
  for (StringRef names : kFormatNames)
    if (isNamedBy(names))
      return names;
  return {};
}

static bool parseTag(Scanner &scanner, OneDnnLayout &layout) {
  SmallVector<TagPart> parts;
  if (!readTag(scanner, parts))
    return false;
  auto firstBlock = llvm::find_if(
      parts, [](const TagPart &part) { return part.factor != 0; });
  ArrayRef<TagPart> dims(parts.begin(), firstBlock);
  ArrayRef<TagPart> blocks(firstBlock, parts.end());
  for (auto [i, dim] : llvm::enumerate(dims)) {
    auto ofDim = [letter = dim.letter](const TagPart &part) {
      return part.letter == letter;
    };
    if (llvm::any_of(dims.take_front(i), ofDim))
      return scanner.fail(dim.column, "dim '" + Twine(dim.letter) +
                                          "' is repeated: its further parts "
                                          "are blocks, as in 16" +
                                          Twine(dim.letter));
    bool isBlocked = llvm::any_of(blocks, ofDim);
    if (dim.isUpper && !isBlocked)
      return scanner.fail(dim.column, "dim '" + Twine(dim.letter) +
                                          "' in upper case without a block: "
                                          "write '" +
                                          Twine(dim.letter) + "'");
    if (!dim.isUpper && isBlocked)
      return scanner.fail(dim.column,
                          "dim '" + Twine(dim.letter) +
                              "' in lower case has blocks: write '" +
                              Twine(llvm::toUpper(dim.letter)) + "'");
  }
  for (const auto &[name, tag] : kMisnamed)
    if (name == scanner.getText())
      return scanner.fail(0, "oneDNN reads " + name + " as " + tag +
                                 ", against its letters: write the tag");
  StringRef names = findNames(dims);
  if (names.empty())
    return scanner.fail(0, "the letters of the dims are neither a, b, .. up "
                           "to their number (12 at most) nor names of oneDNN "
                           "such as nchw, oihw, goihw or ldigo");
  layout.rank = names.size();
  for (const TagPart &dim : dims)
    layout.order.push_back(names.find(dim.letter));
  for (const TagPart &block : blocks) {
    size_t dim = names.find(block.letter);
    if (dim == StringRef::npos)
      return scanner.fail(block.column,
                          "block " + Twine(block.factor) + Twine(block.letter) +
                              " of a dim '" + Twine(block.letter) +
                              "' that the tag lacks");
    layout.blocks.push_back({unsigned(dim), block.factor});
    if (!layout.getBlockSizes())
      return scanner.fail(block.column, "the blocks of '" +
                                            Twine(block.letter) +
                                            "' do not fit 64 bits");
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Descriptors
//===----------------------------------------------------------------------===//

namespace {
/// A list `name=[1,2]`, with the columns of its numbers.
struct NumberList {
  StringRef name;
  SmallVector<int64_t> values;
  SmallVector<size_t> columns;
  size_t end = 0; // the column of the closing bracket
};
} // namespace

static bool parseNumbers(Scanner &scanner, NumberList &list) {
  if (!scanner.expect(list.name, "of the descriptor") ||
      !scanner.expect("=", "after " + list.name) ||
      !scanner.expect("[", "before the numbers of " + list.name) ||
      !scanner.list("]", [&] {
        list.columns.push_back(scanner.column());
        return scanner.integer(list.values.emplace_back(),
                               "a number of " + list.name) &&
               (list.values.back() >= 0 ||
                scanner.fail(list.columns.back(),
                             Twine(list.values.back()) + " in " + list.name +
                                 ": it must not be negative"));
      }))
    return false;
  list.end = scanner.end() - 1;
  return true;
}

static bool parseDescriptor(Scanner &scanner, OneDnnLayout &layout) {
  NumberList strides{"strides"}, sizes{"blks"}, dims{"idxs"}, padded{"padded"};
  for (NumberList *list : {&strides, &sizes, &dims, &padded})
    if (!parseNumbers(scanner, *list))
      return false;
  layout.rank = strides.values.size();
  if (layout.rank == 0)
    return scanner.fail(strides.end, "no strides: a descriptor needs a dim");
  if (padded.values.size() != layout.rank)
    return scanner.fail(
        padded.end, Twine(padded.values.size()) + " padded dims and " +
                        Twine(layout.rank) + " strides: each dim needs both");
  if (dims.values.size() != sizes.values.size())
    return scanner.fail(dims.end, Twine(dims.values.size()) + " idxs and " +
                                      Twine(sizes.values.size()) +
                                      " blks: each block needs its dim");
  for (auto [size, dim, sizeColumn, dimColumn] :
       llvm::zip(sizes.values, dims.values, sizes.columns, dims.columns)) {
    if (size == 0)
      return scanner.fail(sizeColumn, "a block must be at least 1, found 0");
    if (dim >= layout.rank)
      return scanner.fail(dimColumn, "dim " + Twine(dim) +
                                         " of a descriptor with " +
                                         Twine(layout.rank) + " dims");
    layout.blocks.push_back({unsigned(dim), size});
    if (!layout.getBlockSizes())
      return scanner.fail(sizeColumn, "the blocks of dim " + Twine(dim) +
                                          " do not fit 64 bits");
  }
  SmallVector<int64_t> blockSizes = *layout.getBlockSizes();
  for (auto [size, block, column] :
       llvm::zip(padded.values, blockSizes, padded.columns))
    if (size % block != 0)
      return scanner.fail(column,
                          "padded size " + Twine(size) +
                              " is not a multiple of the blocks of the dim, " +
                              Twine(block));
  layout.numbers = OneDnnLayout::Numbers{strides.values, padded.values};
  if (std::optional<int64_t> size = layout.computeSize())
    layout.numbers->size = *size;
  else
    return scanner.fail(strides.end, "the storage of these strides and padded "
                                     "dims does not fit 64 bits");
  if (!scanner.consume("size"))
    return true;
  if (!scanner.expect("=", "after size"))
    return false;
  size_t column = scanner.column();
  return scanner.integer(layout.numbers->size, "a number of elements") &&
         (layout.numbers->size >= 0 ||
          scanner.fail(column, "the size is negative"));
}

std::optional<OneDnnLayout> mlir::layout::parseOneDnn(StringRef text,
                                                      TextError error) {
  Scanner scanner(text, error);
  OneDnnLayout layout;
  bool isDescriptor = text.contains('=');
  if (!(isDescriptor ? parseDescriptor(scanner, layout)
                     : parseTag(scanner, layout)) ||
      !scanner.expectEnd())
    return std::nullopt;
  return layout;
}

//===----------------------------------------------------------------------===//
// Maps and texts
//===----------------------------------------------------------------------===//

std::optional<SmallVector<int64_t>> OneDnnLayout::getBlockSizes() const {
  SmallVector<int64_t> sizes(rank, 1);
  for (const Block &block : blocks)
    if (llvm::MulOverflow(sizes[block.dim], block.size, sizes[block.dim]))
      return std::nullopt;
  return sizes;
}

std::optional<int64_t> OneDnnLayout::computeSize() const {
  // The storage has at least the elements of all blocks together, and those
  // that one dim spans above its blocks. A dim with one position there spans
  // nothing, regardless of its stride.
  SizeExpr inner(1);
  for (const Block &block : blocks)
    inner = inner * SizeExpr(block.size);
  std::optional<int64_t> most = inner.getConstant();
  SmallVector<int64_t> blockSizes = *getBlockSizes();
  for (unsigned d = 0; d < rank && most; ++d) {
    int64_t count = numbers->padded[d] / blockSizes[d], span = 1;
    if (count == 0)
      return 0;
    if (count > 1 && llvm::MulOverflow(count, numbers->strides[d], span))
      return std::nullopt;
    most = std::max(*most, span);
  }
  return most;
}

std::optional<LayoutMap> OneDnnLayout::getMap(Sizes shape,
                                              FailureReason error) const {
  if (!checkRank(rank, shape, error))
    return std::nullopt;
  auto fail = [&](unsigned d, const Twine &message) {
    error("dim " + Twine(d) + " is " +
          (shape[d] < 0 ? "of dynamic size" : "of size " + Twine(shape[d])) +
          message);
    return std::nullopt;
  };
  SmallVector<int64_t> blockSizes = *getBlockSizes();
  for (unsigned d = 0; numbers && d < rank; ++d) {
    if (shape[d] < 0)
      return fail(d,
                  ": a descriptor has constants for one shape (L1): use a tag");
    int64_t least = llvm::divideCeil(shape[d], blockSizes[d]) * blockSizes[d];
    if (numbers->padded[d] < least)
      return fail(d, ", its padded size " + Twine(numbers->padded[d]) +
                         " is less (L1): it must be at least " + Twine(least));
  }

  // A block is a digit of its dim, slower than all later blocks of the dim.
  SmallVector<int64_t> below(rank, 1);
  SmallVector<BoundedIndex> inner;
  for (const Block &block : llvm::reverse(blocks)) {
    inner.push_back(mod(
        floorDiv(BoundedIndex::dim(block.dim), below[block.dim]), block.size));
    below[block.dim] *= block.size;
  }
  std::reverse(inner.begin(), inner.end());

  BoundedIndex offset;
  if (numbers) {
    SmallVector<std::pair<BoundedIndex, SizeExpr>> placed;
    for (unsigned d = 0; d < rank; ++d)
      placed.push_back({floorDiv(BoundedIndex::dim(d), below[d]),
                        SizeExpr(numbers->strides[d])});
    placed.push_back({group(inner), SizeExpr(1)});
    offset = place(placed);
    offset.extent = SizeExpr(numbers->size);
  } else {
    SmallVector<BoundedIndex> dims;
    for (unsigned d : order)
      dims.push_back(floorDiv(BoundedIndex::dim(d), below[d]));
    dims.append(inner);
    offset = group(dims);
  }
  return LayoutMap::get(rank, "buffer",
                        {{"offset", offset.value, offset.extent}});
}

SmallVector<int64_t> OneDnnLayout::getStatedShape() const {
  return SmallVector<int64_t>(rank, kUnknownSize);
}

std::string OneDnnLayout::str() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (!numbers) {
    SmallVector<int64_t> blockSizes = *getBlockSizes();
    for (unsigned d : order) {
      bool isBlocked = llvm::any_of(
          blocks, [&](const Block &block) { return block.dim == d; });
      char letter = kGenericNames[d];
      os << (isBlocked ? llvm::toUpper(letter) : letter);
    }
    for (const Block &block : blocks)
      os << block.size << kGenericNames[block.dim];
    return text;
  }
  os << "strides=[";
  llvm::interleave(numbers->strides, os, ",");
  os << "] blks=[";
  llvm::interleave(
      blocks, os, [&](const Block &block) { os << block.size; }, ",");
  os << "] idxs=[";
  llvm::interleave(
      blocks, os, [&](const Block &block) { os << block.dim; }, ",");
  os << "] padded=[";
  llvm::interleave(numbers->padded, os, ",");
  os << ']';
  if (numbers->size != computeSize())
    os << " size=" << numbers->size;
  return text;
}
