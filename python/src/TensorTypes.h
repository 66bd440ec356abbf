//===- TensorTypes.h - Layouts of tensors by name ------------- -*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_PYTHON_SRC_TENSORTYPES_H
#define LAYOUT_PYTHON_SRC_TENSORTYPES_H

#include "LayoutValue.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/MapVector.h"
#include <pybind11/pybind11.h>

namespace mlir::layout::python {

using TypesByName = llvm::MapVector<StringAttr, RankedTensorType>;

/// Collects the types of all tensors by name, in program order; result i of an
/// op with several results is NAME#i. If several ops have one name, the type is
/// that of the last one. A conversion has the name of the value that it
/// converts, and counts only if no earlier op has the name.
TypesByName collectTypes(ModuleOp module);

/// Converts tensor types to Python layouts, row-major for a type without
/// layout, creating each layout once.
class LayoutsOfTypes {
public:
  LayoutValue::Ptr get(RankedTensorType type);

private:
  DenseMap<std::pair<Attribute, Type>, LayoutValue::Ptr> known;
};

/// Converts a map of tensor types by name to a Python dict of layouts by name.
pybind11::dict toDict(const TypesByName &types, LayoutsOfTypes &layouts);

} // namespace mlir::layout::python

#endif // LAYOUT_PYTHON_SRC_TENSORTYPES_H
