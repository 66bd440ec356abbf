//===- Lowerings.h - Registration of the lowerings --------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The part of the registration that is empty in a build without lowerings.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_PIPELINES_LOWERINGS_H
#define LAYOUT_LIB_PIPELINES_LOWERINGS_H

namespace mlir {
class DialectRegistry;
namespace layout {

/// Registers the external models that the lowerings need.
void registerLoweringModels(DialectRegistry &registry);

/// Registers the passes and pipelines of the lowerings.
void registerLoweringPasses();

} // namespace layout
} // namespace mlir

#endif // LAYOUT_LIB_PIPELINES_LOWERINGS_H
