//===- Target.cpp - Finding the target of a pass --------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Decision.h"
#include "layout/Dialect/Layout/Transforms/Passes.h"
#include "mlir/AsmParser/AsmParser.h"

using namespace mlir;
using namespace mlir::layout;

FailureOr<TargetAttr> layout::getTarget(Operation *op, StringRef option) {
  if (!option.empty()) {
    Attribute attr = parseAttribute(option, op->getContext());
    if (auto target = dyn_cast_if_present<TargetAttr>(attr))
      return target;
    return op->emitError() << "the option 'target' is \"" << option
                           << "\": it takes an attribute like "
                              "#layout.target<kind = \"cpu\", lanes = 16>";
  }
  for (Operation *holder = op; holder; holder = holder->getParentOp()) {
    Attribute attr = holder->getDiscardableAttr(kTargetAttr);
    if (!attr)
      continue;
    if (auto target = dyn_cast<TargetAttr>(attr))
      return target;
    return holder->emitError() << "'" << kTargetAttr << "' is " << attr
                               << ": it has to be a #layout.target";
  }
  return op->emitError()
         << "layouts are decided for a target and none is given: put '"
         << kTargetAttr
         << " = #layout.target<kind = \"cpu\", lanes = 16>' on the module, or "
            "use the option 'target'";
}
