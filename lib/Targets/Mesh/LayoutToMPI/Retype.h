//===- Retype.h - Change the types of all tensors ---------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_MESH_LAYOUTTOMPI_RETYPE_H
#define LAYOUT_LIB_TARGETS_MESH_LAYOUTTOMPI_RETYPE_H

#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::layout {

/// Replaces the type of each tensor in `module`, including function signatures,
/// by `getType` of it, and folds conversions between equal types. Emits an
/// error and fails if the elements of a constant cannot get another type.
template <typename GetType>
LogicalResult retypeTensors(ModuleOp module, GetType getType) {
  auto retype = [&](Type type) -> Type {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor ? Type(getType(tensor)) : type;
  };
  auto walk = module.walk([&](Operation *op) {
    for (Value result : op->getResults())
      result.setType(retype(result.getType()));
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          argument.setType(retype(argument.getType()));
    if (auto constant = dyn_cast<arith::ConstantOp>(op))
      if (auto type = dyn_cast<RankedTensorType>(constant.getType())) {
        auto elements = dyn_cast<ElementsAttr>(constant.getValue());
        ElementsAttr typed =
            elements ? retypeElements(elements, type) : ElementsAttr();
        if (!typed) {
          op->emitOpError() << "has elements of an unknown kind";
          return WalkResult::interrupt();
        }
        constant.setValueAttr(typed);
      }
    if (auto function = dyn_cast<FunctionOpInterface>(op)) {
      SmallVector<Type> arguments, results;
      for (Type type : function.getArgumentTypes())
        arguments.push_back(retype(type));
      for (Type type : function.getResultTypes())
        results.push_back(retype(type));
      function.setType(function.cloneTypeWith(arguments, results));
    }
    return WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return failure();
  module.walk([](ConvertOp convert) {
    if (convert.getSource().getType() != convert.getResult().getType())
      return;
    convert.getResult().replaceAllUsesWith(convert.getSource());
    convert.erase();
  });
  return success();
}

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_MESH_LAYOUTTOMPI_RETYPE_H
