//===- Printing.cpp - Shared helpers of the printing passes ---------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Dialect/Layout/Transforms/Printing.h"
#include "layout/Support/WholeFile.h"

using namespace mlir;
using namespace mlir::layout;

bool layout::isTensor(Value value) {
  return isa<RankedTensorType>(value.getType());
}

bool layout::hasTensors(Operation *op) {
  return llvm::any_of(op->getOperands(), isTensor) ||
         llvm::any_of(op->getResults(), isTensor);
}

std::string layout::printShape(RankedTensorType type) {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (int64_t size : type.getShape()) {
    if (ShapedType::isDynamic(size))
      os << "?x";
    else
      os << size << "x";
  }
  os << type.getElementType();
  return text;
}

std::string layout::explainConversion(ConvertOp convert) {
  std::string text;
  llvm::raw_string_ostream os(text);
  SmallVector<StringRef> users;
  for (Operation *user : convert->getUsers())
    if (!llvm::is_contained(users, user->getName().getStringRef()))
      users.push_back(user->getName().getStringRef());
  llvm::sort(users);
  llvm::interleave(users, os, " and ");
  os << (users.empty()       ? "nothing needs 'to'"
         : users.size() == 1 ? " needs 'to'"
                             : " need 'to'");
  if (Operation *producer = convert.getSource().getDefiningOp())
    os << ", " << producer->getName() << " makes 'from'";
  else
    os << ", 'from' is the type of an argument";
  return text;
}

LogicalResult layout::printToFile(Operation *root, StringRef output,
                                  function_ref<void(raw_ostream &)> print) {
  WholeFile file(output);
  if (!file.getError())
    print(file.os());
  if (std::error_code code = file.commit())
    return root->emitError() << "the option 'output': cannot write '" << output
                             << "': " << code.message();
  return success();
}

LogicalResult
layout::printToFile(Operation *root, StringRef target, StringRef output,
                    function_ref<void(TargetInterface, raw_ostream &)> print) {
  FailureOr<TargetInterface> wanted = getTarget(root, target);
  if (failed(wanted))
    return failure();
  return printToFile(root, output,
                     [&](raw_ostream &os) { print(*wanted, os); });
}
