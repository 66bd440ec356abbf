//===- Relations.h - Layouts of split and fused axes ------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The notation of `#layout.relations` (docs/spec.md, section 3.1): named axes
// are split into parts and fused, until each remaining axis is stored:
//
//     (n, c, h, w), split c -> (co, ci : 16), fuse (h, w) -> hw,
//       store (n, co, hw, ci)
//
//     stored = { n, c floordiv 16, [h, w], c mod 16 }
//
// Laws:
//  * every axis is defined and used once, so no element is lost or duplicated;
//  * parts are listed from major to minor; the first one has the remaining
//    ceil(size / product of the others) positions;
//  * relations may be written in any order, if none depends on its own result.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ALGEBRA_FAMILIES_RELATIONS_H
#define LAYOUT_ALGEBRA_FAMILIES_RELATIONS_H

#include "layout/Algebra/LayoutMap.h"
#include "llvm/ADT/Twine.h"

namespace mlir::layout {

struct NamedAxis {
  std::string name;
  int64_t extent = 0; // 0 if not stated

  bool operator==(const NamedAxis &other) const {
    return name == other.name && extent == other.extent;
  }
};

/// A relation `split whole -> (parts)` or `fuse (parts) -> whole`.
struct AxisRelation {
  enum Kind { Split, Fuse };

  Kind kind = Split;
  NamedAxis whole;
  std::vector<NamedAxis> parts;

  bool operator==(const AxisRelation &other) const {
    return kind == other.kind && whole == other.whole && parts == other.parts;
  }
};

/// The text of `#layout.relations`: the dims, the relations, and the names of
/// the stored dims, as lists.
struct RelationsText {
  /// The logical dims. If a dim has an extent, a tensor must have that size.
  std::vector<NamedAxis> dims;
  std::vector<AxisRelation> relations;
  /// The names of the stored dims, slowest first: all axes that no relation
  /// splits or fuses.
  std::vector<std::string> stored;

  bool operator==(const RelationsText &other) const {
    return dims == other.dims && relations == other.relations &&
           stored == other.stored;
  }
};

/// A callback to which a function reports an error at the n-th name in the
/// text, where 0 is the first dim, before it fails.
using RelationsError =
    llvm::function_ref<void(size_t name, const llvm::Twine &message)>;

class Relations;
llvm::hash_code hash_value(const Relations &relations);

/// A valid list of relations and the resulting map; immutable and cheap to
/// copy.
class Relations {
public:
  Relations() = default;

  /// Checks the text and computes the map. Reports the first error and returns
  /// std::nullopt.
  static std::optional<Relations> get(RelationsText text, RelationsError error);

  explicit operator bool() const { return static_cast<bool>(data); }
  const RelationsText &getText() const;
  /// Returns the dims of the storage array, slowest first, as values of the
  /// logical dims.
  llvm::ArrayRef<BoundedIndex> getStoredDims() const;
  const LayoutMap &getMap() const;

  bool operator==(const Relations &other) const;
  friend llvm::hash_code hash_value(const Relations &relations);

  void print(llvm::raw_ostream &os) const;

private:
  struct Data;
  std::shared_ptr<const Data> data;
};

} // namespace mlir::layout

#endif // LAYOUT_ALGEBRA_FAMILIES_RELATIONS_H
