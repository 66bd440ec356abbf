//===- TensorTypes.cpp - Layouts of tensors by name -----------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorTypes.h"
#include "Bindings.h"
#include "Errors.h"
#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Support/Places.h"

namespace py = pybind11;
using namespace mlir;
using namespace mlir::layout;
using namespace mlir::layout::python;

TypesByName mlir::layout::python::collectTypes(ModuleOp module) {
  TypesByName types;
  auto add = [&](Location loc, const Twine &number, Type type, bool isLast) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor)
      return;
    auto name = StringAttr::get(module.getContext(), printPlace(loc) + number);
    if (isLast || !types.contains(name))
      types[name] = tensor;
  };
  module->walk<WalkOrder::PreOrder>([&](Operation *op) {
    for (OpResult result : op->getResults())
      add(op->getLoc(),
          op->getNumResults() == 1 ? "" : "#" + Twine(result.getResultNumber()),
          result.getType(), !isa<ConvertOp>(op));
    for (Region &region : op->getRegions())
      for (BlockArgument argument : region.getArguments())
        add(argument.getLoc(), "", argument.getType(), true);
  });
  return types;
}

template <typename T> static std::string print(T it) {
  std::string text;
  llvm::raw_string_ostream(text) << it;
  return text;
}

LayoutValue::Ptr LayoutsOfTypes::get(RankedTensorType type) {
  Attribute layout = type.getEncoding();
  if (!layout)
    layout =
        MapAttr::get(type.getContext(), LayoutMap::rowMajor(type.getRank()));
  LayoutValue::Ptr &made = known[{layout, type.getElementType()}];
  if (!made)
    made = LayoutValue::parse(print(layout), std::nullopt,
                              print(type.getElementType()));
  return made;
}

py::dict mlir::layout::python::toDict(const TypesByName &types,
                                      LayoutsOfTypes &layouts) {
  py::dict result;
  for (auto [name, type] : types)
    result[toPythonString(name.getValue())] = toPython(layouts.get(type));
  return result;
}
