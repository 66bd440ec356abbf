//===- NoLowerings.cpp - Stubs for builds without lowerings ---------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Replaces Lowerings.cpp in builds without lowerings.
//
//===----------------------------------------------------------------------===//

#include "Lowerings.h"

void mlir::layout::registerLoweringModels(DialectRegistry &) {}

void mlir::layout::registerLoweringPasses() {}
