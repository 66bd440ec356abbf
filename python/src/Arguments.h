//===- Arguments.h - Shapes and indices from Python -------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Any sequence of integers is taken for a shape or an index: tuples, lists,
// numpy arrays. What is no integer is a TypeError, an integer that makes no
// sense a LayoutError that names it.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_PYTHON_ARGUMENTS_H
#define LAYOUT_PYTHON_ARGUMENTS_H

#include "Errors.h"
#include "LayoutValue.h"

namespace mlir {
namespace layout {
namespace python {

/// One integer of 64 bits; `what` names it in errors.
int64_t toInt(pybind11::handle value, const llvm::Twine &what);

/// Integers; where `unknown` is given it stands for None.
SmallVector<int64_t> toInts(pybind11::handle values, StringRef what,
                            std::optional<int64_t> unknown = std::nullopt);

/// Sizes of 0 and more.
Shape toShape(pybind11::handle values);
/// The same, where None is a size that is not known.
Shape toOpenShape(pybind11::handle values);

/// An index into the box of `shape`.
SmallVector<int64_t> toIndex(pybind11::handle values, ArrayRef<int64_t> shape);

/// One list of dims for each group.
std::vector<SmallVector<int64_t, 2>> toGroups(pybind11::handle values);

/// A tuple of ints; None for kUnknownSize.
pybind11::tuple toTuple(ArrayRef<int64_t> values);

} // namespace python
} // namespace layout
} // namespace mlir

#endif // LAYOUT_PYTHON_ARGUMENTS_H
