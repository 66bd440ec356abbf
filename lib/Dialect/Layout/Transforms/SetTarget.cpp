//===- SetTarget.cpp - layout-set-target ----------------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Dialect/Layout/Transforms/Passes.h"
#include "layout/Support/Cpu.h"
#include "mlir/AsmParser/AsmParser.h"

namespace mlir::layout {
#define GEN_PASS_DEF_SETTARGETPASS
#include "layout/Dialect/Layout/Transforms/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;
using namespace mlir::layout;

/// Returns `target` if it is a CPU, the device if it is a mesh, or else a null
/// attribute.
static CpuTargetAttr getCpu(Attribute target) {
  if (auto mesh = dyn_cast_if_present<MeshTargetAttr>(target))
    return mesh.getDeviceTarget();
  return dyn_cast_if_present<CpuTargetAttr>(target);
}

namespace {
struct SetTarget : layout::impl::SetTargetPassBase<SetTarget> {
  using SetTargetPassBase::SetTargetPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    std::optional<CpuModelParams> params = findCpuParams(cpu);
    if (!params) {
      module.emitError("the option 'cpu' is \"")
          << cpu << "\": it must be one of " << listCpuNames();
      return signalPassFailure();
    }
    FailureOr<TargetInterface> found = findTarget(module, target);
    if (failed(found))
      return signalPassFailure();
    Attribute attr = *found;
    if (lowering) {
      attr = getCpu(*found);
      if (!attr && !target.empty()) {
        module.emitError("the option 'target' is ")
            << *found << ": code is generated for a #layout.cpu";
        return signalPassFailure();
      }
      if (!attr)
        attr = parseAttribute("#layout.cpu<lanes = 16>", &getContext());
    }
    if (auto cpu = dyn_cast_if_present<CpuTargetAttr>(attr))
      attr = cpu.complete(*params);
    if (attr)
      module->setDiscardableAttr(kTargetAttr, attr);
  }
};
} // namespace
