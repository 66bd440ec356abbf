//===- TensorTypes.h - Layouts of tensors by name ------------- -*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_PYTHON_TENSORTYPES_H
#define LAYOUT_PYTHON_TENSORTYPES_H

#include "LayoutValue.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/MapVector.h"
#include <pybind11/pybind11.h>

namespace mlir {
namespace layout {
namespace python {

using TypesByName = llvm::MapVector<StringAttr, RankedTensorType>;

/// What `getType` says of each tensor by name, where that is no null type, in
/// the order of the program: a name that several ops have is that of the last
/// one, which makes the value of that name. Conversions have the name of what
/// they convert.
TypesByName collectTypes(ModuleOp module,
                         llvm::function_ref<Type(Value)> getType);

/// Layouts of types as values of Python, each made once.
class LayoutsOfTypes {
public:
  LayoutValue::Ptr get(RankedTensorType type);

private:
  DenseMap<std::pair<Attribute, Type>, LayoutValue::Ptr> known;
};

/// Layouts by name, for Python.
pybind11::dict toDict(const TypesByName &types, LayoutsOfTypes &layouts);

} // namespace python
} // namespace layout
} // namespace mlir

#endif // LAYOUT_PYTHON_TENSORTYPES_H
