//===- LayoutToUpstream.h - Layouts for other compilers ---------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `layout-to-upstream`: assigns layouts (AssignLayouts.h) and applies them with
// upstream ops only, as input for another linalg compiler.
//
//   layout-opt net.mlir -layout-to-upstream="target={#layout.cpu<lanes = 16>}"
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETS_CPU_PIPELINES_LAYOUTTOUPSTREAM_H
#define LAYOUT_TARGETS_CPU_PIPELINES_LAYOUTTOUPSTREAM_H

#include "layout/Pipelines/AssignLayouts.h"

namespace mlir::layout {

void buildLayoutToUpstreamPipeline(OpPassManager &pm, StringRef target = {});

void registerLayoutToUpstreamPipelines();

} // namespace mlir::layout

#endif // LAYOUT_TARGETS_CPU_PIPELINES_LAYOUTTOUPSTREAM_H
