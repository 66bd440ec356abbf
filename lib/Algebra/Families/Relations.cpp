//===- Relations.cpp - Layouts of split and fused axes --------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Algebra/Families/Relations.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir::layout;
using llvm::StringRef;
using llvm::Twine;

/// The maximal number of axes of a layout, and the number of digits of an axis
/// from which on it is an error. Both are above any sensible layout, and keep
/// malicious input cheap.
static constexpr size_t kMaxAxes = 256;
static constexpr size_t kMaxDigits = 256;

namespace {

/// A dim or a result of a relation.
struct Axis {
  size_t madeAt;                     // the number of the name that defines it
  const char *use = nullptr;         // "split", "fused" or "stored"
  std::optional<BoundedIndex> value; // std::nullopt until computed
};

/// A relation, and the positions of its names among all names of the text.
struct Placed {
  const AxisRelation &relation;
  size_t whole;
  size_t firstPart;
};

class Resolver {
public:
  Resolver(const RelationsText &text, RelationsError error);

  /// Appends the stored axes, as values of the logical dims, to `stored`.
  /// Returns false after an error.
  bool resolve(llvm::SmallVectorImpl<BoundedIndex> &stored);

private:
  bool fail(size_t name, const Twine &message) {
    error(name, message);
    return false;
  }
  bool make(const NamedAxis &axis, size_t name);
  bool makeAll();
  bool use(StringRef axis, size_t name, const char *how);
  bool useAll();
  bool checkExtents(const Placed &split);
  bool compute(const Placed &placed);
  bool computeAll();
  bool set(StringRef axis, size_t name, const BoundedIndex &value);

  const RelationsText &text;
  RelationsError error;
  std::vector<Placed> relations;
  size_t firstStored;
  llvm::StringMap<Axis> axes;
};

} // namespace

Resolver::Resolver(const RelationsText &text, RelationsError error)
    : text(text), error(error), firstStored(text.dims.size()) {
  for (const AxisRelation &relation : text.relations) {
    size_t count = relation.parts.size();
    bool isSplit = relation.kind == AxisRelation::Split;
    relations.push_back({relation, isSplit ? firstStored : firstStored + count,
                         isSplit ? firstStored + 1 : firstStored});
    firstStored += count + 1;
  }
}

/// Returns true if the attribute parser reads `name` as one word.
static bool isWord(StringRef name) {
  return !name.empty() && (llvm::isAlpha(name[0]) || name[0] == '_') &&
         llvm::all_of(name, [](char c) {
           return llvm::isAlnum(c) || c == '_' || c == '$' || c == '.';
         });
}

bool Resolver::make(const NamedAxis &axis, size_t name) {
  if (!isWord(axis.name))
    return fail(name,
                "'" + axis.name +
                    "' is not a valid name: an axis is named by one word");
  if (axis.extent < 0)
    return fail(name, "the extent of '" + axis.name +
                          "' must be at least 1, found " + Twine(axis.extent));
  if (!axes.try_emplace(axis.name, Axis{name, nullptr, std::nullopt}).second)
    return fail(name, "axis '" + axis.name +
                          "' is repeated: every dim and every result of a "
                          "relation needs its own name");
  if (axes.size() > kMaxAxes)
    return fail(name, "a layout has at most " + Twine(kMaxAxes) + " axes");
  return true;
}

/// Checks that all parts of a split but the first have extents, whose product
/// fits int64, and that the first has none. Reports the first violation and
/// returns false.
bool Resolver::checkExtents(const Placed &split) {
  int64_t below = 1;
  for (auto [p, part] : llvm::enumerate(split.relation.parts)) {
    size_t name = split.firstPart + p;
    if (p == 0 && part.extent)
      return fail(name, "the first part of a split must not have an extent: '" +
                            part.name + "' holds what the other parts leave");
    if (p > 0 && !part.extent)
      return fail(name, "part '" + part.name + "' needs an extent, as in " +
                            part.name +
                            " : 16: only the first part of a "
                            "split has none");
    if (p > 0 && llvm::MulOverflow(below, part.extent, below))
      return fail(name, "the extents of the parts of '" +
                            split.relation.whole.name + "' do not fit 64 bits");
  }
  return true;
}

