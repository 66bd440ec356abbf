//===- LayoutValue.h - The layout behind a Python object --------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A `LayoutValue` is a layout attribute with the element type that it stores,
// if that is stated. It computes no addresses: `on(shape)` resolves the
// attribute to its canonical map, once per shape, and all queries use that map.
//
//     LayoutValue::parse("#layout.blocked<\"NCHW\" to \"NCHW16c\">", {}, {})
//       ->on({1, 17, 7, 7})->map         // buffer(d0, d1 floordiv 16, ..)
//
// Values are immutable, except for the cache of shapes, which has its own lock;
// threads may share them. Member functions that throw LayoutError require the
// interpreter's lock.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_PYTHON_SRC_LAYOUTVALUE_H
#define LAYOUT_PYTHON_SRC_LAYOUTVALUE_H

#include "layout/Algebra/BoundedIndex.h"
#include "layout/Dialect/Layout/IR/Layout.h"
#include <map>
#include <mutex>

namespace mlir::layout::python {

using Shape = SmallVector<int64_t>;

/// A layout resolved for one shape: its canonical map and its stored dims.
class OnShape {
public:
  OnShape(LayoutAttrInterface layout, Shape shape, Type element, LayoutMap map,
          std::vector<BoundedIndex> storedDims);

  const LayoutAttrInterface layout;
  const Shape shape; // kUnknownSize if dynamic
  const Type element;
  const LayoutMap map;                        // also valid for other sizes
  const std::vector<BoundedIndex> storedDims; // of the storage array
  const LayoutMap normal;                     // the normal form on `shape`
  const std::vector<BoundedIndex> normalDims; // stored dims on `shape`

  bool isEmpty() const;

  /// Returns the stored dims, or an empty list if they are those that the map
  /// implies.
  StoredDims getStored() const { return StoredDims::get(map, storedDims); }

  /// Returns the extents of the stored dims on `shape`, whose sizes must all be
  /// static. Throws LayoutError if an extent does not fit 64 bits.
  Shape getStoredShape() const;
  /// Returns the extents of the coordinates on `shape`, whose sizes must all be
  /// static. Throws LayoutError if an extent does not fit 64 bits.
  Shape getStorageExtent() const;

  /// Throws LayoutError if the verifier of tensor types rejects the layout on
  /// this shape (L1).
  void requireValid() const;

private:
  mutable std::mutex mutex;
  mutable bool isKnownValid = false;
};

class LayoutValue {
public:
  using Ptr = std::shared_ptr<const LayoutValue>;

  LayoutValue(LayoutAttrInterface layout, Type element, std::string text)
      : layout(layout), element(element), text(std::move(text)) {}

  /// Parses a layout. If the text of a target attribute is given, parameters
  /// that the layout leaves to the target get the values of that target. If an
  /// element type is given, the layout stores this type, and otherwise it
  /// states none. Throws LayoutError if a text is invalid.
  static Ptr parse(const std::string &text,
                   const std::optional<std::string> &target,
                   const std::optional<std::string> &element);

  /// Parses a layout in the notation of another project, e.g. XLA's. The layout
  /// stores the element type whose text is given, or states none without one.
  /// Throws LayoutError if a text is invalid.
  static Ptr import(Notation notation, StringRef text,
                    const std::optional<std::string> &element);

  /// Creates the layout `map` with stored dims `stored`, the element type of
  /// `like` and, if `keepsPadding`, the padding value of `like`.
  static Ptr fromMap(const LayoutMap &map, const LayoutValue &like,
                     bool keepsPadding = true, StoredDims stored = {});

  /// Returns true if both layouts state the same padding value, or neither
  /// states one.
  bool statesSamePadding(const LayoutValue &other) const;

  const LayoutAttrInterface layout;
  const Type element; // NoneType if not stated
  const std::string text;

  bool hasElement() const;
  std::string getElementText() const;

  /// Returns the layout on a shape. `stored` is the element type of the data,
  /// by default the one that the layout states. Throws LayoutError if the
  /// layout states another one, needs one that is not stated, or does not apply
  /// to the shape.
  std::shared_ptr<const OnShape> on(ArrayRef<int64_t> shape,
                                    Type stored = {}) const;

  /// Returns the layout on the shape that the attribute states, in which sizes
  /// that it leaves open are kUnknownSize: one map for all shapes that it
  /// accepts. Throws LayoutError if it states none, so that the map depends on
  /// the shape.
  std::shared_ptr<const OnShape> onEveryShape() const;

  /// Returns the layout as one map for all shapes, or nullptr in the cases in
  /// which `onEveryShape` throws.
  std::shared_ptr<const OnShape> tryEveryShape() const;

  /// Returns the layout on an example shape, from which the space and the names
  /// of its coordinates can be read.
  std::shared_ptr<const OnShape> onSomeShape() const;

  /// Returns true if both layouts have the same map, stored dims, element type
  /// and padding value on every shape (L5). If a map depends on the shape, the
  /// attributes must be equal.
  bool isSame(const LayoutValue &other) const;
  size_t getHash() const;

private:
  mutable std::mutex mutex;
  mutable std::map<std::pair<Shape, const void *>,
                   std::shared_ptr<const OnShape>>
      shapes;
};

} // namespace mlir::layout::python

#endif // LAYOUT_PYTHON_SRC_LAYOUTVALUE_H
