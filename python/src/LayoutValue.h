//===- LayoutValue.h - The layout behind a Python object --------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A `LayoutValue` is a layout attribute and, where it was stated, the element
// type that it stores. It says nothing about addresses itself: `on(shape)` asks
// the attribute for its canonical map, once per shape, and everything else is
// asked of that map.
//
//     LayoutValue::parse("#layout.blocked<\"NCHW\" to \"NCHW16c\">", {}, {})
//       ->on({1, 17, 7, 7})->map         // buffer(d0, d1 floordiv 16, ..)
//
// Values are immutable but for the table of shapes, which has its own lock, and
// may be used by several threads. Member functions that throw LayoutError are
// to be called with the interpreter's lock held.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_PYTHON_LAYOUTVALUE_H
#define LAYOUT_PYTHON_LAYOUTVALUE_H

#include "layout/Algebra/Sized.h"
#include "layout/Dialect/Layout/IR/Layout.h"
#include <map>
#include <mutex>

namespace mlir {
namespace layout {
namespace python {

using Shape = SmallVector<int64_t>;

/// A layout on one shape.
class OnShape {
public:
  OnShape(LayoutAttrInterface layout, Shape shape, Type element, LayoutMap map,
          std::vector<Sized> storedDims);

  const LayoutAttrInterface layout;
  const Shape shape; // kUnknownSize where not known
  const Type element;
  const LayoutMap map;                 // holds for other sizes, too
  const std::vector<Sized> storedDims; // of the storage array
  const LayoutMap normal;              // the normal form on this shape
  const std::vector<Sized> normalDims; // the same of the stored dims

  bool isEmpty() const;

  /// The stored dims where they are not those of the map.
  StoredDims getStored() const { return StoredDims::get(map, storedDims); }

  /// The extents of the stored dims; the sizes are known.
  Shape getStoredShape() const;
  /// The same of the coordinates.
  Shape getStorageExtent() const;

  /// Throws what makes the layout no valid one for this shape (L1).
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

  /// Reads a layout and, where given, a target's figures and an element type.
  static Ptr parse(const std::string &text,
                   const std::optional<std::string> &target,
                   const std::optional<std::string> &element);

  /// Reads the text of another project.
  static Ptr import(Notation notation, StringRef text,
                    const std::optional<std::string> &element);

  /// `map`, stored in the dims `stored`, with the element type of `like` and,
  /// where `keepsPadding`, its padding value.
  static Ptr fromMap(const LayoutMap &map, const LayoutValue &like,
                     bool keepsPadding = true, StoredDims stored = {});

  /// Whether both say the same of what padding holds.
  bool statesSamePadding(const LayoutValue &other) const;

  const LayoutAttrInterface layout;
  const Type element; // none where it was not stated
  const std::string text;

  bool hasElement() const;
  std::string getElementText() const;

  /// The layout on a shape. `stored` is the element type of the data at hand;
  /// it must be the stated one where there is one.
  std::shared_ptr<const OnShape> on(ArrayRef<int64_t> shape,
                                    Type stored = {}) const;

  /// The layout on all shapes that its notation takes: one map for all of
  /// them; throws where there is none.
  std::shared_ptr<const OnShape> onEveryShape() const;

  /// The same; null where there is none.
  std::shared_ptr<const OnShape> tryEveryShape() const;

  /// On some shape: that of the space and its coordinates.
  std::shared_ptr<const OnShape> onSomeShape() const;

  /// L5: the same map, stored dims, element type and padding value on every
  /// shape; where one of the layouts has no such map, the same attribute.
  bool isSame(const LayoutValue &other) const;
  size_t getHash() const;

private:
  mutable std::mutex mutex;
  mutable std::map<std::pair<Shape, const void *>,
                   std::shared_ptr<const OnShape>>
      shapes;
};

} // namespace python
} // namespace layout
} // namespace mlir

#endif // LAYOUT_PYTHON_LAYOUTVALUE_H
