//===- WithUpstream.cpp - Registration of the project and of upstream -----===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Registration/Registration.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include <mutex>

using namespace mlir;

void layout::registerWithUpstream(DialectRegistry &registry) {
  static std::once_flag once;
  std::call_once(once, [] { mlir::registerAllPasses(); });
  layout::registerAllPasses();
  // The first model of an interface of an op is kept: the project's models
  // replace upstream's.
  layout::registerAllDialects(registry);
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
}
