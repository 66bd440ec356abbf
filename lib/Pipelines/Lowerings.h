//===- Lowerings.h - What builds may leave out ------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The part of the registration that a build without lowerings has not.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_PIPELINES_LOWERINGS_H
#define LAYOUT_LIB_PIPELINES_LOWERINGS_H

namespace mlir {
class DialectRegistry;
namespace layout {

/// The external models that lowerings need.
void registerLoweringModels(DialectRegistry &registry);

/// Their passes and pipelines.
void registerLoweringPasses();

} // namespace layout
} // namespace mlir

#endif // LAYOUT_LIB_PIPELINES_LOWERINGS_H
