//===- StaticSlices.h - Fast comparison of static slices --------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETS_CPU_LINALGTOLLVM_STATICSLICES_H
#define LAYOUT_TARGETS_CPU_LINALGTOLLVM_STATICSLICES_H

namespace mlir {
class DialectRegistry;

namespace layout {

/// Registers models of SubsetOpInterface that compare static slices by their
/// attributes. Must be called before upstream's models are registered, because
/// the first model of an op is kept.
void registerStaticSliceModels(DialectRegistry &registry);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_TARGETS_CPU_LINALGTOLLVM_STATICSLICES_H
