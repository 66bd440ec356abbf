//===- Arguments.h - Shapes and indices from Python -------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Converts shapes and indices. They may be any sequence of integers: tuples,
// lists, numpy arrays. A value that is not an integer raises TypeError; an
// integer out of range raises a LayoutError that names it.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_PYTHON_SRC_ARGUMENTS_H
#define LAYOUT_PYTHON_SRC_ARGUMENTS_H

#include "Errors.h"
#include "LayoutValue.h"

namespace mlir::layout::python {

/// Converts a Python integer to 64 bits; `what` names the value in errors.
/// Raises TypeError for other types and LayoutError if it does not fit.
int64_t toInt(pybind11::handle value, const llvm::Twine &what);

/// Converts a sequence of integers, which `what` names in errors. If `unknown`
/// is given, an entry None becomes `unknown`. Raises TypeError for other
/// entries, and LayoutError for integers that do not fit 64 bits or are equal
/// to `unknown`.
SmallVector<int64_t> toInts(pybind11::handle values, StringRef what,
                            std::optional<int64_t> unknown = std::nullopt);

/// Converts a sequence of integers to static sizes. Raises LayoutError if one
/// is negative.
Shape toShape(pybind11::handle values);
/// Converts a sequence to sizes, in which None, a dynamic size, becomes
/// kUnknownSize. Raises LayoutError if a size is negative.
Shape toDynamicShape(pybind11::handle values);

/// Converts a sequence of integers to an index. Raises LayoutError if it has
/// another rank than `shape` or is not inside of it.
SmallVector<int64_t> toIndex(pybind11::handle values, ArrayRef<int64_t> shape);

/// Converts a sequence of groups, each a sequence of dims. Raises TypeError for
/// other objects.
std::vector<SmallVector<int64_t, 2>> toGroups(pybind11::handle values);

/// Creates a tuple of ints, with None for kUnknownSize.
pybind11::tuple toTuple(ArrayRef<int64_t> values);

} // namespace mlir::layout::python

#endif // LAYOUT_PYTHON_SRC_ARGUMENTS_H
