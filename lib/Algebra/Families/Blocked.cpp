//===- Blocked.cpp - Blocked layouts with lettered axes -------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Algebra/Families/Blocked.h"
#include "layout/Algebra/Characters.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include <array>

using namespace mlir::layout;
using llvm::StringRef;
using llvm::Twine;

namespace {

/// An axis, such as `C` (factor 0), or a block of an axis, such as `16c`
/// (factor 16).
struct Part {
  char letter; // upper case
  int64_t factor;
  size_t column; // in the string, 0-based
};

/// One dim of either string of `#layout.blocked`: one part, or several in
/// brackets, such as `[4o4i]`.
using Dim = llvm::SmallVector<Part, 2>;

using Report = llvm::function_ref<void(size_t, const Twine &)>;

} // namespace

/// Parses one string of `#layout.blocked` into its dims. Reports an error and
/// returns false if its syntax is wrong.
static bool readDims(StringRef text, std::vector<Dim> &dims, Report report) {
  auto fail = [&](size_t column, const Twine &message) {
    report(column, message);
    return false;
  };
  bool inBracket = false;
  size_t bracket = 0;
  for (size_t i = 0; i < text.size();) {
    char c = text[i];
    if (c == '[') {
      if (inBracket)
        return fail(
            i, "brackets must not be nested: one pair fuses all its parts");
      inBracket = true;
      bracket = i++;
      dims.emplace_back();
      continue;
    }
    if (c == ']') {
      if (!inBracket)
        return fail(i, "']' without '['");
      if (dims.back().empty())
        return fail(bracket,
                    "an empty bracket: it must fuse at least one part");
      inBracket = false;
      ++i;
      continue;
    }
    Part part{0, 0, i};
    if (llvm::isDigit(c)) {
      StringRef digits = text.substr(i).take_while(llvm::isDigit);
      if (digits.getAsInteger(10, part.factor))
        return fail(i, "factor " + digits + " does not fit 64 bits");
      if (part.factor == 0)
        return fail(i, "a factor must be at least 1, found 0");
      i += digits.size();
      if (i == text.size() || !llvm::isAlpha(text[i]))
        return fail(part.column, "factor " + digits +
                                     " without a letter: write the part as " +
                                     digits + "c");
      if (!llvm::isLower(text[i]))
        return fail(i, "axis '" + Twine(text[i]) +
                           "' must not have a factor: only parts, in lower "
                           "case, have one");
    } else if (llvm::isLower(c)) {
      return fail(i, "part '" + Twine(c) +
                         "' needs a factor before it, as in 16" + Twine(c));
    } else if (!llvm::isUpper(c)) {
      return fail(i, "unexpected character " + quoteCharacter(text, i) +
                         ": axes are upper-case letters, parts are a factor "
                         "and a lower-case letter");
    }
    part.letter = llvm::toUpper(text[i++]);
    if (!inBracket)
      dims.emplace_back();
    dims.back().push_back(part);
  }
  if (inBracket)
    return fail(bracket, "'[' without ']'");
  return true;
}

/// Checks that each letter in `dims`, which are those of one string, occurs
/// exactly once in upper case. In lower case, it may occur any number of times.
/// Otherwise reports the column of the first repeated upper-case letter, or
/// else of the first lower-case letter without one in upper case, and returns
/// false.
static bool checkAxes(const std::vector<Dim> &dims, Report report) {
  std::array<bool, 26> hasAxis{};
  for (const Dim &dim : dims)
    for (const Part &part : dim) {
      if (part.factor)
        continue;
      bool &seen = hasAxis[part.letter - 'A'];
      if (seen) {
        report(part.column,
               "axis '" + Twine(part.letter) + "' is repeated: write it once");
        return false;
      }
      seen = true;
    }
  for (const Dim &dim : dims)
    for (const Part &part : dim)
      if (part.factor && !hasAxis[part.letter - 'A']) {
        report(part.column, "part '" + Twine(llvm::toLower(part.letter)) +
                                "' without its axis '" + Twine(part.letter) +
                                "'");
        return false;
      }
  return true;
}

/// Returns the first part of `dims` whose letter no part of `others` has, or
/// null. A block, such as `16c`, has the same letter as its axis `C`.
static const Part *findMissing(const std::vector<Dim> &dims,
                               const std::vector<Dim> &others) {
  for (const Dim &dim : dims)
    for (const Part &part : dim)
      if (llvm::none_of(others, [&](const Dim &other) {
            return llvm::any_of(other, [&](const Part &candidate) {
              return candidate.letter == part.letter;
            });
          }))
        return &part;
  return nullptr;
}

