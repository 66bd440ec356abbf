//===- ReplicateOnMesh.cpp - Place plain tensors on every device ----------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Retype.h"
#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Interfaces/MeshLoops.h"
#include "layout/Targets/Mesh/LayoutToMPI/Passes.h"

namespace mlir::layout {
#define GEN_PASS_DEF_REPLICATEONMESHPASS
#include "layout/Targets/Mesh/LayoutToMPI/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;
using namespace mlir::layout;

/// Emits an error and fails if a function with tensors as arguments or results
/// is only declared.
static LogicalResult checkDeclarations(ModuleOp module) {
  auto isTensor = [](Type type) { return isa<RankedTensorType>(type); };
  auto walk =
      module.walk([&](FunctionOpInterface function) {
        if (!function.isExternal() ||
            (llvm::none_of(function.getArgumentTypes(), isTensor) &&
             llvm::none_of(function.getResultTypes(), isTensor)))
          return WalkResult::advance();
        function.emitOpError()
            << "is only declared, and takes or returns tensors: its definition "
               "relies on its types; define it in this module";
        return WalkResult::interrupt();
      });
  return failure(walk.wasInterrupted());
}

namespace {
struct ReplicateOnMesh
    : layout::impl::ReplicateOnMeshPassBase<ReplicateOnMesh> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto target = dyn_cast_if_present<MeshTargetAttr>(
        module->getDiscardableAttr(kTargetAttr));
    if (!target) {
      module.emitError() << "'" << kTargetAttr
                         << "' on the module is not a #layout.mesh_target: "
                            "state one, or assign layouts for one first";
      return signalPassFailure();
    }
    Mesh axes = target.getAxes();
    if (failed(checkDeclarations(module)) ||
        failed(retypeTensors(module, [&](RankedTensorType type) {
          return placeOnMesh(type, axes);
        })))
      signalPassFailure();
  }
};
} // namespace