bool Resolver::makeAll() {
  for (auto [d, dim] : llvm::enumerate(text.dims))
    if (!make(dim, d))
      return false;
  for (const Placed &placed : relations) {
    const AxisRelation &relation = placed.relation;
    if (relation.parts.size() < 2)
      return fail(placed.whole, relation.kind == AxisRelation::Split
                                    ? "a split makes at least two parts"
                                    : "a fuse joins at least two axes");
    if (relation.kind == AxisRelation::Fuse) {
      if (!make(relation.whole, placed.whole))
        return false;
      continue;
    }
    for (auto [p, part] : llvm::enumerate(relation.parts))
      if (!make(part, placed.firstPart + p))
        return false;
    if (!checkExtents(placed))
      return false;
  }
  return true;
}

bool Resolver::use(StringRef axis, size_t name, const char *how) {
  auto it = axes.find(axis);
  if (it == axes.end())
    return fail(name, "unknown axis '" + axis +
                          "': it is neither a dim nor a result of a relation");
  const char *&use = it->second.use;
  if (use)
    return fail(name, "axis '" + axis + "' was " + use +
                          " already: an axis is split, fused or stored once");
  use = how;
  return true;
}

bool Resolver::useAll() {
  for (const Placed &placed : relations) {
    const AxisRelation &relation = placed.relation;
    if (relation.kind == AxisRelation::Split) {
      if (!use(relation.whole.name, placed.whole, "split"))
        return false;
      continue;
    }
    for (auto [p, part] : llvm::enumerate(relation.parts))
      if (!use(part.name, placed.firstPart + p, "fused"))
        return false;
  }
  for (auto [s, axis] : llvm::enumerate(text.stored))
    if (!use(axis, firstStored + s, "stored"))
      return false;

  const llvm::StringMapEntry<Axis> *unused = nullptr;
  for (const llvm::StringMapEntry<Axis> &entry : axes)
    if (!entry.second.use &&
        (!unused || entry.second.madeAt < unused->second.madeAt))
      unused = &entry;
  if (unused)
    return fail(unused->second.madeAt,
                "axis '" + unused->getKey() +
                    "' is not stored: every axis that remains is stored once");
  return true;
}

/// Returns the number of digits of `x`, including those of fused values that
/// its digits are taken of, or `limit` if there are at least so many.
static size_t countDigits(const IndexExpr &x, size_t limit) {
  size_t count = 0;
  for (const DigitTerm &term : x.terms) {
    ++count;
    if (term.digit.fused && count < limit)
      count += countDigits(*term.digit.fused, limit - count);
    if (count >= limit)
      return limit;
  }
  return count;
}

bool Resolver::set(StringRef axis, size_t name, const BoundedIndex &value) {
  if (value.value.hasOverflow() || value.extent.isOverflow())
    return fail(name, "the size of axis '" + axis + "' does not fit 64 bits");
  if (countDigits(value.value, kMaxDigits) == kMaxDigits)
    return fail(name, "axis '" + axis +
                          "' consists of too many digits: split by extents "
                          "that divide each other");
  axes.find(axis)->second.value = value;
  return true;
}

bool Resolver::compute(const Placed &placed) {
  const AxisRelation &relation = placed.relation;
  if (relation.kind == AxisRelation::Fuse) {
    llvm::SmallVector<BoundedIndex> parts;
    for (const NamedAxis &part : relation.parts)
      parts.push_back(*axes.find(part.name)->second.value);
    return set(relation.whole.name, placed.whole, group(parts));
  }
  const BoundedIndex &whole = *axes.find(relation.whole.name)->second.value;
  int64_t below = 1;
  for (size_t p = relation.parts.size(); p-- > 0;) {
    const NamedAxis &part = relation.parts[p];
    BoundedIndex above = floorDiv(whole, below);
    if (!set(part.name, placed.firstPart + p,
             part.extent ? mod(above, part.extent) : above))
      return false;
    if (part.extent)
      below *= part.extent;
  }
  return true;
}

