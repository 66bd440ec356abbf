//===- FormerNames.cpp - Passes under the names that they had -------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A pass that is renamed answers to its former name for one release more
// (docs/compatibility.md). The next release removes these.
//
//===----------------------------------------------------------------------===//

#include "layout/Dialect/Layout/Transforms/Passes.h"
#include "layout/Pipelines/Registration.h"
#include "layout/Targets/NPU/LayoutToNPU/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace mlir::layout;

static void registerFormerName(StringRef name, PassAllocatorFunction create) {
  std::string summary =
      "Former name of `" + create()->getArgument().str() + "`";
  registerPassPipeline(
      name, summary,
      [create](OpPassManager &pm, StringRef options,
               function_ref<LogicalResult(const Twine &)> error) {
        std::unique_ptr<Pass> pass = create();
        if (failed(pass->initializeOptions(options, error)))
          return failure();
        pm.addPass(std::move(pass));
        return success();
      },
      [](function_ref<void(const mlir::detail::PassOptions &)>) {});
}

void layout::registerFormerPassNames() {
  registerFormerName("layout-propagate", [] { return createSolvePass(); });
  registerFormerName("layout-insert-transforms",
                     [] { return createMaterializePass(); });
  registerFormerName("layout-fold-transforms",
                     [] { return createFoldConvertsPass(); });
  registerFormerName("layout-prepare-for-units",
                     [] { return createPrepareForCoresPass(); });
  registerFormerName("layout-split-for-units",
                     [] { return createSplitForCoresPass(); });
}
