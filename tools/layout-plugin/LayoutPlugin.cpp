//===- LayoutPlugin.cpp - A plugin for mlir-opt ---------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   mlir-opt-22 net.mlir --load-dialect-plugin=LayoutPlugin.so
//     --load-pass-plugin=LayoutPlugin.so
//     --pass-pipeline="builtin.module(layout-assign)"
//
//===----------------------------------------------------------------------===//

#include "layout/Registration/Registration.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

static constexpr const char *kName = "layout";

extern "C" LLVM_ATTRIBUTE_WEAK mlir::DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, kName, LAYOUT_VERSION,
          [](mlir::DialectRegistry *registry) {
            mlir::layout::registerAllDialects(*registry);
          }};
}

extern "C" LLVM_ATTRIBUTE_WEAK mlir::PassPluginLibraryInfo
mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, kName, LAYOUT_VERSION,
          mlir::layout::registerAllPasses};
}
