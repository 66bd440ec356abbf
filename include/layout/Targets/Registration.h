//===- Registration.h - Registration of the targets -------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each target makes an attribute of this dialect a target of layout-assign:
//
//   #layout.cpu      linear memory                            CPU/
//   #layout.opencl   linear memory and images                 OpenCL/
//   #layout.npu      system memory and the memories of cores  NPU/
//   #layout.mesh_target  memories of many devices             Mesh/
//
// CMake generates Targets.def from LAYOUT_TARGETS: LAYOUT_TARGET(T) for each
// target T of the build, and LAYOUT_LOWERING(T) if its lowerings are built, too.
// For CPU, T is `CPU`, the name of its folder. A target outside of this project
// implements TargetInterface itself.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETS_REGISTRATION_H
#define LAYOUT_TARGETS_REGISTRATION_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace mlir::layout {

// registerCPUTarget, ..: attach the cost model to the attribute.
#define LAYOUT_TARGET(T) void register##T##Target(DialectRegistry &registry);
// registerCPULoweringModels, ..: register the dialects of lowered programs and
// the external models that pipelines need. registerCPULowerings, ..: register
// passes and pipelines.
#define LAYOUT_LOWERING(T)                                                     \
  void register##T##LoweringModels(DialectRegistry &registry);                 \
  void register##T##Lowerings();
#include "layout/Targets/Targets.def"

/// Registers the cost models of all targets of this build.
inline void registerTargets(DialectRegistry &registry) {
#define LAYOUT_TARGET(T) register##T##Target(registry);
#include "layout/Targets/Targets.def"
}

/// Registers the dialects and external models that the pipelines of all targets
/// of this build need.
inline void registerLoweringModels([[maybe_unused]] DialectRegistry &registry) {
#define LAYOUT_LOWERING(T) register##T##LoweringModels(registry);
#include "layout/Targets/Targets.def"
}

/// Registers the passes and pipelines of all targets of this build.
inline void registerLowerings() {
#define LAYOUT_LOWERING(T) register##T##Lowerings();
#include "layout/Targets/Targets.def"
}

} // namespace mlir::layout

#endif // LAYOUT_TARGETS_REGISTRATION_H
