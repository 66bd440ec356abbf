//===- Registration.h - One call to register everything ---------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Registers the dialects, external models, passes and pipelines of the project
// in a driver or an embedding compiler.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_REGISTRATION_REGISTRATION_H
#define LAYOUT_REGISTRATION_REGISTRATION_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace mlir::layout {

/// Adds the project's dialects and the external models of its interfaces.
void registerAllDialects(DialectRegistry &registry);

/// Registers all passes and pipelines of the project with the process-wide pass
/// registry. Can be called repeatedly.
void registerAllPasses();

/// Registers all of the project and all of upstream, as layout-opt does.
void registerWithUpstream(DialectRegistry &registry);

} // namespace mlir::layout

#endif // LAYOUT_REGISTRATION_REGISTRATION_H