/// Reads the parsed logical string, the first one of `#layout.blocked`. Sets
/// the index of each letter as a function of the logical dims: its axis, such
/// as `C`, is the most significant digit, followed by its blocks, such as
/// `16c`, in the order of the string. Also sets `layout.requiredSizes`. Reports
/// an error and returns false if an axis follows another part in brackets, or
/// if the product of the factors of a dim does not fit in 64 bits.
static bool readLogical(const std::vector<Dim> &dims, BlockedLayout &layout,
                        std::array<BoundedIndex, 26> &letters, Report report) {
  std::array<BoundedIndex, 26> axes;
  std::array<llvm::SmallVector<BoundedIndex>, 26> parts;
  for (auto [d, dim] : llvm::enumerate(dims)) {
    // The parts of a fused dim are its digits, the last one fastest.
    llvm::SmallVector<BoundedIndex> digits(dim.size());
    int64_t below = 1;
    for (size_t p = dim.size(); p-- > 0;) {
      const Part &part = dim[p];
      digits[p] = floorDiv(BoundedIndex::dim(d), below);
      if (!part.factor) {
        if (p == 0)
          continue;
        report(part.column,
               "axis '" + Twine(part.letter) +
                   "' follows another part: in a bracket of the first string, "
                   "an axis must come first, so that its size is known");
        return false;
      }
      digits[p] = mod(digits[p], part.factor);
      if (llvm::MulOverflow(below, part.factor, below)) {
        report(part.column, "the factors of this dim do not fit 64 bits");
        return false;
      }
    }
    for (auto [part, digit] : llvm::zip_equal(dim, digits)) {
      if (part.factor)
        parts[part.letter - 'A'].push_back(digit);
      else
        axes[part.letter - 'A'] = digit;
    }
    bool hasAxis = !dim.front().factor;
    layout.requiredSizes.push_back(hasAxis ? 0 : below);
  }
  for (unsigned l = 0; l < 26; ++l) {
    llvm::SmallVector<BoundedIndex> all{axes[l]};
    llvm::append_range(all, parts[l]);
    letters[l] = group(all);
  }
  return true;
}

std::optional<BlockedLayout> mlir::layout::parseBlocked(StringRef logical,
                                                        StringRef stored,
                                                        BlockedError error) {
  auto inLogical = [&](size_t c, const Twine &m) { error(false, c, m); };
  auto inStored = [&](size_t c, const Twine &m) { error(true, c, m); };
  std::vector<Dim> from, to;
  if (!readDims(logical, from, inLogical) || !checkAxes(from, inLogical) ||
      !readDims(stored, to, inStored) || !checkAxes(to, inStored))
    return std::nullopt;
  if (const Part *part = findMissing(from, to)) {
    inLogical(part->column, "letter '" + Twine(part->letter) +
                                "' is missing in the second string: both "
                                "strings have the same letters");
    return std::nullopt;
  }
  if (const Part *part = findMissing(to, from)) {
    inStored(part->column, "letter '" + Twine(part->letter) +
                               "' is missing in the first string: both "
                               "strings have the same letters");
    return std::nullopt;
  }

  BlockedLayout layout;
  std::array<BoundedIndex, 26> letters;
  if (!readLogical(from, layout, letters, inLogical))
    return std::nullopt;

  // The product of the blocks of each letter that are further right, which are
  // its faster digits.
  std::array<int64_t, 26> below;
  below.fill(1);
  std::vector<llvm::SmallVector<BoundedIndex>> digits(to.size());
  for (size_t d = to.size(); d-- > 0;) {
    for (const Part &part : llvm::reverse(to[d])) {
      if (!part.factor) {
        digits[d].push_back({});
        continue;
      }
      int64_t &inner = below[part.letter - 'A'];
      digits[d].push_back(
          mod(floorDiv(letters[part.letter - 'A'], inner), part.factor));
      if (llvm::MulOverflow(inner, part.factor, inner)) {
        inStored(part.column, "the factors of '" + Twine(part.letter) +
                                  "' do not fit 64 bits");
        return std::nullopt;
      }
    }
    std::reverse(digits[d].begin(), digits[d].end());
  }
  // The digit of an axis is slower than all blocks of its letter, wherever the
  // axis is written.
  for (size_t d = 0; d < to.size(); ++d) {
    for (auto [part, digit] : llvm::zip(to[d], digits[d]))
      if (!part.factor)
        digit = floorDiv(letters[part.letter - 'A'], below[part.letter - 'A']);
    layout.stored.push_back(group(digits[d]));
  }
  return layout;
}

LayoutMap BlockedLayout::getMap() const {
  BoundedIndex offset = group(stored);
  return LayoutMap::get(getRank(), "buffer",
                        {{"offset", offset.value, offset.extent}});
}
