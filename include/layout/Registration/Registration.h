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

/// Adds the dialects of the project, the layout rules of upstream ops, the
/// targets, and the external models of interfaces that lowerings need.
void registerAllDialects(DialectRegistry &registry);

/// Registers all passes and pipelines of the project with the process-wide pass
/// registry. Further calls have no effect.
void registerAllPasses();

/// Registers all passes of the project and of upstream MLIR with the
/// process-wide pass registry, and adds all dialects and extensions of both to
/// `registry`.
void registerWithUpstream(DialectRegistry &registry);

} // namespace mlir::layout

#endif // LAYOUT_REGISTRATION_REGISTRATION_H
