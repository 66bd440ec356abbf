//===- Registration.h - One call to register everything ---------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a driver or an embedding compiler calls to get the project's dialects,
// external models, passes and pipelines.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_PIPELINES_REGISTRATION_H
#define LAYOUT_PIPELINES_REGISTRATION_H

namespace mlir {
class DialectRegistry;
namespace layout {

/// Adds the project's dialects and the external models of its interfaces.
void registerAllDialects(DialectRegistry &registry);

/// Registers every pass and pipeline of the project with the pass registry of
/// the process. Further calls do nothing.
void registerAllPasses();

/// Registers all of that and all of upstream: what layout-opt takes.
void registerWithUpstream(DialectRegistry &registry);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_PIPELINES_REGISTRATION_H
