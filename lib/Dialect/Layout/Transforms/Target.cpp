//===- Target.cpp - Find the target of a pass -----------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Dialect/Layout/Transforms/Passes.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"

using namespace mlir;
using namespace mlir::layout;

/// The end of the error about an attribute that is not a target.
static constexpr StringLiteral kNoTarget =
    ": it must be a target, such as #layout.cpu<lanes = 16>";

/// Returns the target that a device of the module's `dlti.target_system_spec`
/// states under the key 'layout.target', or a null target if there is none.
/// Emits an error and fails if two devices state one, or if the entry is not a
/// target.
static FailureOr<TargetInterface> findTargetOfDevice(ModuleOp module) {
  TargetSystemSpecInterface system = module.getTargetSystemSpec();
  if (!system)
    return TargetInterface();
  auto key = StringAttr::get(module.getContext(), kTargetAttr);
  TargetInterface found;
  StringAttr foundDevice;
  for (DataLayoutEntryInterface pair : system.getEntries()) {
    auto device = dyn_cast<StringAttr>(pair.getKey());
    auto spec = dyn_cast<TargetDeviceSpecInterface>(pair.getValue());
    if (!device || !spec)
      continue;
    DataLayoutEntryInterface entry = spec.getSpecForIdentifier(key);
    if (!entry)
      continue;
    auto target = dyn_cast<TargetInterface>(entry.getValue());
    if (!target)
      return emitError(module->getLoc())
             << "'" << kTargetAttr << "' of device " << device << " is "
             << entry.getValue() << kNoTarget;
    if (found)
      return emitError(module->getLoc())
             << "devices " << foundDevice << " and " << device
             << " of 'dlti.target_system_spec' both state '" << kTargetAttr
             << "': select one with '" << kTargetAttr
             << "' on the module or with the option 'target'";
    found = target;
    foundDevice = device;
  }
  return found;
}

FailureOr<TargetInterface> layout::findTarget(Operation *op, StringRef option) {
  if (!option.empty()) {
    Attribute attr = parseAttribute(option, op->getContext());
    if (auto target = dyn_cast_if_present<TargetInterface>(attr))
      return target;
    return emitError(op->getLoc())
           << "the option 'target' is \"" << option
           << "\": it must be an attribute such as #layout.cpu<lanes = 16>";
  }
  for (Operation *holder = op; holder; holder = holder->getParentOp()) {
    if (Attribute attr = holder->getDiscardableAttr(kTargetAttr)) {
      if (auto target = dyn_cast<TargetInterface>(attr))
        return target;
      return emitError(holder->getLoc())
             << "'" << kTargetAttr << "' is " << attr << kNoTarget;
    }
    if (auto module = dyn_cast<ModuleOp>(holder)) {
      FailureOr<TargetInterface> target = findTargetOfDevice(module);
      if (failed(target) || *target)
        return target;
    }
  }
  return TargetInterface();
}

FailureOr<TargetInterface> layout::getTarget(Operation *op, StringRef option) {
  FailureOr<TargetInterface> target = findTarget(op, option);
  if (failed(target) || *target)
    return target;
  return emitError(op->getLoc())
         << "layouts cannot be assigned without a target: put '" << kTargetAttr
         << " = #layout.cpu<lanes = 16>' on the module or in a device of its "
            "'dlti.target_system_spec', or use the option 'target'";
}
