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
// A target outside of this project implements TargetInterface itself.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETS_REGISTRATION_H
#define LAYOUT_TARGETS_REGISTRATION_H

namespace mlir {
class DialectRegistry;
namespace layout {

void registerCpuTarget(DialectRegistry &registry);
void registerOpenClTarget(DialectRegistry &registry);
void registerNpuTarget(DialectRegistry &registry);
void registerMeshTarget(DialectRegistry &registry);

/// Registers all targets of this project.
inline void registerTargets(DialectRegistry &registry) {
  registerCpuTarget(registry);
  registerOpenClTarget(registry);
  registerNpuTarget(registry);
  registerMeshTarget(registry);
}

} // namespace layout
} // namespace mlir

#endif // LAYOUT_TARGETS_REGISTRATION_H