/// Computes the value of every axis. Each round computes the relations whose
/// inputs are known. Reports an error and returns false if a value cannot be
/// computed, or if a round computes none, because the other relations then form
/// a cycle.
bool Resolver::computeAll() {
  for (auto [d, dim] : llvm::enumerate(text.dims)) {
    BoundedIndex value = BoundedIndex::dim(d);
    if (!set(dim.name, d, dim.extent ? mod(value, dim.extent) : value))
      return false;
  }
  std::vector<Placed> waiting = relations;
  while (!waiting.empty()) {
    std::vector<Placed> later;
    for (const Placed &placed : waiting) {
      const AxisRelation &relation = placed.relation;
      auto isKnown = [&](const NamedAxis &axis) {
        return axes.find(axis.name)->second.value.has_value();
      };
      bool isReady = relation.kind == AxisRelation::Split
                         ? isKnown(relation.whole)
                         : llvm::all_of(relation.parts, isKnown);
      if (!isReady)
        later.push_back(placed);
      else if (!compute(placed))
        return false;
    }
    if (later.size() == waiting.size())
      return fail(waiting.front().whole,
                  "axis '" + waiting.front().relation.whole.name +
                      "' is defined by itself: some relation must start from "
                      "dims alone");
    waiting.swap(later);
  }
  return true;
}

bool Resolver::resolve(llvm::SmallVectorImpl<BoundedIndex> &stored) {
  if (!makeAll() || !useAll() || !computeAll())
    return false;
  for (StringRef axis : text.stored)
    stored.push_back(*axes.find(axis)->second.value);
  return true;
}

struct Relations::Data {
  RelationsText text;
  llvm::SmallVector<BoundedIndex> stored;
  LayoutMap map;
};

std::optional<Relations> Relations::get(RelationsText text,
                                        RelationsError error) {
  auto data = std::make_shared<Data>();
  if (!Resolver(text, error).resolve(data->stored))
    return std::nullopt;
  BoundedIndex offset = group(data->stored);
  data->map = LayoutMap::get(text.dims.size(), "buffer",
                             {{"offset", offset.value, offset.extent}});
  data->text = std::move(text);
  Relations relations;
  relations.data = std::move(data);
  return relations;
}

const RelationsText &Relations::getText() const { return data->text; }
llvm::ArrayRef<BoundedIndex> Relations::getStoredDims() const {
  return data->stored;
}
const LayoutMap &Relations::getMap() const { return data->map; }

bool Relations::operator==(const Relations &other) const {
  return data == other.data ||
         (data && other.data && data->text == other.data->text);
}

llvm::hash_code mlir::layout::hash_value(const Relations &relations) {
  if (!relations)
    return 0;
  const RelationsText &text = relations.getText();
  auto hashAxes = [](llvm::ArrayRef<NamedAxis> axes) {
    llvm::hash_code hash = axes.size();
    for (const NamedAxis &axis : axes)
      hash = llvm::hash_combine(hash, axis.name, axis.extent);
    return hash;
  };
  llvm::hash_code hash = hashAxes(text.dims);
  for (const AxisRelation &relation : text.relations)
    hash = llvm::hash_combine(hash, relation.kind, relation.whole.name,
                              hashAxes(relation.parts));
  return llvm::hash_combine(
      hash, llvm::hash_combine_range(text.stored.begin(), text.stored.end()));
}

void Relations::print(llvm::raw_ostream &os) const {
  auto printAxes = [&](llvm::ArrayRef<NamedAxis> axes) {
    os << '(';
    llvm::interleaveComma(axes, os, [&](const NamedAxis &axis) {
      os << axis.name;
      if (axis.extent)
        os << " : " << axis.extent;
    });
    os << ')';
  };
  printAxes(data->text.dims);
  for (const AxisRelation &relation : data->text.relations) {
    if (relation.kind == AxisRelation::Split) {
      os << ", split " << relation.whole.name << " -> ";
      printAxes(relation.parts);
    } else {
      os << ", fuse ";
      printAxes(relation.parts);
      os << " -> " << relation.whole.name;
    }
  }
  os << ", store (";
  llvm::interleaveComma(data->text.stored, os);
  os << ')';
}
