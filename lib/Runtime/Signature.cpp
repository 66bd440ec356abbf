//===- Signature.cpp - Tensor signatures of compiled functions ------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Runtime/Signature.h"
#include "layout/Runtime/Npy.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::layout;

/// Checks that the inputs and results of `type` are ranked tensors without
/// encoding, with element types that an array can have. If not, emits an error
/// at `where` and returns failure.
static LogicalResult checkTypes(Operation *where, FunctionType type) {
  auto check = [&](TypeRange types, StringRef role) -> LogicalResult {
    for (auto [i, each] : llvm::enumerate(types)) {
      auto tensor = dyn_cast<RankedTensorType>(each);
      if (!tensor)
        return where->emitError()
               << "'" << kSignatureAttrName << "' has " << role << " " << i
               << " of type " << each
               << ", which cannot cross the boundary of a compiled function; "
                  "use a ranked tensor";
      if (tensor.getEncoding())
        return where->emitError()
               << "'" << kSignatureAttrName << "' has " << role << " " << i
               << " of type " << tensor
               << " with an encoding; give the plain tensor of its storage "
                  "instead (layout.storage_view)";
      if (!getElementKind(tensor.getElementType()))
        return where->emitError()
               << "'" << kSignatureAttrName << "' has " << role << " " << i
               << " of type " << tensor << "; the element type must be one of "
               << getElementNames();
    }
    return success();
  };
  return success(succeeded(check(type.getInputs(), "input")) &&
                 succeeded(check(type.getResults(), "result")));
}

LogicalResult layout::attachSignature(FunctionOpInterface function) {
  MLIRContext *context = function.getContext();
  if (!function->hasAttr(kSignatureAttrName)) {
    auto type = FunctionType::get(context, function.getArgumentTypes(),
                                  function.getResultTypes());
    if (failed(checkTypes(function, type)))
      return failure();
    function->setAttr(kSignatureAttrName, TypeAttr::get(type));
  } else if (failed(readSignature(function))) {
    return failure();
  }
  function->setAttr(kCInterfaceAttrName, UnitAttr::get(context));
  return success();
}

FailureOr<FunctionType> layout::readSignature(Operation *function) {
  Attribute attr = function->getAttr(kSignatureAttrName);
  if (!attr)
    return function->emitError()
           << "has no '" << kSignatureAttrName
           << "' attribute, so the types of its arrays are unknown; the "
              "pipeline 'layout-to-cpu' attaches it, for another pipeline "
              "write it on the function over tensors: "
           << kSignatureAttrName << " = (tensor<..>) -> tensor<..>";
  auto typeAttr = dyn_cast<TypeAttr>(attr);
  auto type =
      typeAttr ? dyn_cast<FunctionType>(typeAttr.getValue()) : FunctionType();
  if (!type)
    return function->emitError()
           << "'" << kSignatureAttrName
           << "' must be a function type over tensors, got " << attr;
  if (failed(checkTypes(function, type)))
    return failure();
  return type;
}
